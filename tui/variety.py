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
from tui.charts.sheet import Sheet, draw_sheet, ends, with_ends

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
        title, sheet, shown = "How varied ideas are", _variety_sheet(numbers), _shown_variety(numbers)
    return Chart(title, partial(draw_sheet, shown), lambda: sheet, lambda look: len(sheet.rows) + 1)


def _length_sheet(found: Brevities) -> Sheet:
    return Sheet(
        ("model", "novelty", "at usual length", "low", "high", "characters", "r", "novelty low", "novelty high"),
        tuple(
            (
                row.model,
                row.novelty.value,
                row.at_usual_length.value,
                row.at_usual_length.low,
                row.at_usual_length.high,
                row.length,
                row.r,
                row.novelty.low,
                row.novelty.high,
            )
            for row in found.rows
        ),
    )


def _shown_variety(found: Varieties) -> Sheet:
    """What a terminal has room for."""
    places = range(3, len(found.thresholds), 4)
    return Sheet(
        ("model", "ideas", "Vendi", "low", "high", "order 2", "distance", "dry", *_within(found, places)),
        tuple(
            (
                *(row.model, row.ideas.value, *ends(row.vendi), row.vendi_2.value),
                *(ends(row.distance)[0], ends(row.dry)[0], *(row.clusters[place] for place in places)),
            )
            for row in found.rows
        ),
    )


def _variety_sheet(found: Varieties) -> Sheet:
    measures = ("ideas", "Vendi", "order 2", "distance", "dry")
    places = range(len(found.thresholds))
    return Sheet(
        ("model", *(name for measure in measures for name in with_ends(measure)), *_within(found, places)),
        tuple(
            (
                *(row.model, *ends(row.ideas), *ends(row.vendi), *ends(row.vendi_2), *ends(row.distance)),
                *(*ends(row.dry), *row.clusters),
            )
            for row in found.rows
        ),
    )


def _within(found: Varieties, places: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"within {found.thresholds[place]:g}" for place in places)
