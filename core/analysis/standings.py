"""How teams stand next to each other, and next to the best of their members alone."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from core.analysis.intervals import Interval, Values, mean_interval, ratio_interval

if TYPE_CHECKING:
    from numpy.random import Generator

ENOUGH_TO_HALVE = 4
"""Questions from which the best member is picked on other ones than it is shown on."""

Verdict = Literal["more", "fewer", "no difference seen", "too few chains to tell"]


class Run(Struct, frozen=True, kw_only=True):
    """One chain of one team, as far as its budget went."""

    team: str
    question: str
    repeat: int
    valid: int
    responses: int
    calls: int
    """To members, selectors and leads."""
    tokens: int
    """Read and written, by judges too."""
    cost: float | None
    """In US dollars; None if a price is unknown."""
    seconds: float
    by: dict[str, int]
    """Valid ideas by who wrote them."""
    ended: str
    """Why: a rule's name, `cap`, `budget`, `exhausted` (no more recorded ideas), `refused`, `trouble`."""
    why: str = ""
    """For `trouble`, in words."""


Draws = Callable[[], "Generator"]
"""Gives a generator, the same each time: whoever is compared is resampled alike, and whoever comes twice has the same
interval."""

Grid = Sequence[Sequence[Run]]
"""The runs of one team: by question, then by repeat; as many of each question."""


class Standing(Struct, frozen=True, kw_only=True):
    """One team over all its chains. Means are over chains, with intervals where they are compared."""

    team: str
    chains: int
    valid: Interval
    per_call: Interval
    per_1000_tokens: Interval
    per_minute: Interval
    calls: float
    tokens: float
    cost: float | None
    seconds: float
    by: dict[str, int]
    """Valid ideas by who wrote them, most first."""
    ended: dict[str, int]


class Alone(Struct, frozen=True, kw_only=True):
    """A team next to the best of its members alone, on the same budget."""

    best: tuple[str, ...]
    """Who that was; where the pick was held out, for each half of the questions who was best on the other half."""
    held_out: bool
    """Whether nobody is shown on the questions that they were picked on."""
    standing: Standing
    difference: Interval
    """In valid ideas a chain: the team's less the member's, on the same question."""
    verdict: Verdict
    calls: float
    """How many times as many calls the team made."""


class Pair(Struct, frozen=True, kw_only=True):
    team: str
    other: str
    difference: Interval
    verdict: Verdict


class TeamReport(Struct, frozen=True, kw_only=True):
    standing: Standing
    alone: Alone | None
    """None for a team that is one member alone."""


class Report(Struct, frozen=True, kw_only=True):
    """What a comparison comes to."""

    teams: tuple[TeamReport, ...]
    members: tuple[Standing, ...]
    """Each alone, the best first."""
    pairs: tuple[Pair, ...]
    """The first team next to each of the others."""


def report(runs: Sequence[Run], teams: Mapping[str, Sequence[str]], questions: Sequence[str], draws: Draws) -> Report:
    """Of the runs of `teams` (each with the names of its members, unless it is one alone) and of their members.

    Every second one of `questions` is in the same half.
    """
    grids = _grids(runs, questions)
    names = list(teams)
    alone = dict.fromkeys(name for members in teams.values() for name in members)
    members = [standing(name, grids[name], draws) for name in alone]
    return Report(
        teams=tuple(
            TeamReport(
                standing=standing(team, grids[team], draws),
                alone=against_best(grids[team], {name: grids[name] for name in own}, draws) if own else None,
            )
            for team, own in teams.items()
        ),
        members=tuple(sorted(members, key=lambda member: -member.valid.value)),
        pairs=tuple(pair(names[0], other, grids, draws) for other in names[1:]),
    )


def _grids(runs: Sequence[Run], questions: Sequence[str]) -> dict[str, Grid]:
    found: dict[str, dict[str, list[Run]]] = {}
    for run in sorted(runs, key=lambda run: run.repeat):
        found.setdefault(run.team, {}).setdefault(run.question, []).append(run)
    return {team: [by_question[question] for question in questions] for team, by_question in found.items()}


def standing(team: str, grid: Grid, draws: Draws) -> Standing:
    runs = [run for row in grid for run in row]
    valid = _values(grid, lambda run: run.valid)
    costs = [run.cost for run in runs if run.cost is not None]
    by: Counter[str] = Counter()
    for run in runs:
        by.update(run.by)
    return Standing(
        team=team,
        chains=len(runs),
        valid=mean_interval(valid, draws()),
        per_call=ratio_interval(valid, _values(grid, lambda run: run.calls), draws()),
        per_1000_tokens=ratio_interval(valid, _values(grid, lambda run: run.tokens / 1000), draws()),
        per_minute=ratio_interval(valid, _values(grid, lambda run: run.seconds / 60), draws()),
        calls=_mean(runs, lambda run: run.calls),
        tokens=_mean(runs, lambda run: run.tokens),
        cost=sum(costs) / len(runs) if len(costs) == len(runs) else None,
        seconds=_mean(runs, lambda run: run.seconds),
        by=dict(by.most_common()),
        ended=dict(Counter(run.ended for run in runs).most_common()),
    )


def against_best(team: Grid, members: Mapping[str, Grid], draws: Draws) -> Alone:
    """`team` next to the best of `members`, all on the same questions.

    With four questions or more, whoever is shown on one half of them is the best on the other half: picked on the very
    questions that they are shown on, the best of several would owe some of that to luck.
    """
    held_out = len(team) >= ENOUGH_TO_HALVE
    places = range(len(team))
    halves = ([place for place in places if place % 2 == half] for half in (0, 1)) if held_out else ([*places],)
    best: list[str] = []
    rows: dict[int, Sequence[Run]] = {}
    for half in halves:
        seen = [place for place in places if place not in half] if held_out else half
        pick = max(members, key=lambda name: sum(run.valid for place in seen for run in members[name][place]))
        best.append(pick)
        rows |= {place: members[pick][place] for place in half}
    grid = [rows[place] for place in places]
    difference = compared(team, grid, draws)
    names = tuple(dict.fromkeys(best)) if not held_out else tuple(best)
    alone = standing(" / ".join(dict.fromkeys(names)), grid, draws)
    calls = sum(run.calls for row in team for run in row) / max(1, sum(run.calls for row in grid for run in row))
    return Alone(
        best=names,
        held_out=held_out,
        standing=alone,
        difference=difference,
        verdict=verdict(difference),
        calls=calls,
    )


def pair(team: str, other: str, grids: Mapping[str, Grid], draws: Draws) -> Pair:
    difference = compared(grids[team], grids[other], draws)
    return Pair(team=team, other=other, difference=difference, verdict=verdict(difference))


def compared(team: Grid, other: Grid, draws: Draws) -> Interval:
    """Valid ideas a chain, the one's less the other's, question by question and repeat by repeat."""
    return mean_interval(_values(team, lambda run: run.valid) - _values(other, lambda run: run.valid), draws())


def verdict(difference: Interval) -> Verdict:
    """What a difference lets one say: nothing, if it may as well be none."""
    if not difference.tells:
        return "too few chains to tell"
    if difference.above_zero:
        return "more"
    return "fewer" if difference.below_zero else "no difference seen"


def _values(grid: Grid, of: Callable[[Run], float]) -> Values:
    return np.array([[of(run) for run in row] for row in grid], dtype=np.float64)


def _mean(runs: Sequence[Run], of: Callable[[Run], float]) -> float:
    return sum(of(run) for run in runs) / len(runs)
