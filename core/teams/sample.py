"""Each step one member is drawn, in proportion to its weight or, `inverted`, to one over it."""

from collections.abc import Sequence

from core.models import Place
from core.teams.strategy import Proposal, Step, Wanted, free


class Sample:
    def draw(self, step: Step) -> tuple[Place, ...]:
        places = free(step)
        weights = [1 / place.weight if step.team.inverted else place.weight for place in places]
        total = sum(weights)
        return (places[int(step.rng().choice(len(places), p=[weight / total for weight in weights]))],)

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        return await step.ask(Wanted(asked[0]))
