"""How far an idea is from every earlier one."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

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

    def __init__(self) -> None:
        self._rows: Vectors = np.empty((0, 0), dtype=np.float32)
        """Its columns are those of the first vector."""
        self._ideas: list[int] = []
        self._known: set[int] = set()

    def __len__(self) -> int:
        return len(self._ideas)

    def __contains__(self, idea: int) -> bool:
        return idea in self._known

    def holds(self, ideas: Iterable[int]) -> bool:
        """Whether it knows all of `ideas`: only then is one that is far from all here a new one."""
        return self._known.issuperset(ideas)

    @property
    def rows(self) -> Vectors:
        """(ideas, dims) float32, unit rows, in the order they came."""
        return self._rows[: len(self._ideas)]

    def add(self, idea: int, vector: Vectors | None) -> None:
        """Take in an idea, its `vector` (dims,) of unit length; None if it has no direction. One known already stays.

        A vector of another length than the first counts as none.
        """
        if idea in self._known:
            return
        self._known.add(idea)
        if vector is None or not self.fits(vector):
            return
        count = len(self._ideas)
        if count == len(self._rows):
            grown = np.empty((max(16, 2 * count), len(vector)), dtype=np.float32)
            grown[:count] = self._rows[:count].reshape(count, len(vector))
            self._rows = grown
        place = bisect_left(self._ideas, idea)  # the end, but for one whose vector was not to be had when it came
        self._rows[place + 1 : count + 1] = self._rows[place:count]
        self._rows[place] = vector
        self._ideas.insert(place, idea)

    def forget(self, idea: int) -> None:
        """Let go of an idea whose text is another one now."""
        self._known.discard(idea)
        place = bisect_left(self._ideas, idea)
        if place < len(self._ideas) and self._ideas[place] == idea:
            del self._ideas[place]
            count = len(self._ideas)
            self._rows[place:count] = self._rows[place + 1 : count + 1]

    def fits(self, vector: Vectors) -> bool:
        """Whether `vector` can be compared with those that are here."""
        return not self._ideas or len(vector) == self._rows.shape[1]

    def row(self, idea: int) -> Vectors | None:
        """The vector of an idea; None if it has none."""
        place = bisect_left(self._ideas, idea)
        found = place < len(self._ideas) and self._ideas[place] == idea
        return self._rows[place] if found else None

    def nearest(self, vector: Vectors, idea: int) -> list[int]:
        """The ideas before `idea`, the one most like its unit `vector` (dims,) first."""
        earlier = bisect_left(self._ideas, idea)
        if not earlier:
            return []
        return [self._ideas[row] for row in np.argsort(-(self._rows[:earlier] @ vector), kind="stable")]

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
