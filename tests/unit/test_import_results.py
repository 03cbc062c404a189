"""Result files become sessions: all that is in them comes through, once, and nothing is left of what fails."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import events as ev
from core.errors import UsageError
from core.exchange.importing import import_results
from core.exchange.oddities import Oddities
from core.questions import OWN, own_question
from core.store import library, listing
from core.store.library import StoredSession
from core.store.replay import Replay
from tests.unit.exchanged import answer, chemistry, failing, models, write


@pytest.fixture
def imported(tmp_path: Path, sessions: Path) -> Callable[..., StoredSession]:
    """The session that comes of a file that holds one model."""

    def make(content: Any) -> StoredSession:
        [made] = import_results(write(tmp_path / "results.json", content), sessions).sessions
        return library.load(sessions / made.id)

    return make


Make = Callable[[Any], StoredSession]


def scores(session: StoredSession) -> list[ev.IdeaScored]:
    return [event for event in session.record.events if isinstance(event, ev.IdeaScored)]


# ── what comes through ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_s_chains_are_a_session_like_any_other(imported: Make) -> None:
    session = imported(chemistry(answer(1), answer(2, "Weigh it."), failing(3, "coherence_threshold")))
    state = session.state()
    [chain] = state.chains.values()
    assert (chain.text, chain.domain, chain.subdomain) == ("How to hear ice?", "Chemistry", None)
    assert [idea.text for idea in chain.ideas] == ["Listen to the bubbles.", "Weigh it.", "Listen to the bubbles."]
    assert (chain.responses, chain.valid) == (3, 2)
    assert chain.ended
    assert (chain.ended.reason, chain.ended.censored) == ("coherence", False)
    assert [event.seq for event in session.record.events] == list(range(len(session.record.events)))
    assert not session.record.problems
    assert listing.summary(session).status == "finished"
    assert session.plan.questions[0].id == own_question("How to hear ice?").id, "as if a person had typed it"


def test_where_it_comes_from_is_in_its_plan(imported: Make) -> None:
    session = imported(chemistry(answer(1)))
    origin = session.plan.origin
    assert origin
    assert (origin.file, origin.layout) == ("results.json", "sciaidanbench")
    assert (origin.model, origin.temperature) == ("a/b:7b", "0.7")
    assert len(bytes.fromhex(origin.digest)) == 32
    [member] = session.plan.team.members
    assert (member.name, member.model.temperature) == ("a/b:7b", 0.7)
    assert (session.plan.rules.patience, session.plan.rules.embedding_novelty) == (1, 0.15)
    assert session.state().notices == ["Imported from results.json"]


def test_scores_thoughts_and_tokens_are_the_file_s(imported: Make) -> None:
    session = imported(
        chemistry(
            answer(
                1,
                thoughts="Bubbles ring.",
                reasoning_tokens=64,
                embedding_dissimilarity_score=-2e-16,
                llm_dissimilarity_score=0.15000000000000002,
            )
        )
    )
    [idea] = session.state().chain.ideas  # type: ignore[union-attr]
    assert idea.score
    assert idea.call
    assert (idea.score.coherence, idea.score.embedding_novelty) == (80.0, -2e-16)
    assert idea.score.judged_novelty == 0.15000000000000002
    assert idea.score.odd == ("below_zero",)
    assert (idea.call.thoughts, idea.call.usage.reasoning_tokens) == ("Bubbles ring.", 64)


def test_time_passes_as_it_did_there_chain_after_chain(imported: Make) -> None:
    content = {"domains": {"Chemistry": models(answer(1, processing_time=2.0), answer(2, processing_time=5.0))}}
    content["domains"]["Biology"] = models(answer(1, processing_time=1.0), question="Why sing?")
    session = imported(content)
    ideas = [idea for chain in session.state().chains.values() for idea in chain.ideas]
    assert [idea.t for idea in ideas] == [2.0, 5.0, 6.0]
    assert [idea.call.usage.seconds for idea in ideas if idea.call] == [2.0, 3.0, 1.0]
    assert Replay(session.plan, session.record.events).length == 6.0


def test_time_that_was_counted_anew_goes_on(imported: Make) -> None:
    session = imported(chemistry(answer(1, processing_time=607.0), answer(2, processing_time=79.0)))
    assert [idea.t for idea in session.state().chain.ideas] == [607.0, 686.0]  # type: ignore[union-attr]


def test_what_stops_a_chain(imported: Make) -> None:
    stops = {
        "Q1?": ("coherence_threshold", "coherence", False, 1),
        "Q2?": ("embedding_dissimilarity_threshold", "embedding_novelty", False, 1),
        "Q3?": ("llm_dissimilarity_threshold", "judged_novelty", False, 1),
        "Q4?": ("error", "error", True, 2),
        "Q5?": ("content_error", "refused", True, 2),
        "Q6?": ("who knows", "error", True, 2),
    }
    asked = {
        question: [answer(1), answer(2, stopping_condition=stop, error_message="Because.")]
        for question, (stop, *_) in stops.items()
    }
    session = imported({"domains": {"Chemistry": {"models": {"m": {"0.7": asked | {"Q7?": [], "Q8?": [answer(1)]}}}}}})
    found = {chain.text: chain for chain in session.state().chains.values()}
    for question, (_, reason, censored, valid) in stops.items():
        end = found[question].ended
        assert end
        assert (end.reason, end.censored, end.valid, found[question].valid) == (reason, censored, valid, valid)
        assert end.message == ("Because." if censored else "")
    empty = found["Q7?"].ended
    assert empty
    assert (empty.reason, empty.censored, empty.responses) == ("error", True, 0)
    assert found["Q8?"].ended is None, "the file does not say why"


def test_an_error_in_the_midst_of_a_chain_leaves_that_idea_unscored(imported: Make) -> None:
    session = imported(chemistry(answer(1), answer(2, stopping_condition="error", error_message="'fifty'"), answer(3)))
    marked = scores(session)[1]
    assert (marked.verdict, marked.mark, marked.why, marked.odd) == ("unscored", "error", "'fifty'", ("marked_within",))
    assert [score.verdict for score in scores(session)] == ["passed", "unscored", "passed"]
    assert session.state().notices == ["Imported from results.json. In it: 1 stop in the midst of a chain"]


def test_a_score_that_is_no_number_is_missing(tmp_path: Path, sessions: Path) -> None:
    path = tmp_path / "results.json"
    content = (
        json.dumps(chemistry(answer(1, "NaN, -Infinity"), answer(2))).replace("0.5", "NaN").replace("80", "-Infinity")
    )
    path.write_text(content)
    result = import_results(path, sessions)
    session = library.load(sessions / result.sessions[0].id)
    assert {(score.embedding_novelty, score.coherence, score.verdict) for score in scores(session)} == {
        (None, None, "unscored")
    }
    assert result.oddities.not_numbers == 4
    assert session.state().chain.ideas[0].text == "NaN, -Infinity"  # type: ignore[union-attr]


def test_a_team_s_step_has_its_proposals_and_the_pick(imported: Make) -> None:
    offered = [
        {"model": "left", "answer": "Tap it.", "thoughts": "…", "original_position": 0, "shuffled_position": 2},
        {"model": "right", "answer": "Wait.", "thoughts": None, "original_position": 1, "shuffled_position": 1},
        {"model": "left", "answer": "Ask.", "thoughts": None, "original_position": 2, "shuffled_position": 3},
    ]
    choice = {"all_responses": offered, "selected_model": "left", "selection_judge": "judge"}
    session = imported(chemistry(answer(1, "Ask.", model="left", parallel_experiment=choice), model="duo"))
    [idea] = session.state().chain.ideas  # type: ignore[union-attr]
    assert (idea.author, idea.text) == ("left", "Ask.")
    assert idea.call
    assert idea.call.draft == 1
    assert [(other.member, other.draft, other.text) for other in idea.others] == [
        ("left", 0, "Tap it."),
        ("right", 0, "Wait."),
    ]
    assert idea.chosen
    assert (idea.chosen.order, idea.chosen.pick) == (("right", "left", "left·2"), "left·2")
    assert (idea.chosen.by, idea.chosen.chooser) == ("selector", "judge")
    assert (session.plan.team.name, session.plan.team.strategy) == ("duo", "parallel")
    assert [member.name for member in session.plan.team.members] == ["left", "right"]


def test_a_general_question_has_no_domain_and_no_stop_of_its_own(imported: Make) -> None:
    def plain(number: int, novelty: float) -> dict[str, Any]:
        return {
            "answer_num": number,
            "answer": "Sing.",
            "embedding_dissimilarity_score": novelty,
            "coherence_score": 60.0,
            "processing_time": 1.0,
        }

    session = imported(models(plain(1, 1.0), plain(2, 0.1)))
    [chain] = session.state().chains.values()
    assert session.plan.origin
    assert (session.plan.origin.layout, chain.domain) == ("aidanbench", OWN)
    assert [score.verdict for score in scores(session)] == ["passed", "failed"]
    assert chain.ended
    assert chain.ended.reason == "embedding_novelty"


def test_every_model_and_temperature_is_a_session(tmp_path: Path, sessions: Path) -> None:
    content = {"models": {name: {"0.7": {"Q?": [answer(1)]}, "hot": {"Q?": [answer(1)]}} for name in ("one", "two")}}
    made = import_results(write(tmp_path / "merged.json", content), sessions).sessions
    assert [(each.model, each.temperature) for each in made] == [
        ("one", "0.7"),
        ("one", "hot"),
        ("two", "0.7"),
        ("two", "hot"),
    ]
    assert {path.name for path in library.session_folders(sessions)} == {each.id for each in made}


def test_the_same_question_in_two_leaves_is_two_chains(imported: Make) -> None:
    session = imported({"domains": {"Chemistry": models(answer(1)), "Biology": models(answer(1), answer(2))}})
    chains = session.state().chains.values()
    assert [(chain.domain, chain.text, chain.responses) for chain in chains] == [
        ("Chemistry", "How to hear ice?", 1),
        ("Biology", "How to hear ice?", 2),
    ]


def test_a_leaf_without_questions_is_counted(tmp_path: Path, sessions: Path) -> None:
    content = chemistry(answer(1))
    content["domains"]["Computation"] = {"models": {"a/b:7b": {"0.7": {}}}}
    result = import_results(write(tmp_path / "results.json", content), sessions)
    assert result.oddities == Oddities(without_questions=1)
    notices = library.load(sessions / result.sessions[0].id).state().notices
    assert notices == ["Imported from results.json. In it: 1 leaf without questions"]


# ── once ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_file_again_adds_nothing_whatever_it_is_called(tmp_path: Path, sessions: Path) -> None:
    path = write(tmp_path / "results.json", chemistry(answer(1)))
    first = import_results(path, sessions)
    before = sorted(sessions.rglob("*"))
    again = import_results(path.rename(tmp_path / "other name.json"), sessions)
    assert (again.sessions, again.there) == ((), (first.sessions[0].id,))
    assert again.oddities == Oddities()
    assert sorted(sessions.rglob("*")) == before


def test_what_is_missing_of_a_file_is_imported(tmp_path: Path, sessions: Path) -> None:
    content = {"models": {name: {"0.7": {"Q?": [answer(1)]}} for name in ("one", "two")}}
    path = write(tmp_path / "merged.json", content)
    one, two = import_results(path, sessions).sessions
    library.find(sessions, one.id).rename(tmp_path / "moved away")
    again = import_results(path, sessions)
    assert ([each.model for each in again.sessions], again.there) == (["one"], (two.id,))


def test_a_file_that_has_changed_is_another_one(tmp_path: Path, sessions: Path) -> None:
    import_results(write(tmp_path / "results.json", chemistry(answer(1))), sessions)
    again = import_results(write(tmp_path / "results.json", chemistry(answer(1), answer(2))), sessions)
    assert [each.responses for each in again.sessions] == [2]


def test_an_imported_session_can_t_go_on(imported: Make) -> None:
    session = imported(chemistry(answer(1, stopping_condition="error")))
    with pytest.raises(UsageError, match=r"imported from results\.json"):
        library.check_unfinished(session.plan, session.state(), 99)
