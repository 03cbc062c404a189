"""A line that drops: the session runs on without its terminal, and can be seen and told from another."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.terminal.screen import PATIENCE, ROOT, SCRIPTED, Terminal, alive, end
from tests.terminal.walks import (
    QUESTION,
    begin,
    events,
    is_closed_by_person,
    is_restored,
    surroundings,
    the_session,
    wait_ideas,
)

SIZE = (100, 30)

SLOW = "long:0.01:300"
"""An idea takes three seconds: time enough for a line to drop amid it."""


def until(it_is_so: Callable[[], object], what: str) -> None:
    deadline = monotonic() + PATIENCE
    while not it_is_so():
        assert monotonic() < deadline, f"Waited {PATIENCE:g} s for {what}"
        sleep(0.02)


def jagstorm(sessions: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command in a process without a terminal."""
    env = {**os.environ, "JAGSTORM_SESSIONS": str(sessions)}
    return subprocess.run([*SCRIPTED, *words], capture_output=True, text=True, check=False, cwd=ROOT, env=env)


def runner(sessions: Path) -> dict[str, Any]:
    note: dict[str, Any] = json.loads((the_session(sessions) / "runner.json").read_text())
    return note


@pytest.fixture(autouse=True)
def _nothing_is_left(sessions: Path) -> Iterator[None]:
    """What runs on without a terminal ends with the test."""
    yield
    for note in sessions.glob("*/runner.json"):
        end(json.loads(note.read_text())["pid"])


def of(sessions: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in events(sessions) if event["type"] == kind]


@contextmanager
def live(sessions: Path, script: str = SLOW, *words: str) -> Iterator[Terminal]:
    """The app, amid the first idea of a session."""
    with Terminal([*SCRIPTED, *words], *SIZE, env=surroundings(sessions, JAGSTORM_SCRIPT=script)) as terminal:
        begin(terminal)
        terminal.wait_for("writing")
        yield terminal


def attached(sessions: Path, command: str = "attach") -> Terminal:
    name = the_session(sessions).name
    return Terminal([*SCRIPTED, command, name], *SIZE, env=surroundings(sessions))


def assert_nothing_was_lost(sessions: Path) -> None:
    """The idea that was under way when the line dropped is finished, by the very call that had begun it."""
    first = [event["type"] for event in events(sessions) if event.get("step") == 1]
    assert first == ["step_started", "proposal_started", "proposal_finished", "idea_added"]
    assert of(sessions, "proposal_failed") == []


# ── the app without its terminal ──────────────────────────────────────────────────────────────────────────────────────


def test_ctrl_d_gives_the_terminal_back_and_leaves_the_session_running(sessions: Path) -> None:
    with live(sessions) as terminal:
        app = terminal.child
        terminal.send("\x04")
        assert terminal.wait_exit() == 0
        assert is_restored(terminal)
        said = terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()
        assert f"jagstorm attach {the_session(sessions).name}" in said
        assert of(sessions, "idea_added") == []
        note = runner(sessions)
        assert (note["pid"], note["detached"]) == (app, True)
        assert os.getsid(app) == app
        until(lambda: of(sessions, "idea_added"), "the idea that was under way")
        assert_nothing_was_lost(sessions)
        assert "  detached\n" in jagstorm(sessions, "sessions").stdout
        done = jagstorm(sessions, "stop", "last")
        assert done.returncode == 0
        assert f"Go on with: jagstorm resume {the_session(sessions).name}" in done.stdout
        until(lambda: not alive(app), "its end")
        assert {path.name for path in the_session(sessions).iterdir()} == {
            ".lock",
            "detached.log",
            "events.jsonl",
            "session.toml",
        }
        assert (the_session(sessions) / "detached.log").read_text() == ""


def test_a_window_closed_amid_an_idea_and_the_idea_is_there_when_somebody_attaches(sessions: Path) -> None:
    with live(sessions) as terminal:
        app = terminal.child
        terminal.hang_up()
        assert terminal.wait_exit() == 0
        assert of(sessions, "idea_added") == []
        assert alive(app)
        with attached(sessions) as later:
            wait_ideas(later, 1)
            assert_nothing_was_lost(sessions)
            later.wait_for("attached")
            later.send("q")
            later.wait_for("earch the questions")
            later.send("q")
            assert later.wait_exit() == 0
            assert is_restored(later)
        assert alive(app)
        assert of(sessions, "session_ended") == []


