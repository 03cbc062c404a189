"""Each step one member is drawn, in proportion to its weight or, `inverted`, to one over it."""

from collections.abc import Sequence

from core.models import Place
from core.teams.strategy import Proposal, Step, Wanted, free


def shares(weights: Sequence[float], *, inverted: bool) -> list[float]:
    """How likely each is drawn; they add up to 1."""
    least, most = min(weights), max(weights)
    parts = [least / weight if inverted else weight / most for weight in weights]  # no weight is too small for that
    total = sum(parts)
    return [part / total for part in parts]


class Sample:
    def draw(self, step: Step) -> tuple[Place, ...]:
        places = free(step)
        parts = shares([place.weight for place in places], inverted=step.team.inverted)
        return (places[int(step.rng().choice(len(places), p=parts))],)

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        return await step.ask(Wanted(asked[0]))
