"""A lead names distinct directions, workers develop one each at once, and the lead chooses among them or merges."""

from collections.abc import Sequence

from core.models import Member, Place
from core.teams.strategy import Proposal, Step, Wanted, free


class Hierarchy:
    def draw(self, step: Step) -> tuple[Place, ...]:
        lead = _lead(step)
        return (lead, *(place for place in free(step) if place is not lead))

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        lead, *workers = asked
        assert isinstance(lead, Member)
        workers = workers or [lead]
        directions = await step.directions(lead, step.team.directions or len(workers))
        wanted = [
            Wanted(workers[place % len(workers)], draft=place // len(workers), direction=direction)
            for place, direction in enumerate(directions)
        ]
        return await step.pick_or_merge(lead, await step.ask_all(wanted))


def _lead(step: Step) -> Member:
    """The member that the team names, else the first. A group can't lead."""
    members = {member.name: member for member in step.team.members}
    return members.get(step.team.lead) or step.team.members[0]
