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
from tests.scripted import ScriptedProvider, varied
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
    assert all(len(line) <= 80 for line in out.replace(str(sessions), "").splitlines())
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
    assert "picked on the half of the questions that it is not shown on" in " ".join(out.split())


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
        ((*QUESTION, "--team", "embedded", "--budget", "calls", "0"), "more than 0 calls"),
        ((*QUESTION, "--team", "embedded", "--budget", "tokens", "-1"), "more than 0 tokens"),
        ((*QUESTION, "--team", "embedded", "--budget", "calls", "nan"), "more than 0 calls, and at most 1,000,000,000"),
        ((*QUESTION, "--team", "embedded", "--budget", "tokens", "1e400"), "more than 0 tokens, and at most"),
        ((*QUESTION, "--team", "embedded", "--budget", "cost", "inf"), "more than 0 cost, and at most"),
        ((*QUESTION, "--team", "embedded", "--budget", "tokens", "0.5"), "a whole number of tokens"),
        ((*QUESTION, "--team", "embedded", "--budget", "calls", "many"), "'many' is not a valid float"),
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


class Interrupting(ScriptedProvider):
    """Ctrl+C amid the call of that number."""

    def __init__(self, call: int) -> None:
        super().__init__(varied, delay=0.001)
        self.call = call

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk
            if len(self.calls) == self.call:
                os.kill(os.getpid(), signal.SIGINT)


def test_interrupted_it_leaves_what_is_there_and_ends_with_4(
    jagstorm: Jagstorm, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "_make", lambda name: Interrupting(5))
    code, out, err = jagstorm("compare", *QUESTION, "--team", "embedded", "--repeats", "9", "--at-once", "2")
    assert code == 4
    assert out == ""
    folder = only_folder(sessions)
    assert f"; they are in {folder}" in err
    states = [library.load(each).state() for each in folder.iterdir()]
    assert 1 <= len(states) < 36
    assert {state.ended.how for state in states if state.ended} == {"interrupted"}


@pytest.mark.parametrize("call", [6, 28])
def test_interrupted_it_says_what_all_have_come_to_so_far(
    jagstorm: Jagstorm, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    monkeypatch.setattr(catalog, "_make", lambda name: Interrupting(call))
    words = ("compare", *QUESTION, "--question-id", "honey-isotope-cheat", "--team", "embedded", "--repeats", "9")
    code, out, err = jagstorm(*words, "--budget", "calls", "1", "--at-once", "1", "--json")
    assert code == 4
    found = json.loads(out)
    whole = {6: (1, 1), 28: (2, 3)}[call]
    assert (len(found["questions"]), found["repeats"]) == whole
    assert len(found["runs"]) == whole[0] * whole[1] * 4
    assert found["report"]["teams"][0]["standing"]["chains"] == whole[0] * whole[1]
    assert f"What follows is of {whole[0]} question" in err


def test_two_comparisons_at_once_have_folders_of_their_own(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    for _ in range(3):
        jagstorm("compare", *QUESTION, "--team", "embedded-solo", *BUDGET, "-q")
    assert [len(list(folder.iterdir())) for folder in sessions.iterdir()] == [1, 1, 1]


def test_a_team_that_waits_for_a_person_is_not_compared(jagstorm: Jagstorm, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        """
        [teams.mine]
        strategy = "parallel"
        selector = "me"
        selector_seconds = 5
        members = ["embedded", "embedded"]
        """
    )
    code, _, err = jagstorm("compare", "--config", str(path), *QUESTION, "--team", "mine", *BUDGET)
    assert code == 2
    assert "mine lets a person pick" in err


def test_all_are_judged_alike_and_by_whom_is_said(
    jagstorm: Jagstorm, provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "c.toml").write_text(
        '[models.ada]\nprovider = "ollama"\nmodel = "a"\n[models.bob]\nprovider = "ollama"\nmodel = "b"\n'
        '[teams.one]\nmembers = ["embedded"]\njudges = ["ada"]\n[teams.two]\nmembers = ["embedded"]\njudges = ["bob"]\n'
    )
    provider.script = lambda spec, prompt, seed: "<score>50</score>" if prompt.tag else varied(spec, prompt, seed)
    words = ("compare", "--config", str(tmp_path / "c.toml"), *QUESTION, "--team", "one", "--team", "two", *BUDGET)
    assert "; all judged by ada\n" in jagstorm(*words).err
    assert "; all judged by bob\n" in jagstorm(*words, "--judge", "bob").err
    assert "judged" not in jagstorm(*words, "--judge", "none").err


def test_a_long_name_has_a_line_of_its_own(jagstorm: Jagstorm, provider: ScriptedProvider, tmp_path: Path) -> None:
    name = "a team that somebody gave a very long name"
    (tmp_path / "c.toml").write_text(f'[teams."{name}"]\nmembers = ["embedded", {{ team = "embedded" }}]\n')
    out = jagstorm("compare", "--config", str(tmp_path / "c.toml"), *QUESTION, "--team", name, *BUDGET).out
    table = out.partition("next to its best alone\n")[2].splitlines()
    place = table.index(name)
    assert table[place + 1].split()[1:3] == ["3.0", "1.00"]
    assert {line.index(".") for line in table[:5] if not line.startswith("a ")} == {32}


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
