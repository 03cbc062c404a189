"""How long chains last. Those that a cap, an error, a refusal or a person cut short tell that they lasted so far."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.analysis.intervals import Interval, ends_of, resamples
from core.analysis.profiles import Expected
from core.analysis.rescoring import Counts
from core.analysis.table import Flags, Floats, Ints

DRAWS = 500
"""Resamples for the interval of what is expected: enough for two digits, in a few milliseconds a model."""

Numbers = NDArray[np.int64] | NDArray[np.float64]


class Hazards(Struct, frozen=True, kw_only=True, eq=False):
    """By group of chains and by idea from the first: (groups, ideas) each."""

    at_risk: Numbers
    """Chains that came so far."""
    ended: Numbers
    """Those of them that a rule ended there."""
    valid: Numbers
    """Those of them whose idea is valid."""

    def only(self, groups: Flags) -> "Hazards":
        """Of the groups that are marked, as far as any of their chains came."""
        longest = int(self.at_risk[groups].any(axis=0).sum())
        at_risk, ended, valid = (each[groups, :longest] for each in (self.at_risk, self.ended, self.valid))
        return Hazards(at_risk=at_risk, ended=ended, valid=valid)


def hazards(counts: Counts, group: Ints, groups: int) -> Hazards:
    """Of chains by `group` (chains,), whose values are below `groups`."""
    longest = int(counts.responses.max(initial=0))
    by_rule = ~counts.censored & (counts.responses > 0)
    lengths = _cells(group, counts.responses, groups, longest + 1)
    ideas = counts.table.ideas
    valid = counts.counted & ~counts.failed & ~ideas.removed
    position = counts.table.positions
    return Hazards(
        at_risk=np.cumsum(lengths[:, ::-1], axis=1)[:, ::-1][:, 1:],
        ended=_cells(group[by_rule], counts.responses[by_rule] - 1, groups, longest),
        valid=_cells(group[ideas.chain[valid]], position[valid], groups, longest),
    )


def _cells(rows: Ints, columns: Ints, height: int, width: int) -> NDArray[np.int64]:
    flat = np.bincount(rows.astype(np.int64) * width + columns, minlength=height * width)
    return flat.reshape(height, width)


def expected(found: Hazards) -> list[Expected | None]:
    """Of each group, the valid ideas of a chain that only a rule ends; None for one in which no rule ended any."""
    observed, beyond = _valid_ideas(found)
    ended, chains = found.ended.sum(axis=1), found.at_risk[:, :1].sum(axis=1)
    return [
        None
        if np.isnan(beyond[group])
        else Expected(
            valid=float(observed[group] + beyond[group]),
            observed=float(observed[group]),
            ended=int(ended[group]),
            censored=int(chains[group] - ended[group]),
        )
        for group in range(len(observed))
    ]


def expected_interval(found: Hazards) -> Interval | None:
    """Of the expected valid ideas where each group is a question, over questions; None where no rule ended any chain.

    Resamples in which no rule ended any are left out.
    """
    [whole] = _totals(Hazards(at_risk=_sum(found.at_risk), ended=_sum(found.ended), valid=_sum(found.valid)))
    questions = len(found.at_risk)
    if np.isnan(whole) or questions < 2:
        return None if np.isnan(whole) else Interval(float(whole))
    weights = resamples(questions)[:DRAWS]
    drawn = _totals(Hazards(at_risk=weights @ found.at_risk, ended=weights @ found.ended, valid=weights @ found.valid))
    low, high = ends_of(drawn[~np.isnan(drawn)], questions)
    return Interval(float(whole), low, high, questions)


def _sum(values: Numbers) -> Numbers:
    """(1, ideas)."""
    total: Numbers = values.sum(axis=0, keepdims=True)
    return total


def _totals(found: Hazards) -> Floats:
    observed, beyond = _valid_ideas(found)
    return observed + beyond


def _valid_ideas(found: Hazards) -> tuple[Floats, Floats]:
    """(groups,) each: the expected valid ideas within the lengths that were seen, and beyond; NaN where none ended.

    With h(k) the share of the chains that came to idea k which a rule ended there, and v(k) the share of them whose
    idea k is valid: the sum over k of v(k) · (1 − h(1)) … (1 − h(k−1)), the Kaplan–Meier estimate of how many come so
    far (Kaplan and Meier 1958). Where the longest chains are censored, what is left of it goes on at the hazard of the
    last ideas, those that hold the last half of what was seen: valid ideas over endings, as of a geometric tail (Brown,
    Hollander and Korwar 1974 complete the estimate with an exponential one).
    """
    seen = np.where(found.at_risk > 0, found.at_risk, np.inf)
    alive = np.cumprod(1 - found.ended / seen, axis=1)
    before = np.ones_like(alive)
    before[:, 1:] = alive[:, :-1]
    observed = (before * (found.valid / seen)).sum(axis=1)
    from_here = np.cumsum(found.at_risk[:, ::-1], axis=1)[:, ::-1]
    later = from_here <= from_here[:, :1] / 2
    later |= ~(found.ended * later).any(axis=1, keepdims=True)
    ended = (found.ended * later).sum(axis=1)
    rate = (found.valid * later).sum(axis=1) / np.where(ended > 0, ended, np.nan)
    return observed, alive[:, -1] * rate if alive.shape[1] else rate
