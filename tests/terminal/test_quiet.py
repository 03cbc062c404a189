"""Nothing is written to the terminal while nothing changes."""

from pathlib import Path

from tests.terminal.screen import SCRIPTED, Terminal
from tests.terminal.walks import begin, pause, surroundings, wait_ideas


def test_a_paused_and_an_ended_live_screen_and_a_replay_at_its_end_write_nothing(sessions: Path) -> None:
    with Terminal(SCRIPTED, 120, 40, env=surroundings(sessions)) as terminal:
        begin(terminal)
        wait_ideas(terminal, 2)
        pause(terminal)
        assert terminal.written_in(1.5) == 0
        terminal.send("q")
        terminal.wait_for("stopped")
        terminal.settle()
        assert terminal.written_in(1.5) == 0
        terminal.send("R")
        terminal.wait_for("playing")
        terminal.send("]" * 7)
        terminal.wait_for("at the end")
        terminal.settle()
        assert terminal.written_in(1.5) == 0
