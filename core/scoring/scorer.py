"""All scores of one idea."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from core.chain import Chain, Idea
from core.events import ControlScored
from core.providers.attempt import add
from core.rules import Scores
from core.scoring.check import judged
from core.scoring.controls import draw, is_right
from core.scoring.embeddings import Embedder, Embedding, Vectors, unit
from core.scoring.mechanical import mechanical_fault
from core.scoring.novelty import VectorStore
from core.scoring.panel import Judged, Panel
from core.scoring.together import both, together

if TYPE_CHECKING:
    from numpy.random import Generator

OnProgress = Callable[[int, int], None]
"""Told how many judgements are there, of how many."""


def unheard(done: int, total: int) -> None:
    """For when nobody wants to know."""


class Scorer(Protocol):
    """Whoever gives scores: embeddings now, judges beside them next."""

    async def score(self, chain: Chain, idea: Idea, on_progress: OnProgress = unheard) -> Scores:
        """The scores of `idea`, one of `chain.ideas`, against every idea before it. Raises `ModelUnavailableError`."""

    async def control(self, chain: Chain, rng: "Generator") -> Sequence[ControlScored]:
        """What each judge says of something, drawn with `rng`, of which it is known what a good one says."""

    async def most_different(self, chain: Chain) -> Iterable[int]:
        """The numbers of the chain's ideas, the most different from the rest first."""


class EmbeddingScorer:
    """Embedding novelty, the mechanical checks, and what a panel of judges says, if there is one."""

    def __init__(self, embedder: Embedder, panel: Panel | None = None) -> None:
        self._embedder = embedder
        self._panel = panel
        self._stores: dict[str, VectorStore] = {}

    async def score(self, chain: Chain, idea: Idea, on_progress: OnProgress = unheard) -> Scores:
        earlier = [other for other in chain.ideas if other.number < idea.number]
        fault = mechanical_fault(idea.text, chain.text, [other.text for other in earlier])
        if self._panel is None or fault:  # nobody is paid for what is seen to be no idea
            return await self._embedded(chain, idea, earlier, fault)
        if self._panel.compares_all:
            scores, judged = await both(
                self._embedded(chain, idea, earlier, fault), self._judged(chain, idea, earlier, (), on_progress)
            )
            return with_judged(scores, self._panel, judged)
        scores = await self._embedded(chain, idea, earlier, fault)
        nearest = await self._nearest(chain, idea)
        return with_judged(scores, self._panel, await self._judged(chain, idea, earlier, nearest, on_progress))

    async def _judged(
        self, chain: Chain, idea: Idea, earlier: Sequence[Idea], nearest: Sequence[int], on_progress: OnProgress
    ) -> Judged:
        assert self._panel
        texts = [(other.number, other.text) for other in earlier]
        return await self._panel.judge(chain.text, idea.text, texts, nearest, on_progress)

    async def _embedded(self, chain: Chain, idea: Idea, earlier: Sequence[Idea], fault: str | None) -> Scores:
        store = await self._vectors(chain.question, earlier)
        [embedding] = await self._embedder.embed([idea.text])
        scores = Scores(
            mechanical=fault,
            embedder=self._embedder.name,
            chunks=embedding.chunks,
            usage=embedding.usage,
            cost=embedding.cost,
        )
        vector = _direction(embedding)
        if vector is not None and store.fits(vector):
            novelty = store.novelty(vector, idea.number)
            scores = replace(scores, embedding_novelty=novelty.value, nearest=novelty.nearest)
        if not embedding.lost:
            store.add(idea.number, vector)
        return scores

    async def control(self, chain: Chain, rng: "Generator") -> list[ControlScored]:
        if self._panel is None:
            return []
        control = draw(rng)
        judgements = await together(judged(judge, control) for judge in self._panel.judges)
        return [
            ControlScored(
                question=chain.question,
                judge=judge.id,
                kind=control.kind,
                score=judgement.score,
                passed=judgement.score is not None and is_right(control, judgement.score) is True,
                usage=judgement.usage,
                cost=judgement.cost,
            )
            for judge, judgement in zip(self._panel.judges, judgements, strict=True)
        ]

    async def most_different(self, chain: Chain) -> Iterator[int]:
        store = await self._vectors(chain.question, chain.ideas)
        return store.farthest()

    async def _nearest(self, chain: Chain, idea: Idea) -> list[int]:
        """The numbers of earlier ideas, the nearest to `idea` first; none where its text has no direction."""
        store = await self._vectors(chain.question, [])
        vector = store.row(idea.number)
        return [] if vector is None else store.nearest(vector, idea.number)

    async def _vectors(self, question: str, ideas: Sequence[Idea]) -> VectorStore:
        """The store of a chain, holding all of `ideas`: those of before a resume are embedded here."""
        store = self._stores.setdefault(question, VectorStore())
        missing = [idea for idea in ideas if idea.number not in store]
        if missing:
            embeddings = await self._embedder.embed([idea.text for idea in missing])
            for idea, embedding in zip(missing, embeddings, strict=True):
                if not embedding.lost:
                    store.add(idea.number, _direction(embedding))
        return store


def with_judged(scores: Scores, panel: Panel, judged: Judged) -> Scores:
    """`scores` of an embedder with those of a panel beside them."""
    nearest = judged.most_similar if judged.most_similar is not None else scores.nearest
    return replace(
        scores,
        coherence=judged.coherence,
        judged_novelty=judged.judged_novelty,
        nearest=nearest,
        judges=tuple(judge.id for judge in panel.judges),
        votes=judged.votes,
        coherence_spread=judged.coherence_spread,
        compared=judged.compared,
        usage=add(scores.usage, judged.usage),
        cost=None if scores.cost is None or judged.cost is None else scores.cost + judged.cost,
    )


def _direction(embedding: Embedding) -> Vectors | None:
    """Of an embedder that may not keep its word: a unit vector, or None."""
    return None if embedding.vector is None else unit(embedding.vector)
