"""What `jagstorm profile` shows as tables: how novelty goes with length, and how varied ideas are."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from core.analysis.brevity import Brevities, brevities
from core.analysis.diversity import Vectors
from core.analysis.rescoring import Counts
from core.analysis.variety import Varieties, varieties
from core.randomness import generator
from core.rules import WORDLLAMA_THRESHOLD
from core.text import clean_line, counted
from tui.charts.catalog import Chart
from tui.charts.sheet import Sheet, draw_sheet, ends, with_ends

MORE = ("length", "diversity")

More = Brevities | Varieties

MOST_NAMED = 3
"""Pairs of models, and questions, in the lines below a table."""

LONGEST_NAME = 60

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


def more_notes(numbers: More) -> list[str]:
    """What no column has room for: which models have the same ideas, and how many kinds of first answers there are."""
    return [] if isinstance(numbers, Brevities) else [*_overlap_notes(numbers), *_first_answer_notes(numbers)]


def _overlap_notes(found: Varieties) -> Iterator[str]:
    """Of the models that have most in common."""
    names = [clean_line(row.model, LONGEST_NAME) for row in found.rows]
    shares = [
        (share, names[row], names[column])
        for row, shared in enumerate(found.shared)
        for column, share in enumerate(shared)
        if row != column and share is not None
    ]
    if shares:
        mean = sum(share for share, *_ in shares) / len(shares)
        most = [f"{share:.0%} of {one}'s are {other}'s too" for share, one, other in sorted(shares, reverse=True)]
        yield (
            f"Overlap: on the same question another model has {mean:.0%} of a model's ideas (within "
            f"{found.threshold:g}) on average; {', '.join(most[:MOST_NAMED])}."
        )


def _first_answer_notes(found: Varieties) -> Iterator[str]:
    """Of the questions that most chains began with."""
    asked = sorted(found.first_answers, key=lambda first: -first.chains)
    for first in asked[:MOST_NAMED]:
        more = "" if first.expected is None else f", of {first.expected:.0f} at the least (Chao's estimate)"
        yield (
            f"First answers to “{clean_line(first.question, LONGEST_NAME)}”: {counted(first.chains, 'chain')} gave "
            f"{counted(first.distinct, 'kind')}{more}; {first.coverage:.0%} of what would come is of these."
        )
    if rest := asked[MOST_NAMED:]:
        yield f"First answers to {counted(len(rest), 'more question')}: --json has them."


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
