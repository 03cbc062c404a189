"""How varied the ideas of each model are, question by question, and what models have in common."""

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from core.analysis.diversity import Vectors, distinct, mean_distance, novelty_fall, vendi, vendi_of_order_two
from core.analysis.grids import grid, means
from core.analysis.intervals import Interval, column_intervals
from core.analysis.rescoring import Counts
from core.analysis.richness import FirstAnswers, first_answers
from core.analysis.table import Floats, Ints, plain

if TYPE_CHECKING:
    from numpy.random import Generator

THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(1, 20))

PERMUTATIONS = 50

FEWEST = 6
"""Ideas of a chain whose second half says whether it runs dry."""


class Variety(Struct, frozen=True, kw_only=True):
    """How varied a model's ideas are on one question, as means over its questions."""

    model: str
    ideas: Interval
    vendi: Interval
    """The effective number of different ideas."""
    vendi_2: Interval
    """Of order 2."""
    distance: Interval | None
    """Mean over pairs; None where no question has two ideas."""
    clusters: tuple[float, ...]
    """Distinct clusters at each of `Varieties.thresholds`."""
    dry: Interval | None
    """The mean percentile of the novelty of the second half of a chain among all orders of its ideas: ½ where it is
    as novel as its beginning, below where it runs dry."""


class Varieties(Struct, frozen=True, kw_only=True):
    """The most varied first."""

    rows: tuple[Variety, ...]
    thresholds: tuple[float, ...]
    shared: tuple[tuple[float | None, ...], ...]
    """The share of the ideas of the model of each row that the model of each column has too, on the same questions;
    None where they have none in common."""
    threshold: float
    """The distance up to which two ideas count as the same."""
    first_answers: tuple[FirstAnswers, ...]
    """Of the questions that have several chains."""


def varieties(
    counts: Counts,
    vectors: Vectors,
    threshold: float,
    rng: "Generator",
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Varieties:
    """Of the valid ideas; each question by itself, then means over the questions that a model answered.

    `vectors` (ideas, dims) are those of the table's ideas, NaN for one without; `threshold` is the distance, as 1 −
    similarity, below which two ideas are the same. `progress` is told how many chains of how many are done: 60,000
    ideas take 10 seconds.
    """
    table = counts.table
    used = counts.counted & ~counts.failed & ~table.ideas.removed & ~np.isnan(vectors).any(axis=1)
    chains = len(table.chains.model)
    measured = np.full((chains, 5 + len(THRESHOLDS)), np.nan)
    rows = np.flatnonzero(used)
    cuts = np.searchsorted(table.ideas.chain[rows], np.arange(chains + 1))
    for chain in range(chains):
        own = vectors[rows[cuts[chain] : cuts[chain + 1]]]
        if len(own):
            measured[chain] = _measures(own, rng)
        progress(chain + 1, chains)
    grids = [grid(table, measure) for measure in measured.T]
    ideas, first, second, distance, dry = (column_intervals(each) for each in grids[:5])
    clusters = np.array([_column_means(each) for each in grids[5:]])
    found = [
        (
            place,
            Variety(
                model=name,
                ideas=count,
                vendi=own_first,
                vendi_2=own_second,
                distance=distance[place],
                clusters=tuple(clusters[:, place].tolist()),
                dry=dry[place],
            ),
        )
        for place, name in enumerate(table.models)
        if (count := ideas[place]) and (own_first := first[place]) and (own_second := second[place])
    ]
    found.sort(key=lambda pair: -pair[1].vendi.value)
    order = [place for place, _ in found]
    shared = _shared(counts, vectors, rows, threshold)
    return Varieties(
        rows=tuple(variety for _, variety in found),
        thresholds=THRESHOLDS,
        shared=tuple(plain(row) for row in shared[np.ix_(order, order)]),
        threshold=threshold,
        first_answers=first_answers(counts, vectors, threshold),
    )


def _measures(vectors: Vectors, rng: "Generator") -> list[float]:
    """Of one chain: ideas, both Vendi scores, mean distance, dryness, and its clusters at each threshold."""
    distance = mean_distance(vectors)
    return [
        len(vectors),
        vendi(vectors),
        vendi_of_order_two(vectors),
        np.nan if distance is None else distance,
        _dryness(vectors, rng),
        *distinct(vectors, np.array(THRESHOLDS)).tolist(),
    ]


def _dryness(vectors: Vectors, rng: "Generator") -> float:
    """The mean percentile of the novelty of the second half; NaN for a chain too short."""
    if len(vectors) < FEWEST:
        return np.nan
    percentile = novelty_fall(vectors, rng, PERMUTATIONS).percentile
    return float(percentile[len(percentile) // 2 :].mean())


def _column_means(values: Floats) -> Floats:
    """Over the rows that have one; NaN where none has."""
    known = ~np.isnan(values)
    return means(values[known], np.nonzero(known)[1], values.shape[1])


def _shared(counts: Counts, vectors: Vectors, rows: Ints, threshold: float) -> Floats:
    """(models, models): the share of the ideas of each that another has too, of those on questions that both answered.

    `rows` are the ideas that count. NaN where two answered no question in common.
    """
    table = counts.table
    models = len(table.models)
    near, compared = np.zeros((models, models)), np.zeros((models, models))
    chain = table.ideas.chain[rows]
    model, question = table.chains.model[chain], table.chains.question[chain]
    order = np.lexsort((model, question))
    cuts = np.flatnonzero(np.diff(question[order], prepend=-1, append=-1))
    for begin, end in pairwise(cuts.tolist()):
        own = order[begin:end]
        present, starts = np.unique(model[own], return_index=True)
        alike = vectors[rows[own]] @ vectors[rows[own]].T > 1 - threshold
        has = np.maximum.reduceat(alike, starts, axis=1)
        near[np.ix_(present, present)] += np.add.reduceat(has, starts, axis=0, dtype=np.int64)
        compared[np.ix_(present, present)] += np.diff(starts, append=len(own))[:, None]
    with np.errstate(invalid="ignore"):
        shares: Floats = near / compared
    return shares
