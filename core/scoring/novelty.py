"""How far an idea is from every earlier one."""

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from core.scoring.embeddings import Vectors


class Novelty(Struct, frozen=True):
    value: float
    """1 − the greatest cosine similarity to an earlier idea; 1.0 for the first."""
    nearest: int | None
    """The number of the idea that is most like it."""


class VectorStore:
    """The ideas of one chain as unit rows of one growing (ideas, dims) float32 matrix.

    An idea whose text has no direction is known, but has no row.
    """

    def __init__(self, dims: int) -> None:
        self._rows: Vectors = np.empty((16, dims), dtype=np.float32)
        self._ideas: list[int] = []
        self._known: set[int] = set()

    def __len__(self) -> int:
        return len(self._ideas)

    def __contains__(self, idea: int) -> bool:
        return idea in self._known

    @property
    def rows(self) -> Vectors:
        """(ideas, dims) float32, unit rows, in the order they came."""
        return self._rows[: len(self._ideas)]

    def add(self, idea: int, vector: Vectors | None) -> None:
        """Take in an idea, its `vector` (dims,) of unit length. Ideas come in their order; one known already stays."""
        if idea in self._known:
            return
        self._known.add(idea)
        if vector is None:
            return
        count = len(self._ideas)
        if count == len(self._rows):
            grown = np.empty((2 * count, self._rows.shape[1]), dtype=np.float32)
            grown[:count] = self._rows
            self._rows = grown
        self._rows[count] = vector
        self._ideas.append(idea)

    def novelty(self, vector: Vectors, idea: int) -> Novelty:
        """Of `vector` (dims,), the unit vector of `idea`, against every idea before it: one matrix–vector product."""
        earlier = bisect_left(self._ideas, idea)
        if not earlier:
            return Novelty(1.0, None)
        similarities = self._rows[:earlier] @ vector
        nearest = int(np.argmax(similarities))
        # Float32 makes two equal texts more than equal.
        return Novelty(max(0.0, 1.0 - float(similarities[nearest])), self._ideas[nearest])

    def farthest(self) -> Iterator[int]:
        """All ideas, each next one the one most unlike those before it, starting from the newest.

        Greedy farthest-point order (Gonzalez 1985), found as far as it is asked for.
        """
        if not self._ideas:
            return
        rows, ideas = self.rows, list(self._ideas)
        row = len(ideas) - 1
        closest = np.full(len(ideas), -np.inf, dtype=np.float32)
        for _ in range(len(ideas)):
            yield ideas[row]
            closest = np.maximum(closest, rows @ rows[row])
            closest[row] = np.inf
            row = int(np.argmin(closest))
