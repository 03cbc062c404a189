"""How far an idea is from every earlier one."""

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
        """Take in an idea, its `vector` (dims,) of unit length."""
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

    def novelty(self, vector: Vectors) -> Novelty:
        """Of `vector` (dims,), a unit vector, against every idea held: one matrix–vector product."""
        if not self._ideas:
            return Novelty(1.0, None)
        similarities = self.rows @ vector
        nearest = int(np.argmax(similarities))
        return Novelty(1.0 - float(similarities[nearest]), self._ideas[nearest])

    def farthest(self) -> list[int]:
        """All ideas, each next one the one most unlike those before it, starting from the newest.

        Greedy farthest-point order (Gonzalez 1985).
        """
        if not self._ideas:
            return []
        row = len(self._ideas) - 1
        order = []
        closest = np.full(len(self._ideas), -np.inf, dtype=np.float32)
        for _ in self._ideas:
            order.append(self._ideas[row])
            closest = np.maximum(closest, self.rows @ self.rows[row])
            closest[row] = np.inf
            row = int(np.argmin(closest))
        return order
