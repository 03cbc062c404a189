"""All members propose at once, each as often as there are drafts; the team's selector picks the next idea."""

from collections.abc import Sequence

from core.models import Member, Place
from core.teams.strategy import Proposal, Step, Wanted, free


class Parallel:
    def draw(self, step: Step) -> tuple[Place, ...]:
        return tuple(free(step))

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        wanted = [Wanted(place, draft) for place in asked for draft in range(_drafts(place, step))]
        return await step.pick(await step.ask_all(wanted))


def _drafts(place: Place, step: Step) -> int:
    """A team in a member's place proposes once a step: its members have drafts of their own."""
    return step.team.drafts if isinstance(place, Member) else 1
