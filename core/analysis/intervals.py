"""Bootstrap intervals for what was measured on some questions, some times each."""

import functools
import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.random import Generator

Values = NDArray[np.float64]
"""(questions, repeats)."""

DRAWS = 5000

ENOUGH = 6
"""Runs below which an interval tells nothing: five differences have the same sign by chance once in sixteen times."""


class Interval(Struct, frozen=True):
    """A value with where it is in 95 of 100 cases; None where there was but one run."""

    value: float
    low: float | None = None
    high: float | None = None
    runs: int = 1

    @property
    def tells(self) -> bool:
        """Whether there is enough behind it to say that it is above or below something."""
        return self.low is not None and self.runs >= ENOUGH

    @property
    def above_zero(self) -> bool:
        return self.tells and self.low is not None and self.low > 0

    @property
    def below_zero(self) -> bool:
        return self.tells and self.high is not None and self.high < 0


def mean_interval(values: Values, rng: "Generator") -> Interval:
    """Of the mean of `values` (questions, repeats)."""
    return ratio_interval(values, np.ones_like(values), rng)


def ratio_interval(over: Values, under: Values, rng: "Generator") -> Interval:
    """Of sum(over) / sum(under), both (questions, repeats). 0 over 0 is 0, anything else over 0 infinity."""
    value = float(_ratio(over.sum(), under.sum()))
    if over.size < 2:
        return Interval(value, runs=over.size)
    weights = _resampled(over.shape[0], over.shape[1], rng)
    ratios = _ratio(weights @ over.ravel(), weights @ under.ravel())
    tail = _tail(over.shape[0] if over.shape[0] > 1 else over.shape[1])
    low, high = np.quantile(ratios, [tail, 1 - tail], method="inverted_cdf")
    return Interval(value, float(low), float(high), over.size)


def column_intervals(values: Values) -> list[Interval | None]:
    """Of the mean of each column of `values` (questions, columns), over the questions that are not NaN in it.

    None for a column that has none. Columns with the same questions are resampled alike, so that they can be compared,
    and the same each time: nothing flickers while somebody moves a slider.
    """
    present = ~np.isnan(values)
    found: list[Interval | None] = [None] * values.shape[1]
    for columns in _alike(present):
        kept = values[present[:, columns[0]]][:, columns]
        count = len(kept)
        if count == 0:
            continue
        means = kept.mean(axis=0)
        if count == 1:
            for column, mean in zip(columns, means, strict=True):
                found[column] = Interval(float(mean))
            continue
        drawn = resamples(count) @ kept
        for place, column in enumerate(columns):
            found[column] = Interval(float(means[place]), *ends_of(drawn[:, place], count), count)
    return found


def column_ratios(over: Values, under: Values) -> list[Interval | None]:
    """Of sum(over) / sum(under) for each column of both, (questions, columns), over the questions that neither lacks.

    None for a column that has none, or nothing but 0 in `under`; resamples with nothing but 0 there are left out. Drawn
    as for `column_intervals`.
    """
    present = ~np.isnan(over) & ~np.isnan(under)
    found: list[Interval | None] = [None] * over.shape[1]
    for columns in _alike(present):
        rows = present[:, columns[0]]
        own = [values[rows][:, columns] for values in (over, under)]
        count = int(rows.sum())
        weights = np.vstack([np.ones(count), resamples(count)]) if count else np.zeros((1, 0))
        below = weights @ own[1]
        ratios = np.divide(weights @ own[0], below, out=np.full_like(below, np.nan), where=below > 0)
        for place, column in enumerate(columns):
            value, drawn = float(ratios[0, place]), ratios[1:, place]
            if not math.isnan(value):
                low, high = ends_of(drawn[~np.isnan(drawn)], count) if count > 1 else (None, None)
                found[column] = Interval(value, low, high, count)
    return found


def ends_of(drawn: NDArray[np.float64], count: int) -> tuple[float, float]:
    """The ends of the interval of what came of resamples (n,) of `count` questions."""
    tail = _tail(count)
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _alike(present: NDArray[np.bool_]) -> list[list[int]]:
    """The columns of `present` (questions, columns) that are the same, together."""
    groups: dict[bytes, list[int]] = {}
    for column in range(present.shape[1]):
        groups.setdefault(present[:, column].tobytes(), []).append(column)
    return list(groups.values())


@functools.lru_cache(maxsize=16)
def resamples(count: int) -> NDArray[np.float64]:
    """(DRAWS, count): the weight of each of `count` questions in each resample; rows add up to 1. Not to be changed."""
    rng = np.random.default_rng(count)
    drawn = rng.integers(count, size=(DRAWS, count)) + count * np.arange(DRAWS)[:, None]
    weights = np.bincount(drawn.ravel(), minlength=DRAWS * count).reshape(DRAWS, count) / count
    weights.flags.writeable = False
    return weights


def _resampled(questions: int, repeats: int, rng: "Generator") -> NDArray[np.float64]:
    """How often each run is in each resample: (DRAWS, questions × repeats). Questions are drawn, then their repeats."""
    drawn = rng.multinomial(questions, np.full(questions, 1 / questions), size=DRAWS)
    counts = rng.multinomial(drawn * repeats, np.full(repeats, 1 / repeats))
    return counts.reshape(DRAWS, questions * repeats).astype(np.float64)


def _ratio(over: Any, under: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((under == 0) & (over == 0), 0.0, np.divide(over, under))


def _tail(count: int) -> float:
    """What to cut off at each end of a bootstrap distribution of `count` units.

    With few of them plain percentiles are too narrow; these are widened as a t interval is (Hesterberg 2015, "expanded
    percentiles").
    """
    normal = NormalDist()
    return normal.cdf(-math.sqrt(count / (count - 1)) * _t_quantile(count - 1, normal.inv_cdf(0.975)))


def _t_quantile(freedom: int, z: float) -> float:
    """From the normal quantile `z` to that of t (Abramowitz and Stegun 26.7.5); a little small below 3 degrees."""
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / float(freedom) ** power for power, term in enumerate(terms))
