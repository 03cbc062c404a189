"""Each step one member is drawn, in proportion to its weight."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.models import Member
from core.teams.strategy import Ask, Proposal

if TYPE_CHECKING:
    from numpy.random import Generator


class Sample:
    def __init__(self, members: Sequence[Member]) -> None:
        total = sum(member.weight for member in members)
        self._members = members
        self._shares = [member.weight / total for member in members]

    def draw(self, rng: "Generator") -> tuple[Member, ...]:
        return (self._members[int(rng.choice(len(self._members), p=self._shares))],)

    async def propose(self, asked: Sequence[Member], ask: Ask) -> Proposal:
        return await ask(asked[0])
