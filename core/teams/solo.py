"""One member writes every idea: the first of the team."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from core.models import Member
from core.teams.strategy import Ask, Proposal

if TYPE_CHECKING:
    from numpy.random import Generator


class Solo:
    def __init__(self, members: Sequence[Member]) -> None:
        self._member = members[0]

    def draw(self, rng: "Generator", barred: Collection[str]) -> tuple[Member, ...]:
        return (self._member,)

    async def propose(self, asked: Sequence[Member], ask: Ask) -> Proposal:
        return await ask(asked[0])
