"""Ideas under a seed, each beside one that was written without, at the same place of a chain.

Novelty falls as a chain grows, so each idea under a seed is paired with one that was written without, as near to its
place as there is one: of the same chain, or of one that differs from it in nothing but its seeds.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.analysis.rescoring import Counts

MOST_APART = 3
"""Places in their chains that two ideas of a pair may be apart."""

Measure = Literal["embedding_novelty", "judged_novelty", "coherence", "passed"]

MEASURES: tuple[Measure, ...] = ("embedding_novelty", "judged_novelty", "coherence", "passed")
"""`passed` is 1 for an idea that no rule failed, 0 for one that failed: its mean is the share that survives."""


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


def written(counts: Counts) -> list[Written]:
    """The ideas that tell something of seeds: of questions and teams that have had some.

    Left out: the first of a chain, whose novelty is 1 by definition; what a person wrote, edited or took out; and, so
    that no idea counts twice, what a fork shares with the session that it was made of.
    """
    table = counts.table
    ideas = table.ideas
    group = table.chains.question[ideas.chain] * len(table.settings) + ideas.setting
    with_seeds = np.isin(group, group[ideas.seed >= 0])
    told = counts.counted & ideas.counts & ~ideas.shared & (table.positions > 0) & with_seeds
    return [_written(counts, row) for row in np.flatnonzero(told).tolist()]


def _written(counts: Counts, row: int) -> Written:
    table = counts.table
    ideas = table.ideas
    chain = int(ideas.chain[row])
    question = table.questions[int(table.chains.question[chain])].text
    seed = int(ideas.seed[row])
    return Written(
        chain=str(chain),
        alike=(question, table.settings[int(ideas.setting[row])]),
        question=question,
        number=int(ideas.number[row]),
        seed=table.seeds[seed] if seed >= 0 else "",
        distance=_known(ideas.seed_distance[row]),
        called=bool(ideas.seed_called[row]),
        embedding_novelty=_known(ideas.embedding_novelty[row]),
        judged_novelty=_known(ideas.judged_novelty[row]),
        coherence=_known(ideas.coherence[row]),
        passed=float(not counts.failed[row]) if ideas.scored[row] else None,
    )


def _known(value: np.float64) -> float | None:
    return None if math.isnan(value) else float(value)


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


def of_both(measure: Measure, pairs: Sequence[Pair]) -> tuple[list[Pair], NDArray[np.float64]]:
    """The pairs in which both have it, and (pairs, 2): with and without."""
    both = [(pair, getattr(pair.seeded, measure), getattr(pair.plain, measure)) for pair in pairs]
    known = [(pair, seeded, plain) for pair, seeded, plain in both if seeded is not None and plain is not None]
    values = np.array([(seeded, plain) for _, seeded, plain in known], dtype=np.float64)
    return [pair for pair, _, _ in known], values.reshape(len(known), 2)


def sums_by(groups: Sequence[tuple[str, ...]], differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """(groups, 2): for each group the sum of its differences, and how many they are."""
    found: dict[tuple[str, ...], list[float]] = {}
    for group, difference in zip(groups, differences, strict=True):
        found.setdefault(group, []).append(float(difference))
    return np.array([(sum(each), len(each)) for each in found.values()])
