"""Two selections side by side, on the questions that both answered."""

import numpy as np

from core.analysis.fits import correlation, origin_slope
from core.analysis.grids import By, answers, groups, means
from core.analysis.intervals import column_intervals
from core.analysis.profiles import Difference, Differences
from core.analysis.rescoring import Counts
from core.analysis.table import Floats


def differences(one: Counts, other: Counts, by: By = "model") -> Differences:
    """The mean responses of `one` less those of `other`, over all and then by group of questions; how they go together.

    Both must be of the same table, or of parts of it; of several models the mean counts. Groups without a question that
    both answered are left out, and so is everything where there is none.
    """
    if one.table.questions != other.table.questions:
        raise ValueError("the two are of different tables")
    pairs = np.column_stack([_means(one), _means(other)])
    both = ~np.isnan(pairs).any(axis=1)
    names, group = groups(one.table.questions, by)
    chosen = [("all", both)]
    if by != "model":
        chosen += [(name, both & (group == place)) for place, name in enumerate(names)]
    one_mean, other_mean = pairs[both].T
    return Differences(
        rows=tuple(_difference(name, pairs[rows]) for name, rows in chosen if rows.any()),
        slope=origin_slope(other_mean, one_mean),
        r=correlation(other_mean, one_mean),
    )


def _means(counts: Counts) -> Floats:
    """(questions,): over the models that answered each; NaN where none did."""
    found = answers(counts)
    return means(found.responses, found.question, len(counts.table.questions))


def _difference(name: str, pairs: Floats) -> Difference:
    one, other = pairs.mean(axis=0)
    [interval] = column_intervals(pairs[:, :1] - pairs[:, 1:])
    assert interval is not None
    return Difference(name=name, questions=len(pairs), one=float(one), other=float(other), difference=interval)
