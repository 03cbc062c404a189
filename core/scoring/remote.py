"""Embedding models behind a provider."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from core.models import CallFailedError, EmbedderSpec
from core.models import Vectors as Answer
from core.providers.tokens import estimate_tokens
from core.scoring.account import Account, Trouble
from core.scoring.embeddings import Embedding, Vectors, average, split, unit
from core.text import clean_line
from core.together import together

REQUEST_TOKENS = 100_000
"""Tokens in one request, at most: some servers limit the sum of all its texts."""

SHORTEST = 32
"""Characters below which a text that is called too long is not cut any further."""


class EmbedTexts(Protocol):
    """One request to an embedding model, retries and limits included."""

    async def prepare(self, spec: EmbedderSpec) -> None:
        """Raises `ModelUnavailableError` with what to do."""

    async def __call__(self, spec: EmbedderSpec, texts: Sequence[str], account: Account) -> Answer:
        """Charges `account` with what it took, however it ends. Raises `CallFailedError` when it failed for good."""


class RemoteEmbedder:
    """Embeds in batches, all at once, and each text once in its life. Does not trust what comes back."""

    def __init__(self, spec: EmbedderSpec, embed: EmbedTexts) -> None:
        self.spec = spec
        self.name = spec.name
        self.dims = spec.dims
        """None until the first answer, where the spec does not say."""
        self._ask = embed
        self._known: dict[str, Embedding] = {}
        self._turn = asyncio.Lock()

    async def prepare(self) -> None:
        await self._ask.prepare(self.spec)

    async def embed(self, texts: Sequence[str], account: Account) -> list[Embedding]:
        """One embedding a text, in order; without a vector where none could be had, or none that can be used."""
        async with self._turn:  # a text that two ask for at once is sent once
            new = {text: list(_pieces(text, self.spec.longest)) for text in texts if text not in self._known}
            sent = list(dict.fromkeys(piece for pieces in new.values() for piece in pieces if piece.strip()))
            parts = await together(self._batch(batch, account) for batch in self._batches(sent))
            found = dict(zip(sent, (embedding for part in parts for embedding in part), strict=True))
            fresh = {text: _joined(pieces, found) for text, pieces in new.items()}
            # What failed is not remembered: asked again, it may come.
            self._known.update((text, one) for text, one in fresh.items() if one.vector is not None)
            return [self._known.get(text) or fresh[text] for text in texts]

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        tokens = 0
        for text in texts:
            size = estimate_tokens(text)
            if batch and (len(batch) == self.spec.batch or tokens + size > REQUEST_TOKENS):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    async def _batch(self, texts: list[str], account: Account) -> list[Embedding]:
        """Without vectors if the call failed for good."""
        try:
            return await self._embed(texts, account)
        except CallFailedError as error:
            account.troubles.append(Trouble(self.name, error.kind, clean_line(str(error), 400)))
            return [Embedding(None, lost=True)] * len(texts)

    async def _embed(self, texts: list[str], account: Account) -> list[Embedding]:
        """One request; more if the server finds a text longer than we thought it was."""
        try:
            answer = await self._ask(self.spec, texts, account)
        except CallFailedError as error:
            if error.kind != "context":
                raise
            if len(texts) > 1:
                half = len(texts) // 2
                return [*await self._embed(texts[:half], account), *await self._embed(texts[half:], account)]
            return [await self._in_halves(texts[0], error, account)]
        rows: list[list[float] | None] = [*answer.rows[: len(texts)], *[None] * (len(texts) - len(answer.rows))]
        return [Embedding(self._vector(row)) for row in rows]

    async def _in_halves(self, text: str, error: CallFailedError, account: Account) -> Embedding:
        if len(text) < SHORTEST:
            raise error
        halves = [half for half in split(text, (len(text) + 1) // 2) if half.strip()]
        found = {half: part for half in halves for part in await self._embed([half], account)}
        return _joined(halves, found)

    def _vector(self, row: list[float] | None) -> Vectors | None:
        """`row` as a unit vector (dims,); None for one of another length, of zeros, or with what is not finite."""
        if not row:
            return None
        try:
            with np.errstate(over="ignore"):
                vector = unit(np.asarray(row, dtype=np.float32))
        except (TypeError, ValueError):
            return None
        if vector is None or vector.ndim != 1:
            return None
        if self.dims is None:
            self.dims = len(vector)
        return vector if len(vector) == self.dims else None


def _joined(pieces: Sequence[str], found: dict[str, Embedding]) -> Embedding:
    """The embedding of a text from those of its pieces; none if a piece that is not blank has none."""
    parts = [(found[piece], len(piece)) for piece in pieces if piece in found]
    vectors = [part.vector for part, _ in parts if part.vector is not None]
    chunks = sum(part.chunks for part, _ in parts) or 1
    if not vectors or len(vectors) < len(parts):
        return Embedding(None, chunks, lost=any(part.lost for part, _ in parts))
    if len(vectors) == 1:
        return Embedding(vectors[0], chunks)
    return Embedding(average(np.stack(vectors), [length for _, length in parts]), chunks)


def _pieces(text: str, longest: int) -> Iterator[str]:
    """`text` in pieces of at most `longest` tokens, rather fewer."""
    tokens = estimate_tokens(text)
    if tokens <= longest:
        yield text
        return
    for piece in split(text, max(1, len(text) * longest // tokens)):
        yield from _pieces(piece, longest)
