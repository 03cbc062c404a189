"""Ideas on a plane."""

import numpy as np

from core.analysis.diversity import Vectors
from core.analysis.profiles import Map, Place
from core.analysis.rescoring import Counts
from core.analysis.table import RULES, Floats


def idea_map(counts: Counts, vectors: Vectors) -> Map:
    """The ideas that the rules count, on their first two principal components.

    `vectors` (ideas, dims) are those of the table's ideas, in their order; one that has none is NaN and left out.
    """
    table = counts.table
    shown = counts.counted & ~np.isnan(vectors).any(axis=1)
    plane, explained = principal(vectors[shown])
    rows = np.flatnonzero(shown).tolist()
    places = tuple(
        Place(
            x=x,
            y=y,
            chain=(chain := int(table.ideas.chain[row])),
            model=table.models[int(table.chains.model[chain])],
            question=table.questions[int(table.chains.question[chain])].text,
            number=int(table.ideas.number[row]),
            author=table.authors[int(table.ideas.author[row])],
            seed=_name(table.seeds, int(table.ideas.seed[row])),
            verdict=_verdict(counts, row),
        )
        for row, (x, y) in zip(rows, plane.tolist(), strict=True)
    )
    return Map(places=places, explained=explained, left_out=int((counts.counted & ~shown).sum()))


def principal(vectors: Vectors) -> tuple[Floats, tuple[float, float]]:
    """(n, 2): the coordinates on the two directions along which `vectors` (n, dims) differ most, and the shares of the
    variance that lie along these (Pearson 1901).

    The largest part of each direction points up, so that the map is the same each time.
    """
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2)), (0.0, 0.0)
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    values, directions = np.linalg.eigh(centred.T @ centred)
    values, directions = values[::-1], directions[:, ::-1]
    first = directions[:, :2]
    first = first * np.sign(first[np.abs(first).argmax(axis=0), range(first.shape[1])])
    total = float(values.clip(min=0).sum())
    shares = values[:2].clip(min=0) / total if total else np.zeros(2)
    return centred @ first, (float(shares[0]), float(shares[1]))


def _name(names: tuple[str, ...], place: int) -> str | None:
    return None if place < 0 else names[place]


def _verdict(counts: Counts, row: int) -> str:
    """`passed`, `unscored`, or the rule that it failed under its session's own rules; under others, `failed`."""
    rule = int(counts.table.ideas.failed_rule[row])
    if counts.failed[row]:
        return RULES[rule] if rule >= 0 else "failed"
    return "passed" if counts.table.ideas.scored[row] else "unscored"
