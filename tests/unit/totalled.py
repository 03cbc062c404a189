"""What public results come to, counted plainly, one chain after the other: something to hold columns against."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from msgspec import Struct

from core.exchange.oddities import Oddities, odd_in
from core.exchange.public import PublicChain


class Totals(Struct, frozen=True, kw_only=True):
    """One model over all its questions. Means are over the questions that it was asked."""

    model: str
    questions: int
    responses: int
    """Every answer, the failing one that ended a chain too: the paper's score."""
    valid: int
    """Without the one that a threshold stopped a chain at."""
    fewest: int
    most: int
    by_leaf: dict[str, float]
    """The mean of `responses` in each leaf that it was asked in."""
    stops: dict[str, int]

    @property
    def mean_responses(self) -> float:
        return self.responses / self.questions

    @property
    def mean_valid(self) -> float:
        return self.valid / self.questions


def totals(chains: Iterable[PublicChain]) -> dict[str, Totals]:
    """By model, in the order they come."""
    by_model: dict[str, list[PublicChain]] = {}
    for chain in chains:
        by_model.setdefault(chain.model, []).append(chain)
    return {model: _totals(model, own) for model, own in by_model.items()}


def _totals(model: str, chains: Sequence[PublicChain]) -> Totals:
    by_leaf: dict[str, list[int]] = {}
    for chain in chains:
        by_leaf.setdefault(chain.leaf, []).append(chain.responses)
    return Totals(
        model=model,
        questions=len(chains),
        responses=sum(chain.responses for chain in chains),
        valid=sum(chain.valid for chain in chains),
        fewest=min(chain.responses for chain in chains),
        most=max(chain.responses for chain in chains),
        by_leaf={leaf: fmean(counts) for leaf, counts in by_leaf.items()},
        stops=dict(Counter(chain.stop for chain in chains)),
    )


def oddities(chains: Iterable[PublicChain]) -> Oddities:
    """Those of chains and answers."""
    found = Oddities()
    for chain in chains:
        found.without_answers += not chain.answers
        for place, answer in enumerate(chain.answers, 1):
            found.add(odd_in(answer, place, stops=place == len(chain.answers)))
    return found
