"""Ideas as vectors, kept beside their sessions: a long job the first time, and there at once from then on."""

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct

from core.analysis.diversity import Vectors
from core.analysis.table import Ints, Table
from core.files import read_file
from core.scoring.account import Account
from core.scoring.embeddings import Embedder, Embedding
from core.store.beside import Stamp, keep_file, stamp_of
from core.store.texts import texts_of

FORMAT = 1

BATCH = 256
"""Texts embedded between two looks at whether to go on."""


class _Kept(Struct, frozen=True, kw_only=True):
    """The file."""

    format: int
    stamp: Stamp
    embedder: str
    lengths: tuple[Annotated[int, Meta(ge=0)], ...]
    """How many ideas each chain has."""
    vectors: bytes
    """(ideas, dims) float32, chain by chain; NaN for an idea without."""


class _Chains(Struct, frozen=True, eq=False):
    """The vectors of all ideas of one session, chain by chain."""

    lengths: tuple[int, ...]
    vectors: Vectors


_decoder = msgspec.msgpack.Decoder(_Kept)


async def embed_ideas(
    table: Table,
    embedder: Embedder,
    account: Account | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Vectors:
    """(ideas, dims) float32: unit vectors of the table's ideas in their order, NaN where a text has none.

    Takes 0.2 ms an idea with WordLlama, and nothing for sessions whose vectors are kept; those that are made are kept
    beside their session. Cancelled, it leaves those that are whole. `progress` is told of ideas, how many of how many.
    Raises `ModelUnavailableError` if there is no embedder, `SessionUnreadableError` or `UsageError` if texts can't be
    read.
    """
    await embedder.prepare()
    session = table.chains.session[table.ideas.chain]
    found: list[tuple[Ints, Vectors]] = []
    done = 0
    for place in np.unique(session).tolist():
        ideas = np.flatnonzero(session == place)
        tell = partial(_tell, progress, done, len(ideas), len(session))
        chains = await _vectors_of(Path(table.sessions[place]), embedder, account or Account(), tell)
        found.append((ideas, _rows(table, ideas, chains)))
        done += len(ideas)
    dims = max((rows.shape[1] for _, rows in found), default=1)
    vectors = np.full((len(session), dims), np.nan, dtype=np.float32)
    for ideas, rows in found:
        if rows.shape[1] == dims:  # a session without ideas has none
            vectors[ideas] = rows
    return vectors


def _tell(progress: Callable[[int, int], None], before: int, most: int, of: int, done: int) -> None:
    """That `done` texts of a session are embedded, of whose ideas no more than `most` are wanted."""
    progress(before + min(done, most), of)


def _rows(table: Table, ideas: Ints, chains: _Chains) -> Vectors:
    """Of these ideas of one session, (ideas, dims); NaN for one of which there is no text (any more)."""
    lengths = np.array([*chains.lengths, 0])
    place = np.minimum(table.chains.place[table.ideas.chain[ideas]], len(chains.lengths))
    position = table.positions[ideas]
    own = (np.cumsum(lengths) - lengths)[place] + position
    there = position < lengths[place]
    rows = np.full((len(ideas), chains.vectors.shape[1]), np.nan, dtype=np.float32)
    rows[there] = chains.vectors[own[there]]
    return rows


async def _vectors_of(place: Path, embedder: Embedder, account: Account, progress: Callable[[int], None]) -> _Chains:
    """Those kept beside a session; else made, and kept if none was lost."""
    stamp = stamp_of(place)
    if stamp and (kept := _kept(place, embedder.name, stamp)):
        progress(sum(kept.lengths))
        return kept
    chains = await asyncio.to_thread(texts_of, place)
    texts = [text for chain in chains for _, text in chain]
    embeddings: list[Embedding] = []
    for begin in range(0, len(texts), BATCH):
        embeddings += await embedder.embed(texts[begin : begin + BATCH], account)
        progress(len(embeddings))
    made = _Chains(tuple(len(chain) for chain in chains), _matrix(embeddings))
    if stamp and not any(embedding.lost for embedding in embeddings):
        _keep(place, embedder.name, stamp, made)
    return made


def _matrix(embeddings: Sequence[Embedding]) -> Vectors:
    """(texts, dims), NaN for those without a vector, or with one of another length than the first has."""
    dims = next((len(each.vector) for each in embeddings if each.vector is not None), 0)
    none = np.full(dims, np.nan, dtype=np.float32)
    rows = [each.vector if each.vector is not None and len(each.vector) == dims else none for each in embeddings]
    return np.array(rows, dtype=np.float32).reshape(len(rows), dims)


def _kept(folder: Path, embedder: str, stamp: Stamp) -> _Chains | None:
    try:
        found = _decoder.decode(read_file(_file(folder, embedder)))
        if (found.format, found.stamp, found.embedder) != (FORMAT, stamp, embedder):
            return None
        vectors = np.frombuffer(found.vectors, np.float32).reshape(sum(found.lengths), -1)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError, ValueError):
        return None
    return _Chains(found.lengths, vectors)


def _keep(folder: Path, embedder: str, stamp: Stamp, chains: _Chains) -> None:
    kept = _Kept(
        format=FORMAT, stamp=stamp, embedder=embedder, lengths=chains.lengths, vectors=chains.vectors.tobytes()
    )
    keep_file(_file(folder, embedder), msgspec.msgpack.encode(kept))


def _file(folder: Path, embedder: str) -> Path:
    return folder / f"vectors-{'-'.join(re.findall(r'[a-z0-9]+', embedder.lower())) or 'unnamed'}.msgpack"
