"""All scores of one idea."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from core.chain import Chain, Idea
from core.events import ControlScored
from core.rules import Scores
from core.scoring.account import Account
from core.scoring.check import judged
from core.scoring.controls import Control, draw, is_right
from core.scoring.embeddings import Embedder, Embedding, Vectors, unit
from core.scoring.judge import Judge
from core.scoring.mechanical import mechanical_fault
from core.scoring.novelty import VectorStore
from core.scoring.panel import Judged, Panel
from core.together import both, together

if TYPE_CHECKING:
    from numpy.random import Generator


class Distances(Protocol):
    """How ideas lie to each other, for whoever makes or picks them."""

    async def novelties(self, chain: Chain, texts: Sequence[str]) -> list[float | None]:
        """How far each of `texts` is from every idea of the chain; None for one without a direction."""

    async def most_different(self, chain: Chain) -> Iterable[int]:
        """The numbers of the chain's ideas, the most different from the rest first."""


class Scorer(Protocol):
    """Whoever gives scores. What they take is charged to the account, whether they come or not."""

    async def prepare(self) -> None:
        """Make judges and embedder ready. Raises `ModelUnavailableError` with what to do."""

    async def score(self, chain: Chain, idea: Idea, account: Account) -> Scores:
        """The scores of `idea`, one of `chain.ideas`, against every idea before it.

        One that is missing because a call failed is among the account's troubles.
        """

    async def control(self, chain: Chain, rng: "Generator", account: Account) -> Sequence[ControlScored]:
        """What each judge says of something, drawn with `rng`, of which it is known what a good one says."""

    async def novelties(self, chain: Chain, texts: Sequence[str], account: Account) -> list[float | None]:
        """As `Distances.novelties`."""

    async def most_different(self, chain: Chain, account: Account) -> Iterable[int]:
        """As `Distances.most_different`."""


class ChainScorer:
    """Embedding novelty, the mechanical checks, and what a panel of judges says, if there is one."""

    def __init__(self, embedder: Embedder, panel: Panel | None = None) -> None:
        self._embedder = embedder
        self._panel = panel
        self._stores: dict[str, VectorStore] = {}
        self._texts: dict[str, dict[int, str]] = {}
        """What the vectors are of, by question and idea: a person may edit an idea."""

    @property
    def _judges(self) -> tuple[Judge, ...]:
        return self._panel.judges if self._panel else ()

    async def prepare(self) -> None:
        await together([self._embedder.prepare(), *(judge.prepare() for judge in self._judges)])

    async def score(self, chain: Chain, idea: Idea, account: Account) -> Scores:
        earlier = {other.number: other.text for other in chain.ideas if other.number < idea.number}
        fault = mechanical_fault(idea.text, chain.text, list(earlier.values()))
        if self._panel is None or fault:  # nobody is paid for what is seen to be no idea
            return await self._embedded(chain, idea, earlier, fault, account)
        self._panel.recall(chain.text, idea.text, earlier, account)
        if self._panel.compares_all:
            scores, judged = await both(
                self._embedded(chain, idea, earlier, fault, account),
                self._panel.judge(chain.text, idea.text, earlier, account),
            )
            return with_judged(scores, self._panel, judged)
        scores = await self._embedded(chain, idea, earlier, fault, account)
        nearest = await self._nearest(chain, idea, account)
        judged = await self._panel.judge(chain.text, idea.text, earlier, account, nearest)
        return with_judged(scores, self._panel, judged)

    async def _embedded(
        self, chain: Chain, idea: Idea, earlier: Mapping[int, str], fault: str | None, account: Account
    ) -> Scores:
        store = await self._vectors(chain.question, earlier, account)
        self._let_go(chain.question, {idea.number: idea.text})
        [embedding] = await self._embedder.embed([idea.text], account)
        scores = Scores(mechanical=fault, embedder=self._embedder.name, chunks=embedding.chunks)
        vector = _direction(embedding)
        if vector is not None and store.fits(vector) and store.holds(earlier):
            novelty = store.novelty(vector, idea.number)
            scores = replace(scores, embedding_novelty=novelty.value, nearest=novelty.nearest)
        if not embedding.lost:
            self._keep(chain.question, idea.number, idea.text, vector)
        return scores

    async def control(self, chain: Chain, rng: "Generator", account: Account) -> list[ControlScored]:
        control = draw(rng)
        return await together(_tried(chain, judge, control, account) for judge in self._judges)

    async def novelties(self, chain: Chain, texts: Sequence[str], account: Account) -> list[float | None]:
        ideas = _texts(chain)
        store = await self._vectors(chain.question, ideas, account)
        vectors = [_direction(embedding) for embedding in await self._embedder.embed(texts, account)]
        if not store.holds(ideas):
            return [None] * len(texts)
        return [None if vector is None else store.novelty(vector, chain.next_number).value for vector in vectors]

    async def most_different(self, chain: Chain, account: Account) -> Iterator[int]:
        store = await self._vectors(chain.question, _texts(chain), account)
        return store.farthest()

    async def _nearest(self, chain: Chain, idea: Idea, account: Account) -> list[int]:
        """The numbers of earlier ideas, the nearest to `idea` first; none where its text has no direction."""
        store = await self._vectors(chain.question, {}, account)
        vector = store.row(idea.number)
        return [] if vector is None else store.nearest(vector, idea.number)

    async def _vectors(self, question: str, ideas: Mapping[int, str], account: Account) -> VectorStore:
        """The store of a chain, with all of `ideas` that could be embedded: those of before a resume are so here."""
        store = self._stores.setdefault(question, VectorStore())
        self._let_go(question, ideas)
        missing = [number for number in ideas if number not in store]
        if missing:
            embeddings = await self._embedder.embed([ideas[number] for number in missing], account)
            for number, embedding in zip(missing, embeddings, strict=True):
                if not embedding.lost:
                    self._keep(question, number, ideas[number], _direction(embedding))
        return store

    def _keep(self, question: str, number: int, text: str, vector: Vectors | None) -> None:
        """Take in a vector, unless the idea was edited while it was made."""
        if self._texts[question][number] == text:
            self._stores[question].add(number, vector)

    def _let_go(self, question: str, ideas: Mapping[int, str]) -> None:
        """Forget the vectors of those among `ideas` that have another text now."""
        store, texts = self._stores.setdefault(question, VectorStore()), self._texts.setdefault(question, {})
        for number, text in ideas.items():
            if texts.setdefault(number, text) != text:
                store.forget(number)
                texts[number] = text


def _texts(chain: Chain) -> dict[int, str]:
    return {idea.number: idea.text for idea in chain.ideas}


async def _tried(chain: Chain, judge: Judge, control: Control, account: Account) -> ControlScored:
    """What `judge` says of `control`, with what that took, which is charged to `account` too."""
    own = Account(on_retry=account.on_retry)
    try:
        judgement = await judged(judge, control, own)
    finally:
        account.pay(own.usage, own.cost)
    return ControlScored(
        question=chain.question,
        judge=judge.id,
        kind=control.kind,
        score=judgement.score,
        passed=judgement.score is not None and is_right(control, judgement.score) is True,
        usage=own.usage,
        cost=own.cost,
    )


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
    )


def _direction(embedding: Embedding) -> Vectors | None:
    """Of an embedder that may not keep its word: a unit vector, or None."""
    return None if embedding.vector is None else unit(embedding.vector)
