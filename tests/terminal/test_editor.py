"""An idea in the person's own editor, on a real terminal: the session goes on, and nothing is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.terminal.screen import SCRIPTED, Terminal
from tests.terminal.walks import begin, events, pause, surroundings, wait_ideas


def editor(folder: Path, lines: str) -> str:
    """A script that does `lines` to the file `$1`."""
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o700)
    return f"'{path}'"


@contextmanager
def editing(sessions: Path, command: str) -> Iterator[Terminal]:
    """The app with a few ideas, the first of which is in the editor."""
    with Terminal(SCRIPTED, env=surroundings(sessions, EDITOR=command, VISUAL=None)) as terminal:
        begin(terminal)
        wait_ideas(terminal, 2)
        pause(terminal)
        terminal.send("\x1b[H")
        terminal.send("E")
        yield terminal


def edits(sessions: Path) -> list[str]:
    return [event["new"] for event in events(sessions) if event["type"] == "idea_edited"]


def test_what_the_editor_leaves_is_the_idea(sessions: Path, tmp_path: Path) -> None:
    command = editor(tmp_path, 'stat -c "mode %a" "$1" >> "$1"')
    with editing(sessions, command) as terminal:
        terminal.wait_for("edited")
        terminal.wait_for("Go on")
        [new] = edits(sessions)
        assert "Couple the" in new
        assert new.endswith("\nmode 600"), "nobody else can read it"


def test_the_session_goes_on_and_the_screen_is_the_editors(sessions: Path, tmp_path: Path) -> None:
    command = editor(tmp_path, 'echo "EDITING $(wc -l < "$1")"; read line; echo "$line" > "$1"')
    with Terminal(SCRIPTED, env=surroundings(sessions, EDITOR=command, VISUAL=None)) as terminal:
        begin(terminal)
        wait_ideas(terminal, 1)
        terminal.send("\x1b[HE")
        terminal.wait_for("EDITING 1")

        def added() -> int:
            return sum(event["type"] == "idea_added" for event in events(sessions))

        before = added()
        assert terminal.written_in(1.5) == 0, "nothing is painted over the editor"
        assert added() > before
        terminal.send("Weigh its shadow.\n")
        terminal.wait_for("Weigh its shadow.")
        terminal.wait_until(lambda: edits(sessions) == ["Weigh its shadow."], "the edit")


def test_ctrl_c_in_the_editor_is_the_editors(sessions: Path, tmp_path: Path) -> None:
    command = editor(
        tmp_path, "trap 'echo Interrupted. > \"$1\"; exit 0' INT; echo EDITING; while :; do sleep 0.05; done"
    )
    with editing(sessions, command) as terminal:
        terminal.wait_for("EDITING")
        terminal.send("\x03")
        terminal.wait_for("Interrupted.")
        terminal.wait_until(lambda: edits(sessions) == ["Interrupted."], "the edit")
        assert terminal.process.poll() is None


def test_what_a_failing_editor_leaves_is_not_lost(sessions: Path, tmp_path: Path) -> None:
    command = editor(tmp_path, 'echo "Half an idea" > "$1"; exit 3')
    with editing(sessions, command) as terminal:
        terminal.wait_for("as the editor left it")
        terminal.wait_for("Half an idea")
        terminal.wait_for("exit code 3")
        assert edits(sessions) == []
        terminal.send("\x1bOQ")
        terminal.wait_until(lambda: edits(sessions) == ["Half an idea"], "the edit")


@pytest.mark.parametrize(
    ("command", "said"),
    [("/nowhere/editor", "can't be run"), ("'unclosed", "can't be read as a command"), ("false", "exit code 1")],
)
def test_an_editor_that_cannot_run_says_so(sessions: Path, command: str, said: str) -> None:
    with editing(sessions, command) as terminal:
        terminal.wait_for(said)
        terminal.wait_for("Go on")
        assert edits(sessions) == []
