"""How models did, leaf by leaf, and what that lets one expect of them.

What is counted are runs: a model's ideas in one chain up to the one that fails, that one included. A chain of the paper
is one run, and its length the paper's score. Where a chain goes on after a failing idea, or is written by several, it
holds several runs of each. Ideas of a run that was cut off (by a cap, a budget, a person) count as ideas, and the run
does not: the mean of runs is then ideas / failures, as for waiting times of which some are censored.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

FAIR_START = 5.0
"""Runs of an average model that each is taken to have had beforehand: nobody is judged by one good or bad chain."""

ENOUGH = 30
"""Runs beyond one a leaf, of all models together, from which the spread between runs is known well enough."""


class Tally(Struct, frozen=True):
    """Sums over runs."""

    runs: float = 0.0
    finished: float = 0.0
    """Ideas in whole runs."""
    squares: float = 0.0
    """The lengths of whole runs, squared."""
    open: float = 0.0
    """Ideas in runs that were cut off."""

    @property
    def ideas(self) -> float:
        return self.finished + self.open

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.runs + other.runs,
            self.finished + other.finished,
            self.squares + other.squares,
            self.open + other.open,
        )


class Profile(Struct, frozen=True):
    """One model's tallies by leaf; `elsewhere` is what is not known by leaf."""

    leaves: Mapping[str, Tally] = {}
    elsewhere: Tally = Tally()

    @property
    def total(self) -> Tally:
        return sum(self.leaves.values(), self.elsewhere)

    def __add__(self, other: "Profile") -> "Profile":
        names = dict.fromkeys([*self.leaves, *other.leaves])
        nothing = Tally()
        leaves = {name: self.leaves.get(name, nothing) + other.leaves.get(name, nothing) for name in names}
        return Profile(leaves, self.elsewhere + other.elsewhere)


class Estimate(Struct, frozen=True):
    """What to expect of a model: the mean length of its runs, with the standard error of that."""

    mean: float
    error: float
    runs: float = 0.0
    """What it rests on."""


class Spread(Struct, frozen=True):
    """How runs differ, relative to a model's mean."""

    within: float
    """The variance between runs of one model in one leaf, over its mean squared."""
    k: float
    """`within` over the same of the leaves' true means: the number of runs that weighs as much as a model's mean."""


class _Sums(Struct):
    """What a spread is computed from."""

    within: float = 0.0
    freedom: float = 0.0
    between: float = 0.0
    leaves: float = 0.0
    scale: float = 0.0

    def add(self, profile: Profile) -> None:
        """The sums of squares of one model, on the scale of its own mean."""
        tallies = [tally for tally in profile.leaves.values() if tally.runs]
        runs = sum(tally.runs for tally in tallies)
        finished = sum(tally.finished for tally in tallies)
        if not finished:
            return
        mean = finished / runs
        for tally in tallies:
            self.within += (tally.squares - tally.finished**2 / tally.runs) / mean**2
            self.freedom += tally.runs - 1
            self.between += tally.runs * (tally.finished / tally.runs / mean - 1) ** 2
        self.leaves += len(tallies) - 1
        self.scale += runs - sum(tally.runs**2 for tally in tallies) / runs


def spread_of(profiles: Iterable[Profile]) -> Spread:
    """The spread of runs within leaves, and k = within / between.

    Bühlmann and Straub's estimators ("Glaubwürdigkeit für Schadensätze", 1970), pooled over models on the scale of
    each one's own mean. Few runs can't show that leaves do not matter: k is never more than the published data have
    it, and with too few all is as there. On halves of the published data this found better specialists for the other
    halves than raw means did, and better ones than each set's own k.
    """
    sums = _Sums()
    for profile in profiles:
        sums.add(profile)
    if sums.freedom < ENOUGH:
        return usual_spread()
    return _spread(sums, usual_spread().k)


@functools.cache
def usual_spread() -> Spread:
    """That of the published data."""
    from core.teams.published import published_models

    sums = _Sums()
    for model in published_models():
        sums.add(model.profile)
    return _spread(sums, math.inf)


def _spread(sums: _Sums, most: float) -> Spread:
    within = sums.within / sums.freedom
    between = (sums.between - sums.leaves * within) / sums.scale if sums.scale else 0.0
    k = within / between if between > 0 else most
    return Spread(within, min(max(k, 1.0), most))


def levels(profiles: Sequence[Profile], spread: Spread) -> list[Estimate]:
    """What to expect of each model wherever it is asked: its mean, pulled toward the mean of all while runs are few."""
    totals = [profile.total for profile in profiles]
    usual = sum(total.ideas for total in totals) / max(sum(total.runs for total in totals), 1.0)
    return [
        Estimate(
            mean := (total.ideas + FAIR_START * usual) / (total.runs + FAIR_START),
            mean * math.sqrt(spread.within / (total.runs + FAIR_START)),
            total.runs,
        )
        for total in totals
    ]


def in_leaf(profile: Profile, level: Estimate, leaf: str, spread: Spread) -> Estimate:
    """What to expect of a model in one leaf: its mean there, pulled toward its mean everywhere by n/(n+k).

    The linear empirical-Bayes estimate, or credibility: z = n/(n+k), estimate = z·(mean there) + (1-z)·(its level),
    with the variance that is left, within/(n+k), and what is not known of the level itself.
    """
    tally = profile.leaves.get(leaf, Tally())
    weight = tally.runs + spread.k
    mean = (tally.ideas + spread.k * level.mean) / weight
    left = spread.within * level.mean**2 / weight
    of_level = (spread.k / weight * level.error) ** 2
    return Estimate(mean, math.sqrt(left + of_level), tally.runs)


def chances(estimates: Sequence[Estimate], points: int = 48) -> list[float]:
    """How likely each is to be the best of them, each taken as normal.

    For one of mean m and error e: ∫ φ(z) ∏ Φ((m + e·z - mⱼ) / eⱼ) dz over all others j.
    """
    step = 10 / points
    places = [(place + 0.5) * step - 5 for place in range(points)]
    found = [sum(math.exp(-z * z / 2) * _above_others(each, z, estimates) for z in places) for each in estimates]
    return [share / (sum(found) or 1.0) for share in found]


def _above_others(one: Estimate, z: float, estimates: Sequence[Estimate]) -> float:
    """How likely all others are below `one`, were it `z` errors above its mean."""
    x = one.mean + one.error * z
    return math.prod(
        0.5 * math.erfc((other.mean - x) / (other.error * math.sqrt(2))) for other in estimates if other is not one
    )
