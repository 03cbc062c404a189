"""Teams on the same questions and the same budget, each next to its members alone: many chains at once."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from core import commands as cmd
from core.analysis.standings import Run
from core.config import Judging, Plan
from core.levers import Hand, SeedPolicy
from core.metering import Limit, Meter
from core.models import Budget, EmbedderSpec, Member, TeamSpec
from core.opening import begin, embedder_for
from core.providers.catalog import Providers
from core.questions import Question
from core.rules import Rules
from core.scoring.embeddings import Embedder
from core.session import Session
from core.store import library
from core.together import together


class Entrant(Struct, frozen=True):
    """Who writes chains, under a name that no other has."""

    name: str
    team: TeamSpec
    seeds: SeedPolicy = Hand()


class Comparison(Struct, frozen=True, kw_only=True):
    """Every team and every member alone, on every question, as often as there are repeats; or one team's policies."""

    teams: tuple[TeamSpec, ...]
    questions: tuple[Question, ...]
    limit: Limit | None
    """For each chain. None: until a rule ends it."""
    rules: Rules
    repeats: int = 1
    judging: Judging = Judging()
    embedder: Literal["wordllama"] | EmbedderSpec = "wordllama"
    random_seed: int = 0
    policies: dict[str, SeedPolicy] = {}
    """When seeds come, by what that is called: where there are some, the first team under each stands for the teams."""

    @property
    def members(self) -> tuple[TeamSpec, ...]:
        """Every member alone, once, by a name that no other entrant has."""
        return tuple(self._alone().values())

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        if self.policies:
            return tuple(Entrant(name, self.teams[0], policy) for name, policy in self.policies.items())
        return tuple(Entrant(team.name, team) for team in (*self.teams, *self.members))

    @property
    def compared(self) -> dict[str, tuple[str, ...]]:
        """Whom it is about, by name, each with the names that its members have where they are alone."""
        if self.policies:
            return dict.fromkeys(self.policies, ())
        return {team.name: self.members_of(team) for team in self.teams}

    @property
    def chains(self) -> int:
        return len(self.entrants) * len(self.questions) * self.repeats

    def members_of(self, team: TeamSpec) -> tuple[str, ...]:
        """The names that the members of `team` have in `members`; none for a team that is one member alone."""
        if is_alone(team):
            return ()
        alone = self._alone()
        return tuple(dict.fromkeys(alone[_asked_alike(member)].name for member in team.everybody))

    def finished(self, runs: Sequence[Run]) -> "Comparison":
        """As much of it as everybody has been through: all questions, as often as all were; else some of them, once."""
        names = [entrant.name for entrant in self.entrants]
        there = {(run.team, run.question, run.repeat) for run in runs}

        def is_whole(question: Question, repeat: int) -> bool:
            return all((name, question.id, repeat) in there for name in names)

        whole = takewhile(lambda repeat: all(is_whole(each, repeat) for each in self.questions), range(self.repeats))
        if repeats := len(list(whole)):
            return replace(self, repeats=repeats)
        return replace(self, repeats=1, questions=tuple(each for each in self.questions if is_whole(each, 0)))

    def of(self, runs: Sequence[Run]) -> list[Run]:
        """Those of `runs` that belong to it."""
        questions = {question.id for question in self.questions}
        return [run for run in runs if run.question in questions and run.repeat < self.repeats]

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
    """The `size` places of `team` that have the most weight, whoever leads it first, under its strategy."""
    lead = (team.lead or team.members[0].name) if team.strategy == "hierarchy" else ""
    kept = {place.name for place in sorted(team.places, key=lambda place: (place.name != lead, -place.weight))[:size]}
    return replace(
        team,
        name=f"{team.name}, {size} of {len(team.places)}",
        members=tuple(member for member in team.members if member.name in kept),
        groups=tuple(group for group in team.groups if group.name in kept),
        lead=lead,
        routes={leaf: name for leaf, name in team.routes.items() if name in kept},
    )


def asks_a_person(team: TeamSpec) -> bool:
    """Whether somebody must be there to pick, in the team or in a team within it."""
    own = team.strategy == "parallel" and team.selector == "me"
    return own or any(asks_a_person(group.team) for group in team.groups)


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
            for number, (entrant, question, repeat) in chains:
                if self.stopped_by:
                    return
                run = await self._run(self._plan(number, entrant, question, repeat), entrant.name, repeat)
                if not self.stopped_by:
                    runs.append(run)
                    on_run(run)

        await together(work() for _ in range(at_once))
        return runs

    def _chains(self) -> Iterator[tuple[Entrant, Question, int]]:
        """By turns, so that nobody has all the quiet hours of a server."""
        comparison = self._comparison
        for repeat in range(comparison.repeats):
            for question in comparison.questions:
                for entrant in comparison.entrants:
                    yield entrant, question, repeat

    def _plan(self, number: int, entrant: Entrant, question: Question, repeat: int) -> Plan:
        comparison = self._comparison
        plan = library.new_plan(
            (question,),
            entrant.team,
            comparison.rules,
            comparison.random_seed + repeat,  # everybody's draws on a question are the same
            embedder=comparison.embedder,
            judging=comparison.judging,
            budget=comparison.limit.budget if comparison.limit else Budget(),
        )
        words = "-".join(re.findall(r"[a-z0-9]+", f"{entrant.name} {question.id}".lower()))
        return replace(plan, id=f"{number:05}-{words}"[:80].strip("-"), seeds=entrant.seeds)

    async def _run(self, plan: Plan, name: str, repeat: int) -> Run:
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
        return meter.run(name, repeat)
