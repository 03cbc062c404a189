"""How long chains last. Those that a cap, an error, a refusal or a person cut short tell that they lasted so far."""

import numpy as np
from msgspec import Struct

from core.analysis.grids import answers, tallies
from core.analysis.intervals import Interval, ends_of, resamples
from core.analysis.profiles import Expected
from core.analysis.rescoring import Counts
from core.analysis.table import Flags, Floats, Ints

DRAWS = 500
"""Resamples for the interval of what is expected: enough for two digits, in a few milliseconds a model."""


class Hazards(Struct, frozen=True, kw_only=True, eq=False):
    """By group of chains and by idea from the first: (groups, ideas) each.

    The chains that a model has on one question count as one together, as in a mean over questions.
    """

    at_risk: Floats
    """Chains that came so far."""
    ended: Floats
    """Those of them that a rule ended there."""
    valid: Floats
    """Those of them whose idea is valid."""
    by_rule: Ints
    """(groups,): chains that a rule ended."""
    cut_short: Ints
    """(groups,): chains that something else cut short, once they had begun."""

    def only(self, groups: Flags) -> "Hazards":
        """Of the groups that are marked, as far as any of their chains came."""
        longest = int(self.at_risk[groups].any(axis=0).sum())
        at_risk, ended, valid = (each[groups, :longest] for each in (self.at_risk, self.ended, self.valid))
        by_rule, cut_short = self.by_rule[groups], self.cut_short[groups]
        return Hazards(at_risk=at_risk, ended=ended, valid=valid, by_rule=by_rule, cut_short=cut_short)


def hazards(counts: Counts, group: Ints, groups: int) -> Hazards:
    """Of chains by `group` (chains,), whose values are below `groups`."""
    longest = int(counts.responses.max(initial=0))
    begun = counts.responses > 0
    by_rule, cut_short = begun & ~counts.censored, begun & counts.censored
    answer = answers(counts).of_chain
    part = 1 / np.maximum(1, np.bincount(answer[begun], minlength=answer.max(initial=0) + 1))[answer]
    lengths = tallies(group, counts.responses, (groups, longest + 1), part)
    ideas = counts.table.ideas
    valid = counts.counted & ~counts.failed & ~ideas.removed
    chain, position = ideas.chain[valid], counts.table.positions
    return Hazards(
        at_risk=np.cumsum(lengths[:, ::-1], axis=1)[:, ::-1][:, 1:],
        ended=tallies(group[by_rule], counts.responses[by_rule] - 1, (groups, longest), part[by_rule]),
        valid=tallies(group[chain], position[valid], (groups, longest), part[chain]),
        by_rule=np.bincount(group[by_rule], minlength=groups),
        cut_short=np.bincount(group[cut_short], minlength=groups),
    )


def expected(found: Hazards) -> list[Expected | None]:
    """Of each group, the valid ideas of a chain that only a rule ends; None for one in which no rule ended any."""
    observed, beyond = _valid_ideas(found.at_risk, found.ended, found.valid)
    return [
        None
        if np.isnan(beyond[group])
        else Expected(
            valid=float(observed[group] + beyond[group]),
            observed=float(observed[group]),
            ended=int(found.by_rule[group]),
            censored=int(found.cut_short[group]),
        )
        for group in range(len(observed))
    ]


def expected_interval(found: Hazards) -> Interval | None:
    """Of the expected valid ideas where each group is a question, over questions; None where no rule ended any chain.

    Resamples in which no rule ended any are left out.
    """
    questions = len(found.at_risk)
    [whole] = _totals(found, np.ones((1, questions)))
    if np.isnan(whole) or questions < 2:
        return None if np.isnan(whole) else Interval(float(whole))
    drawn = _totals(found, resamples(questions)[:DRAWS])
    low, high = ends_of(drawn[~np.isnan(drawn)], questions)
    return Interval(float(whole), low, high, questions)


def _totals(found: Hazards, weights: Floats) -> Floats:
    """(sums,): of groups added up by `weights` (sums, groups)."""
    observed, beyond = _valid_ideas(weights @ found.at_risk, weights @ found.ended, weights @ found.valid)
    return observed + beyond


def _valid_ideas(at_risk: Floats, ended: Floats, valid: Floats) -> tuple[Floats, Floats]:
    """(groups,) each: the expected valid ideas within the lengths that were seen, and beyond; NaN where none ended.

    All three are (groups, ideas), as in `Hazards`.

    With h(k) the share of the chains that came to idea k which a rule ended there, and v(k) the share of them whose
    idea k is valid: the sum over k of v(k) · (1 − h(1)) … (1 − h(k−1)), the Kaplan–Meier estimate of how many come so
    far (Kaplan and Meier 1958). Where the longest chains are censored, what is left of it goes on at the hazard of the
    last ideas, those that hold the last half of what was seen: valid ideas over endings, as of a geometric tail (Brown,
    Hollander and Korwar 1974 complete the estimate with an exponential one). Where questions differ in their hazards
    the part beyond is too low, and the interval with it: whatever is left lasts longer than what ended before.
    """
    seen = np.where(at_risk > 0, at_risk, np.inf)
    alive = np.cumprod(1 - ended / seen, axis=1)
    before = np.ones_like(alive)
    before[:, 1:] = alive[:, :-1]
    observed = (before * (valid / seen)).sum(axis=1)
    from_here = np.cumsum(at_risk[:, ::-1], axis=1)[:, ::-1]
    later = from_here <= from_here[:, :1] / 2
    later |= ~(ended * later).any(axis=1, keepdims=True)
    endings = (ended * later).sum(axis=1)
    rate = (valid * later).sum(axis=1) / np.where(endings > 0, endings, np.nan)
    return observed, alive[:, -1] * rate if alive.shape[1] else rate
