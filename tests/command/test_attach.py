"""The commands about sessions that run elsewhere: `send`, `stop`, `watch`, `attach`, `fork`, `run --detach`."""

import asyncio
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest

from core import commands as cmd
from core.errors import StoreError
from core.lines import EVENTS_FILE
from core.speaking import Answer
from core.store.log import EventLog, is_locked
from core.store.runner import HOST, RUNNER_FILE, login_name
from tests.command.conftest import Jagstorm
from tests.command.elsewhere import Elsewhere
from tests.conftest import QUESTION, Open, make_plan
from tui import attaching

WHO = login_name(os.getuid())


@pytest.fixture
def running(open_session: Open) -> Iterator[Path]:
    """The folder of a session that runs elsewhere, amid its second idea."""
    with Elsewhere(open_session) as elsewhere:
        yield elsewhere.session.folder


@pytest.fixture
def ended(open_session: Open) -> Path:
    """The folder of a session of three ideas that has ended."""
    session = open_session(make_plan(max_ideas=3))
    asyncio.run(session.run())
    return session.folder


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / EVENTS_FILE).read_text().splitlines()]


# ── send ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "done"),
    [
        (["pin", "1"], {"type": "idea_pinned", "idea": 1, "new": True}),
        (["remove", "1"], {"type": "idea_removed", "idea": 1}),
        (["rate", "1", "5"], {"type": "idea_rated", "idea": 1, "new": 5}),
        (["comment", "1", "so", "what?"], {"type": "idea_commented", "new": "so what?"}),
        (["edit", "1", "Weigh", "it."], {"type": "idea_edited", "new": "Weigh it."}),
        (["add", "Weigh it."], {"type": "idea_added", "text": "Weigh it.", "author": "you"}),
        (["develop", "1"], {"type": "task_given", "task": "develop", "ideas": [1]}),
        (["deny"], {"type": "task_given", "task": "deny", "ideas": [1]}),
        (["deny", "1"], {"type": "task_given", "task": "deny", "ideas": [1]}),
        (["deny", "scales"], {"type": "seed_injected", "seed": {"name": "scales", "lever": "deny"}, "steps": None}),
        (["language", "German"], {"seed": {"name": "German", "lever": "language"}, "steps": None}),
        (["persona", "a", "glazier"], {"seed": {"name": "a glazier", "lever": "persona"}, "steps": None}),
        (["seed", "whales: they sing", "--steps", "3"], {"seed": {"name": "whales", "text": "they sing"}, "steps": 3}),
        (["seed", "QUORUM sensing"], {"seed": {"name": "Quorum sensing", "source": "bank"}, "steps": 1}),
        (["seed", "ice", "--keep", "--style", "mention"], {"seed": {"name": "ice", "style": "mention"}, "steps": None}),
        (["draw", "any", "--field", "chemistry"], {"type": "seed_injected", "seed": {"field": "Chemistry"}}),
        (["seeds", "every:3"], {"type": "seed_policy_set", "new": {"when": "every", "steps": 3}}),
        (["steer", "prefer", "cheap"], {"type": "steer_added", "text": "prefer cheap"}),
        (["pause"], {"type": "paused"}),
        (["pipelining", "off"], {"type": "pipelining_set", "on": False}),
        (["stop"], {"type": "session_ended", "how": "stopped"}),
        (["--json", '{"type":"pin_idea","idea":1}'], {"type": "idea_pinned", "idea": 1}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_said_is_done_and_the_log_says_by_whom(
    jagstorm: Jagstorm, running: Path, words: list[str], done: dict[str, Any]
) -> None:
    before = len(log(running))
    code, out, err = jagstorm("send", "last", *words)
    assert (code, len(out.splitlines()) > 0, err) == (0, True, "")
    event = _wait_for(running, before, done)
    assert WHO in (event.get("by"), event.get("message"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["seed", "ice", "--steps", "1"], "Seed “ice” from step 3 on, for 1 idea"),
        (["language", "German"], "Language “German” from step 3 on"),
        (["rate", "1", "5"], "Idea 1 has 5 of 5"),
        (["add", "Weigh it."], "Idea 2 is added"),
        (["develop", "1"], "Working out idea 1"),
        (["seeds", "each:quorum SENSING"], "Seeds: “Quorum sensing” in every step"),
        (["pipelining", "off"], "Each idea waits for the last one's scores"),
        (["team", "embedded-solo"], "Team embedded-solo goes on from the next step"),
        (["pause"], "Paused"),
        (["stop"], "The session is told to stop"),
        (["unpin", "1"], "Nothing changed: it was so already"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_came_of_it_is_said_as_the_screen_says_it(
    jagstorm: Jagstorm, running: Path, words: list[str], said: str
) -> None:
    code, out, err = jagstorm("send", "last", *words)
    assert (code, out.splitlines()[0], err) == (0, said, "")


def test_a_seed_that_is_drawn_is_named_if_it_has_come_already(jagstorm: Jagstorm, running: Path) -> None:
    code, out, _ = jagstorm("send", "last", "draw")
    assert code == 0
    assert re.fullmatch("A seed is being drawn\n|Seed “.+” from step 3 on, for 1 idea\n", out)


def test_whoever_wants_it_quiet_is_told_only_what_is_wrong(jagstorm: Jagstorm, running: Path) -> None:
    assert jagstorm("send", "-q", "last", "pin", "1") == (0, "", "")
    assert jagstorm("send", "-q", "last", "pin", "7").err == "jagstorm: There is no idea 7: the last is 1\n"


def test_what_is_taken_and_can_not_be_written_is_not_passed_off_as_done(
    jagstorm: Jagstorm, running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(log: EventLog) -> None:
        raise StoreError("The disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(EventLog, "flush", full)
        for words in (["pin", "1"], ["add", "Weigh it."]):
            code, out, err = jagstorm("send", "last", *words)
            assert (code, out, err) == (5, "", "jagstorm: Taken, but not saved: The disk is full\n")
    assert jagstorm("send", "last", "resume").code == 0
    assert {"idea_pinned", "idea_added"} <= {event["type"] for event in log(running)}


def _wait_for(folder: Path, before: int, done: dict[str, Any]) -> dict[str, Any]:
    for _ in range(1000):
        for event in log(folder)[before:]:
            if _holds(event, done):
                return event
        sleep(0.01)
    raise AssertionError(f"no {done} among {log(folder)[before:]}")


def _holds(event: dict[str, Any], part: dict[str, Any]) -> bool:
    """Whether all of `part` is in `event`; what an event leaves out has no value."""
    return all(
        _holds(event.get(key, {}), value) if isinstance(value, dict) else event.get(key) == value
        for key, value in part.items()
    )


def test_what_was_said_last_can_be_undone_and_withdrawn(jagstorm: Jagstorm, running: Path) -> None:
    for words in (["pin", "1"], ["undo"], ["pin", "1"], ["unpin", "1"], ["steer", "Cheap"], ["withdraw", "g1"]):
        assert jagstorm("send", "last", *words).code == 0
    assert jagstorm("send", "last", "remove", "1").code == 0
    assert jagstorm("send", "last", "restore", "1").code == 0
    assert jagstorm("send", "last", "seed", "ice").code == 0
    assert jagstorm("send", "last", "withdraw", "s1").code == 0
    said = [event["type"] for event in log(running) if event.get("by") == WHO]
    assert said == [
        *["idea_pinned"] * 4,
        "steer_added",
        "steer_withdrawn",
        "idea_removed",
        "idea_restored",
        "seed_injected",
        "seed_withdrawn",
    ]


def test_several_ideas_are_merged(jagstorm: Jagstorm, running: Path) -> None:
    assert jagstorm("send", "last", "add", "Weigh it from below.").code == 0
    assert jagstorm("send", "last", "merge", "2", "1").code == 0
    assert [event["ideas"] for event in log(running) if event["type"] == "task_given"] == [[2, 1]]


@pytest.mark.parametrize(("words", "picks"), [(["2"], (2,)), (["1", "3"], (1, 3)), (["none"], ())])
def test_a_pick_is_one_or_two_or_none(
    jagstorm: Jagstorm, running: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], picks: tuple[int, ...]
) -> None:
    said: list[cmd.AnyCommand] = []

    def heard(folder: Path, command: cmd.AnyCommand) -> Answer:
        said.append(command)
        return Answer(ok=True)

    monkeypatch.setattr(attaching, "tell", heard)
    assert jagstorm("send", "last", "choose", *words).code == 0
    assert said == [cmd.Choose(picks=picks, by=WHO)]


def test_a_text_can_come_from_standard_input(
    jagstorm: Jagstorm, running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Weigh it\nfrom below.\n"))
    assert jagstorm("send", "last", "add", "-").code == 0
    assert [event["text"] for event in log(running) if event["type"] == "idea_added"][-1] == "Weigh it\nfrom below."


def test_another_team_goes_on(jagstorm: Jagstorm, running: Path) -> None:
    assert jagstorm("send", "last", "team", "embedded-solo").code == 0
    assert jagstorm("send", "last", "team", "embeded-solo").code == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["pin", "7"], "There is no idea 7: the last is 1"),
        (["withdraw", "s3"], "There is no seed 's3': there is none yet"),
        (["withdraw", "g3"], "There is no instruction 'g3': there is none yet"),
        (["choose", "1"], "There is nothing to pick from now"),
        (["choose", "none"], "There is nothing to pick from now"),
        (["choose", "1", "2", "3"], "Pick by number from 1: one, as in 2, two, as in 1 3, or none"),
        (["choose", "first"], "Pick by number"),
        (["undo"], "There is nothing to undo"),
        (["merge", "1"], "2 to 10 ideas can be merged"),
        (["merge", "1", "1"], "Two different ideas are needed"),
        (["rate", "1", "6"], "6 is not in the range 0<=x<=5"),
        (["pin", "0"], "0 is not in the range"),
        (["pin", "one"], "'one' is not a valid integer"),
        (["pin"], "Missing argument 'IDEA'"),
        (["add", "  "], "An idea needs some words"),
        (["choose", "0"], "Pick by number from 1"),
        (["language", ""], "A language needs some words"),
        (["persona", "x" * 3000], "A persona can have 500 characters, not 3,000"),
        (["team", ""], "A team is named: `jagstorm teams` lists them"),
        (["seed", ":"], "A seed needs some words before the colon"),
        (["seed", ": they sing"], "A seed needs some words before the colon"),
        (["seeds", "each:quorum sensng"], "There is no seed 'quorum sensng'; the nearest: Quorum sensing"),
        (["draw", "--field", "cooking"], "There is no field 'cooking'"),
        (["seeds", "sometimes"], "off, hand, every:N"),
        (["pinn", "1"], "No command 'pinn': did you mean pin?"),
        (["\x1b[31mhello"], "No command '[31mhello': there are --json, add, "),
        (["--json", '{"type":"launch"}'], "This is no command: Invalid value 'launch'"),
        (["--json", '{"type":"follow"}'], "This is no command"),
        (["--json", "{"], "This is no command"),
        ([], "Missing command"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_what_can_t_be_done_is_said_in_a_line(jagstorm: Jagstorm, running: Path, words: list[str], why: str) -> None:
    before = log(running)
    code, out, err = jagstorm("send", "last", *words)
    assert (code, out) == (2, "")
    assert why in err
    assert log(running) == before


def test_ideas_of_a_session_that_nobody_runs_can_be_marked(jagstorm: Jagstorm, ended: Path) -> None:
    assert jagstorm("send", "last", "rate", "2", "4") == (0, "Idea 2 has 4 of 5\n", "")
    rated = log(ended)[-1]
    assert (rated["type"], rated["idea"], rated["new"], rated["by"]) == ("idea_rated", 2, 4, WHO)
    assert jagstorm("send", "last", "rate", "2", "4") == (0, "Nothing changed: it was so already\n", "")
    assert jagstorm("send", "last", "undo") == (0, "Undone: idea 2 has no rating\n", "")
    code, _, err = jagstorm("send", "last", "pause")
    assert (code, err) == (2, "jagstorm: The session has ended: its ideas can be marked; for more, resume it first\n")


def test_a_session_on_another_machine_is_named(jagstorm: Jagstorm, running: Path) -> None:
    note = running / RUNNER_FILE
    ours = note.read_text()
    note.write_text(ours.replace(f'"{HOST}"', '"gpu07"'))
    code, _, err = jagstorm("send", "last", "pause")
    assert code == 2
    assert err.startswith("jagstorm: It runs on gpu07: log in there")
    note.write_text(ours)


def test_help_names_every_command_before_and_after_the_session(jagstorm: Jagstorm, ended: Path) -> None:
    first, second = jagstorm("send", "--help"), jagstorm("send", "last", "-h")
    assert first.code == second.code == 0
    for name in ("pin", "merge", "steer", "choose", "--json", "undo"):
        assert f"\n  {name} " in first.out
        assert f"\n  {name} " in second.out
    assert "Give an idea 1 to 5" in jagstorm("send", "last", "rate", "--help").out


# ── stop ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_stop_comes_back_when_the_session_has_ended(jagstorm: Jagstorm, running: Path) -> None:
    code, out, _ = jagstorm("stop", "last")
    assert code == 0
    assert out == f"{running.name} has ended. Go on with: jagstorm resume {running.name}\n"
    assert not is_locked(running)
    assert log(running)[-1]["how"] == "stopped"


def test_stopping_what_has_ended_says_so(jagstorm: Jagstorm, ended: Path) -> None:
    assert jagstorm("stop", "last") == (0, f"{ended.name} has ended.\n", "")


def test_stopping_what_was_killed_says_how_to_go_on(jagstorm: Jagstorm, ended: Path) -> None:
    path = ended / EVENTS_FILE
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    code, out, _ = jagstorm("stop", "last")
    assert (code, out) == (0, f"{ended.name} was interrupted. Go on with: jagstorm resume {ended.name}\n")


def test_a_session_that_takes_too_long_to_end(
    jagstorm: Jagstorm, running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Event()
    close = EventLog.close

    def slowly(log: EventLog) -> None:
        held.wait(20)
        close(log)

    monkeypatch.setattr(EventLog, "close", slowly)
    code, _, err = jagstorm("stop", "last", "--timeout", "0.1")
    held.set()
    assert code == 1
    assert err == f"jagstorm: {running.name} was told to stop and is still ending after 0.1 seconds\n"


# ── watch, attach, fork ───────────────────────────────────────────────────────────────────────────────────────────────


def test_watching_what_has_ended_prints_all_of_it(jagstorm: Jagstorm, ended: Path) -> None:
    code, out, _ = jagstorm("watch", "last", "--json")
    assert (code, out) == (0, (ended / EVENTS_FILE).read_text())


def test_watching_what_runs_prints_it_to_its_end(jagstorm: Jagstorm, open_session: Open) -> None:
    with Elsewhere(open_session) as elsewhere:
        elsewhere.end_in(0.3)
        code, out, _ = jagstorm("watch", "last", "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["type"] == "session_ended"
    assert out == (elsewhere.session.folder / EVENTS_FILE).read_text()


def test_the_screens_need_a_terminal(jagstorm: Jagstorm, running: Path) -> None:
    for command in ("attach", "watch"):
        code, _, err = jagstorm(command, "last")
        assert (code, len(err.splitlines())) == (2, 1)
        assert "needs a terminal" in err


def test_attaching_to_what_nobody_runs_says_what_to_do(jagstorm: Jagstorm, ended: Path) -> None:
    code, _, err = jagstorm("attach", "last")
    assert code == 2
    assert err == f"jagstorm: {ended.name} has ended: look at it with `jagstorm watch`, `show` or `replay`\n"


def test_a_fork_is_named_with_how_to_go_on(jagstorm: Jagstorm, ended: Path, sessions: Path) -> None:
    code, out, _ = jagstorm("fork", ended.name, "2")
    [forked] = [folder for folder in sessions.iterdir() if folder != ended]
    assert code == 0
    assert out == f"{forked.name} shares the past up to idea 2. Go on with: jagstorm resume {forked.name}\n"
    assert json.loads(jagstorm("fork", ended.name, "1", "--json").out).keys() == {"id", "folder"}
    code, _, err = jagstorm("fork", ended.name, "9")
    assert (code, err) == (2, "jagstorm: There is no idea 9 to fork at: `jagstorm show` lists them\n")


def test_a_fork_may_name_the_question(jagstorm: Jagstorm, ended: Path) -> None:
    assert jagstorm("fork", ended.name, "1", "--question-id", QUESTION.id).code == 0
    code, out, err = jagstorm("fork", ended.name, "1", "--question-id", "ice")
    assert (code, out) == (2, "")
    assert err == f"jagstorm: There is no question 'ice' in this session: there are {QUESTION.id}\n"


def test_what_is_said_of_an_idea_may_name_the_question(jagstorm: Jagstorm, ended: Path) -> None:
    assert jagstorm("send", "last", "pin", "1", "--question-id", QUESTION.id) == (0, "Idea 1 is pinned\n", "")
    assert jagstorm("send", "last", "comment", "1", "Good", "--question-id", QUESTION.id).code == 0
    assert [event["type"] for event in log(ended)[-2:]] == ["idea_pinned", "idea_commented"]
    before = log(ended)
    for words in (["pin", "1"], ["rate", "1", "3"], ["edit", "1", "New"], ["remove", "2"]):
        code, _, err = jagstorm("send", "last", *words, "--question-id", "ice")
        assert (code, err) == (2, "jagstorm: There is no question 'ice' in this session\n")
    assert log(ended) == before


def test_the_list_tells_running_from_ended(jagstorm: Jagstorm, running: Path) -> None:
    assert f"{running.name}  running" in jagstorm("sessions").out
    assert json.loads(jagstorm("sessions", "--json").out)["status"] == "running"
