"""What the live screen writes to the terminal, and what it costs, while text streams and while nothing happens."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from tests.benchmarks.figures import show, title
from tests.terminal.screen import SCRIPTED, Terminal, cpu_seconds
from tests.terminal.walks import begin, ideas_shown, pause, surroundings, wait_ideas

PER_TOKEN = (sys.executable, "-m", "tests.benchmarks.bare_apps", "per-token")


def main() -> None:
    title("On the wire, 100×30")
    with tempfile.TemporaryDirectory() as place:
        idle(Path(place) / "idle")
        streaming(Path(place) / "streaming")
    with Terminal(PER_TOKEN, 100, 30) as terminal:
        written = bytes_until(terminal, lambda: "the end" in terminal.text)
        show("400 tokens, a plain Static updated per token", written / 1000, "kB")


def idle(sessions: Path) -> None:
    with Terminal(SCRIPTED, 100, 30, env=surroundings(sessions)) as terminal:
        begin(terminal)
        wait_ideas(terminal, 3)
        pause(terminal)
        watch(terminal, "paused")
        terminal.send("q")
        terminal.wait_for("stopped")
        watch(terminal, "ended")


def watch(terminal: Terminal, when: str) -> None:
    terminal.written_in(1)
    seconds = 5.0
    before = cpu_seconds(terminal.child)
    written = terminal.written_in(seconds)
    used = cpu_seconds(terminal.child) - before
    show(f"{when}: written in {seconds:g} s", written, "bytes", 500)
    show(f"{when}: share of a core", 100 * used / seconds, "%", 1)


def streaming(sessions: Path) -> None:
    """Ideas of 400 tokens at 100 tokens a second, each from its first token to its place in the list."""
    env = surroundings(sessions, JAGSTORM_SCRIPT="long:0.01:400")
    with Terminal(SCRIPTED, 100, 30, env=env) as terminal:
        begin(terminal)
        for number in (1, 2):
            terminal.wait_for("writing")
            child = terminal.child
            before, began = cpu_seconds(child), monotonic()
            written = bytes_until(terminal, lambda number=number: ideas_shown(terminal) >= number)  # type: ignore[misc]
            share = 100 * (cpu_seconds(child) - before) / (monotonic() - began)
            show(f"400 tokens on the live screen, idea {number}", written / 1000, "kB", 60)
            show("share of a core meanwhile", share, "%")


def bytes_until(terminal: Terminal, condition: Callable[[], bool]) -> int:
    before = len(terminal.raw)
    terminal.wait_until(condition, "the end of the stream")
    terminal.written_in(0.5)
    return len(terminal.raw) - before
