"""Every way to leave: keys, signals, a closed window, a crash."""

import os
import shlex
import signal
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.terminal.screen import JAGSTORM, SCRIPTED, Terminal, alive, children, end
from tests.terminal.walks import (
    AT_SETUP,
    begin,
    is_closed_by_person,
    is_restored,
    surroundings,
    the_session,
    wait_ideas,
)

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def at_setup(sessions: Path) -> Terminal:
    terminal = Terminal([JAGSTORM], env=surroundings(sessions))
    terminal.wait_for(AT_SETUP)
    return terminal


@pytest.mark.parametrize("keys", ["q", "\x11"], ids=["q", "ctrl+q"])
def test_a_key_at_setup_quits(sessions: Path, keys: str) -> None:
    with at_setup(sessions) as terminal:
        terminal.send(keys)
        assert terminal.wait_exit() == 0
        assert is_restored(terminal)


def test_ctrl_c_once_warns_and_twice_quits(sessions: Path) -> None:
    with at_setup(sessions) as terminal:
        terminal.send("\x03")
        terminal.wait_for("again to quit")
        assert terminal.process.poll() is None
        terminal.send("\x03")
        assert terminal.wait_exit() == 0
        assert is_restored(terminal)


@pytest.mark.parametrize("keys", ["\x11", "\x03\x03"], ids=["ctrl+q", "ctrl+c twice"])
def test_quitting_while_ideas_are_written_closes_the_session_and_says_how_to_go_on(sessions: Path, keys: str) -> None:
    with Terminal(SCRIPTED, env=surroundings(sessions)) as terminal:
        begin(terminal)
        wait_ideas(terminal, 1)
        terminal.send(keys)
        assert terminal.wait_exit() == 4
        assert is_restored(terminal)
        assert_says_how_to_go_on(terminal, sessions)
        assert is_closed_by_person(sessions)


def assert_says_how_to_go_on(terminal: Terminal, sessions: Path) -> None:
    """The last words on the normal screen; long ones are broken by the terminal, not by us."""
    said = terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()
    assert f"jagstorm resume {the_session(sessions).name}" in said


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_at_setup_ends_the_app(sessions: Path, number: signal.Signals) -> None:
    with at_setup(sessions) as terminal:
        terminal.process.send_signal(number)
        assert terminal.wait_exit() == 4
        assert is_restored(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_while_ideas_are_written_closes_the_session(sessions: Path, number: signal.Signals) -> None:
    with Terminal(SCRIPTED, env=surroundings(sessions)) as terminal:
        begin(terminal)
        wait_ideas(terminal, 1)
        terminal.process.send_signal(number)
        assert terminal.wait_exit() == 4
        assert is_restored(terminal)
        assert_says_how_to_go_on(terminal, sessions)
        assert is_closed_by_person(sessions)


def test_closing_the_window_at_setup_leaves_no_process(sessions: Path) -> None:
    with at_setup(sessions) as terminal:
        child = terminal.child
        terminal.hang_up()
        assert terminal.wait_exit(timeout=10) == 4
        assert not alive(child)


def test_closing_a_window_in_which_a_shell_runs_leaves_no_process(sessions: Path) -> None:
    """The kernel hangs up and wakes the whole job: the app, told to go on, writes to a terminal that is gone."""
    shell = ["bash", "--norc", "-i", "-c", f"set -m; {shlex.join(SCRIPTED)}; true"]
    with Terminal(shell, env=surroundings(sessions)) as terminal:
        terminal.wait_for(AT_SETUP)
        command = terminal.child
        [app] = children(command)
        try:
            terminal.hang_up()
            deadline = monotonic() + 10
            while (alive(command) or alive(app)) and monotonic() < deadline:
                sleep(0.1)
            assert (alive(command), alive(app)) == (False, False)
        finally:
            end(app)
            end(command)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=lambda number: number.name)
def test_a_crash_of_the_app_gives_the_terminal_back(sessions: Path, number: signal.Signals) -> None:
    with at_setup(sessions) as terminal:
        os.kill(terminal.child, number)
        assert terminal.wait_exit() == 4
        assert is_restored(terminal)
        assert number.name in terminal.text
        assert "jagstorm resume" in terminal.text


def test_the_app_with_nothing_under_way_does_not_outlive_the_command(sessions: Path) -> None:
    """Under a shell with job control, where the kernel hangs nothing up when the command is killed."""
    shell = ["bash", "-c", f"set -m; {shlex.join(SCRIPTED)}; echo it ended with $?; read line"]
    with Terminal(shell, env=surroundings(sessions)) as terminal:
        terminal.wait_for(AT_SETUP)
        command = terminal.child
        [app] = children(command)
        try:
            os.kill(command, signal.SIGKILL)
            terminal.wait_until(lambda: not alive(app), "the app's end", timeout=5)
        finally:
            end(app)


def test_ctrl_z_is_no_way_out_of_the_app(sessions: Path) -> None:
    with at_setup(sessions) as terminal:
        terminal.send("\x1a")
        terminal.send("n")
        terminal.wait_for("our own question")
