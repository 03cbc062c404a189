"""Two profiles of the same models side by side: correlation, and the line through the origin."""

from collections.abc import Mapping

import numpy as np

from core.analysis.grids import responses_grid
from core.analysis.intervals import column_intervals
from core.analysis.profiles import Point, Scatter
from core.analysis.rescoring import Counts
from core.analysis.table import Floats


def origin_slope(x: Floats, y: Floats) -> float:
    """s of the line y = s · x through the origin by least squares, Σxy / Σx²; 0 where all x are."""
    squares = float(x @ x)
    return float(x @ y) / squares if squares else 0.0


def correlation(x: Floats, y: Floats) -> float | None:
    """Pearson's r of `x` and `y` (n,); None with fewer than two, or where one of them is all the same."""
    x, y = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    squares = float(x @ x) * float(y @ y)
    return float(x @ y) / float(np.sqrt(squares)) if len(x) > 1 and squares else None


def rank_correlation(x: Floats, y: Floats) -> float | None:
    """Spearman's ρ: Pearson's r of the ranks, equal values sharing the mean of theirs. None as for `correlation`."""
    return correlation(_ranks(x), _ranks(y))


def _ranks(values: Floats) -> Floats:
    _, place, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(sizes) - (sizes - 1) / 2)[place]
    return ranks


def scatter(counts: Counts, others: Mapping[str, float], x_name: str) -> Scatter:
    """The mean responses of each single model over the questions that it answered, against its figure in `others`.

    Teams are left out, and so are models that `others` lacks.
    """
    table = counts.table
    teams = {table.models[model] for model in np.unique(table.chains.model[table.chains.is_team])}
    points = [
        Point(model=name, x=others[name], y=interval.value, y_interval=interval)
        for name, interval in zip(table.models, column_intervals(responses_grid(counts)), strict=True)
        if interval is not None and name in others and name not in teams
    ]
    x, y = np.array([point.x for point in points]), np.array([point.y for point in points])
    return Scatter(
        points=tuple(sorted(points, key=lambda point: point.x)),
        slope=origin_slope(x, y),
        r=correlation(x, y),
        n=len(points),
        x_name=x_name,
        y_name="ideas a question",
    )