def test_a_shell_s_job_goes_on_when_its_window_is_closed(sessions: Path) -> None:
    """The kernel hangs up and wakes the whole job."""
    shell = ["bash", "--norc", "-i", "-c", f"set -m; {' '.join(SCRIPTED)}; true"]
    with Terminal(shell, *SIZE, env=surroundings(sessions, JAGSTORM_SCRIPT=SLOW)) as terminal:
        begin(terminal)
        terminal.wait_for("writing")
        terminal.hang_up()
        until(lambda: runner(sessions)["detached"], "the session to be detached")
        until(lambda: of(sessions, "idea_added"), "the idea that was under way")
        assert_nothing_was_lost(sessions)


def test_a_command_that_is_killed_leaves_its_session_running_and_the_terminal_usable(sessions: Path) -> None:
    with live(sessions) as terminal:
        app = terminal.child
        os.kill(terminal.process.pid, signal.SIGKILL)
        until(lambda: runner(sessions)["detached"], "the session to be detached")
        terminal.pump(0.2)
        assert is_restored(terminal)
        until(lambda: of(sessions, "idea_added"), "the idea that was under way")
        assert alive(app)
        assert_nothing_was_lost(sessions)


def test_a_terminal_that_takes_nothing_does_not_hold_the_session_up(sessions: Path) -> None:
    """As when a laptop is closed: nobody hangs up, and nobody reads."""
    with Terminal(SCRIPTED, *SIZE, env=surroundings(sessions, JAGSTORM_SCRIPT="varied:0.002")) as terminal:
        begin(terminal)
        wait_ideas(terminal, 1)
        full = len(of(sessions, "idea_added"))
        until(lambda: len(of(sessions, "idea_added")) >= full + 60, "ideas that nobody sees")
        assert jagstorm(sessions, "send", "last", "pause").returncode == 0
        until(lambda: of(sessions, "paused"), "the pause")
        terminal.wait_for("paused")
        terminal.wait_for(f"idea {len(of(sessions, 'idea_added'))} ·")


