"""What chains come to under their own rules, or would have come to under others, from the scores that are stored."""

from typing import Annotated

import numpy as np
from msgspec import Meta, Struct

from core.analysis.table import RULES, Flags, Floats, Ints, Table

RECORD = "record"
"""Why a chain ends that other rules would have let go on: nobody knows what would have come."""

CAP = "cap"

MECHANICAL = RULES.index("mechanical")


class Change(Struct, frozen=True, kw_only=True):
    """Rules in the place of a session's own; None leaves its own."""

    coherence: Annotated[float, Meta(ge=0, le=100)] | None = None
    """The most that still fails, 0 to 100."""
    embedding_novelty: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The least that passes."""
    judged_novelty: Annotated[float, Meta(ge=0, le=1)] | None = None
    patience: Annotated[int, Meta(ge=1)] | None = None
    max_ideas: Annotated[int, Meta(ge=1)] | None = None


class Counts(Struct, frozen=True, kw_only=True, eq=False):
    """What the chains of a table come to."""

    table: Table
    failed: Flags
    """(ideas,)."""
    counted: Flags
    """(ideas,): whether its chain came so far."""
    responses: Ints
    """(chains,): ideas, the failing ones too."""
    valid: Ints
    """(chains,): without those that failed or were taken out."""
    ends: tuple[str, ...]
    """The names of `ended`."""
    ended: Ints
    """(chains,): why."""
    censored: Flags
    """(chains,): whether it was something else than a rule."""

    def end(self, chain: int) -> str:
        return self.ends[int(self.ended[chain])]

    def only(self, chains: Flags) -> "Counts":
        """What is left with the chains that are marked, (chains,)."""
        kept = chains[self.table.ideas.chain]
        return Counts(
            table=self.table.only(chains),
            failed=self.failed[kept],
            counted=self.counted[kept],
            responses=self.responses[chains],
            valid=self.valid[chains],
            ends=self.ends,
            ended=self.ended[chains],
            censored=self.censored[chains],
        )


def as_stored(table: Table) -> Counts:
    """What the sessions themselves say."""
    return _counts(
        table,
        failed=table.ideas.failed_rule >= 0,
        responses=table.lengths,
        ends=table.ends,
        ended=table.chains.ended,
        censored=table.chains.censored,
    )


def rescored(table: Table, change: Change) -> Counts:
    """What the chains would have come to under changed rules, as far as their records go.

    The rules run as in `core.rules.judge`: coherence at or below its threshold fails, a novelty below its own does, a
    score that nobody gave does not; what a mechanical check failed stays so. A chain ends where as many ideas in a row
    failed as its patience allows, or at its cap, whichever comes first. One that a rule had ended and that would have
    gone on is censored where its record ends (`record`); one that something else had ended ends there as it did.
    """
    if change == Change():
        return as_stored(table)
    failed_rule = failing(table, change)
    failed = failed_rule >= 0
    lengths, starts = table.lengths, table.starts
    stop = _first_stop(table, failed, _or_own(change.patience, table.chains.patience))
    by_rule = stop < lengths
    length = np.where(by_rule, stop + 1, lengths)
    cap = _or_own(change.max_ideas, table.chains.max_ideas)
    capped = (cap > 0) & ((length > cap) | ((length == cap) & ~by_rule))
    length = np.where(capped, cap, length)
    by_rule &= ~capped

    ends = tuple(dict.fromkeys([*table.ends, *RULES, CAP, RECORD]))
    of_rule = np.array([ends.index(rule) for rule in RULES], dtype=np.int64)
    goes_on = ~table.chains.censored & (length == lengths)
    ended = np.where(goes_on, ends.index(RECORD), table.chains.ended)
    ended[capped] = ends.index(CAP)
    ended[by_rule] = of_rule[failed_rule[starts[by_rule] + length[by_rule] - 1]]
    return _counts(table, failed=failed, responses=length, ends=ends, ended=ended, censored=~by_rule)


def failing(table: Table, change: Change) -> Ints:
    """(ideas,): the first rule that each fails, as a place in `RULES`; -1 if it passes, or lacks scores to fail by."""
    ideas, chains = table.ideas, table.chains

    def least(new: float | None, own: Floats) -> Floats | float:
        return own[ideas.chain] if new is None else new

    conditions = [
        ideas.failed_rule == MECHANICAL,
        ideas.coherence <= least(change.coherence, chains.rule_coherence),
        ideas.embedding_novelty < least(change.embedding_novelty, chains.rule_embedding_novelty),
        ideas.judged_novelty < least(change.judged_novelty, chains.rule_judged_novelty),
    ]
    rules = [MECHANICAL, 0, 1, 2]
    return np.select(conditions, rules, default=np.int64(-1))


def _first_stop(table: Table, failed: Flags, patience: Ints | int) -> Ints:
    """(chains,): at which of its ideas, from 0, each has failed as often in a row as it may; its length if never.

    As `Chain.failing_in_row` counts: ideas that do not count neither add to a row nor break it.
    """
    ideas = np.flatnonzero(table.ideas.counts)
    chain = table.ideas.chain[ideas]
    fails = failed[ideas]
    places = np.arange(len(ideas))
    new_chain = np.diff(chain, prepend=-1) != 0
    # The last idea before the row that each is in: one that passed, or the last of the chain before.
    before = np.maximum.accumulate(np.where(fails, np.where(new_chain, places - 1, -1), places))
    limit = patience[chain] if isinstance(patience, np.ndarray) else patience
    stops = np.flatnonzero(fails & (places - before >= limit))
    stop = table.lengths
    stopped, first = np.unique(chain[stops], return_index=True)
    stop[stopped] = ideas[stops[first]] - table.starts[stopped]
    return stop


def _or_own(new: int | None, own: Ints) -> Ints:
    return own if new is None else np.full_like(own, new)


def _counts(
    table: Table, *, failed: Flags, responses: Ints, ends: tuple[str, ...], ended: Ints, censored: Flags
) -> Counts:
    chain = table.ideas.chain
    counted = table.positions < responses[chain]
    valid = np.bincount(chain[counted & ~failed & ~table.ideas.removed], minlength=len(responses))
    return Counts(
        table=table,
        failed=failed,
        counted=counted,
        responses=responses,
        valid=valid,
        ends=ends,
        ended=ended,
        censored=censored,
    )
