"""Each step one member is drawn, in proportion to its weight."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from core.models import Member
from core.teams.strategy import Ask, Proposal

if TYPE_CHECKING:
    from numpy.random import Generator


class Sample:
    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members

    def draw(self, rng: "Generator", barred: Collection[str]) -> tuple[Member, ...]:
        free = [member for member in self._members if member.name not in barred] or self._members
        total = sum(member.weight for member in free)
        return (free[int(rng.choice(len(free), p=[member.weight / total for member in free]))],)

    async def propose(self, asked: Sequence[Member], ask: Ask) -> Proposal:
        return await ask(asked[0])
