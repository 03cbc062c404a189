"""All scores of one idea."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from msgspec.structs import replace

from core.rules import Scores
from core.scoring.embeddings import Embedder, Embedding, Vectors, unit
from core.scoring.mechanical import mechanical_fault
from core.scoring.novelty import VectorStore
from core.state import Chain, Idea


class Scorer(Protocol):
    """Whoever gives scores: embeddings now, judges beside them next."""

    async def score(self, chain: Chain, idea: Idea) -> Scores:
        """The scores of `idea`, one of `chain.ideas`, against every idea before it. Raises `ModelUnavailableError`."""

    async def most_different(self, chain: Chain) -> Iterable[int]:
        """The numbers of the chain's ideas, the most different from the rest first."""


class EmbeddingScorer:
    """Embedding novelty and the mechanical checks; coherence and judged novelty stay open."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._stores: dict[str, VectorStore] = {}

    async def score(self, chain: Chain, idea: Idea) -> Scores:
        earlier = [other for other in chain.ideas if other.number < idea.number]
        fault = mechanical_fault(idea.text, chain.text, [other.text for other in earlier])
        store = await self._vectors(chain.question, earlier)
        [embedding] = await self._embedder.embed([idea.text])
        scores = Scores(mechanical=fault, embedder=self._embedder.name, chunks=embedding.chunks)
        vector = _direction(embedding)
        if vector is not None:
            novelty = store.novelty(vector, idea.number)
            scores = replace(scores, embedding_novelty=novelty.value, nearest=novelty.nearest)
        store.add(idea.number, vector)
        return scores

    async def most_different(self, chain: Chain) -> Iterator[int]:
        store = await self._vectors(chain.question, chain.ideas)
        return store.farthest()

    async def _vectors(self, question: str, ideas: Sequence[Idea]) -> VectorStore:
        """The store of a chain, holding all of `ideas`: those of before a resume are embedded here."""
        store = self._stores.setdefault(question, VectorStore(self._embedder.dims))
        missing = [idea for idea in ideas if idea.number not in store]
        if missing:
            embeddings = await self._embedder.embed([idea.text for idea in missing])
            for idea, embedding in zip(missing, embeddings, strict=True):
                store.add(idea.number, _direction(embedding))
        return store


def _direction(embedding: Embedding) -> Vectors | None:
    """Of an embedder that may not keep its word: a unit vector, or None."""
    return None if embedding.vector is None else unit(embedding.vector)
