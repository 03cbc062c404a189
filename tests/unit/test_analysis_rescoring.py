"""Rescoring: what is stored comes out again under its own rules, and under others what these would have made of it."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.rescoring import CAP, RECORD, Change, Counts, as_stored, rescored
from core.analysis.table import ChainRow, IdeaRow, table_of
from core.rules import Rules, Scores, judge
from tests.unit.tables import counts_of, question, row

scores = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.15, 0.15000000000000002, 0.2, 0.5, 1.0]))
ideas = st.builds(
    lambda coherence, embedding, judged, counts, broken, removed: IdeaRow(
        number=1,
        author="a",
        coherence=None if coherence is None else 100 * coherence,
        embedding_novelty=embedding,
        judged_novelty=judged,
        counts=counts and not removed,
        removed=removed,
        failed_rule="mechanical" if broken else None,
    ),
    scores,
    scores,
    scores,
    st.integers(0, 9).map(bool),
    st.integers(0, 9).map(lambda chance: chance == 0),
    st.integers(0, 9).map(lambda chance: chance == 0),
)
rules = st.builds(
    Rules,
    coherence=st.sampled_from([0.0, 10.0, 15.0, 50.0]),
    embedding_novelty=st.sampled_from([0.0, 0.15, 0.2]),
    judged_novelty=st.sampled_from([0.0, 0.15, 0.2]),
    patience=st.integers(1, 4),
    max_ideas=st.one_of(st.none(), st.integers(1, 12)),
)
changes = st.builds(
    Change,
    coherence=st.one_of(st.none(), st.sampled_from([0.0, 15.0, 60.0])),
    embedding_novelty=st.one_of(st.none(), st.sampled_from([0.0, 0.15, 0.4])),
    judged_novelty=st.one_of(st.none(), st.sampled_from([0.0, 0.15, 0.4])),
    patience=st.one_of(st.none(), st.integers(1, 5)),
    max_ideas=st.one_of(st.none(), st.integers(1, 12)),
)


def run(found: Sequence[IdeaRow], own: Rules) -> tuple[list[IdeaRow], str]:
    """The chain as a session under these rules would have it of these ideas, and why it ends; "" if it goes on."""
    chain: list[IdeaRow] = []
    failing = 0
    for idea in found:
        verdict = judge(
            Scores(
                coherence=idea.coherence,
                embedding_novelty=idea.embedding_novelty,
                judged_novelty=idea.judged_novelty,
                mechanical="broken" if idea.failed_rule == "mechanical" else None,
            ),
            own,
        )
        chain.append(
            IdeaRow(
                number=len(chain) + 1,
                author=idea.author,
                coherence=idea.coherence,
                embedding_novelty=idea.embedding_novelty,
                judged_novelty=idea.judged_novelty,
                counts=idea.counts,
                removed=idea.removed,
                failed_rule=verdict.failed_rule,
            )
        )
        if idea.counts:
            failing = failing + 1 if verdict.failed_rule else 0
            if failing >= own.patience:
                return chain, str(verdict.failed_rule)
        if len(chain) == own.max_ideas:
            return chain, CAP
    return chain, ""


def stored(found: Sequence[IdeaRow], own: Rules, asked: str = "q", otherwise: str = "person") -> ChainRow:
    chain, ended = run(found, own)
    return ChainRow(
        model="m",
        question=question(asked),
        ideas=chain,
        ended=ended or otherwise,
        censored=ended in ("", CAP),
        rule_coherence=own.coherence,
        rule_embedding_novelty=own.embedding_novelty,
        rule_judged_novelty=own.judged_novelty,
        patience=own.patience,
        max_ideas=own.max_ideas,
    )


def changed(own: Rules, change: Change) -> Rules:
    return Rules(
        coherence=own.coherence if change.coherence is None else change.coherence,
        embedding_novelty=own.embedding_novelty if change.embedding_novelty is None else change.embedding_novelty,
        judged_novelty=own.judged_novelty if change.judged_novelty is None else change.judged_novelty,
        patience=change.patience or own.patience,
        max_ideas=change.max_ideas or own.max_ideas,
    )


def said(counts: Counts) -> list[tuple[int, int, str, bool]]:
    return [
        (responses, valid, counts.end(chain), bool(counts.censored[chain]))
        for chain, (responses, valid) in enumerate(zip(counts.responses.tolist(), counts.valid.tolist(), strict=True))
    ]


@given(st.lists(st.tuples(st.lists(ideas, max_size=14), rules), max_size=5))
def test_under_its_own_rules_everything_is_as_it_was_stored(chains: list[tuple[list[IdeaRow], Rules]]) -> None:
    table = table_of([stored(found, own, f"q{place}") for place, (found, own) in enumerate(chains)])
    before = as_stored(table)
    # Said with a threshold that changes nothing, so that all is computed again.
    for place in range(len(chains)):
        own = before.only(np.arange(len(chains)) == place)
        again = rescored(own.table, Change(coherence=chains[place][1].coherence))
        assert said(again) == said(own)
        assert again.failed.tolist() == own.failed.tolist()


@given(st.lists(ideas, max_size=14), rules, changes)
def test_under_other_rules_it_is_what_a_session_would_have_made_of_the_record(
    found: list[IdeaRow], own: Rules, change: Change
) -> None:
    record = stored(found, own)
    chain, ended = run(record.ideas, changed(own, change))
    counts = rescored(table_of([record]), change)
    if change == Change():
        return
    kept = [idea for idea in chain if not (idea.failed_rule or idea.removed)]
    if ended:
        assert said(counts) == [(len(chain), len(kept), ended, ended == CAP)]
    else:
        assert said(counts) == [(len(chain), len(kept), record.ended if record.censored else RECORD, True)]


def test_a_chain_that_would_have_gone_on_is_censored_where_its_record_ends() -> None:
    counts = rescored(counts_of(row("m", "q", 5)).table, Change(embedding_novelty=0.05))
    assert said(counts) == [(5, 5, RECORD, True)]


def test_an_error_stays_where_it_was_and_a_rule_that_strikes_before_it_wins() -> None:
    table = counts_of(row("m", "q", 5, "error")).table
    assert said(rescored(table, Change(patience=2))) == [(5, 5, "error", True)]
    assert said(rescored(table, Change(embedding_novelty=0.6))) == [(1, 0, "embedding_novelty", False)]


def test_a_cap_cuts_and_leaves_what_failed_before_it() -> None:
    table = counts_of(row("m", "q", 5), row("m", "r", 3)).table
    assert said(rescored(table, Change(max_ideas=3))) == [(3, 3, CAP, True), (3, 2, "embedding_novelty", False)]


def test_an_empty_chain_is_one() -> None:
    table = counts_of(row("m", "q", 0, "empty"), row("m", "r", 2)).table
    assert said(rescored(table, Change(patience=1))) == [(0, 0, "empty", True), (2, 1, "embedding_novelty", False)]


def test_a_part_of_the_counts_is_the_counts_of_a_part() -> None:
    counts = rescored(counts_of(row("m", "q", 5), row("n", "q", 3), row("m", "r", 4)).table, Change(max_ideas=4))
    part = counts.only(np.array([True, False, True]))
    assert said(part) == [said(counts)[0], said(counts)[2]]
    assert part.table.ideas.chain.tolist() == [0] * 5 + [1] * 4
    assert part.counted.tolist() == [True] * 4 + [False] + [True] * 4
