"""Whether ideas written under a seed differ from those written without one: the mean difference within pairs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.analysis.fits import rank_correlation
from core.analysis.intervals import ENOUGH, Interval, column_ratios, ratio_interval
from core.analysis.profiles import SeedEffect, SeedEffects
from core.analysis.rescoring import Counts
from core.analysis.seed_pairs import MEASURES, Measure, Pair, Written, of_both, paired, sums_by, written
from core.analysis.table import Flags

if TYPE_CHECKING:
    from numpy.random import Generator

SAME = 1e-6
"""Distances that are no farther apart are the same: they were measured on different machines."""

FLIPS = 9999
"""Random ways to swap or to shuffle that are tried where not all can be: p is then known to about 0.004 at 0.05."""

SIGNIFICANT = 0.05

Band = Literal["all", "near", "middle", "far"]

Verdict = Literal["more", "less", "no difference seen", "too few to tell"]


class Contrast(Struct, frozen=True, kw_only=True):
    """One measure of ideas with seeds of one third of the distances, less the same without."""

    measure: Measure
    band: Band
    pairs: int
    """In which both ideas have it."""
    swaps: int
    """What of them could have been swapped independently of the rest."""
    seeded: float
    """The mean with a seed."""
    plain: float
    difference: Interval
    """Resampled by what shares its luck where there is enough of it, else by what could have been swapped."""
    p: float | None
    """How often swapping within pairs by chance gives as great a difference, either way; None for a single pair."""
    verdict: Verdict
    """By interval and p together, p corrected for being one of several (Holm 1979).

    Too few to tell where no difference whatsoever could have been seen.
    """


class Effect(Struct, frozen=True, kw_only=True):
    contrasts: tuple[Contrast, ...]
    """By measure, then by band; those that have pairs, and a third only where not all pairs are of it."""
    pairs: int
    chains: int
    """That have ideas under seeds in pairs."""
    questions: int
    seeded: int
    """Ideas under a seed, in pairs or not."""
    called: int
    """Pairs whose seed came because of how ideas went. What went badly by chance goes better by itself."""
    apart: float
    """Places between the two ideas of a pair, on average."""
    trend: "Trend | None"


class Trend(Struct, frozen=True, kw_only=True):
    """Whether the difference in embedding novelty grows with the distance of the seed."""

    rho: float
    """Spearman's rank correlation, over what shares its luck."""
    p: float
    """By permutation of that, two-sided."""
    pairs: int
    units: int
    """What shares its luck: the pairs of a seed; or of a chain, where there are fewer of these than of seeds."""


# ── from pairs to what they tell ──────────────────────────────────────────────────────────────────────────────────────


def effect(ideas: Sequence[Written], thirds: Mapping[str, tuple[float, float]], rng: "Generator") -> Effect:
    """What seeds do to ideas, as far as `ideas` tell.

    `thirds` says by the text of a question up to which distance from it a seed is near, and from which on it is far.
    """
    pairs = paired(ideas)
    by_band: dict[Band, list[Pair]] = {"all": pairs, "near": [], "middle": [], "far": []}
    for pair in pairs:
        if band := _band(pair.seeded, thirds):
            by_band[band].append(pair)
    by_band = {band: own for band, own in by_band.items() if band == "all" or len(own) < len(pairs)}
    found = [
        contrast
        for measure in MEASURES
        for band, own in by_band.items()
        if (contrast := _contrast(measure, band, own, rng))
    ]
    return Effect(
        contrasts=_judged(found),
        pairs=len(pairs),
        chains=len({pair.seeded.chain for pair in pairs}),
        questions=len({pair.seeded.question for pair in pairs}),
        seeded=sum(bool(idea.seed) for idea in ideas),
        called=sum(pair.seeded.called for pair in pairs),
        apart=float(np.mean([abs(pair.seeded.number - pair.plain.number) for pair in pairs])) if pairs else 0.0,
        trend=_trend(pairs, rng),
    )


def _band(idea: Written, thirds: Mapping[str, tuple[float, float]]) -> Band | None:
    """None where nobody knows."""
    if idea.distance is None or idea.question not in thirds:
        return None
    near, far = thirds[idea.question]
    return "near" if idea.distance <= near + SAME else "far" if idea.distance >= far - SAME else "middle"


def _contrast(measure: Measure, band: Band, pairs: Sequence[Pair], rng: "Generator") -> Contrast | None:
    """None where no pair has it. Its verdict is still to come."""
    kept, values = of_both(measure, pairs)
    if not kept:
        return None
    differences = values[:, 0] - values[:, 1]
    blocks = sums_by([pair.block for pair in kept], differences)
    clusters = sums_by([pair.cluster for pair in kept], differences)
    units = clusters if len(clusters) >= ENOUGH else blocks
    return Contrast(
        measure=measure,
        band=band,
        pairs=len(kept),
        swaps=len(blocks),
        seeded=float(values[:, 0].mean()),
        plain=float(values[:, 1].mean()),
        difference=ratio_interval(units[:, :1], units[:, 1:], rng),
        p=_swapped(blocks[:, 0], rng) if len(blocks) > 1 else None,
        verdict="too few to tell",
    )


