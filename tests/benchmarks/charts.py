"""How long charts take to draw at 120 × 40, of a few numbers and, where they are, of the public results."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from core.analysis.rescoring import as_stored
from core.store.tables import read_tables
from tests.app.test_charts_drawn import NUMBERS, VIEW
from tests.benchmarks.figures import median, ms, show, timed, title
from tui.charts.catalog import NAMES, Chart, View, chart
from tui.charts.look import DARK
from tui.charts.numbers import Beside, NothingToDrawError, numbers_of

BOUND = 30
"""Milliseconds."""


def main() -> None:
    title("Charts at 120 × 40")
    for name, drawn in [*made_up(), *public()]:
        drawn.draw(120, 40, DARK)  # warm
        show(name, ms(median([timed(partial(drawn.draw, 120, 40, DARK)) for _ in range(9)])), "ms", BOUND)


def made_up() -> Iterator[tuple[str, Chart]]:
    for name in NAMES:
        yield name, chart(name, NUMBERS[name], VIEW)


def public() -> Iterator[tuple[str, Chart]]:
    """Of 24 models and a team, and 57,000 ideas."""
    folder = os.environ.get("JAGSTORM_PUBLIC_DATA")
    if not folder:
        return
    counts = as_stored(read_tables(sorted(Path(folder, "sciaidanbench", "per_model").glob("*.json"))).table)
    longest = (-counts.responses).argsort()[:5].tolist()
    for name in NAMES:
        try:
            numbers = numbers_of(name, counts, Beside(chains=longest))
        except NothingToDrawError:
            continue
        yield f"{name} of the public results", chart(name, numbers, View(focus="claude-3.7"))
