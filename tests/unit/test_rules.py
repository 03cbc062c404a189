"""The table of DESIGN §5: scores in, verdict out."""

import math

import pytest

from core import events as ev
from core.chain import Chain
from core.models import YOU
from core.rules import WORDLLAMA_THRESHOLD, Rules, Scores, Verdict, judge
from core.state import State, apply

PAPER = Rules(patience=1)
PASSED = Verdict("passed")
UNSCORED = Verdict("unscored")


def failed(rule: ev.FailedRule) -> Verdict:
    return Verdict("failed", rule)


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        # Coherence fails at the threshold, the novelties below theirs.
        (Scores(coherence=15.0), failed("coherence")),
        (Scores(coherence=15.1, embedding_novelty=0.5), PASSED),
        (Scores(coherence=0.0), failed("coherence")),
        (Scores(embedding_novelty=0.15), PASSED),
        (Scores(embedding_novelty=math.nextafter(0.15, 0)), failed("embedding_novelty")),
        (Scores(embedding_novelty=0.0), failed("embedding_novelty")),
        (Scores(embedding_novelty=0.5, judged_novelty=1 - 85 / 100), PASSED),
        (Scores(judged_novelty=1 - 86 / 100), failed("judged_novelty")),
        (Scores(judged_novelty=0.0), failed("judged_novelty")),
        # The first rule that fails is the reason.
        (Scores(coherence=15, embedding_novelty=0.1, judged_novelty=0.1), failed("coherence")),
        (Scores(coherence=16, embedding_novelty=0.1, judged_novelty=0.1), failed("embedding_novelty")),
        (Scores(coherence=16, embedding_novelty=0.2, judged_novelty=0.1), failed("judged_novelty")),
        (Scores(coherence=16, embedding_novelty=0.2, judged_novelty=0.2), PASSED),
        (Scores(mechanical="looping text", coherence=0, embedding_novelty=0.0), failed("mechanical")),
        # Nobody was asked to judge: the embedding is enough. Without one there is no verdict, and never a pass.
        (Scores(embedding_novelty=1.0), PASSED),
        (Scores(), UNSCORED),
        (Scores(coherence=80, judged_novelty=0.8), UNSCORED),
        # Whoever was asked to judge and could not: what is there may fail it, and never passes it.
        (Scores(judges=("j",), coherence=80, embedding_novelty=0.5, judged_novelty=0.8), PASSED),
        (Scores(judges=("j",), coherence=80, embedding_novelty=0.5), UNSCORED),
        (Scores(judges=("j",), embedding_novelty=0.5, judged_novelty=0.8), UNSCORED),
        (Scores(judges=("j",), coherence=3, embedding_novelty=0.5), failed("coherence")),
        (Scores(judges=("j",), embedding_novelty=0.1), failed("embedding_novelty")),
        (Scores(mechanical="empty"), failed("mechanical")),
        # What is no number is no score.
        (Scores(embedding_novelty=math.nan), UNSCORED),
        (Scores(coherence=math.inf, judged_novelty=-math.inf), UNSCORED),
        (Scores(coherence=math.nan, embedding_novelty=0.1), failed("embedding_novelty")),
    ],
)
def test_verdict(scores: Scores, verdict: Verdict) -> None:
    assert judge(scores, PAPER) == verdict


def test_judged_novelty_is_not_rounded() -> None:
    assert 1 - 0.85 == 0.15000000000000002
    assert judge(Scores(embedding_novelty=0.5, judged_novelty=0.15000000000000002), PAPER) == PASSED


def test_mechanical_checks_can_be_switched_off() -> None:
    scores = Scores(mechanical="looping text", embedding_novelty=0.5)
    assert judge(scores, Rules(mechanical=False)) == PASSED


def test_thresholds_are_the_plans() -> None:
    rules = Rules(coherence=50, embedding_novelty=WORDLLAMA_THRESHOLD, judged_novelty=0.3)
    assert judge(Scores(coherence=50.0), rules) == failed("coherence")
    assert judge(Scores(embedding_novelty=0.184), rules) == failed("embedding_novelty")
    assert judge(Scores(embedding_novelty=0.185), rules) == PASSED
    assert judge(Scores(judged_novelty=0.29), rules) == failed("judged_novelty")


def test_a_brainstorm_is_patient_and_has_no_cap() -> None:
    assert Rules() == Rules(
        coherence=15, embedding_novelty=0.15, judged_novelty=0.15, mechanical=True, patience=3, max_ideas=None
    )


# ── how many failing ideas there are in a row ─────────────────────────────────────────────────────────────────────────


def chain_of(*ideas: tuple[str, ev.VerdictWord | None]) -> Chain:
    state = State()
    apply(state, ev.QuestionStarted(question="q", text="Propose a test.", domain="Own"))
    for number, (author, verdict) in enumerate(ideas, 1):
        apply(state, ev.IdeaAdded(question="q", idea=number, step=number, text=f"idea {number}", author=author))
        if verdict:
            apply(state, ev.IdeaScored(question="q", idea=number, verdict=verdict))
    assert state.chain
    return state.chain


@pytest.mark.parametrize(
    ("ideas", "failing"),
    [
        ([], 0),
        ([("anna", "passed")], 0),
        ([("anna", "failed"), ("bert", "failed")], 2),
        ([("anna", "failed"), ("bert", "passed"), ("anna", "failed")], 1),
        ([("anna", "failed"), ("bert", "unscored"), ("anna", "failed")], 1),
        # A person's own idea neither counts nor interrupts.
        ([("anna", "failed"), (YOU, "failed"), ("anna", "failed")], 2),
        ([("anna", "failed"), (YOU, "passed"), ("anna", "failed")], 2),
        ([(YOU, "failed"), (YOU, "failed"), (YOU, "failed")], 0),
        # One that waits for its scores says nothing yet.
        ([("anna", "failed"), ("anna", None)], 1),
    ],
)
def test_failing_in_a_row(ideas: list[tuple[str, ev.VerdictWord | None]], failing: int) -> None:
    assert chain_of(*ideas).failing_in_row() == failing


def test_responses_count_the_failing_and_valid_does_not() -> None:
    chain = chain_of(("anna", "passed"), ("anna", "unscored"), (YOU, "failed"), ("bert", "failed"))
    assert (chain.responses, chain.valid) == (4, 2)
