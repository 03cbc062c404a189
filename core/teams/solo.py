"""One member writes every idea: the first of the team. How hard it thinks is a setting of its model."""

from collections.abc import Sequence

from core.models import Place
from core.teams.strategy import Proposal, Step, Wanted


class Solo:
    def draw(self, step: Step) -> tuple[Place, ...]:
        return (step.team.places[0],)

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        return await step.ask(Wanted(asked[0]))
