"""The whole way of a person, on the embedded model as it is: setup, live, stop, replay, quit."""

import re
from pathlib import Path

import pytest

from tests.terminal.screen import JAGSTORM, Terminal
from tests.terminal.walks import (
    AT_SETUP,
    events,
    ideas_shown,
    is_closed_by_person,
    is_restored,
    pause,
    surroundings,
    the_session,
    wait_ideas,
)

CTRL_Q = "\x11"
OWN_IDEA = "Hang a thousand pendulums from a bridge and listen."


@pytest.mark.parametrize(("columns", "rows"), [(120, 40), (80, 24)], ids=["120x40", "80x24"])
def test_from_a_question_to_ideas_to_a_replay_and_out(sessions: Path, columns: int, rows: int) -> None:
    with Terminal([JAGSTORM], columns, rows, env=surroundings(sessions)) as terminal:
        choose_a_question(terminal)
        wait_ideas(terminal, 2)
        pause_and_add_an_idea(terminal)
        if columns == 120:
            look_at_an_idea(terminal)
        stop(terminal)
        assert is_closed_by_person(sessions)
        counted = ideas_shown(terminal)
        assert counted == sum(event["type"] == "idea_added" for event in events(sessions))
        assert terminal.written_in(1) == 0
        terminal.send("R")
        terminal.wait_for("replay, ")
        if columns == 120:
            walk_through_the_replay(terminal, counted)
        leave(terminal, sessions, "q" if columns == 120 else CTRL_Q)


def choose_a_question(terminal: Terminal) -> None:
    terminal.wait_for(AT_SETUP)
    terminal.settle()
    terminal.send("/")
    terminal.settle()
    terminal.send("neutrino")
    terminal.wait_gone("Nanoscience")
    terminal.settle()
    terminal.send("\r")
    terminal.wait_for(AT_SETUP)
    terminal.settle()
    terminal.send("\r")
    terminal.wait_for("Pause")


def pause_and_add_an_idea(terminal: Terminal) -> None:
    pause(terminal)
    before = ideas_shown(terminal)
    terminal.send("a")
    terminal.wait_for("Your idea")
    terminal.send(f"{OWN_IDEA}\r")
    terminal.wait_gone("Your idea")
    wait_ideas(terminal, before + 1)
    terminal.wait_for("Hang a thousand")


def look_at_an_idea(terminal: Terminal) -> None:
    """The newest, one's own, in full."""
    terminal.send("\r")
    terminal.wait_for("Idea ")
    terminal.wait_for(OWN_IDEA)
    terminal.wait_for("novelty")
    terminal.send("\x1b")
    terminal.wait_gone("Esc close")


def stop(terminal: Terminal) -> None:
    terminal.send(" ")
    terminal.wait_gone("paused")
    terminal.send("q")
    terminal.wait_for("stopped")
    terminal.settle()


def walk_through_the_replay(terminal: Terminal, ideas: int) -> None:
    """Fast to the end, back to the start, one event on, to an idea, back a little."""
    terminal.send("]" * 7)
    terminal.wait_for("at the end")
    assert ideas_shown(terminal) == ideas
    terminal.send("0")
    terminal.wait_until(lambda: ideas_shown(terminal) == 0, "the start")
    terminal.wait_for("held")
    terminal.send(".")
    terminal.wait_for("held")
    terminal.send("g")
    terminal.wait_for("Which idea?")
    terminal.send("2\r")
    terminal.wait_until(lambda: ideas_shown(terminal) == 2, "idea 2")
    terminal.send("\x1b[D")
    terminal.wait_until(lambda: ideas_shown(terminal) < 2, "five seconds back")
    terminal.send(" ")
    terminal.wait_for("at the end")


def leave(terminal: Terminal, sessions: Path, key: str) -> None:
    """Back from the replay to the live screen; from there at once, or by way of setup."""
    terminal.send("q")
    terminal.wait_for("stopped")
    if key == "q":
        terminal.send("q")
        terminal.wait_for(AT_SETUP)
        terminal.settle()
    terminal.send(key)
    assert terminal.wait_exit() == 0
    assert is_restored(terminal)
    said = terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()
    assert re.search(rf"Saved in \S*{the_session(sessions).name}", said)
    assert f"jagstorm resume {the_session(sessions).name}" in said
