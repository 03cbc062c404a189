"""How soon a key is answered on a real pty while five members write."""

import random
import sys
import tempfile
from pathlib import Path
from time import monotonic

from tests.benchmarks.figures import median, ms, percentile, show, title
from tests.terminal.screen import Terminal, cpu_seconds
from tests.terminal.walks import begin, surroundings

FIVE_STREAMS = (sys.executable, "-m", "tests.benchmarks.five_streams")

PRESSES = 80


def main() -> None:
    title("Keys, while five members write 100 tokens a second each, 100×30")
    with (
        tempfile.TemporaryDirectory() as place,
        Terminal(FIVE_STREAMS, 100, 30, env=surroundings(Path(place) / "sessions")) as terminal,
    ):
        begin(terminal)
        terminal.wait_for("writing")
        terminal.send("\x1b[H")
        terminal.written_in(1)
        before, began = cpu_seconds(terminal.child), monotonic()
        times = [latency(terminal, "j" if press % 10 < 5 else "k") for press in range(PRESSES)]
        share = 100 * (cpu_seconds(terminal.child) - before) / (monotonic() - began)
    show(f"from a key to the moved cursor, median of {PRESSES}", ms(median(times)), "ms")
    show("95th percentile", ms(percentile(times, 0.95)), "ms", 50)
    show("worst", ms(max(times)), "ms")
    show("share of a core meanwhile", share, "%")


def latency(terminal: Terminal, key: str) -> float:
    """Seconds from a key to the cursor on another row, the keys at uneven times so that no timer keeps step."""
    terminal.written_in(random.uniform(0.03, 0.15))
    before = cursor_row(terminal)
    began = monotonic()
    terminal.send(key)
    while cursor_row(terminal) == before:
        terminal.pump(0.005)
        assert monotonic() - began < 5, f"{key} was not answered:\n{terminal.text}"
    return monotonic() - began


def cursor_row(terminal: Terminal) -> int | None:
    """The row of the list whose background is not the others'."""
    grounds = [terminal.background(20, row) for row in range(2, 15)]
    odd = [row for row, ground in enumerate(grounds) if grounds.count(ground) == 1]
    return odd[0] if odd else None
