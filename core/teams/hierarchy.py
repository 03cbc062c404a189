"""A lead names distinct directions, workers develop one each at once, and the lead chooses among them or merges."""

from collections.abc import Iterator, Sequence
from itertools import count, islice

from core.models import CallFailedError, Member, Place
from core.teams.strategy import Proposal, Step, Wanted, free


class Hierarchy:
    def draw(self, step: Step) -> tuple[Place, ...]:
        lead = _lead(step)
        return (lead, *(place for place in free(step) if place is not lead))

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        lead, *workers = asked
        assert isinstance(lead, Member)
        workers = workers or [lead]
        turns = list(islice(_turns(workers), step.team.directions or len(workers)))
        directions = await _directions(lead, len(turns), step)
        wanted = [
            Wanted(worker, draft, direction) for (worker, draft), direction in zip(turns, directions, strict=False)
        ]
        return await step.pick_or_merge(lead, await step.ask_all(wanted))


def _lead(step: Step) -> Member:
    """The member that the team names, else the first, of those that can be asked. A team can't lead."""
    able = [place for place in free(step) if isinstance(place, Member)] or step.team.members
    return next((member for member in able if member.name == step.team.lead), able[0])


def _turns(workers: Sequence[Place]) -> Iterator[tuple[Place, int]]:
    """Who develops a direction, and which of its drafts that is. All have one, and then members, by turns, further
    ones; a team in a member's place proposes once a step."""
    yield from ((worker, 0) for worker in workers)
    if members := [worker for worker in workers if isinstance(worker, Member)]:
        yield from ((member, draft) for draft in count(1) for member in members)


async def _directions(lead: Member, wanted: int, step: Step) -> Sequence[str]:
    """What the lead names. If it can't be asked, that is in the log, and everybody looks where they like."""
    try:
        return await step.directions(lead, wanted)
    except CallFailedError:
        return [""] * wanted
