"""Who contributed what in a team."""

import numpy as np

from core.analysis.grids import tallies
from core.analysis.intervals import Interval, column_ratios
from core.analysis.profiles import Contribution, Contributions
from core.analysis.rescoring import Counts
from core.analysis.table import Flags


def contributions(counts: Counts) -> Contributions:
    """By team and author; of each team whoever has most valid ideas first."""
    table = counts.table
    chains, ideas, offers = table.chains, table.ideas, table.offers
    shape = (len(table.models), len(table.authors))
    of_team = counts.counted & chains.is_team[ideas.chain]
    valid = of_team & ~counts.failed & ~ideas.removed
    team, author = chains.model[ideas.chain], ideas.author
    offered = offers.position < counts.responses[offers.chain]
    chosen = tallies(team[of_team], author[of_team], shape)
    valid_cells = tallies(team[valid], author[valid], shape)
    passed_over = tallies(chains.model[offers.chain[offered]], offers.author[offered], shape)
    compared = of_team & (table.positions > 0) & ~np.isnan(ideas.embedding_novelty)
    novelty = _novelty(counts, compared)
    rows = [
        Contribution(
            team=table.models[team],
            author=table.authors[author],
            offered=int(chosen[team, author] + passed_over[team, author]) if passed_over[team].any() else None,
            chosen=int(chosen[team, author]),
            valid=int(valid_cells[team, author]),
            share=float(valid_cells[team, author] / max(1, valid_cells[team].sum())),
            novelty=novelty.get((team, author)),
        )
        for team, author in np.argwhere(chosen + passed_over).tolist()
    ]
    return Contributions(rows=tuple(sorted(rows, key=lambda row: (row.team, -row.valid, -row.chosen))))


def _novelty(counts: Counts, compared: Flags) -> dict[tuple[int, int], Interval]:
    """By team and author: the mean embedding novelty of their ideas that are marked, (ideas,)."""
    table, ideas = counts.table, counts.table.ideas
    chain = ideas.chain[compared]
    writers, writer = np.unique(
        np.stack([table.chains.model[chain], ideas.author[compared]]), axis=1, return_inverse=True
    )
    question, shape = table.chains.question[chain], (len(table.questions), writers.shape[1])
    total = tallies(question, writer.reshape(-1), shape, ideas.embedding_novelty[compared])
    number = tallies(question, writer.reshape(-1), shape)
    found = column_ratios(total, np.where(number > 0, number, np.nan))
    pairs = zip(writers[0].tolist(), writers[1].tolist(), strict=True)
    return {pair: interval for pair, interval in zip(pairs, found, strict=True) if interval is not None}
