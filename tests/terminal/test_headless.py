"""The command without a terminal: what it refuses, how it ends on a signal, what it never imports."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.terminal.foreign import record_foreign
from tests.terminal.screen import BIN, JAGSTORM, PATIENCE, ROOT, SCRIPTED
from tests.terminal.walks import QUESTION, events, is_closed_by_person, the_session

HEAVY = ("textual", "plotext", "openai", "anthropic", "boto3", "ollama", "xllamacpp", "wordllama")
NUMERIC = ("numpy", "scipy")


@contextmanager
def headless(sessions: Path, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A scripted run in a process of its own, which does not outlive the test."""
    process = subprocess.Popen(
        [*SCRIPTED, *words, "--sessions", str(sessions)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAGSTORM_SCRIPT": "varied:0.01"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def log_holds(sessions: Path, word: str) -> bool:
    return any(word in path.read_text() for path in sessions.glob("*/events.jsonl"))


def wait_for_event(sessions: Path, name: str) -> None:
    end = monotonic() + PATIENCE
    while not log_holds(sessions, f'"{name}"'):
        assert monotonic() < end, f"no {name} within {PATIENCE} s"
        sleep(0.005)


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGTERM, "session_started"),
        (signal.SIGTERM, "idea_added"),
        (signal.SIGHUP, "proposal_started"),
        (signal.SIGHUP, "idea_added"),
        (signal.SIGINT, "session_started"),
        (signal.SIGINT, "idea_scored"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_signal_closes_the_session_and_the_run_can_be_taken_up(
    sessions: Path, number: signal.Signals, moment: str
) -> None:
    with headless(sessions, "run", "--question", QUESTION) as process:
        wait_for_event(sessions, moment)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4
    name = the_session(sessions).name
    assert f"Go on with: jagstorm resume {name} --sessions {sessions}" in said
    assert "Traceback" not in said
    assert events(sessions)[-1]["type"] == "session_ended"
    assert events(sessions)[-1]["how"] == "interrupted"
    if number is signal.SIGTERM:
        ideas = count_ideas(sessions)
        assert resume(sessions, name, ideas + 2) == 0
        assert count_ideas(sessions) == ideas + 2


def test_a_signal_while_ideas_are_written_is_a_person_s_end(sessions: Path) -> None:
    with headless(sessions, "run", "--question", QUESTION) as process:
        wait_for_event(sessions, "idea_added")
        process.terminate()
        process.communicate(timeout=PATIENCE)
    assert is_closed_by_person(sessions)


@pytest.mark.parametrize("delay", [0.2, 0.4, 0.6])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_at_any_moment_leaves_no_traceback_and_no_open_session(
    sessions: Path, number: signal.Signals, delay: float
) -> None:
    with headless(sessions, "run", "--question", QUESTION) as process:
        sleep(delay)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    started = log_holds(sessions, "session_started")
    assert process.returncode == 4 or (not started and process.returncode == -number)
    if started:
        assert "Traceback" not in said
        assert log_holds(sessions, '"session_ended"')


def resume(sessions: Path, name: str, cap: int) -> int:
    with headless(sessions, "resume", name, "--headless", "--max-ideas", str(cap)) as process:
        process.communicate(timeout=PATIENCE)
    return process.returncode


def count_ideas(sessions: Path) -> int:
    return sum(event["type"] == "idea_added" for event in events(sessions))


@pytest.mark.parametrize("words", [[], ["replay", "odd"], ["resume", "odd"]], ids=["app", "replay", "resume"])
def test_the_app_without_a_terminal_is_refused_in_one_line(sessions: Path, words: list[str]) -> None:
    record_foreign(sessions / "odd")
    done = subprocess.run(
        [JAGSTORM, "--sessions", str(sessions), *words], input="", capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "terminal" in done.stderr
    assert done.stdout == ""


LISTS = """
import json, sys
from tui.cli import cli
try:
    cli.main({words!r}, standalone_mode=False)
finally:
    print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
"""


def imported_by(*words: str) -> set[str]:
    """The top-level packages that a command has imported by its end."""
    done = subprocess.run(
        [str(BIN / "python"), "-c", LISTS.format(words=list(words))],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["run", "--help"],
        ["questions", "--search", "gravity"],
        ["sessions"],
        ["show", "odd"],
    ],
    ids=" ".join,
)
def test_help_and_lists_import_nothing_heavy(sessions: Path, words: list[str]) -> None:
    record_foreign(sessions / "odd")
    assert not imported_by("--sessions", str(sessions), *words) & {*HEAVY, *NUMERIC}


def test_a_headless_run_imports_no_screen(sessions: Path) -> None:
    """The embedded model and its embedder are what it is for; Textual and other SDKs are not."""
    script = f"""
import json, sys
from tests.terminal import scripted_app
sys.argv = ["jagstorm", "run", "--question", {QUESTION!r}, "--max-ideas", "1", "--sessions", {str(sessions)!r}]
try:
    scripted_app.main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    assert not loaded & {"textual", "plotext", "openai", "anthropic", "boto3", "ollama", "xllamacpp"}
