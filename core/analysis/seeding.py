"""Which seeds helped."""

import numpy as np

from core.analysis.grids import means
from core.analysis.intervals import Interval, column_intervals
from core.analysis.profiles import SeedEffect, SeedEffects
from core.analysis.rescoring import Counts
from core.analysis.table import Flags, Floats


def seed_effects(counts: Counts) -> SeedEffects:
    """By seed: the novelty of the ideas written under it, beside that of the same chains' ideas without any seed.

    Novelty falls along a chain whatever one does, and seeds often come late: the difference is of what is left when
    the fall with the logarithm of the number is taken out, as the ideas without seeds show it. Its interval is over
    chains. First ideas are left out.
    """
    table = counts.table
    ideas = table.ideas
    compared = counts.counted & (table.positions > 0) & ~np.isnan(ideas.embedding_novelty)
    left = _detrended(ideas.embedding_novelty, np.log(table.positions + 1.0), compared & (ideas.seed < 0))
    rows = []
    for seed in np.unique(ideas.seed[counts.counted & (ideas.seed >= 0)]).tolist():
        under = counts.counted & (ideas.seed == seed)
        chains = np.unique(ideas.chain[under])
        without = compared & (ideas.seed < 0) & np.isin(ideas.chain, chains)
        rows.append(
            SeedEffect(
                seed=table.seeds[seed],
                ideas=int(under.sum()),
                valid=int((under & ~counts.failed & ~ideas.removed).sum()),
                novelty=_mean(ideas.embedding_novelty, under & compared),
                without=_mean(ideas.embedding_novelty, without),
                difference=_difference(counts, left, under & compared, without),
            )
        )
    return SeedEffects(rows=tuple(sorted(rows, key=lambda row: -(row.difference.value if row.difference else -1.0))))


def _mean(values: Floats, marked: Flags) -> float | None:
    return float(values[marked].mean()) if marked.any() else None


def _detrended(values: Floats, x: Floats, shown_by: Flags) -> Floats:
    """`values` less the line in `x` that those that are marked lie on."""
    if np.unique(x[shown_by]).size < 2:
        return values
    centre = x[shown_by].mean()
    around = x[shown_by] - centre
    slope = float(around @ values[shown_by]) / float(around @ around)
    left: Floats = values - slope * (x - centre)
    return left


def _difference(counts: Counts, values: Floats, under: Flags, without: Flags) -> Interval | None:
    """Of the means under the seed and without, over chains that have both; None where none does."""
    chain, size = counts.table.ideas.chain, len(counts.responses)
    by_chain = [means(values[marked], chain[marked], size) for marked in (under, without)]
    [interval] = column_intervals((by_chain[0] - by_chain[1])[:, None])
    return interval
