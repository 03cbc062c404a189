"""Terminals as they come: odd bytes, small windows, few colours."""

import re
from pathlib import Path

import pytest

from tests.terminal.screen import JAGSTORM, SCRIPTED, Terminal
from tests.terminal.walks import AT_SETUP, begin, surroundings, wait_ideas

DIALOG = "our own question"
"""What `n` opens at setup."""

COLOUR = re.compile(rb"\x1b\[[0-9;]*[34]8;[25];")
"""A colour beyond the first sixteen."""


@pytest.mark.parametrize(
    "odd",
    [b"\xff\xfe\x80", b"\x1b[M\x43\xe1\xf0", b"\xc3", b"\x1b[<35;300;9", b"\x00"],
    ids=["no UTF-8", "X10 mouse", "half a letter", "half a mouse move", "NUL"],
)
def test_odd_bytes_leave_the_app_alive(sessions: Path, odd: bytes) -> None:
    with Terminal([JAGSTORM], env=surroundings(sessions)) as terminal:
        terminal.wait_for(AT_SETUP)
        terminal.send(odd)
        terminal.settle()
        # What came before may have been the start of an escape sequence: a first key ends it.
        terminal.send("x")
        terminal.settle()
        terminal.send("n")
        terminal.wait_for(DIALOG)
        terminal.send("\x11")
        assert terminal.wait_exit() == 0


def test_a_window_that_is_too_small_says_so_until_it_is_enlarged(sessions: Path) -> None:
    with Terminal([JAGSTORM], 40, 10, env=surroundings(sessions)) as terminal:
        terminal.wait_for("Too small")
        terminal.resize(80, 24)
        terminal.wait_for(AT_SETUP)
        terminal.wait_gone("Too small")
        terminal.resize(40, 10)
        terminal.wait_for("Too small")
        terminal.resize(120, 40)
        terminal.wait_gone("Too small")
        terminal.send("q")
        assert terminal.wait_exit() == 0


def test_a_window_made_small_while_ideas_are_written_loses_nothing(sessions: Path) -> None:
    with Terminal(SCRIPTED, env=surroundings(sessions)) as terminal:
        begin(terminal)
        wait_ideas(terminal, 1)
        terminal.resize(40, 10)
        terminal.wait_for("Too small")
        terminal.resize(100, 30)
        terminal.wait_for("Pause")
        wait_ideas(terminal, 3)


@pytest.mark.parametrize("term", ["xterm", "screen", "linux", "dumb"])
def test_any_kind_of_terminal_will_do(sessions: Path, term: str) -> None:
    with Terminal([JAGSTORM], env=surroundings(sessions, TERM=term, COLORTERM=None)) as terminal:
        terminal.wait_for(AT_SETUP)
        terminal.send("n")
        terminal.wait_for(DIALOG)
        terminal.send("\x1b")
        terminal.wait_gone(DIALOG)
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert not COLOUR.search(terminal.raw)


def test_no_color_is_honoured(sessions: Path) -> None:
    with Terminal(SCRIPTED, env=surroundings(sessions, NO_COLOR="1")) as terminal:
        begin(terminal)
        wait_ideas(terminal, 2)
        greys = re.compile(rb"(\d+);\1;\1")
        colours = set(re.findall(rb"\x1b\[(?:[0-9;]*;)?[34]8;2;(\d+;\d+;\d+)", terminal.raw))
        assert all(greys.fullmatch(colour) for colour in colours)
