"""Counts by model, and by leaf, domain or question: from the fewest to the most, with the mean."""

import numpy as np
from msgspec import Struct

from core.analysis.grids import By, Grid, answers, groups, means, responses_grid, valid_grid
from core.analysis.intervals import Interval, column_intervals
from core.analysis.profiles import Ribbon, Ribbons
from core.analysis.rescoring import Counts
from core.analysis.survival import expected, hazards
from core.analysis.table import Floats, Ints


def ribbons(counts: Counts, by: By = "model") -> Ribbons:
    """One row a model and group of questions, where it answered any of them.

    Means are over the questions answered. (The published figures divide by these in one place, and in another by 157,
    the questions that there are.)
    """
    table = counts.table
    names, group = groups(table.questions, by)
    found = answers(counts)
    cells, row = np.unique(found.model * len(names) + group[found.question], return_inverse=True)
    row_of_chain, size = row[found.of_chain], len(cells)
    responses = _spread(found.responses, row, size)
    mean_valid = means(found.valid, row, size).tolist()
    log_means = np.expm1(means(np.log1p(found.responses), row, size)).tolist()
    chains, total, total_valid = (
        np.bincount(row_of_chain, weights, size).tolist() for weights in (None, counts.responses, counts.valid)
    )
    expectations = expected(hazards(counts, row_of_chain, size))
    stops = _stops(counts, row_of_chain, size)
    of_responses = _intervals(responses_grid(counts), group)
    of_valid = _intervals(valid_grid(counts), group)
    rows = [
        Ribbon(
            model=table.models[model],
            leaf=names[part] if by == "leaf" else None,
            domain=names[part] if by == "domain" else None,
            question=names[part] if by == "question" else None,
            questions=int(responses.sizes[place]),
            chains=chains[place],
            responses=int(total[place]),
            valid=int(total_valid[place]),
            mean_responses=float(responses.means[place]),
            mean_valid=mean_valid[place],
            median=float(responses.medians[place]),
            fewest=_whole(float(responses.least[place])),
            most=_whole(float(responses.most[place])),
            log_mean=log_means[place],
            top_tenth=float(responses.top_tenths[place]),
            responses_interval=of_responses[part, model],
            valid_interval=of_valid[part, model],
            expected=expectations[place],
            stops=stops[place],
        )
        for place, (model, part) in enumerate(divmod(cell, len(names)) for cell in cells.tolist())
    ]
    return Ribbons(rows=tuple(sorted(rows, key=lambda each: -each.mean_responses)))


def _whole(number: float) -> float:
    """As an integer where it is one: the counts of a question that has one chain."""
    return int(number) if number.is_integer() else number


class _Spread(Struct, frozen=True, eq=False):
    """Of values in groups: (groups,) each."""

    sizes: Ints
    means: Floats
    medians: Floats
    least: Floats
    most: Floats
    top_tenths: Floats
    """The share of their sum that the largest tenth of them has, rounded up to whole ones; 0 where the sum is."""


def _spread(values: Floats, group: Ints, groups: int) -> _Spread:
    """`values` (n,) in `group` (n,), whose numbers go up to `groups`, each with one value at least."""
    ordered = values[np.lexsort((values, group))]
    sizes = np.bincount(group, minlength=groups)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    total = np.bincount(group, values, groups)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    top = sums[ends] - sums[ends - np.ceil(sizes / 10).astype(int)]
    return _Spread(
        sizes=sizes,
        means=total / sizes,
        medians=(ordered[starts + (sizes - 1) // 2] + ordered[starts + sizes // 2]) / 2,
        least=ordered[starts],
        most=ordered[ends - 1],
        top_tenths=np.divide(top, total, out=np.zeros(groups), where=total > 0),
    )


def _intervals(grid: Grid, group: Ints) -> dict[tuple[int, int], Interval]:
    """Of the means of `grid` by group of questions and model, where there is one."""
    found: dict[tuple[int, int], Interval] = {}
    for place in np.unique(group).tolist():
        for model, interval in enumerate(column_intervals(grid[group == place])):
            if interval is not None:
                found[place, model] = interval
    return found


def _stops(counts: Counts, group: Ints, groups: int) -> list[dict[str, int]]:
    """How many chains of each group ended why, the most frequent first."""
    width = len(counts.ends)
    table = np.bincount(group * width + counts.ended, minlength=groups * width).reshape(groups, width)
    return [
        dict(sorted(((end, n) for end, n in zip(counts.ends, row, strict=True) if n), key=lambda pair: -pair[1]))
        for row in table.tolist()
    ]
