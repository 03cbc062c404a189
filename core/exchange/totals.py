"""What public results come to, model by model, and what is odd in them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from msgspec import Struct

from core.exchange.public import PublicAnswer, PublicChain

ENDLESS = 20_000
"""Characters from which an answer is called endless: a chain of ours keeps no more of one."""

_TAG = re.compile(r"</?answer>", re.IGNORECASE)


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


class Oddities(Struct, kw_only=True):
    """What is not as one would expect, counted. All of it is kept."""

    without_answers: int = 0
    """Chains."""
    blank: int = 0
    endless: int = 0
    tagged: int = 0
    """With literal tags of the prompt in them."""
    soft_hyphens: int = 0
    below_zero: int = 0
    """With a novelty below zero."""
    marked_within: int = 0
    """With the mark of an error or a stop, though the chain went on."""
    misnumbered: int = 0


def oddities(chains: Iterable[PublicChain]) -> Oddities:
    """In answers, but for `without_answers`."""
    found = Oddities()
    for chain in chains:
        found.without_answers += not chain.answers
        for place, answer in enumerate(chain.answers, 1):
            _look(found, answer)
            found.misnumbered += answer.number != place
            found.marked_within += bool(answer.mark) and place < len(chain.answers)
    return found


def _look(found: Oddities, answer: PublicAnswer) -> None:
    found.blank += not answer.text.strip()
    found.endless += len(answer.text) > ENDLESS
    found.tagged += bool(_TAG.search(answer.text))
    found.soft_hyphens += "\u00ad" in answer.text
    found.below_zero += any(
        score is not None and score < 0 for score in (answer.embedding_novelty, answer.judged_novelty)
    )
