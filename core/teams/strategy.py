"""What a strategy is."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from core.models import Member, TeamSpec

if TYPE_CHECKING:
    from numpy.random import Generator


class Proposal(Struct, frozen=True):
    """What one member wrote in a step."""

    member: str
    text: str


Ask = Callable[[Member], Awaitable[Proposal]]
"""Asks a member for the next idea; streaming, limits, and the log are the session's affair.

Raises `CallFailedError` if nothing usable came back.
"""


class Strategy(Protocol):
    def draw(self, rng: "Generator", barred: Collection[str]) -> tuple[Member, ...]:
        """Who is asked in the next step. Every random choice is made with `rng`, so that a resume repeats it.

        `barred` are members that can't be asked until a person does something; never all of them.
        """

    async def propose(self, asked: Sequence[Member], ask: Ask) -> Proposal:
        """The next idea. Raises `CallFailedError` if none of those asked gave one."""


def strategy_for(team: TeamSpec) -> Strategy:
    """The strategy that `team` names."""
    from core.teams.sample import Sample
    from core.teams.solo import Solo

    match team.strategy:
        case "solo":
            return Solo(team.members)
        case "sample":
            return Sample(team.members)
