"""One step after the other: who is drawn, what they are asked, how long a server that is gone is waited for."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from core import events as ev
from core.asking import Asker
from core.chain import Chain
from core.errors import ModelUnavailableError
from core.levers import InForce
from core.models import YOU, CallFailedError, Group, Member, TeamSpec, Usage
from core.providers.calls import Caller
from core.randomness import generator
from core.scoring.scorer import Distances
from core.seeds.policy import Seeder
from core.selecting import NonePickedError, Selecting
from core.state import State
from core.teams.strategy import Proposal, Wanted, strategy_for
from core.together import being_cancelled, together

if TYPE_CHECKING:
    from numpy.random import Generator

OUTAGE_SECONDS = 900.0
"""How long servers may be gone before a session pauses and a person must say how it goes on."""

FIRST_WAIT, LONGEST_WAIT = 5.0, 30.0
"""Seconds between two looks whether a server is back; the call layer has tried for some seconds before."""


def wait_before(looks: int) -> float:
    """Seconds before another look whether a server is back, after so many: longer each time."""
    return min(FIRST_WAIT * 2.0**looks, LONGEST_WAIT)


class Stepper:
    """Finds the next proposal, for the team that is at work now."""

    def __init__(
        self,
        team: TeamSpec,
        random_seed: int,
        state: State,
        caller: Caller,
        distances: Distances,
        seeder: Seeder,
        emit: Callable[[ev.Event], None],
        elapsed: Callable[[], float],
    ) -> None:
        self.team = team
        self.picked = asyncio.Event()
        """Set whenever a person has picked among proposals."""
        self._random_seed = random_seed
        self._state = state
        self._seeder = seeder
        self._caller = caller
        self._distances = distances
        self._emit = emit
        self._elapsed = elapsed
        self._asker = Asker(random_seed, caller, distances, emit, elapsed)
        wanted = state.team_wanted
        self._next = (wanted, YOU) if wanted and wanted != team else None
        self._asking: asyncio.Task[Proposal] | None = None
        self._given_up = False
        self._gone: set[str] = set()
        """Endpoints that could not be reached the last time."""
        self._gone_since: float | None = None
        self._waits = 0

    async def prepare(self) -> None:
        """Make every member ready. Raises `ModelUnavailableError`."""
        await self._prepare(self.team)

    def change_team(self, team: TeamSpec, by: str, *, waiting: bool) -> None:
        """Ask `team` from the next step on; with `waiting`, give up the step under way, which only waits."""
        self._emit(ev.TeamWanted(team=team, by=by))
        self._next = (team, by)
        if waiting and self._asking:
            self._asking.cancel()

    def give_up(self) -> None:
        """Cut the step under way short, whose prompts hold what stands no longer; the next one asks anew."""
        if self._asking:
            self._given_up = True
            self._asking.cancel()

    @property
    def changes_team(self) -> bool:
        """Whether another team is about to take over."""
        return self._next is not None

    async def propose(self, chain: Chain) -> Proposal | None:
        """Draw who is asked, and ask; None if it brought nothing. A step cut short by a kill is taken up where it was.

        Raises `JagstormError` for what only a person can mend.
        """
        await self._take_over()
        step = chain.step if chain.step_open and not _spent(chain) else chain.step + 1
        if step == chain.step and (why := _out_of_date(chain)):
            self.drop(chain, why, _used(chain))
        await self._seeder.bring(chain, step)
        view = _Step(self, chain, step, self.team, self._state.in_force)
        strategy = strategy_for(self.team)
        asked = strategy.draw(view)
        names = tuple(place.name for place in asked)
        self._emit(
            ev.StepStarted(
                question=chain.question,
                step=step,
                members=names,
                seeds=tuple(seed.id for seed in self._state.seeds_in_force),
                steers=tuple(steer.id for steer in self._state.steers_in_force),
                failed=chain.failed,
            )
        )
        self._given_up = False
        self._asking = asyncio.create_task(strategy.propose(asked, view))
        try:
            proposal = await self._asking
        except NonePickedError:
            return None
        except CallFailedError as error:
            if being_cancelled():  # it was told to stop amid telling of the failure, which then came first
                raise asyncio.CancelledError from None
            if error.kind == "connection":
                await self._wait(chain, step, names, str(error))
            return None
        except asyncio.CancelledError:
            if (self._next or self._given_up) and self._asking.cancelled() and not being_cancelled():
                return None  # another team takes over, or the step is asked anew
            self._asking.cancel()
            await asyncio.wait({self._asking})
            raise
        finally:
            self._asking = None
        self._gone.clear()
        self.forget_outage()
        return proposal

    def drop(self, chain: Chain, why: str, used: Usage) -> None:
        """Say that the step under way is asked anew, and what was wasted on it."""
        self._emit(ev.StepDropped(question=chain.question, step=chain.step, why=why, usage=used))

    # ── for the strategies ────────────────────────────────────────────────────────────────────────────────────────────

    async def ask(self, view: "_Step", wanted: Wanted) -> Proposal:
        if isinstance(wanted.place, Group):
            inner = _Step(self, view.chain, view.number, wanted.place.named(), view.force, wanted)
            strategy = strategy_for(inner.team)
            return await strategy.propose(strategy.draw(inner), inner)
        return await self._asker.ask(view.chain, view.number, wanted.place, view.force, wanted.draft, wanted.direction)

    def selecting(self, view: "_Step") -> Selecting:
        return Selecting(
            view.chain,
            view.number,
            self._caller,
            self._distances,
            self._emit,
            self._elapsed,
            view.rng,
            view.force,
            self.picked,
        )

    def rng(self, chain: Chain, *place: int | str) -> "Generator":
        return generator(self._random_seed, chain.question, *place)

    # ── servers that are gone ─────────────────────────────────────────────────────────────────────────────────────────

    async def _wait(self, chain: Chain, step: int, names: Sequence[str], why: str) -> None:
        """Nobody is there. If none of the team can be reached, wait, longer each time; else another draw may help."""
        asked = self.team.within(names)
        self._gone |= {self._endpoint(member) for member in asked}
        if not {self._endpoint(member) for member in self.team.everybody} <= self._gone:
            return
        self._gone_since = self._elapsed() if self._gone_since is None else self._gone_since
        wait = wait_before(self._waits)
        self._waits += 1
        until = round(self._elapsed() + wait, 3)
        self._emit(ev.RetryScheduled(question=chain.question, step=step, member=asked[0].name, why=why, until=until))
        self._asking = asyncio.create_task(self._caller.clock.sleep(wait))  # type: ignore[arg-type]
        try:
            await self._asking
        except asyncio.CancelledError:
            if not (self._next or self._given_up) or being_cancelled():
                raise

    def outage(self) -> float:
        """Seconds for which nobody of the team could be reached, by now."""
        return 0.0 if self._gone_since is None else self._elapsed() - self._gone_since

    def forget_outage(self) -> None:
        """Count anew: somebody answered, or a person has said that it goes on."""
        self._gone_since, self._waits = None, 0

    def _endpoint(self, member: Member) -> str:
        return self._caller.provider_for(member.model.provider).endpoint(member.model)

    # ── teams ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _take_over(self) -> None:
        """Let the team that a person chose go on, if it can."""
        if self._next is None:
            return
        (team, by), self._next = self._next, None
        try:
            await self._prepare(team)
        except ModelUnavailableError as error:
            self._emit(ev.Notice(text=f"{team.name} can't take over. {error.message}"))
            if self._next is None:
                self._emit(ev.TeamWanted(team=self.team, by=by))
            return
        self.team = team
        self._gone.clear()
        self.forget_outage()
        self._emit(ev.TeamChanged(team=team, by=by))

    async def _prepare(self, team: TeamSpec) -> None:
        models = [*(member.model for member in team.everybody), *team.selectors]
        for model in models:
            await self._caller.provider_for(model.provider).prepare(model)


class _Step:
    """A step as a strategy sees it: of the session's team, or of a team within it."""

    def __init__(
        self,
        stepper: Stepper,
        chain: Chain,
        number: int,
        team: TeamSpec,
        force: InForce,
        within: Wanted | None = None,
    ) -> None:
        self.chain = chain
        self.number = number
        self.team = team
        self.force = force
        self._stepper = stepper
        self._within = within

    @property
    def barred(self) -> Collection[str]:
        return self.chain.barred

    def rng(self, *what: str) -> "Generator":
        inner = (self._within.place.name, self._within.draft) if self._within else ()
        return self._stepper.rng(self.chain, self.number, *inner, *what)

    async def ask(self, wanted: Wanted) -> Proposal:
        if self._within and self._within.direction and not wanted.direction:
            wanted = Wanted(wanted.place, wanted.draft, self._within.direction)
        return await self._stepper.ask(self, wanted)

    async def ask_all(self, wanted: Sequence[Wanted]) -> list[Proposal]:
        fault: CallFailedError | None = None

        async def one(each: Wanted) -> Proposal | None:
            nonlocal fault
            try:
                return await self.ask(each)
            except CallFailedError as error:
                fault = error
                return None

        proposals = [proposal for proposal in await together(one(each) for each in wanted) if proposal]
        if not proposals:
            assert fault
            raise fault
        return proposals

    async def pick(self, proposals: Sequence[Proposal]) -> Proposal:
        return await self._stepper.selecting(self).pick(self.team, proposals)

    async def directions(self, lead: Member, count: int) -> tuple[str, ...]:
        return await self._stepper.selecting(self).directions(lead.name, lead.model, count)

    async def pick_or_merge(self, lead: Member, proposals: Sequence[Proposal]) -> Proposal:
        return await self._stepper.selecting(self).pick_or_merge(lead.name, lead.model, proposals)


def _spent(chain: Chain) -> bool:
    """Whether this step's calls ended without an idea, so that there is nothing left to take up."""
    return bool(chain.outcomes) and all(isinstance(end, ev.ProposalFailed) for end in chain.outcomes.values())


def _out_of_date(chain: Chain) -> str:
    """Why the step under way would now be asked otherwise; "" if it would not."""
    if chain.failed > chain.failed_when_asked:
        return "an idea that it was asked with has failed"
    return chain.out_of_date


def _used(chain: Chain) -> Usage:
    """By the calls of the step under way that have ended."""
    used = Usage()
    for end in chain.outcomes.values():
        used = used + end.usage
    return used
