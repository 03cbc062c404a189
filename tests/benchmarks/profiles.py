"""How soon a profile of all published models is there, and how soon another one is after a threshold was moved."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from core.analysis.densities import lengths
from core.analysis.jaggedness import leaf_table
from core.analysis.rescoring import Change, Counts, rescored
from core.analysis.ribbons import ribbons
from core.analysis.spending import efforts
from core.analysis.winners import winners
from core.exchange.importing import import_results
from core.store.columns import COLUMNS_FILE
from core.store.library import session_folders
from core.store.tables import read_tables
from tests.benchmarks.figures import interleaved, median, ms, percentile, show, timed, title
from tests.terminal.screen import JAGSTORM, ROOT, Terminal

COLD = 1500
"""Milliseconds from nothing to a profile on the screen."""

MOVED = 150
"""From a threshold that moves to another profile, drawing included."""


def main() -> None:
    title("Profiles")
    folder = os.environ.get("JAGSTORM_PUBLIC_DATA")
    if not folder:
        print("JAGSTORM_PUBLIC_DATA is not set: there are no public results to profile")
        return
    with TemporaryDirectory() as sessions:
        for path in sorted((Path(folder) / "sciaidanbench" / "per_model").glob("*.json")):
            import_results(path, Path(sessions))
        read(Path(sessions))
        start(sessions)
        moves(Path(sessions))


def read(sessions: Path) -> None:
    folders = session_folders(sessions)

    def anew() -> float:
        for folder in folders:
            (folder / COLUMNS_FILE).unlink(missing_ok=True)
        return timed(lambda: read_tables(folders))

    first, again = interleaved(3, anew, lambda: timed(lambda: read_tables(folders)))
    show(f"columns of {len(folders)} sessions, the first time", ms(median(first)), "ms")
    show("from then on", ms(median(again)), "ms")


def start(sessions: str) -> None:
    def command(*words: str) -> float:
        return timed(lambda: subprocess.run(words, capture_output=True, check=True, cwd=ROOT))

    profile = (JAGSTORM, "profile", "--sessions", sessions)
    whole, bare = interleaved(7, lambda: command(*profile), lambda: command(sys.executable, "-c", "import numpy"))
    show("jagstorm profile, from a cold start", ms(median(whole)), "ms", COLD)
    show("the app, F4 at the first paint", ms(median([pressed(sessions) for _ in range(7)])), "ms", COLD)
    show("python -c 'import numpy'", ms(median(bare)), "ms")


def pressed(sessions: str) -> float:
    """Seconds from nothing to the first chart on the screen, when F4 is pressed at the first paint."""
    with Terminal((JAGSTORM,), 120, 40, env={"JAGSTORM_SESSIONS": sessions}) as terminal:
        terminal.wait_for("Jagstorm")
        terminal.send("\x1bOS")
        terminal.wait_for("From the fewest")
        return monotonic() - terminal.began


def moves(sessions: Path) -> None:
    table = read_tables(session_folders(sessions)).table
    thresholds = cycle([place / 200 for place in range(10, 80)])
    charts: dict[str, Callable[[Counts], object]] = {
        "ribbons": ribbons,
        "ribbons by leaf": lambda counts: ribbons(counts, "leaf"),
        "ribbons by question": lambda counts: ribbons(counts, "question"),
        "radar and heat": leaf_table,
        "winners": winners,
        "effort": efforts,
        "densities": lengths,
    }

    def moved(numbers: Callable[[Counts], object]) -> float:
        return timed(lambda: numbers(rescored(table, Change(embedding_novelty=next(thresholds)))))

    lengths(rescored(table, Change(max_ideas=9)))  # what is imported only once
    for name, numbers in charts.items():
        times, alone = interleaved(15, partial(moved, numbers), partial(moved, lambda counts: counts))
        show(f"{name}, after a threshold moved", ms(median(times)), "ms", MOVED)
        show("    95th percentile", ms(percentile(times, 0.95)), "ms")
        show("    of which rescoring", ms(median(alone)), "ms")
