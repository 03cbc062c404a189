"""Whether ideas written under a seed differ from those written without one, at the same place of a chain.

Novelty falls as a chain grows, so each idea under a seed is paired with one that was written without, as near to its
place as there is one: of the same chain, or of one that differs from it in nothing but its seeds. What seeds do is the
mean difference within pairs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.analysis.intervals import ENOUGH, Interval, ratio_interval
from core.chain import Chain, Idea
from core.config import Plan
from core.events import IdeaScored
from core.levers import POLICY, Each, Every
from core.state import State

if TYPE_CHECKING:
    from numpy.random import Generator

MOST_APART = 3
"""Places in their chains that two ideas of a pair may be apart."""

SAME = 1e-6
"""Distances that are no farther apart are the same: they were measured on different machines."""

FLIPS = 9999
"""Random ways to swap that are tried where not all can be: p is then known to about 0.004 at 0.05."""

SIGNIFICANT = 0.05

Measure = Literal["embedding_novelty", "judged_novelty", "coherence", "passed"]

MEASURES: tuple[Measure, ...] = ("embedding_novelty", "judged_novelty", "coherence", "passed")
"""`passed` is 1 for an idea that no rule failed, 0 for one that failed: its mean is the share that survives."""

Band = Literal["all", "near", "middle", "far"]

Verdict = Literal["more", "less", "no difference seen", "too few to tell"]


class Written(Struct, frozen=True, kw_only=True):
    """An idea that the team wrote in a step. None for a score that nobody gave."""

    chain: str
    alike: tuple[str, ...]
    """Question, team, random seed, embedder and judges: pairs are made among ideas that have these in common."""
    question: str
    """Its text."""
    number: int
    seed: str = ""
    """The seed that it was written under; "" for none."""
    distance: float | None = None
    """The seed's, from the question."""
    called: bool = False
    """Whether the seed came because of how ideas went, by a person or at a plateau, and not at a step set before."""
    embedding_novelty: float | None = None
    judged_novelty: float | None = None
    coherence: float | None = None
    passed: float | None = None


class Pair(Struct, frozen=True):
    """An idea under a seed and one without."""

    seeded: Written
    plain: Written

    @property
    def cluster(self) -> tuple[str, ...]:
        """What shares its luck: a chain; or, where they are of two, all that differ in nothing but their seeds."""
        return self.seeded.alike if self.seeded.chain != self.plain.chain else (self.seeded.chain,)

    @property
    def block(self) -> tuple[str, ...]:
        """What could have been swapped as one: two ideas of a chain; but of two chains all that they have."""
        return self.cluster if self.seeded.chain != self.plain.chain else (*self.cluster, str(self.seeded.number))


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
    """Spearman's rank correlation."""
    p: float
    """By permutation, two-sided."""
    pairs: int


# ── from sessions to pairs ────────────────────────────────────────────────────────────────────────────────────────────


def written(plan: Plan, state: State) -> list[Written]:
    """The ideas of a session that tell something of seeds.

    Left out: the first of a chain, whose novelty is 1 by definition, and what a person wrote or edited.
    """
    return [
        _written(plan, state, chain, idea, idea.score)
        for chain in state.chains.values()
        for idea in chain.ideas[1:]
        if idea.score and idea.prompt and not (idea.by_person or idea.original)
    ]


def _written(plan: Plan, state: State, chain: Chain, idea: Idea, score: IdeaScored) -> Written:
    brought = [state.seeds[name].injected for name in idea.seeds if name in state.seeds]
    seed = next((injected for injected in brought if injected.seed.lever == "seed"), None)
    set_before = isinstance(state.seed_policy or plan.seeds, Every | Each)
    return Written(
        chain=f"{plan.id}/{chain.question}",
        alike=(chain.text, plan.team.name, str(plan.random_seed), score.embedder, *sorted(score.judges)),
        question=chain.text,
        number=idea.number,
        seed=seed.seed.name if seed else "",
        distance=seed.seed.distance if seed else None,
        called=seed is not None and not (seed.by == POLICY and set_before),
        embedding_novelty=score.embedding_novelty,
        judged_novelty=score.judged_novelty,
        coherence=score.coherence,
        passed=None if score.verdict == "unscored" else float(score.verdict == "passed"),
    )


