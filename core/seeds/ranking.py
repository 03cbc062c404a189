"""How far seeds are from a question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from core.levers import Distance, Seed
from core.scoring.account import Account

if TYPE_CHECKING:
    from core.scoring.embeddings import Embedder, Vectors

_vectors: "dict[tuple[str, str], Vectors | None]" = {}
"""By embedder and text, for the life of the process: the bank and the question under way stay the same."""


async def ranked(question: str, seeds: Sequence[Seed], embedder: "Embedder") -> list[Seed]:
    """`seeds` with their distances from `question`, 1 − the cosine of their embeddings, 0 to 2; the nearest first.

    Those whose distance can't be had, because they or the question have no direction, come last, in the order given.
    Raises `ModelUnavailableError` if the embedder is not there.
    """
    texts = [_text(seed) for seed in seeds]
    await _embed([question, *texts], embedder)
    origin = _vectors.get((embedder.name, question))
    measured = [
        replace(seed, distance=_distance(origin, _vectors.get((embedder.name, text))))
        for seed, text in zip(seeds, texts, strict=True)
    ]
    return sorted(measured, key=lambda seed: float("inf") if seed.distance is None else seed.distance)


def among(ranked: Sequence[Seed], distance: Distance, field: str = "") -> list[Seed]:
    """The nearest third of `ranked`, the farthest third, or all of them, of one field only if one is given.

    Thirds are of the field's own seeds. Where no distance is known, nothing is near or far, and all are taken.
    """
    within = [seed for seed in ranked if not field or seed.field == field]
    measured = [seed for seed in within if seed.distance is not None]
    if distance == "any" or not measured:
        return within
    third = -(-len(measured) // 3)
    return measured[:third] if distance == "near" else measured[-third:]


def thirds(ranked: Sequence[Seed]) -> tuple[float, float]:
    """Up to which distance seeds are near, and from which on they are far; where none is known, none is either."""
    near, far = among(ranked, "near"), among(ranked, "far")
    if not near or near[-1].distance is None or far[0].distance is None:
        return float("-inf"), float("inf")
    return near[-1].distance, far[0].distance


def _text(seed: Seed) -> str:
    return f"{seed.name}. {seed.text}" if seed.text else seed.name


async def _embed(texts: Sequence[str], embedder: "Embedder") -> None:
    """Have the vectors of `texts`, those that are not known yet. One whose call failed is asked for again next time."""
    new = [text for text in dict.fromkeys(texts) if (embedder.name, text) not in _vectors]
    if not new:
        return
    await embedder.prepare()
    for text, embedding in zip(new, await embedder.embed(new, Account()), strict=True):
        if not embedding.lost:
            _vectors[embedder.name, text] = embedding.vector


def _distance(origin: "Vectors | None", vector: "Vectors | None") -> float | None:
    if origin is None or vector is None or len(origin) != len(vector):
        return None
    return max(0.0, 1.0 - float(origin @ vector))  # float32 makes two equal texts more than equal
