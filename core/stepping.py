"""One step after the other: who is drawn, what they are asked, how long a server that is gone is waited for."""

import asyncio
from collections.abc import Callable

from core import events as ev
from core.asking import Asker
from core.chain import Chain
from core.errors import ModelUnavailableError
from core.models import CallFailedError, Member, TeamSpec
from core.providers.calls import Caller
from core.randomness import generator
from core.teams.strategy import strategy_for

OUTAGE_SECONDS = 900.0
"""How long servers may be gone before a session pauses and a person must say how it goes on."""

FIRST_WAIT, LONGEST_WAIT = 5.0, 30.0
"""Seconds between two looks whether a server is back; the call layer has tried for some seconds before."""


class Stepper:
    """Lengthens chains for the team that is at work now."""

    def __init__(
        self,
        team: TeamSpec,
        random_seed: int,
        caller: Caller,
        asker: Asker,
        emit: Callable[[ev.Event], None],
        elapsed: Callable[[], float],
    ) -> None:
        self.team = team
        self._strategy = strategy_for(team)
        self._random_seed = random_seed
        self._caller = caller
        self._asker = asker
        self._emit = emit
        self._elapsed = elapsed
        self._next: tuple[TeamSpec, str] | None = None
        self._asking: asyncio.Timeout | None = None
        self._gone: set[str] = set()
        """Endpoints that could not be reached the last time."""
        self._gone_since: float | None = None
        self._waits = 0

    async def prepare(self) -> None:
        """Make every member ready. Raises `ModelUnavailableError`."""
        await self._prepare(self.team)

    def change_team(self, team: TeamSpec, by: str, *, waiting: bool) -> None:
        """Ask `team` from the next step on; with `waiting`, give up the step under way, which only waits."""
        self._next = (team, by)
        if waiting and self._asking:
            self._asking.reschedule(asyncio.get_running_loop().time())

    async def step(self, chain: Chain) -> None:
        """Draw who is asked, ask, and add the idea. A step cut short by a kill is taken up where it was."""
        await self._take_over()
        step = chain.step if chain.step_open and not _spent(chain) else chain.step + 1
        asked = self._strategy.draw(generator(self._random_seed, chain.question, step), chain.barred)
        self._emit(ev.StepStarted(question=chain.question, step=step, members=tuple(member.name for member in asked)))
        try:
            async with asyncio.timeout(None) as self._asking:
                await self._ask(chain, step, asked)
        except TimeoutError:
            pass  # another team takes over
        finally:
            self._asking = None

    async def _ask(self, chain: Chain, step: int, asked: tuple[Member, ...]) -> None:
        try:
            proposal = await self._strategy.propose(asked, lambda member: self._asker.ask(chain, step, member))
        except CallFailedError as error:
            if error.kind == "connection":
                await self._wait(chain, step, asked, str(error))
            return
        self._gone.discard(self._endpoint(self.team.member(proposal.member)))
        self._gone_since, self._waits = None, 0
        self._emit(
            ev.IdeaAdded(
                question=chain.question,
                idea=chain.next_number,
                step=step,
                text=proposal.text,
                author=proposal.member,
            )
        )

    async def _wait(self, chain: Chain, step: int, asked: tuple[Member, ...], why: str) -> None:
        """Nobody is there. If none of the team can be reached, wait, longer each time; else another draw may help."""
        self._gone |= {self._endpoint(member) for member in asked}
        if not {self._endpoint(member) for member in self.team.members} <= self._gone:
            return
        self._gone_since = self._elapsed() if self._gone_since is None else self._gone_since
        wait = min(FIRST_WAIT * 2**self._waits, LONGEST_WAIT)
        self._waits += 1
        until = self._elapsed() + wait
        self._emit(
            ev.RetryScheduled(question=chain.question, step=step, member=asked[0].name, why=why, until=round(until, 3))
        )
        await self._caller.clock.sleep(wait)

    def outage(self) -> float:
        """Seconds for which nobody of the team could be reached, by now."""
        return 0.0 if self._gone_since is None else self._elapsed() - self._gone_since

    def forget_outage(self) -> None:
        """Count anew: a person has said that it goes on."""
        self._gone_since, self._waits = None, 0

    def _endpoint(self, member: Member) -> str:
        return self._caller.provider_for(member.model.provider).endpoint(member.model)

    async def _take_over(self) -> None:
        """Let the team that a person chose go on, if it can."""
        if self._next is None:
            return
        (team, by), self._next = self._next, None
        try:
            await self._prepare(team)
        except ModelUnavailableError as error:
            self._emit(ev.Notice(text=f"{team.name} can't take over. {error.message}"))
            return
        self.team = team
        self._strategy = strategy_for(team)
        self._gone.clear()
        self.forget_outage()
        self._emit(ev.TeamChanged(team=team, by=by))

    async def _prepare(self, team: TeamSpec) -> None:
        for member in team.members:
            await self._caller.provider_for(member.model.provider).prepare(member.model)


def _spent(chain: Chain) -> bool:
    """Whether this step's calls ended without an idea, so that there is nothing left to take up."""
    return bool(chain.outcomes) and all(isinstance(end, ev.ProposalFailed) for end in chain.outcomes.values())
