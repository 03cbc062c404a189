"""Texts as unit vectors."""

import asyncio
import importlib.util
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.errors import ModelUnavailableError
from core.scoring.account import Account

if TYPE_CHECKING:
    from wordllama.inference import WordLlamaInference

Vectors = NDArray[np.float32]

AT_ONCE = 16
"""Texts embedded while everything else waits, 3 ms; more are left to a thread."""

CHUNK_CHARS = 4000
"""The longest text embedded in one piece. WordLlama averages tokens, so pieces change nothing but the memory used."""


class Embedding(Struct, frozen=True):
    """`vector`: (dims,) float32, of unit length, or None where the text has no direction (empty, NaN, zero)."""

    vector: Vectors | None
    chunks: int = 1
    lost: bool = False
    """Whether the call for it failed: asked again, it may come."""


class Embedder(Protocol):
    name: str

    async def prepare(self) -> None:
        """Make it ready, without a call that costs money. Raises `ModelUnavailableError` with what to do."""

    async def embed(self, texts: Sequence[str], account: Account) -> list[Embedding]:
        """One embedding a text, in order; without a vector where none could be had. Charges `account`."""


class WordLlamaEmbedder:
    """Static word vectors, averaged: 0.2 ms a text, no network, no GPU."""

    name = "wordllama"
    dims = 256

    def __init__(self) -> None:
        self._model: WordLlamaInference | None = None
        self._loading = asyncio.Lock()

    async def prepare(self) -> None:
        await self._loaded()

    async def embed(self, texts: Sequence[str], account: Account | None = None) -> list[Embedding]:
        model = await self._loaded()
        if len(texts) <= AT_ONCE:
            return self._embed_all(model, texts)
        return await asyncio.to_thread(self._embed_all, model, texts)

    async def _loaded(self) -> "WordLlamaInference":
        async with self._loading:
            if self._model is None:
                self._model = await asyncio.to_thread(_load)
            return self._model

    def _embed_all(self, model: "WordLlamaInference", texts: Sequence[str]) -> list[Embedding]:
        return [self._embed_one(model, text) for text in texts]

    def _embed_one(self, model: "WordLlamaInference", text: str) -> Embedding:
        chunks = list(split(text, CHUNK_CHARS))
        pooled = np.asarray(model.embed(chunks), dtype=np.float32)
        return Embedding(average(pooled, [len(chunk) for chunk in chunks]), len(chunks))


def split(text: str, longest: int) -> Iterator[str]:
    """`text` in one or more pieces of at most `longest` characters, cut at white space where there is any."""
    while len(text) > longest:
        cut = max(text.rfind(" ", 0, longest), text.rfind("\n", 0, longest)) + 1 or longest
        yield text[:cut]
        text = text[cut:]
    yield text


def average(vectors: Vectors, weights: Sequence[int]) -> Vectors | None:
    """The weighted mean of the unit rows of `vectors` (n, dims), as a unit vector; None if it has no direction."""
    rows = [unit(row) for row in vectors]
    kept = [(row, weight) for row, weight in zip(rows, weights, strict=True) if row is not None]
    if not kept:
        return None
    return unit(np.sum([row * weight for row, weight in kept], axis=0))


def unit(vector: Vectors) -> Vectors | None:
    """`vector` scaled to length one as float32; None if it is zero or holds NaN or infinity."""
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(length) or length == 0.0:
        return None
    return (vector / length).astype(np.float32)


def _load() -> "WordLlamaInference":
    if not logging.getLogger().handlers:
        # WordLlama sets up logging to stderr when imported, which would write into the screen.
        logging.getLogger().addHandler(logging.NullHandler())
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModelUnavailableError(
            "The embedder WordLlama is not installed: run `make install` in a checkout, or `pip install wordllama`"
        )
    from wordllama import WordLlama

    # Without its own folder as the cache it looks for its tokenizer online.
    return WordLlama.load(cache_dir=Path(spec.origin).parent, disable_download=True)