def _swapped(sums: NDArray[np.float64], rng: "Generator") -> float:
    """p of the sum of `sums` (blocks,) being as far from 0, if each could as well have the other sign."""
    from scipy.stats import permutation_test

    if not sums.any():
        return 1.0
    tested = permutation_test(
        (sums,), np.sum, permutation_type="samples", vectorized=True, n_resamples=FLIPS, batch=1000, rng=rng
    )
    return float(tested.pvalue)


def _judged(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """With verdicts: p is multiplied by how many are left to test, from the smallest on (Holm 1979)."""
    from msgspec.structs import replace

    tested = sorted((each for each in contrasts if each.p is not None), key=lambda each: each.p or 0.0)
    corrected: dict[tuple[Measure, Band], float] = {}
    least = 0.0
    for place, each in enumerate(tested):
        least = max(least, (each.p or 0.0) * (len(tested) - place))
        corrected[each.measure, each.band] = least
    return tuple(
        replace(each, verdict=_verdict(each, corrected.get((each.measure, each.band), 1.0), len(tested)))
        for each in contrasts
    )


def _verdict(contrast: Contrast, p: float, tests: int) -> Verdict:
    """`p` is the corrected one."""
    least = 2.0 ** (1 - contrast.swaps)  # all swaps one way, or all the other
    if not contrast.difference.tells or tests * least > SIGNIFICANT:
        return "too few to tell"
    if p > SIGNIFICANT:
        return "no difference seen"
    above, below = contrast.difference.above_zero, contrast.difference.below_zero
    return "more" if above else "less" if below else "no difference seen"


def _trend(pairs: Sequence[Pair], rng: "Generator") -> Trend | None:
    """None where too little is independent of the rest: pairs under one seed, or in one chain, share their luck.

    They have one difference and one distance, the means of theirs, and only these are permuted.
    """
    kept, values = of_both("embedding_novelty", [pair for pair in pairs if pair.seeded.distance is not None])
    seeds, clusters = [(pair.seeded.seed,) for pair in kept], [pair.cluster for pair in kept]
    units = seeds if len(set(seeds)) <= len(set(clusters)) else clusters
    distances = _means(units, np.array([pair.seeded.distance for pair in kept], dtype=np.float64))
    differences = _means(units, values[:, 0] - values[:, 1])
    rho = rank_correlation(distances, differences)
    if len(distances) < ENOUGH or rho is None:
        return None
    return Trend(rho=rho, p=_shuffled(distances, differences, rng), pairs=len(kept), units=len(distances))


def _means(groups: Sequence[tuple[str, ...]], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(groups,): of `values` (n,), by group in the order in which these come."""
    sums = sums_by(groups, values).reshape(-1, 2)
    means: NDArray[np.float64] = sums[:, 0] / sums[:, 1]
    return means


def _shuffled(x: NDArray[np.float64], y: NDArray[np.float64], rng: "Generator") -> float:
    """p of the rank correlation of `x` and `y` (n,) being as far from 0, if each `x` could as well be another's."""
    from scipy.stats import permutation_test, rankdata

    ranks = rankdata(y) - (len(y) + 1) / 2

    def covariance(shuffled: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = (shuffled * ranks).sum(axis=axis)
        return found

    tested = permutation_test(
        (rankdata(x) - (len(x) + 1) / 2,),
        covariance,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=FLIPS,
        batch=1000,
        rng=rng,
    )
    return float(tested.pvalue)


# ── seed by seed ──────────────────────────────────────────────────────────────────────────────────────────────────────


def by_seed(counts: Counts) -> SeedEffects:
    """The chart `seeds`: each seed's ideas beside those that they are paired with, the seed that helped most first."""
    pairs: dict[str, list[Pair]] = {}
    for pair in paired(written(counts)):
        pairs.setdefault(pair.seeded.seed, []).append(pair)
    table = counts.table
    under = counts.counted & (table.ideas.seed >= 0)
    used = np.unique(table.ideas.seed[under]).tolist()
    rows = [_helped(counts, under & (table.ideas.seed == seed), pairs.get(table.seeds[seed], [])) for seed in used]
    return SeedEffects(rows=tuple(sorted(rows, key=lambda row: -(row.difference.value if row.difference else -1.0))))


def _helped(counts: Counts, under: Flags, pairs: Sequence[Pair]) -> SeedEffect:
    """`under` (ideas,) are those of one seed."""
    ideas = counts.table.ideas
    kept, values = of_both("embedding_novelty", pairs)
    means = values.mean(axis=0).tolist() if kept else (None, None)
    differences = sums_by([pair.cluster for pair in kept], values[:, 0] - values[:, 1]).reshape(-1, 2)
    [difference] = column_ratios(differences[:, :1], differences[:, 1:])
    return SeedEffect(
        seed=counts.table.seeds[int(ideas.seed[under][0])],
        ideas=int(under.sum()),
        valid=int((under & ~counts.failed & ~ideas.removed).sum()),
        pairs=len(kept),
        novelty=means[0],
        without=means[1],
        difference=difference,
    )
