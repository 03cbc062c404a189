"""The benchmark's own result layout: what its scripts read is there, and nothing they use is lost on the way round."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core import events as ev
from core.analysis.table import RULES, UNFINISHED
from core.exchange.importing import import_results
from core.exchange.public import PublicAnswer, PublicChain, read_public
from core.exchange.public_layout import public_layout, public_results
from core.models import Usage
from core.store import library
from core.store.tables import public_row
from tests.conftest import make_plan, scripted_team
from tests.unit.exchanged import Q, answer, ended, failing, idea, models, scored, told, whole, write
from tests.unit.test_export_reports import rich

LEAF = "Propose a way to see a single vortex in a superconducting film."


def answers(results: dict[str, Any], model: str = "scripted", temperature: str = "default") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = results["domains"]["Physics"]["Condensed Matter"]["models"][model][temperature][LEAF]
    return found


def solo(temperature: float | None = None) -> Any:
    team = scripted_team("anna", strategy="solo")
    member = replace(team.members[0], model=replace(team.members[0].model, temperature=temperature))
    return make_plan(team=replace(team, members=(member,)))


# ── a session of ours ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_idea_is_an_answer_with_all_that_the_scripts_add_up() -> None:
    session = told(*idea(1, "Listen.", thoughts="Hm."), *ended("cap"), plan=solo(0.7))
    [found] = answers(public_results([session]), "model-anna", "0.7")
    assert found == {
        "answer_num": 1,
        "answer": "Listen.",
        "thoughts": "Hm.",
        "reasoning_tokens": 5,
        "embedding_dissimilarity_score": 0.42,
        "coherence_score": 88,
        "llm_dissimilarity_score": 0.3,
        "processing_time": 5.0,
        "stopping_condition": None,
        "chain_ended": "cap",
        "patience": 3,
    }


def test_a_failing_idea_is_marked_and_the_last_one_twice() -> None:
    fails: dict[str, Any] = {"verdict": "failed", "failed_rule": "embedding_novelty"}
    session = told(*idea(1, "One.", **fails), *idea(2, "Two."), *idea(3, "Three.", **fails), *ended(ideas=3))
    first, second, third = answers(public_results([session]))
    assert first["stopping_condition"] == third["stopping_condition"] == "embedding_dissimilarity_threshold"
    assert second["stopping_condition"] is None
    assert ["final_stopping_condition" in each for each in (first, second, third)] == [False, False, True]


def test_a_chain_that_an_error_ends_says_so_at_its_last_answer() -> None:
    end = ev.QuestionEnded(question=Q, reason="refused", censored=True, responses=1, valid=1, message="filtered")
    [found] = answers(public_results([told(*idea(1, "One."), end)]))
    assert (found["stopping_condition"], found["error_message"]) == ("content_error", "filtered")


def test_a_score_that_nobody_gave_can_be_added_up_all_the_same() -> None:
    session = told(*idea(1, "One.", coherence=None, judged_novelty=None))
    [found] = answers(json.loads(whole(public_layout([session]))))
    assert math.isnan(sum(each["coherence_score"] for each in [found]))
    assert "llm_dissimilarity_score" not in found


def test_a_team_s_answers_say_who_wrote_them_and_what_is_taken_out_is_not_there() -> None:
    found = answers(public_results([rich()]))
    assert [(each["answer_num"], each["model"]) for each in found] == [
        (1, "anna"),
        (2, "bert"),
        (3, "cleo"),
        (4, "anna"),
    ]
    assert found[2]["answer"] == "Weigh it twice."


def test_a_choice_says_what_else_was_offered_and_in_which_order_it_was_seen() -> None:
    offers = [
        ev.ProposalFinished(question=Q, step=1, member=member, text=f"{member} says.", usage=Usage()) for member in "ab"
    ]
    chosen = ev.ProposalChosen(question=Q, step=1, order=("b", "a"), pick="a", by="selector", chooser="judge")
    session = told(
        ev.StepStarted(question=Q, step=1, members=("a", "b")),
        *offers,
        chosen,
        ev.IdeaAdded(question=Q, idea=1, step=1, text="a says.", author="a"),
        scored(1),
    )
    [found] = answers(public_results([session]))
    assert found["parallel_experiment"] == {
        "all_responses": [
            {"model": "a", "answer": "a says.", "thoughts": None, "original_position": 0, "shuffled_position": 2},
            {"model": "b", "answer": "b says.", "thoughts": None, "original_position": 1, "shuffled_position": 1},
        ],
        "selected_model": "a",
        "selected_original_position": 0,
        "selected_shuffled_position": 2,
        "selection_judge": "judge",
        "shuffle_mapping": [[1, 1], [0, 2]],
        "previous_answers_count": 0,
    }


def test_who_answers_a_question_again_gets_a_number() -> None:
    sessions = [told(*idea(1, text), plan=solo()) for text in ("One.", "Two.", "Three.")]
    found = public_results(sessions)["domains"]["Physics"]["Condensed Matter"]["models"]
    assert list(found) == ["model-anna", "model-anna (2)", "model-anna (3)"]


def test_a_session_that_asks_the_same_twice_loses_neither_chain() -> None:
    session = told(*idea(1, "One."), plan=solo())
    question = session.plan.questions[0]
    again = [
        ev.QuestionStarted(question="again", text=question.text, domain=question.domain, subdomain=question.subdomain),
        *(replace(event, question="again") for event in idea(1, "Another.")),
    ]
    found = public_results([told(*idea(1, "One."), *again, plan=solo()), session])
    assert [answers(found, f"model-anna{number}")[0]["answer"] for number in ("", " (2)", " (3)")] == [
        "One.",
        "Another.",
        "One.",
    ]


def test_chains_of_another_patience_are_not_one_model_s() -> None:
    plans = [replace(solo(), rules=replace(solo().rules, patience=patience)) for patience in (3, 1, 3)]
    other = replace(plans[1].questions[0], text="Another?")
    second = told(ev.QuestionStarted(question="b", text=other.text, domain="Biology"), plan=plans[1])
    found = public_results([told(plan=plans[0]), second])
    assert list(found["domains"]["Biology"]["models"]) == ["model-anna (2)"]


def test_a_question_without_a_domain_of_its_own_is_among_one_s_own() -> None:
    assert public_results([])["domains"] == {}
    plan = make_plan()
    question = ev.QuestionStarted(question="own", text="Mine?", domain="Own")
    assert "Own" in public_results([told(question, plan=plan)])["domains"]


# ── the way round ─────────────────────────────────────────────────────────────────────────────────────────────────────


def round_trip(path: Path, sessions: Path) -> dict[str, Any]:
    made = import_results(path, sessions).sessions
    found: dict[str, Any] = json.loads(whole(public_layout(library.load(sessions / each.id) for each in made)))
    return found


def same_times(value: Any) -> Any:
    """`value` with times to the microsecond: they are sums here, and differences."""
    if isinstance(value, dict):
        return {key: round(each, 6) if key == "processing_time" else same_times(each) for key, each in value.items()}
    return [same_times(each) for each in value] if isinstance(value, list) else value


def test_all_that_an_answer_has_comes_back(tmp_path: Path, sessions: Path) -> None:
    content = {
        "domains": {
            "Physics": {
                "Optics": models(
                    answer(1, "  spaced <answer>\n", thoughts="", reasoning_tokens=0),
                    answer(2, thoughts="Hm.", reasoning_tokens=64, embedding_dissimilarity_score=-2e-16),
                    answer(3, thoughts="", reasoning_tokens=1, stopping_condition="error", error_message="'fifty'"),
                    failing(4, "llm_dissimilarity_threshold", thoughts="", reasoning_tokens=2),
                )
            },
            "Chemistry": models(question="Nothing?"),
        }
    }
    assert round_trip(write(tmp_path / "results.json", content), sessions) == content


def test_a_file_of_the_general_benchmark_keeps_its_layout(tmp_path: Path, sessions: Path) -> None:
    plain = {
        key: value for key, value in answer(1).items() if key not in ("stopping_condition", "llm_dissimilarity_score")
    }
    content = models(plain)
    assert round_trip(write(tmp_path / "results.json", content), sessions) == content


TEXTS = st.text("ab <>\n\u00ad–'", max_size=12)
SCORES = st.one_of(st.integers(0, 100), st.floats(-1, 1))


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """Any file that the benchmark may write."""
    stops = [
        "embedding_dissimilarity_threshold",
        "llm_dissimilarity_threshold",
        "coherence_threshold",
        "error",
        "content_error",
    ]

    def chain() -> list[dict[str, Any]]:
        found = [
            answer(
                number,
                draw(TEXTS),
                coherence_score=draw(SCORES),
                embedding_dissimilarity_score=draw(SCORES),
                llm_dissimilarity_score=draw(SCORES),
                thoughts=draw(TEXTS) + ".",
                reasoning_tokens=draw(st.integers(1, 10**6)),
            )
            for number in range(1, draw(st.integers(0, 4)) + 1)
        ]
        if found and (stop := draw(st.sampled_from([None, *stops]))):
            found[-1]["stopping_condition"] = stop
            found[-1] |= {"error_message": "Because."} if "error" in stop else {"final_stopping_condition": stop}
        return found

    names = (
        st.text("ab/:. ", min_size=1, max_size=6).map(str.strip).filter(lambda name: bool(name) and "  " not in name)
    )
    by_model = {
        draw(names): {draw(st.sampled_from(["0.7", "1.0", "default"])): {f"{draw(names)}?": chain() for _ in range(2)}}
        for _ in range(draw(st.integers(1, 2)))
    }
    return {"domains": {"Physics": {"Optics": {"models": by_model}}}}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(files())
def test_any_file_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("any")
    assert same_times(round_trip(write(folder / "results.json", content), folder / "sessions")) == same_times(content)


def sessions_of_ours() -> list[Callable[[], Any]]:
    return [rich, lambda: told(*idea(1, "One.", coherence=None), *ended("cap"), plan=solo(0.5))]


@pytest.mark.parametrize("make", sessions_of_ours())
def test_our_own_sessions_can_be_imported_again(tmp_path: Path, sessions: Path, make: Callable[[], Any]) -> None:
    path = tmp_path / "ours.json"
    path.write_text(whole(public_layout([make()])))
    expected = [each for each in make().state().chain.ideas if not each.removed]
    [made] = import_results(path, sessions).sessions
    found = library.load(sessions / made.id).state().chain
    assert found
    assert [(each.text, each.author == expected[place].author) for place, each in enumerate(found.ideas)] == [
        (each.text, len({other.author for other in expected}) > 1) for each in expected
    ]
    assert [each.failed for each in found.ideas] == [each.failed for each in expected]


FAILS: dict[str, Any] = {"coherence": 5.0, "verdict": "failed", "failed_rule": "coherence"}


@pytest.mark.parametrize("patience", [1, 3])
@pytest.mark.parametrize(
    ("end", "events"),
    [
        ("person", [*idea(1, "One."), *idea(2, "Two.", **FAILS), *ended("person", 2)]),
        ("cap", [*idea(1, "One."), *ended("cap")]),
        ("budget", [*idea(1, "One.", **FAILS), *ended("budget")]),
        ("error", [*idea(1, "One.", **FAILS), *ended("error")]),
        ("refused", [*idea(1, "One."), *ended("refused")]),
        ("coherence", [*idea(1, "One."), *idea(2, "Two.", **FAILS), *ended("coherence", 2)]),
        ("mechanical", [*idea(1, "One.", verdict="failed", failed_rule="mechanical"), *ended("mechanical")]),
        (None, [*idea(1, "One."), *idea(2, "Two.", **FAILS)]),
    ],
)
def test_why_a_chain_ended_and_how_patient_it_was_come_back(
    tmp_path: Path, sessions: Path, patience: int, end: str | None, events: list[ev.Event]
) -> None:
    session = told(*events, plan=replace(solo(), rules=replace(solo().rules, patience=patience)))
    path = tmp_path / "ours.json"
    for folder in (sessions / "once", sessions / "again"):
        path.write_text(whole(public_layout([session])))
        [made] = import_results(path, folder).sessions
        session = library.load(folder / made.id)
        chain = session.state().chain
        assert chain is not None
        assert (chain.ended.reason if chain.ended else None) == end
        assert session.plan.rules.patience == patience
        assert [each.failed for each in chain.ideas] == [
            event.verdict == "failed" for event in events if isinstance(event, ev.IdeaScored)
        ]
        [row] = [public_row(each) for each in read_public(path)]
        assert (row.ended, row.patience, row.censored) == (end or UNFINISHED, patience, end not in RULES)


def test_ideas_that_fail_on_the_way_of_a_patient_chain_are_not_odd(tmp_path: Path, sessions: Path) -> None:
    path = tmp_path / "ours.json"
    path.write_text(whole(public_layout([told(*idea(1, "One.", **FAILS), *idea(2, "Two."), plan=solo())])))
    assert import_results(path, sessions).oddities.marked_within == 0


# ── the real ones ─────────────────────────────────────────────────────────────────────────────────────────────────────


def real_files() -> list[str]:
    folder = os.environ.get("JAGSTORM_PUBLIC_DATA")
    if not folder:
        return []
    found = sorted((Path(folder) / "sciaidanbench" / "per_model").glob("*.json"))
    return [str(path) for path in (*found, Path(folder) / "aidanbench" / "small_results.json")]


def equal(chain: PublicChain, *, but_for_last_time: bool) -> Any:
    """What of a chain has to come back: where a team's proposal has no thoughts, none and nothing are the same."""

    def comparable(found: PublicAnswer) -> Any:
        choice = found.choice and [replace(each, thoughts=each.thoughts or None) for each in found.choice.proposals]
        seconds = None if found.seconds is None else round(found.seconds, 6)
        thoughts = found.thoughts if not found.choice else None
        return replace(found, choice=None, seconds=seconds, thoughts=thoughts), choice

    answers = list(chain.answers)
    if but_for_last_time:
        answers[-1] = replace(answers[-1], seconds=None)
    return replace(chain, answers=()), [comparable(found) for found in answers]


@pytest.mark.parametrize("file", real_files(), ids=lambda file: Path(file).stem)
def test_the_public_results_come_back_as_they_were(tmp_path: Path, sessions: Path, file: str) -> None:
    back = write(tmp_path / "back.json", round_trip(Path(file), sessions))
    found, expected = read_public(back), read_public(Path(file))
    restarted = Path(file).stem == "model_o3-high-azure"
    for ours, theirs in zip(sorted(found, key=str), sorted(expected, key=str), strict=True):
        anew = restarted and len(theirs.answers) == 19  # the last of them after a restart, with times counted anew
        assert equal(ours, but_for_last_time=anew) == equal(theirs, but_for_last_time=anew)
