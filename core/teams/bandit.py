"""Learns during a chain whose ideas pass, per idea, cost or time, and asks that member more (Thompson sampling).

It goes by the ideas up to the one before the last, which have their verdicts also where steps are asked ahead.
"""

from collections.abc import Sequence

from msgspec import Struct

from core.chain import Chain, Idea
from core.models import Place
from core.teams.strategy import Proposal, Step, Wanted, free

NEVER_LESS = 0.05
"""The chance with which a step is drawn evenly: nobody is given up for good."""


PRIOR_IDEAS = 5
"""How many ideas a weight is worth: one that is a length of chains says how seldom an idea fails, once in so many."""


class Record(Struct):
    """What one place has done so far, on top of what its weight lets expect."""

    passed: float = 1.0
    failed: float = 1.0
    spent: float = 0.0
    """US dollars or seconds."""
    calls: int = 0


class Bandit:
    def draw(self, step: Step) -> tuple[Place, ...]:
        places = free(step)
        rng = step.rng()
        if rng.random() < NEVER_LESS:
            return (places[int(rng.integers(len(places)))],)
        records = [record_of(place, step.chain, step.team.per) for place in places]
        prices = _prices(records)
        worth = [rng.beta(record.passed, record.failed) / price for record, price in zip(records, prices, strict=True)]
        return (places[worth.index(max(worth))],)

    async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
        return await step.ask(Wanted(asked[0]))


def record_of(place: Place, chain: Chain, per: str) -> Record:
    """The ideas of `place`, up to the one before the chain's last, with what their calls took."""
    record = _expected(place)
    for idea in chain.ideas[:-1]:
        if idea.score is None or not idea.counts or not _is_by(place, idea):
            continue
        record.passed += not idea.failed
        record.failed += idea.failed
        if idea.call:
            record.calls += 1
            record.spent += (idea.call.cost or 0.0) if per == "cost" else idea.call.usage.seconds
    return record if per != "idea" else Record(record.passed, record.failed)


def _expected(place: Place) -> Record:
    """As many ideas passed and failed as a chain of the length of its weight has; one of each for a plain weight."""
    if place.weight <= 2:
        return Record()
    return Record(PRIOR_IDEAS * (1 - 1 / place.weight), PRIOR_IDEAS / place.weight)


def _is_by(place: Place, idea: Idea) -> bool:
    return idea.author == place.name or idea.author.startswith(f"{place.name}/")


def _prices(records: Sequence[Record]) -> list[float]:
    """What one call of each takes, on average; of whom nothing is known yet, as much as the average of the others."""
    known = [record.spent / record.calls for record in records if record.calls and record.spent > 0]
    usual = sum(known) / len(known) if known else 1.0
    return [record.spent / record.calls if record.calls and record.spent > 0 else usual for record in records]
