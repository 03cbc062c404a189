"""Every chart of the public results, where there are any."""

import csv

import pytest
from rich.cells import cell_len

from tests.unit.tables import public_counts, public_results
from tui.charts.catalog import NAMES, Name, View, chart
from tui.charts.look import DARK
from tui.charts.numbers import Beside, numbers_of

SIZES = [(60, 18), (80, 24), (120, 40)]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("scatter", "seeds", "map")])
def test_it_is_drawn_in_its_room_with_every_oddity_there_is(name: Name) -> None:
    counts = public_counts()
    longest = (-counts.responses).argsort()[:5].tolist()
    numbers = numbers_of(name, counts, Beside(chains=longest))
    for model in ("claude-3.7", "o1-mini", ""):
        for width, height in SIZES:
            lines = chart(name, numbers, View(focus=model)).draw(width, height, DARK)
            assert len(lines) <= height
            assert all(sum(cell_len(segment.text) for segment in line) <= width for line in lines)


def test_the_cross_task_scatter_tells_the_published_fit_and_names_every_model() -> None:
    with (public_results() / "aidanbench_totals.csv").open(encoding="utf-8") as file:
        totals = {
            row["model"]: int(row["aidanbench_total_responses"]) / int(row["aidanbench_questions"])
            for row in csv.DictReader(file)
        }
    numbers = numbers_of("scatter", public_counts(), Beside(totals=totals, benchmark="AidanBench"))
    drawn = "\n".join(
        "".join(segment.text for segment in line) for line in chart("scatter", numbers).draw(120, 40, DARK)
    )
    assert "y = 0.419 x   r 0.903   n 19" in drawn
    assert all(name in drawn for name in ("o1-mini", "qwen2.5-coder:32b", "mistral:latest", "deepseek-r1:14b"))
