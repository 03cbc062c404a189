"""Whether short texts buy novelty: the novelty of ideas with the length of their texts taken out."""

import numpy as np
from msgspec import Struct

from core.analysis.fits import correlation
from core.analysis.grids import Grid, grid, means
from core.analysis.intervals import Interval, column_intervals, ends_of, resamples
from core.analysis.rescoring import Counts
from core.analysis.table import Floats, Ints, Table

SAME = 1e-9
"""A share of what length alone explains, below which nothing of it is left beside place but rounding."""


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
    """More novelty for a text twice as long, at the same place of a chain: below 0 where short texts buy novelty."""
    usual_length: float
    """Characters."""


def brevities(counts: Counts) -> Brevities:
    """By model: how the embedding novelty of its ideas goes with the logarithm of their length, and its mean novelty
    had all models written texts of the usual length.

    The slope is the one within chains, common to all, beside that of the logarithm of the place in the chain (analysis
    of covariance): neither what models and questions differ in nor that novelty falls along a chain makes it. The usual
    length is the geometric mean over all ideas. First ideas are left out: they are new by definition. Intervals are
    over questions, with the slope fitted anew to each resample of them.
    """
    table = counts.table
    ideas = table.ideas
    used = counts.counted & (table.positions > 0) & ~np.isnan(ideas.embedding_novelty) & (ideas.length > 0)
    chain, chains = ideas.chain[used], len(table.chains.model)
    model = table.chains.model[chain]
    novelty, doublings = ideas.embedding_novelty[used], np.log2(ideas.length[used])
    usual = float(doublings.mean()) if len(doublings) else 0.0
    products = _products(table, chain, doublings, np.log(table.positions[used] + 1.0), novelty)
    of_novelty, beyond_usual = (grid(table, means(each, chain, chains)) for each in (novelty, doublings - usual))
    rows = [
        Brevity(
            model=table.models[place],
            r=correlation(doublings[model == place], novelty[model == place]),
            length=float(2 ** doublings[model == place].mean()),
            novelty=own,
            at_usual_length=other,
        )
        for place, (own, other) in enumerate(
            zip(column_intervals(of_novelty), _at_usual_length(of_novelty, beyond_usual, products), strict=True)
        )
        if own is not None and other is not None
    ]
    return Brevities(
        rows=tuple(sorted(rows, key=lambda row: -row.at_usual_length.value)),
        r=correlation(doublings, novelty),
        slope=float(_slope(products.sum(axis=0))),
        usual_length=2**usual,
    )


def _products(table: Table, chain: Ints, length: Floats, place: Floats, novelty: Floats) -> Floats:
    """(questions, 5): what the slope is fitted from, of ideas (n,) in `chain` (n,): sums of length², length · place,
    place², length · novelty, place · novelty over the ideas of a question, each less its mean in its chain."""
    x, p, y = (each - means(each, chain, len(table.chains.model))[chain] for each in (length, place, novelty))
    question, questions = table.chains.question[chain], len(table.questions)
    return np.column_stack([np.bincount(question, each, questions) for each in (x * x, x * p, p * p, x * y, p * y)])


def _slope(products: Floats) -> Floats:
    """(...): that of length beside place by least squares, from their `_products` (..., 5), added up; 0 where all texts
    are of one length, or length and place can't be told apart."""
    xx, xp, pp, xy, py = np.moveaxis(products, -1, 0)
    determinant = xx * pp - xp**2
    told = determinant > SAME * xx * pp
    slope: Floats = np.divide(xy * pp - py * xp, determinant, out=np.zeros_like(determinant), where=told)
    return slope


def _at_usual_length(novelty: Grid, length: Grid, products: Floats) -> list[Interval | None]:
    """By model: the mean over questions of `novelty` less what the slope makes of `length`, which is that beyond the
    usual; both are (questions, models). None for a model without any."""
    present = ~np.isnan(novelty)
    asked = present.any(axis=1)
    weights = np.vstack([np.ones(asked.sum()), resamples(int(asked.sum()))]) if asked.any() else np.zeros((1, 0))
    number, of_novelty, of_length = (
        weights @ np.where(present, each, 0.0)[asked] for each in (present.astype(np.float64), novelty, length)
    )
    slope = _slope(weights @ products[asked])[:, None]
    drawn = np.divide(of_novelty - slope * of_length, number, out=np.full_like(number, np.nan), where=number > 0)
    return [_interval(drawn[:, model], int(count)) for model, count in enumerate(present.sum(axis=0))]


def _interval(drawn: Floats, questions: int) -> Interval | None:
    """The first of `drawn` (1 + resamples,) with the ends that the others give it."""
    value, others = float(drawn[0]), drawn[1:]
    if questions < 2:
        return Interval(value) if questions else None
    return Interval(value, *ends_of(others[~np.isnan(others)], questions), questions)
