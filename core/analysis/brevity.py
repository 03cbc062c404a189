"""Whether short texts buy novelty: the novelty of ideas with the length of their texts taken out."""

import numpy as np
from msgspec import Struct

from core.analysis.fits import correlation
from core.analysis.grids import grid, means
from core.analysis.intervals import Interval, column_intervals
from core.analysis.rescoring import Counts
from core.analysis.table import Floats, Ints


class Brevity(Struct, frozen=True, kw_only=True):
    """How one model's novelty goes with the length of its texts."""

    model: str
    r: float | None
    """Pearson's, of embedding novelty and the logarithm of the length; None with too few ideas."""
    length: float
    """Characters, geometric mean."""
    novelty: Interval
    """Mean embedding novelty over its questions."""
    at_usual_length: Interval
    """The same, had its texts the usual length."""


class Brevities(Struct, frozen=True, kw_only=True):
    """The most novel at the usual length first."""

    rows: tuple[Brevity, ...]
    r: float | None
    """Over all ideas."""
    slope: float
    """More novelty for a text twice as long, within models: below 0 where short texts buy novelty."""
    usual_length: float
    """Characters."""


def brevities(counts: Counts) -> Brevities:
    """By model: how the embedding novelty of its ideas goes with the logarithm of their length, and its mean novelty
    had all models written texts of the usual length.

    The slope is the one within models, common to all (analysis of covariance), so that models which differ in both do
    not make it; the usual length is the geometric mean over all ideas. First ideas are left out: they are new by
    definition. Intervals are over questions.
    """
    table = counts.table
    ideas = table.ideas
    used = counts.counted & (table.positions > 0) & ~np.isnan(ideas.embedding_novelty) & (ideas.length > 0)
    chain = ideas.chain[used]
    model = table.chains.model[chain]
    novelty, doublings = ideas.embedding_novelty[used], np.log2(ideas.length[used])
    slope = _within_slope(doublings, novelty, model, len(table.models))
    usual = float(doublings.mean()) if len(doublings) else 0.0
    at_usual = novelty - slope * (doublings - usual)
    plain, adjusted = (
        column_intervals(grid(table, means(values, chain, len(table.chains.model)))) for values in (novelty, at_usual)
    )
    rows = [
        Brevity(
            model=table.models[place],
            r=correlation(doublings[model == place], novelty[model == place]),
            length=float(2 ** doublings[model == place].mean()),
            novelty=own,
            at_usual_length=other,
        )
        for place, (own, other) in enumerate(zip(plain, adjusted, strict=True))
        if own is not None and other is not None
    ]
    return Brevities(
        rows=tuple(sorted(rows, key=lambda row: -row.at_usual_length.value)),
        r=correlation(doublings, novelty),
        slope=slope,
        usual_length=2**usual,
    )


def _within_slope(x: Floats, y: Floats, group: Ints, groups: int) -> float:
    """Of the parallel lines that fit `y` on `x` (n,), one for each `group`; 0 where no group has two different x."""
    around = x - means(x, group, groups)[group]
    squares = float(around @ around)
    return float(around @ y) / squares if squares else 0.0
