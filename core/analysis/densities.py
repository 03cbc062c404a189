"""How long the chains of each model are: densities of their counts, and the share that is still going on.

The only numbers that need scipy.stats, whose import takes a second: it happens when they are first asked for.
"""

import warnings

import numpy as np

from core.analysis.grids import answers
from core.analysis.profiles import Density, Lengths, Survival
from core.analysis.rescoring import Counts
from core.analysis.survival import expected, expected_interval, hazards
from core.analysis.table import Flags, Floats, plain

PLACES = 128
"""Where a density is given."""

FEWEST = 3
"""Chains of which a density says something."""


def lengths(counts: Counts) -> Lengths:
    """Of each model that has chains, in the order of the table; of very few chains, or all alike, no density."""
    table = counts.table
    present = np.unique(table.chains.model).tolist()
    expectations = expected(hazards(counts, table.chains.model, len(table.models)))
    found = answers(counts)
    by_answer = hazards(counts, found.of_chain, len(found.model))
    grid = np.linspace(0.0, np.log1p(counts.responses.max(initial=1)), PLACES)
    densities = [
        Density(
            model=table.models[model],
            counts=tuple(np.expm1(grid).tolist()),
            density=tuple(density(np.log1p(own), grid).tolist()),
            n=len(own),
        )
        for model in present
        if len(own := counts.responses[table.chains.model == model]) >= FEWEST and len(np.unique(own)) > 1
    ]
    survivals = []
    for model in present:
        own = table.chains.model == model
        ideas, alive, low, high = survival(counts.responses[own].astype(np.float64), counts.censored[own])
        survivals.append(
            Survival(
                model=table.models[model],
                ideas=tuple(ideas.tolist()),
                alive=tuple(alive.tolist()),
                low=plain(low),
                high=plain(high),
                chains=int(own.sum()),
                censored=int(counts.censored[own].sum()),
                expected=expectations[model],
                expected_interval=expected_interval(by_answer.only(found.model == model)),
            )
        )
    return Lengths(densities=tuple(densities), survivals=tuple(survivals))


def density(values: Floats, grid: Floats) -> Floats:
    """The Gaussian kernel density of `values` (n,), not all the same, at `grid` (places,); its width by Scott's rule
    (Scott, Multivariate Density Estimation, 1992)."""
    from scipy.stats import gaussian_kde

    found: Floats = gaussian_kde(values)(grid)
    return found


def survival(lengths: Floats, censored: Flags) -> tuple[Floats, Floats, Floats, Floats]:
    """The Kaplan–Meier estimate of the share of chains longer than so many ideas, with 95 % confidence limits.

    Of chains of `lengths` (chains,), of which those that are `censored` would have been longer. Gives (steps,) four
    times: ideas, from 0, the share from there on, and its limits by the log–log transformation, NaN where they are not
    defined (Kaplan and Meier 1958; Kalbfleisch and Prentice 2002, section 1.4).
    """
    from scipy.stats import CensoredData, ecdf

    ended = lengths[~censored]
    if not len(ended):  # nothing ever ended: it has no steps, and scipy no answer
        return np.zeros(1), np.ones(1), np.full(1, np.nan), np.full(1, np.nan)
    found = ecdf(CensoredData(uncensored=ended, right=lengths[censored])).sf
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it warns of every step that has no limits
        limits = found.confidence_interval(method="log-log")
    return (
        np.concatenate([[0.0], found.quantiles]),
        np.concatenate([[1.0], found.probabilities]),
        np.concatenate([[np.nan], limits.low.probabilities]),
        np.concatenate([[np.nan], limits.high.probabilities]),
    )
