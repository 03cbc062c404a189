"""Chains, idea by idea."""

from collections.abc import Sequence

import numpy as np

from core.analysis.profiles import Chains, Series
from core.analysis.rescoring import Counts
from core.analysis.table import plain


def chain_series(counts: Counts, chains: Sequence[int]) -> Chains:
    """Of the chains in these rows of the table, in this order, with the ideas that the rules leave out marked."""
    return Chains(series=tuple(_series(counts, chain) for chain in chains))


def _series(counts: Counts, chain: int) -> Series:
    table = counts.table
    start = int(np.searchsorted(table.ideas.chain, chain))
    own = slice(start, int(np.searchsorted(table.ideas.chain, chain, side="right")))
    question = table.questions[int(table.chains.question[chain])]
    return Series(
        chain=chain,
        model=table.models[int(table.chains.model[chain])],
        leaf=question.leaf,
        question=question.text,
        numbers=tuple(table.ideas.number[own].tolist()),
        coherence=plain(table.ideas.coherence[own]),
        embedding_novelty=plain(table.ideas.embedding_novelty[own]),
        judged_novelty=plain(table.ideas.judged_novelty[own]),
        failed=tuple(counts.failed[own].tolist()),
        counted=tuple(counts.counted[own].tolist()),
        responses=int(counts.responses[chain]),
        valid=int(counts.valid[chain]),
        ended=counts.end(chain),
    )
