"""What is mixed in a selection that one should not compare, or count, without knowing it."""

import numpy as np
from msgspec import Struct

from core.analysis.table import Table


class Mixed(Struct, frozen=True, kw_only=True):
    """Of one selection."""

    embedders: tuple[str, ...]
    """By which its embedding novelty was measured, in the order of their names: each has its own scale."""
    forks: int
    """Chains that begin with ideas of a session that theirs was forked from."""
    damaged: int
    """Sessions whose records lack something."""
    shared: int
    """These ideas. Where that session is among the selection too, they are counted twice."""


def mixed(table: Table) -> Mixed:
    """Of all chains of `table`."""
    ideas = table.ideas
    measured = np.unique(ideas.embedder[~np.isnan(ideas.embedding_novelty)])
    return Mixed(
        embedders=tuple(sorted(name for place in measured if (name := table.embedders[place]))),
        forks=len(np.unique(ideas.chain[ideas.shared])),
        damaged=len(np.unique(table.chains.session[table.chains.damaged])),
        shared=int(ideas.shared.sum()),
    )
