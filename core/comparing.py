"""Teams on the same questions and the same budget, each next to its members alone: many chains at once."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from core import commands as cmd
from core.analysis.standings import Run
from core.config import Judging, Plan
from core.errors import JagstormError
from core.metering import Limit, Meter
from core.models import Budget, EmbedderSpec, Member, TeamSpec
from core.opening import begin, embedder_for
from core.providers.catalog import Providers
from core.questions import Question
from core.rules import Rules
from core.scoring.embeddings import Embedder
from core.session import Session
from core.store import library


class Comparison(Struct, frozen=True, kw_only=True):
    """Every team and every member alone, on every question, as often as there are repeats."""

    teams: tuple[TeamSpec, ...]
    questions: tuple[Question, ...]
    limit: Limit | None
    """For each chain. None: until a rule ends it."""
    rules: Rules
    repeats: int = 1
    judging: Judging = Judging()
    embedder: Literal["wordllama"] | EmbedderSpec = "wordllama"
    random_seed: int = 0

    @property
    def members(self) -> tuple[TeamSpec, ...]:
        """Every member alone, once, by a name that no other entrant has."""
        return tuple(self._alone().values())

    @property
    def entrants(self) -> tuple[TeamSpec, ...]:
        return (*self.teams, *self.members)

    @property
    def chains(self) -> int:
        return len(self.entrants) * len(self.questions) * self.repeats

    def members_of(self, team: TeamSpec) -> tuple[str, ...]:
        """The names that the members of `team` have in `members`; none for a team that is one member alone."""
        if is_alone(team):
            return ()
        alone = self._alone()
        return tuple(dict.fromkeys(alone[_asked_alike(member)].name for member in team.everybody))

    def _alone(self) -> dict[Member, TeamSpec]:
        taken = [team.name for team in self.teams]
        found: dict[Member, TeamSpec] = {}
        for member in (member for team in self.teams if not is_alone(team) for member in team.everybody):
            if _asked_alike(member) not in found:
                name = _free(member.name, taken)
                taken.append(name)
                own = (replace(member, weight=1.0),)
                found[_asked_alike(member)] = TeamSpec(name=name, strategy="solo", members=own)
        return found


def is_alone(team: TeamSpec) -> bool:
    """Whether one member by itself writes all that the team writes."""
    places = team.places[:1] if team.strategy == "solo" else team.places
    only = len(places) == 1 and isinstance(places[0], Member)
    return only and team.strategy not in ("parallel", "hierarchy")


def _asked_alike(member: Member) -> Member:
    """The same for members that are asked alike, whatever they are called."""
    return replace(member, name="-", weight=1.0)


def _free(name: str, taken: Sequence[str]) -> str:
    """`name`, with a number behind it if it is taken."""
    names = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    return next(each for each in names if each not in taken)


def smaller(team: TeamSpec, size: int) -> TeamSpec:
    """The `size` places of `team` that have the most weight, under its strategy."""
    heaviest = sorted(team.places, key=lambda place: -place.weight)[:size]
    kept = {place.name for place in heaviest}
    return replace(
        team,
        name=f"{team.name}, {size} of {len(team.places)}",
        members=tuple(member for member in team.members if member.name in kept),
        groups=tuple(group for group in team.groups if group.name in kept),
        lead=team.lead if team.lead in kept else "",
        routes={leaf: name for leaf, name in team.routes.items() if name in kept},
    )


class Contest:
    """Runs a comparison. Its sessions stay in `folder`, however it ends."""

    def __init__(
        self, comparison: Comparison, folder: Path, providers: Providers, embedder: Embedder | None = None
    ) -> None:
        self._comparison = comparison
        self._folder = folder
        self._providers = providers
        self._embedder = embedder
        self._running: set[Session] = set()
        self.stopped_by = ""

    def stop(self, by: str) -> None:
        """Begin no more chains, and stop those under way."""
        self.stopped_by = self.stopped_by or by
        for session in self._running:
            session.send(cmd.Stop(by=by))

    async def run(self, at_once: int, on_run: Callable[[Run], None]) -> list[Run]:
        """All runs, `at_once` at a time; those that were done, if it was stopped.

        Raises `JagstormError` if a model can't be used or a session not be saved.
        """
        chains = enumerate(self._chains(), 1)
        runs: list[Run] = []

        async def work() -> None:
            for number, (team, question, repeat) in chains:
                if self.stopped_by:
                    return
                run = await self._run(self._plan(number, team, question, repeat), repeat)
                if not self.stopped_by:
                    runs.append(run)
                    on_run(run)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(work())
        except* JagstormError as faults:
            raise _first(faults) from None
        return runs

    def _chains(self) -> Iterator[tuple[TeamSpec, Question, int]]:
        """By turns, so that no team has all the quiet hours of a server."""
        comparison = self._comparison
        for repeat in range(comparison.repeats):
            for question in comparison.questions:
                for team in comparison.entrants:
                    yield team, question, repeat

    def _plan(self, number: int, team: TeamSpec, question: Question, repeat: int) -> Plan:
        comparison = self._comparison
        plan = library.new_plan(
            (question,),
            team,
            comparison.rules,
            comparison.random_seed + repeat,  # everybody's draws on a question are the same
            embedder=comparison.embedder,
            judging=comparison.judging,
            budget=comparison.limit.budget if comparison.limit else Budget(),
        )
        words = "-".join(re.findall(r"[a-z0-9]+", f"{team.name} {question.id}".lower()))
        return replace(plan, id=f"{number:05}-{words}"[:80].strip("-"))

    async def _run(self, plan: Plan, repeat: int) -> Run:
        if self._embedder is None:
            self._embedder = embedder_for(plan, self._providers)
        session = begin(self._folder, plan, self._providers, self._embedder)
        meter = Meter(session, self._comparison.limit)
        session.subscribe(meter)
        self._running.add(session)
        try:
            await session.run()
        finally:
            self._running.discard(session)
        if session.fault:
            raise session.fault
        return meter.run(plan.team.name, repeat)


def _first(faults: BaseExceptionGroup[JagstormError]) -> JagstormError:
    """The first fault, however deep in the group."""
    fault = faults.exceptions[0]
    return _first(fault) if isinstance(fault, BaseExceptionGroup) else fault
