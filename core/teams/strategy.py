"""What a strategy is, and what it can have done in a step."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from core.chain import Chain
from core.events import slot_of
from core.models import Member, Place, TeamSpec

if TYPE_CHECKING:
    from numpy.random import Generator


class Proposal(Struct, frozen=True):
    """What one member wrote in a step."""

    member: str
    text: str
    draft: int = 0
    also: "tuple[Proposal, ...]" = ()
    """What a person took beside it from the same step."""

    @property
    def slot(self) -> str:
        return slot_of(self.member, self.draft)


class Wanted(Struct, frozen=True):
    """One proposal to ask for."""

    place: Place
    draft: int = 0
    direction: str = ""
    """Along which it is to be worked out; "" for any."""


class Step(Protocol):
    """One step, as the strategy of a team sees it. All of it is in the log; nothing tells one member of another."""

    @property
    def team(self) -> TeamSpec: ...

    @property
    def chain(self) -> Chain: ...

    @property
    def barred(self) -> Collection[str]:
        """Members that can't be asked until a person does something; never all of them."""

    def rng(self, *what: str) -> "Generator":
        """For one choice in this step: the same again after a resume."""

    async def ask(self, wanted: Wanted) -> Proposal:
        """Ask for one proposal; a group asks its own team. One that came before a kill is not asked for again.

        Raises `CallFailedError` if nothing usable came back.
        """

    async def ask_all(self, wanted: Sequence[Wanted]) -> list[Proposal]:
        """Ask for several at once: those that came, in the order of `wanted`.

        Raises `CallFailedError`, the last one, if none came.
        """

    async def pick(self, proposals: Sequence[Proposal]) -> Proposal:
        """The one that the team's selector likes best, from a shuffled list. No call is made for a single one."""

    async def directions(self, lead: Member, count: int) -> tuple[str, ...]:
        """`count` distinct directions to look in, as `lead` sees them. Raises `CallFailedError`."""

    async def pick_or_merge(self, lead: Member, proposals: Sequence[Proposal]) -> Proposal:
        """The best of the proposals as `lead` sees it, or one that it makes of several."""


class Strategy(Protocol):
    """How a team comes to its next idea. Holds no state: all that it goes by is in the chain."""

    def draw(self, step: Step) -> tuple[Place, ...]:
        """Who is asked in this step."""

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        """The next idea. Raises `CallFailedError` if none of those asked gave one."""


def strategy_for(team: TeamSpec) -> Strategy:
    """The strategy that `team` names."""
    match team.strategy:
        case "solo":
            from core.teams.solo import Solo

            return Solo()
        case "sample":
            from core.teams.sample import Sample

            return Sample()
        case "router":
            from core.teams.router import Router

            return Router()
        case "parallel":
            from core.teams.parallel import Parallel

            return Parallel()
        case "hierarchy":
            from core.teams.hierarchy import Hierarchy

            return Hierarchy()
        case "bandit":
            from core.teams.bandit import Bandit

            return Bandit()


def free(step: Step) -> Sequence[Place]:
    """The team's places that can be asked; all of them if that would be none."""
    return [place for place in step.team.places if place.name not in step.barred] or step.team.places