def paired(ideas: Iterable[Written]) -> list[Pair]:
    """Each idea under a seed with one without, so that they are as near to each other as can be.

    An idea without is used once for each chain that has ideas under seeds.
    """
    plain: dict[tuple[str, ...], list[Written]] = {}
    seeded: dict[tuple[tuple[str, ...], str], list[Written]] = {}
    for idea in ideas:
        if idea.seed:
            seeded.setdefault((idea.alike, idea.chain), []).append(idea)
        else:
            plain.setdefault(idea.alike, []).append(idea)
    return [pair for (alike, _), own in seeded.items() if alike in plain for pair in _matched(own, plain[alike])]


def _matched(seeded: Sequence[Written], plain: Sequence[Written]) -> list[Pair]:
    """By the Hungarian method (Kuhn 1955): the least sum of places apart."""
    from scipy.optimize import linear_sum_assignment

    apart = np.array([[other.number - idea.number for other in plain] for idea in seeded])
    same = np.array([[other.chain == idea.chain for other in plain] for idea in seeded])
    # Of two as near the one of the same chain; and by turns the one before and the one after, as novelty falls.
    turn = np.where(np.arange(len(seeded)) % 2, 1, -1)[:, None]
    cost = np.abs(apart) + 0.1 * ~same + 0.01 * (np.sign(apart) == turn)
    cost[np.abs(apart) > MOST_APART] = 1e6
    rows, columns = linear_sum_assignment(cost)
    return [
        Pair(seeded[row], plain[column])
        for row, column in zip(rows, columns, strict=True)
        if abs(apart[row, column]) <= MOST_APART
    ]


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
    kept, values = _values(measure, pairs)
    if not kept:
        return None
    differences = values[:, 0] - values[:, 1]
    blocks = _sums(differences, [pair.block for pair in kept])
    clusters = _sums(differences, [pair.cluster for pair in kept])
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


def _values(measure: Measure, pairs: Sequence[Pair]) -> tuple[list[Pair], NDArray[np.float64]]:
    """The pairs in which both have it, and (pairs, 2): with and without."""
    both = [(pair, getattr(pair.seeded, measure), getattr(pair.plain, measure)) for pair in pairs]
    known = [(pair, seeded, plain) for pair, seeded, plain in both if seeded is not None and plain is not None]
    values = np.array([(seeded, plain) for _, seeded, plain in known], dtype=np.float64)
    return [pair for pair, _, _ in known], values.reshape(len(known), 2)


def _sums(differences: NDArray[np.float64], groups: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
    """(groups, 2): for each group the sum of its differences, and how many they are."""
    found: dict[tuple[str, ...], list[float]] = {}
    for group, difference in zip(groups, differences, strict=True):
        found.setdefault(group, []).append(float(difference))
    return np.array([(sum(each), len(each)) for each in found.values()])


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
    from scipy.stats import permutation_test, spearmanr

    kept, values = _values("embedding_novelty", [pair for pair in pairs if pair.seeded.distance is not None])
    distances = [pair.seeded.distance for pair in kept]
    differences = values[:, 0] - values[:, 1]
    if len(kept) < ENOUGH or len(set(distances)) < 2 or len(set(differences)) < 2:
        return None

    def rho(shuffled: NDArray[np.float64]) -> float:
        return float(spearmanr(shuffled, differences).statistic)

    tested = permutation_test((distances,), rho, permutation_type="pairings", n_resamples=999, rng=rng)
    return Trend(rho=float(tested.statistic), p=float(tested.pvalue), pairs=len(kept))
