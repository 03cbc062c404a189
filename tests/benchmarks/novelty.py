"""How long the novelty of one new idea takes, against 2,000 earlier ones."""

from functools import partial

import numpy as np

from core.scoring.embeddings import Vectors
from core.scoring.novelty import VectorStore
from tests.benchmarks.figures import median, ms, percentile, show, timed, title

IDEAS, DIMS = 2000, 3072


def main() -> None:
    title("Novelty")
    rng = np.random.default_rng(1)
    rows: Vectors = rng.standard_normal((IDEAS + 200, DIMS), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store = VectorStore()
    for number in range(IDEAS):
        store.add(number + 1, rows[number])
    times = [timed(partial(store.novelty, row, IDEAS + 1)) for row in rows[IDEAS:]]
    show(f"one new idea against {IDEAS:,} of {DIMS:,} dimensions, median", ms(median(times)), "ms", 2)
    show("95th percentile", ms(percentile(times, 0.95)), "ms")
