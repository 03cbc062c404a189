"""How varied a set of ideas is. Vectors are (ideas, dims) float32 of unit length; similarity is their cosine."""

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.analysis.table import Floats, Ints

if TYPE_CHECKING:
    from numpy.random import Generator

Vectors = NDArray[np.float32]

PERMUTATIONS = 200

SAME = 1e-6
"""A distance below which two vectors differ by rounding alone: they are float32."""


def similarities(vectors: Vectors) -> Floats:
    """(ideas, ideas): cosines, between −1 and 1."""
    exact = vectors.astype(np.float64)
    return np.clip(exact @ exact.T, -1.0, 1.0)


def vendi(vectors: Vectors) -> float:
    """The effective number of different ideas: exp of the entropy of the eigenvalues of their similarities over n.

    1 where all are the same, n where no two have anything in common (Friedman and Dieng, The Vendi Score, 2023). 0 for
    no ideas.
    """
    values = _eigenvalues(vectors)
    return float(np.exp(-(values * np.log(values)).sum())) if len(values) else 0.0


def vendi_of_order_two(vectors: Vectors) -> float:
    """The same with the order q = 2, 1 / Σλ²: what many ideas share weighs more than what is rare (Pasarkar and Dieng,
    Cousins of the Vendi Score, 2024)."""
    values = _eigenvalues(vectors)
    return float(1 / (values**2).sum()) if len(values) else 0.0


def _eigenvalues(vectors: Vectors) -> Floats:
    """Those above zero of the similarities over n, which add up to 1; from the smaller of VVᵀ and VᵀV."""
    if not len(vectors):
        return np.zeros(0)
    exact = vectors.astype(np.float64)
    product = exact @ exact.T if len(exact) <= exact.shape[1] else exact.T @ exact
    values = np.linalg.eigvalsh(product / len(exact)).astype(np.float64)
    shares: Floats = values[values > 1e-12] / values[values > 1e-12].sum()
    return shares


def mean_distance(vectors: Vectors) -> float | None:
    """The mean of 1 − similarity over all pairs; None with fewer than two ideas."""
    count = len(vectors)
    if count < 2:
        return None
    together = vectors.sum(axis=0, dtype=np.float64)
    own = float((vectors.astype(np.float64) ** 2).sum())
    return 1 - (float(together @ together) - own) / (count * (count - 1))


def distinct(vectors: Vectors, thresholds: Floats) -> Ints:
    """(thresholds,): in how many clusters the ideas fall in which no two are farther apart than each threshold, as 1 −
    similarity; merged from the nearest on (complete linkage)."""
    if len(vectors) < 2:
        return np.full(len(thresholds), len(vectors))
    merges = np.sort(_tree(vectors)[:, 2])
    return len(vectors) - np.searchsorted(merges, thresholds, side="right")


def cluster_sizes(vectors: Vectors, threshold: float) -> Ints:
    """(clusters,): how many ideas each of the same clusters has at one threshold."""
    if len(vectors) < 2:
        return np.ones(len(vectors), dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster

    return np.bincount(fcluster(_tree(vectors), threshold, criterion="distance"))[1:]


def _tree(vectors: Vectors) -> Floats:
    """(ideas − 1, 4): which clusters become one at which distance, as scipy has it. Takes ideas² memory and time."""
    from scipy.cluster.hierarchy import linkage

    distances = 1 - similarities(vectors)[np.triu_indices(len(vectors), 1)]
    distances[distances < SAME] = 0.0
    tree: Floats = linkage(distances, method="complete")
    return tree


class NoveltyFall(Struct, frozen=True, kw_only=True, eq=False):
    """Novelty along a chain beside what the same ideas have in any order: (ideas − 1,) each, from the second on."""

    novelty: Floats
    expected: Floats
    low: Floats
    high: Floats
    """What 95 of 100 orders have there."""
    percentile: Floats
    """The share of orders that have less there, halves of those that have the same: low where the chain runs dry
    sooner than the number of its ideas makes any set."""


def novelty_fall(vectors: Vectors, rng: "Generator", permutations: int = PERMUTATIONS) -> NoveltyFall:
    """Novelty is 1 − the greatest similarity to an earlier idea, and falls with the number of these whatever they are:
    a permutation test of each against that fall. Takes permutations · ideas² steps."""
    alike = similarities(vectors)
    later = np.arange(len(alike))
    observed = _novelty(alike, later)
    orders = np.array([_novelty(alike, rng.permutation(later)) for _ in range(permutations)])
    low, high = np.quantile(orders, [0.025, 0.975], axis=0)
    below = (orders < observed - 1e-12).mean(axis=0)
    same = (np.abs(orders - observed) <= 1e-12).mean(axis=0)
    return NoveltyFall(novelty=observed, expected=orders.mean(axis=0), low=low, high=high, percentile=below + same / 2)


def _novelty(alike: Floats, order: NDArray[np.int64]) -> Floats:
    """(ideas − 1,): of each but the first, with the ideas in this order."""
    shuffled = alike[np.ix_(order, order)]
    shuffled[np.triu_indices(len(order))] = -np.inf
    novelty: Floats = 1 - shuffled[1:].max(axis=1)
    return novelty
