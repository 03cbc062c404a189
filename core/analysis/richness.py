"""How many different ideas there would be, from how many of those seen were seen but once.

It holds for independent draws alone: first answers of separate chains, by models that were shown nothing. The ideas of
one chain are each told to differ from the others, and say nothing of the kind; nor does what a person wrote or changed,
what was written under a seed, and the first answer of a fork, which is that of the session it was made of.
"""

import numpy as np
from msgspec import Struct

from core.analysis.diversity import Vectors, cluster_sizes
from core.analysis.rescoring import Counts
from core.analysis.table import Ints

ENOUGH_COVERAGE = 0.5
"""Below it the estimate is of what was never seen, and says nothing."""


class FirstAnswers(Struct, frozen=True, kw_only=True):
    """What the first ideas of all chains on one question say of how many kinds of answers there are."""

    leaf: str
    question: str
    chains: int
    distinct: int
    """Kinds that were seen."""
    coverage: float
    """The share of all first answers, as often as they come, that are of a kind that was seen."""
    expected: float | None
    """Kinds that there are at the least; None where coverage is below a half, and nothing can be said."""


def first_answers(counts: Counts, vectors: Vectors, threshold: float) -> tuple[FirstAnswers, ...]:
    """Of each question that has several chains with an independent first answer, whichever model wrote it.

    `vectors` (ideas, dims) are those of the table's ideas, NaN for one without; two are of a kind if they are at most
    `threshold` apart, as 1 − similarity (complete linkage).
    """
    table = counts.table
    ideas = table.ideas
    independent = ideas.counts & ~ideas.removed & ~ideas.shared & (ideas.seed < 0)
    first = np.flatnonzero(independent & counts.counted & (table.positions == 0) & ~np.isnan(vectors).any(axis=1))
    question = table.chains.question[table.ideas.chain[first]]
    found = []
    for place in np.unique(question).tolist():
        sizes = cluster_sizes(vectors[first[question == place]], threshold)
        if sizes.sum() > 1:
            asked = table.questions[place]
            found.append(
                FirstAnswers(
                    leaf=asked.leaf,
                    question=asked.text,
                    chains=int(sizes.sum()),
                    distinct=len(sizes),
                    coverage=coverage(sizes),
                    expected=kinds(sizes) if coverage(sizes) >= ENOUGH_COVERAGE else None,
                )
            )
    return tuple(found)


def kinds(sizes: Ints) -> float:
    """How many kinds there are at the least, from how often each was seen, (kinds,), all at least once.

    Chao's lower bound in its bias-corrected form (Chao 1984; Chao 2005, equation 4).
    """
    draws = int(sizes.sum())
    once, twice = int((sizes == 1).sum()), int((sizes == 2).sum())
    return len(sizes) + ((draws - 1) / draws * once * (once - 1) / (2 * (twice + 1)) if draws else 0.0)


def coverage(sizes: Ints) -> float:
    """How much of what comes is of a kind that was seen: Good and Turing's estimate, as Chao and Jost improved it
    (Ecology 93, 2012, equation 4a)."""
    draws = int(sizes.sum())
    once, twice = int((sizes == 1).sum()), int((sizes == 2).sum())
    if draws in (0, once):
        return 0.0
    if once == 0:
        return 1.0
    if twice:
        seen_again = (draws - 1) * once / ((draws - 1) * once + 2 * twice)
    else:
        seen_again = (draws - 1) * (once - 1) / ((draws - 1) * (once - 1) + 2)
    return 1 - once / draws * seen_again
