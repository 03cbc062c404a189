"""What one chain brought for what it may use: calls, tokens or money."""

import asyncio
from typing import Literal

from msgspec import Struct

from core import commands as cmd
from core import events as ev
from core.analysis.standings import Run
from core.chain import Chain
from core.events.course import TROUBLE
from core.models import Budget
from core.session import Session

ONE_WRITER = frozenset({"solo", "router"})
"""Strategies in which one member writes a whole chain: when it has no more recorded ideas, the chain is over."""

BUDGET, EXHAUSTED = "budget", "exhausted"
"""Why a chain is stopped that no rule has ended; for `TROUBLE` too."""


class Limit(Struct, frozen=True):
    """What each chain may use."""

    kind: Literal["calls", "tokens", "cost"]
    amount: float

    @property
    def budget(self) -> Budget:
        """The same for a session's plan, which knows no limit on calls."""
        match self.kind:
            case "calls":
                return Budget()
            case "tokens":
                return Budget(max_tokens=int(self.amount))
            case "cost":
                return Budget(max_cost=self.amount)


class Meter:
    """Follows a session of one chain, counts, and stops it where its limit is reached or nobody could mend a pause.

    An idea counts that was there before more than the limit was used: what a step costs beyond it buys nothing.
    """

    def __init__(self, session: Session, limit: Limit | None) -> None:
        self._session = session
        self._limit = limit
        self._counted: set[int] = set()
        self.calls = 0
        self._ended = ""
        self._why = ""
        self._failed = ""
        """What the last call that failed said."""

    def __call__(self, event: ev.Event) -> None:
        match event:
            case ev.ProposalFailed() if event.kind == "missing" and self._speaks_from_records(event.member):
                # Whoever has nothing left to say was not really called.
                if self._session.plan.team.strategy in ONE_WRITER:
                    self._stop(EXHAUSTED, TROUBLE, event.message)
            case ev.ProposalFailed():
                self.calls += 1
                self._failed = event.message or event.outcome
            case ev.ProposalFinished() | ev.AsideFailed() | ev.DirectionsNamed():
                self.calls += 1
            case ev.ProposalChosen() if event.chooser:
                self.calls += self._orders()
            case ev.IdeaAdded() if not self._over():
                self._counted.add(event.idea)
            case ev.Paused():
                self._stop_paused(event)
        if self._is_done():
            self._stop(BUDGET, BUDGET)

    def run(self, team: str, repeat: int) -> Run:
        """What it came to."""
        state = self._session.state
        chain = self._chain()
        assert chain
        ideas = [idea for idea in chain.ideas if idea.number in self._counted]
        by: dict[str, int] = {}
        for idea in ideas:
            by[idea.author] = by.get(idea.author, 0) + (not idea.failed)
        reason = chain.ended.reason if chain.ended else ""
        if self._ended == BUDGET and self._failed and not ideas:
            self._ended, self._why = TROUBLE, self._failed
        return Run(
            team=team,
            question=chain.question,
            repeat=repeat,
            valid=sum(not idea.failed for idea in ideas),
            responses=len(ideas),
            calls=self.calls,
            tokens=state.tokens,
            cost=state.cost if state.cost_known else None,
            seconds=state.t,
            by={author: count for author, count in by.items() if count},
            ended=self._ended if self._ended and reason in ("person", "error") else reason,
            why=self._why,
        )

    def _chain(self) -> Chain | None:
        return self._session.state.chain

    def _used(self) -> float:
        assert self._limit
        state = self._session.state
        return {"calls": float(self.calls), "tokens": float(state.tokens), "cost": state.cost}[self._limit.kind]

    def _over(self) -> bool:
        return self._limit is not None and self._used() > self._limit.amount

    def _is_done(self) -> bool:
        """Whether nothing that may still come could count, and all that counts has its scores."""
        chain = self._chain()
        if self._limit is None or chain is None or self._used() < self._limit.amount:
            return False
        if any(idea.score is None for idea in chain.ideas if idea.number in self._counted):
            return False
        under_way = chain.step_open and bool(chain.outcomes)
        return self._over() or not under_way

    def _stop_paused(self, paused: ev.Paused) -> None:
        """Nobody is there to end a pause."""
        chain = self._chain()
        barred = chain.barred if chain else {}
        gone = {name for name, end in barred.items() if end.kind == "missing" and self._speaks_from_records(name)}
        exhausted = paused.by == TROUBLE and gone >= {member.name for member in self._session.plan.team.everybody}
        self._stop(EXHAUSTED if exhausted else TROUBLE, paused.by, paused.why)

    def _stop(self, ended: str, by: str, why: str = "") -> None:
        if not self._ended:
            self._ended, self._why = ended, why
            # Not amid what is being told: whoever tells it has its call's end to deal with first.
            asyncio.get_running_loop().call_soon(self._session.send, cmd.Stop(by=by))

    def _speaks_from_records(self, member: str) -> bool:
        return any(
            each.name == member and each.model.provider == "recorded" for each in self._session.plan.team.everybody
        )

    def _orders(self) -> int:
        """How many calls a choice takes."""
        team = self._session.plan.team
        return team.selector_orders if team.strategy == "parallel" else 1
