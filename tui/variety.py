"""What `jagstorm profile` shows as tables: how novelty goes with length, and how varied ideas are."""

from collections.abc import Callable, Sequence
from functools import partial

from core.analysis.brevity import Brevities, brevities
from core.analysis.diversity import Vectors
from core.analysis.rescoring import Counts
from core.analysis.variety import Varieties, varieties
from core.randomness import generator
from core.rules import WORDLLAMA_THRESHOLD
from tui.charts.catalog import Chart
from tui.charts.sheet import Sheet, draw_sheet

MORE = ("length", "diversity")

More = Brevities | Varieties

EMBEDDED = ("map", "diversity")
"""Charts that need a vector of each idea."""


def more_numbers(name: str, counts: Counts, vectors: Vectors | None, progress: Callable[[int, int], None]) -> More:
    """What the table `name` is made of; `vectors` (ideas, dims) are WordLlama's, for `diversity`."""
    if name == "length":
        return brevities(counts)
    assert vectors is not None
    return varieties(counts, vectors, WORDLLAMA_THRESHOLD, generator(0, "profile"), progress)


def more_chart(numbers: More) -> Chart:
    if isinstance(numbers, Brevities):
        title, sheet = "Whether short texts buy novelty", _length_sheet(numbers)
        shown = sheet
    else:
        title, sheet = "How varied ideas are", _variety_sheet(numbers, range(len(numbers.thresholds)))
        shown = _variety_sheet(numbers, range(3, len(numbers.thresholds), 4))
    return Chart(title, partial(draw_sheet, shown), lambda: sheet, lambda look: len(sheet.rows) + 1)


def _length_sheet(found: Brevities) -> Sheet:
    return Sheet(
        ("model", "novelty", "at usual length", "low", "high", "characters", "r"),
        tuple(
            (
                row.model,
                row.novelty.value,
                row.at_usual_length.value,
                row.at_usual_length.low,
                row.at_usual_length.high,
                row.length,
                row.r,
            )
            for row in found.rows
        ),
    )


def _variety_sheet(found: Varieties, thresholds: Sequence[int]) -> Sheet:
    """With the clusters at some of the thresholds, by their places."""
    clusters = (f"within {found.thresholds[place]:g}" for place in thresholds)
    return Sheet(
        ("model", "ideas", "Vendi", "low", "high", "order 2", "distance", "dry", *clusters),
        tuple(
            (
                row.model,
                row.ideas.value,
                row.vendi.value,
                row.vendi.low,
                row.vendi.high,
                row.vendi_2.value,
                row.distance.value if row.distance else None,
                row.dry.value if row.dry else None,
                *(row.clusters[place] for place in thresholds),
            )
            for row in found.rows
        ),
    )
