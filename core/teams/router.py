"""Each domain has its specialist."""

from collections.abc import Sequence

from core.models import Place
from core.teams.strategy import Proposal, Step, Wanted, free

OTHERWISE = "*"


class Router:
    def draw(self, step: Step) -> tuple[Place, ...]:
        places = {place.name: place for place in free(step)}
        routes = step.team.routes
        for leaf in (step.chain.subdomain, step.chain.domain, OTHERWISE):
            if leaf and (place := places.get(routes.get(leaf, ""))):
                return (place,)
        return (next(iter(places.values())),)

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        return await step.ask(Wanted(asked[0]))
