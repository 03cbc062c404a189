"""`jagstorm compare`: what it prints, what it leaves, how it ends."""

import json
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.models import Chunk, ModelSpec, Prompt
from core.providers import catalog
from core.providers.recorded import RecordedProvider
from core.store import library
from tests.command.conftest import Jagstorm
from tests.scripted import ScriptedProvider
from tests.unit.test_rehearsing import public_file
from tui.cli import cli
from tui.compare_command import compare

QUESTION = ("--question-id", "shape-memory-ten-uses")
BUDGET = ("--budget", "calls", "3")


@pytest.fixture(autouse=True)
def _registered() -> None:
    cli.add_command(compare)


def only_folder(sessions: Path) -> Path:
    [folder] = sessions.iterdir()
    return folder


def test_a_team_stands_next_to_its_best_member_alone(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    code, out, err = jagstorm("compare", *QUESTION, "--team", "embedded", *BUDGET)
    assert code == 0
    assert "1 team, 3 members alone, 1 question, 1 repeat: 4 chains, up to 3 calls each" in err
    for said in (
        "embedded\n",
        "valid ideas ",
        " a call, ",
        " per 1,000 tokens, ",
        " a minute",
        "picked on the same questions, so partly by luck",
        "too few chains to tell",
    ):
        assert said in out
    assert "\x1b" not in out + err
    folder = only_folder(sessions)
    assert folder.name.startswith("compare-")
    assert f"Saved in {folder}" in out
    assert len(list(folder.iterdir())) == 4


def test_json_is_one_object_with_report_and_runs(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    code, out, _ = jagstorm(
        "compare", *QUESTION, "--team", "embedded", "--team", "embedded-solo", *BUDGET, "--repeats", "6", "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert found["limit"] == {"kind": "calls", "amount": 3.0}
    assert [question["id"] for question in found["questions"]] == ["shape-memory-ten-uses"]
    assert [team["standing"]["team"] for team in found["report"]["teams"]] == ["embedded", "embedded-solo"]
    assert found["report"]["teams"][0]["alone"]["verdict"] in ("more", "fewer", "no difference seen")
    assert found["report"]["teams"][1]["alone"] is None, "it is one member alone"
    assert {run["calls"] for run in found["runs"]} == {3}
    assert len(found["runs"]) == 6 * (2 + 3)


def test_with_four_questions_nobody_is_shown_where_they_were_picked(
    jagstorm: Jagstorm, provider: ScriptedProvider
) -> None:
    ids = [json.loads(line)["id"] for line in jagstorm("questions", "--json").out.splitlines()[:4]]
    named = [word for question_id in ids for word in ("--question-id", question_id)]
    out = jagstorm("compare", *named, "--team", "embedded", "--budget", "calls", "1").out
    assert "picked on the half of the questions that it is not shown on" in out


def test_sizes_are_teams_of_the_first_members_by_weight(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    out = jagstorm("compare", *QUESTION, "--team", "embedded", *BUDGET, "--sizes", "1..5", "--json").out
    names = [team["standing"]["team"] for team in json.loads(out)["report"]["teams"]]
    assert names == ["embedded, 1 of 3", "embedded, 2 of 3", "embedded, 3 of 3"]


def test_a_smaller_budget_in_tokens(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    words = ("compare", *QUESTION, "--team", "embedded-solo", "--budget", "tokens", "500", "--json")
    [run] = json.loads(jagstorm(*words).out)["runs"]
    assert (run["ended"], run["responses"]) == ("budget", 4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name at least one --question-id and one --team"),
        (QUESTION, "Name at least one --question-id and one --team"),
        ((*QUESTION, "--team", "dream"), "There is no team 'dream'"),
        (("--question-id", "nothing", "--team", "embedded"), "No question has the id 'nothing'"),
        ((*QUESTION, "--team", "embedded", "--sizes", "5..1"), "two as in 1..5"),
        ((*QUESTION, "--team", "embedded", "--sizes", "9"), "No team has 9 members"),
        ((*QUESTION, "--team", "embedded", "--budget", "hours", "3"), "'hours' is not one of"),
        ((*QUESTION, "--team", "embedded", "--budget", "calls", "0"), "0.0 is not in the range"),
        (("--rehearse", "nowhere"), "'nowhere' does not exist"),
        (("--rehearse", ".", "--team", "embedded"), "A rehearsal has teams and questions of its own"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(jagstorm: Jagstorm, words: tuple[str, ...], said: str) -> None:
    code, out, err = jagstorm("compare", *words)
    assert code == 2
    assert out == ""
    assert said in err


def test_a_team_that_nobody_answers_ends_with_3_and_says_why(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    provider.fail_after = 0
    code, _, err = jagstorm("compare", *QUESTION, "--team", "embedded-solo", *BUDGET, "-q")
    assert code == 3
    assert "1 of 1 chains broke off" in err
    assert "the server said no" in err


def test_interrupted_it_leaves_what_is_there_and_ends_with_4(
    jagstorm: Jagstorm, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting(ScriptedProvider):
        async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
            async for chunk in super().stream(spec, prompt, random_seed):
                yield chunk
                if len(self.calls) == 5:
                    os.kill(os.getpid(), signal.SIGINT)

    from tests.scripted import varied

    monkeypatch.setattr(catalog, "_make", lambda name: Interrupting(varied, delay=0.001))
    code, out, err = jagstorm("compare", *QUESTION, "--team", "embedded", "--repeats", "9", "--at-once", "2")
    assert code == 4
    assert out == ""
    folder = only_folder(sessions)
    assert f"; they are in {folder}" in err
    states = [library.load(each).state() for each in folder.iterdir()]
    assert 1 <= len(states) < 36
    assert {state.ended.how for state in states if state.ended} == {"interrupted"}


# ── rehearsals ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but records is asked for anything."""

    def make(name: str) -> RecordedProvider:
        assert name == "recorded"
        return RecordedProvider()

    monkeypatch.setattr(catalog, "_make", make)


@pytest.mark.usefixtures("recorded")
def test_a_rehearsal_compares_strategies_on_recorded_ideas(jagstorm: Jagstorm, tmp_path: Path, sessions: Path) -> None:
    public_file(tmp_path / "data" / "a.json", {"short": 2, "long": 6})
    code, out, err = jagstorm("compare", "--rehearse", str(tmp_path / "data"), "--count", "6")
    assert code == 0
    assert "Recorded: no idea was written for the chain it is in." in err
    assert "the router's table come from the other 54" in err
    assert "each until a rule ends it" in err
    for team in ("sample, all", "inverted, all", "bandit, all", "parallel, all", "router", "router that has seen"):
        assert team in out
    assert "written by" in out
    assert "told all there is" in out
    assert " a minute" not in out
    assert not sessions.exists(), "thrown away"


@pytest.mark.usefixtures("recorded")
def test_the_sessions_of_a_rehearsal_can_be_kept(jagstorm: Jagstorm, tmp_path: Path, sessions: Path) -> None:
    path = public_file(tmp_path / "a.json", {"short": 2, "long": 6})
    code, out, _ = jagstorm("compare", "--rehearse", str(path), "--count", "1", "--keep", "--json", "-q", *BUDGET)
    assert code == 0
    folder = only_folder(sessions)
    assert json.loads(out)["sessions"] == str(folder)
    assert len(list(folder.iterdir())) == len(json.loads(out)["runs"]) == 6 + 2
    shown = jagstorm("show", str(next(folder.iterdir())))
    assert shown.code == 0


@pytest.mark.usefixtures("recorded")
def test_a_broken_file_ends_a_rehearsal(jagstorm: Jagstorm, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"domains": {')
    code, out, err = jagstorm("compare", "--rehearse", str(tmp_path))
    assert (code, out) == (2, "")
    assert "a.json is broken" in err


@pytest.mark.usefixtures("recorded")
def test_the_public_results_can_be_rehearsed(jagstorm: Jagstorm, public_data: Path) -> None:
    folder = str(public_data / "sciaidanbench" / "per_model")
    code, out, err = jagstorm("compare", "--rehearse", folder, "--count", "1", "--budget", "calls", "5", "--json")
    assert code == 0
    assert "Left out: top-5-parallel is a team" in err
    assert "24 models share 155 questions" in err
    report = json.loads(out)["report"]
    assert (len(report["teams"]), len(report["members"])) == (10, 24)
    assert max(run["calls"] for run in json.loads(out)["runs"] if run["team"] in ("o1", "router")) <= 5