def test_the_config_can_say_that_a_lost_terminal_stops_the_session(sessions: Path, tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('lost_terminal = "stop"\n')
    with live(sessions, SLOW, "--config", str(config)) as terminal:
        app = terminal.child
        terminal.hang_up()
        assert terminal.wait_exit() == 4
        assert not alive(app)
        assert is_closed_by_person(sessions)


# ── a run without a screen ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_detached_run_comes_back_when_it_has_begun_and_outlives_its_terminal(sessions: Path) -> None:
    env = surroundings(sessions, JAGSTORM_SCRIPT=SLOW)
    with Terminal([*SCRIPTED, "run", "--question", QUESTION, "--max-ideas", "1", "--detach"], env=env) as terminal:
        assert terminal.wait_exit() == 0
        name = the_session(sessions).name
        assert f"jagstorm attach {name}" in terminal.raw.decode().replace("\r\n", "")
        assert of(sessions, "proposal_started")
        terminal.hang_up()
    note = runner(sessions)
    assert note["detached"]
    assert os.getsid(note["pid"]) == note["pid"]
    until(lambda: of(sessions, "session_ended"), "its end")
    assert of(sessions, "session_ended")[0]["how"] == "finished"
    assert_nothing_was_lost(sessions)


def test_a_run_whose_terminal_hangs_up_runs_on(sessions: Path) -> None:
    env = surroundings(sessions, JAGSTORM_SCRIPT=SLOW)
    with Terminal([*SCRIPTED, "run", "--question", QUESTION, "--max-ideas", "1"], env=env) as terminal:
        terminal.wait_for(QUESTION)
        until(lambda: of(sessions, "proposal_started"), "the first idea")
        terminal.hang_up()
        until(lambda: of(sessions, "session_ended"), "its end")
        assert of(sessions, "session_ended")[0]["how"] == "finished"
        assert_nothing_was_lost(sessions)
        assert terminal.process.wait(PATIENCE) == 0
        assert "of 1 ideas pass" in (the_session(sessions) / "detached.log").read_text()


def test_a_run_that_is_to_ignore_a_hang_up_ignores_it(sessions: Path) -> None:
    """As under nohup."""
    env = {**os.environ, "JAGSTORM_SCRIPT": SLOW, "JAGSTORM_SESSIONS": str(sessions)}
    command = ["nohup", *SCRIPTED, "run", "--question", QUESTION, "--max-ideas", "1"]
    with subprocess.Popen(command, env=env, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        until(lambda: any("proposal_started" in log.read_text() for log in sessions.glob("*/*.jsonl")), "an idea")
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert of(sessions, "session_ended")[0]["how"] == "finished"


# ── several who look ──────────────────────────────────────────────────────────────────────────────────────────────────


FOLLOW = """
import asyncio, sys
from pathlib import Path
from core import commands as cmd
from core.attached import Attached

async def main():
    feed = Attached(Path(sys.argv[1]))
    run = asyncio.create_task(feed.run())
    while not feed.connected:
        await asyncio.sleep(0.01)
    feed.send(cmd.AddSteer(text=sys.argv[2]))
    feed.subscribe(lambda event: print(type(event).__name__, flush=True))
    await run

asyncio.run(main())
"""


@contextmanager
def follower(sessions: Path, text: str) -> Iterator["subprocess.Popen[str]"]:
    """A program that is attached, has said something, and prints what happens."""
    command = [sys.executable, "-c", FOLLOW, str(the_session(sessions)), text]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def detached(sessions: Path, script: str = "varied:0.02") -> int:
    """A session that runs without a terminal. Returns its process."""
    env = {**os.environ, "JAGSTORM_SESSIONS": str(sessions), "JAGSTORM_SCRIPT": script}
    command = [*SCRIPTED, "run", "--question", QUESTION, "--detach"]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=env)
    pid = runner(sessions)["pid"]
    assert isinstance(pid, int)
    return pid


def test_those_who_are_attached_may_be_killed_one_by_one_and_the_session_goes_on(sessions: Path) -> None:
    pid = detached(sessions)
    with (
        follower(sessions, "From a program") as program,
        attached(sessions) as screen,
        attached(sessions) as other,
    ):
        wait_ideas(screen, 1)
        screen.send("p")
        until(lambda: of(sessions, "idea_pinned"), "the pin")
        until(lambda: of(sessions, "steer_added"), "the instruction")
        assert {event["by"] for event in of(sessions, "idea_pinned") + of(sessions, "steer_added")} == {
            runner(sessions)["login"]
        }
        assert program.stdout is not None
        assert program.stdout.readline()
        program.kill()
        program.wait()
        for killed in (other, screen):
            wait_ideas(killed, len(of(sessions, "idea_added")) + 2)
            os.kill(killed.child, signal.SIGKILL)
            assert killed.wait_exit() == 4
            assert is_restored(killed)
            assert "jagstorm attach" in killed.text, "it says how to come back"
        before = len(of(sessions, "idea_added"))
        until(lambda: len(of(sessions, "idea_added")) > before + 1, "more ideas")
    assert alive(pid)
    assert of(sessions, "session_ended") == []
    assert jagstorm(sessions, "stop", "last").returncode == 0


def test_a_runner_that_is_killed_is_said_to_be_and_offered_for_resume(sessions: Path) -> None:
    pid = detached(sessions)
    with attached(sessions) as screen:
        wait_ideas(screen, 2)
        os.kill(pid, signal.SIGKILL)
        screen.wait_for("The session was interrupted")
        ideas = len(of(sessions, "idea_added"))
        assert "  interrupted" in jagstorm(sessions, "sessions").stdout
        again = jagstorm(sessions, "attach", "last")
        assert again.returncode == 2
        assert f"was interrupted, and nobody runs it now. Go on with: jagstorm resume {the_session(sessions).name}" in (
            again.stderr
        )
        screen.send("\r")
        screen.wait_gone("The session was interrupted")
        screen.wait_for("r resume")
        screen.send("r")
        wait_ideas(screen, ideas + 1)
        assert runner(sessions)["pid"] == screen.child
        assert not runner(sessions)["detached"]
        screen.send("\x11")
        assert screen.wait_exit() == 4
    assert is_closed_by_person(sessions)


def test_one_who_watches_sees_it_all_and_can_do_nothing(sessions: Path) -> None:
    detached(sessions)
    with attached(sessions, "watch") as screen:
        wait_ideas(screen, 2)
        screen.wait_for("you only watch")
        before = len(of(sessions, "idea_added"))
        screen.send("p *3 d x S")
        wait_ideas(screen, before + 2)
        assert not {event["type"] for event in events(sessions)} & {"idea_pinned", "idea_removed", "paused"}
        assert of(sessions, "session_ended") == []
        assert jagstorm(sessions, "stop", "last").returncode == 0
        screen.wait_for("stopped")


def test_a_session_that_is_detached_is_opened_from_the_list(sessions: Path) -> None:
    detached(sessions)
    with Terminal(SCRIPTED, *SIZE, env=surroundings(sessions)) as terminal:
        terminal.wait_for("earch the questions")
        terminal.send("\x1bOR")
        terminal.wait_for("detached")
        terminal.send("\r")
        terminal.wait_for("attached")
        terminal.send("S")
        terminal.wait_for("stopped")
        terminal.send("q")
        terminal.wait_for("interrupted, person")
        assert is_closed_by_person(sessions)
