"""What ideas take, in tokens, US dollars and seconds, and what comes of it."""

import numpy as np

from core.analysis.fits import rank_correlation
from core.analysis.grids import means, responses_grid, valid_grid
from core.analysis.intervals import column_intervals
from core.analysis.profiles import Cost, Costs, Effort, Efforts
from core.analysis.rescoring import Counts
from core.analysis.table import Floats


def efforts(counts: Counts) -> Efforts:
    """Reasoning tokens, cost and seconds an idea, beside the mean responses."""
    ideas = counts.table.ideas
    reasoning, cost, seconds = (_per_idea(counts, each) for each in (ideas.reasoning_tokens, ideas.cost, ideas.seconds))
    rows = [
        Effort(
            model=counts.table.models[model],
            score=score,
            reasoning_tokens=_known(reasoning[model]),
            cost=_known(cost[model]),
            seconds=_known(seconds[model]),
        )
        for model, score in enumerate(column_intervals(responses_grid(counts)))
        if score is not None
    ]
    scores = np.array([row.score.value for row in rows])
    present = np.array([counts.table.models.index(row.model) for row in rows], dtype=np.int64)
    return Efforts(
        rows=tuple(sorted(rows, key=lambda row: -row.score.value)),
        r_reasoning_tokens=_over_known(reasoning[present], scores),
        r_cost=_over_known(cost[present], scores),
        r_seconds=_over_known(seconds[present], scores),
    )


def costs(counts: Counts) -> Costs:
    """What a valid idea takes, failing ones included: what an idea takes times the ideas for a valid one."""
    ideas = counts.table.ideas
    tokens = ideas.input_tokens + ideas.output_tokens
    kinds = (ideas.cost, ideas.seconds, tokens, ideas.reasoning_tokens)
    models = len(counts.table.models)
    responses = np.bincount(counts.table.chains.model, counts.responses, models)
    valid = np.bincount(counts.table.chains.model, counts.valid, models)
    needed = responses / np.where(valid > 0, valid, np.nan)
    cost, seconds, both, reasoning = (_per_idea(counts, kind) * needed for kind in kinds)
    rows = [
        Cost(
            model=counts.table.models[model],
            valid=score,
            cost=_known(cost[model]),
            seconds=_known(seconds[model]),
            tokens=_known(both[model]),
            reasoning_tokens=_known(reasoning[model]),
        )
        for model, score in enumerate(column_intervals(valid_grid(counts)))
        if score is not None
    ]
    return Costs(rows=tuple(sorted(rows, key=lambda row: -row.valid.value)))


def _per_idea(counts: Counts, values: Floats) -> Floats:
    """(models,): the mean of `values` (ideas,) over the counted ideas of which it is known; NaN where of none."""
    models = len(counts.table.models)
    known = counts.counted & ~np.isnan(values)
    model = counts.table.chains.model[counts.table.ideas.chain[known]]
    return means(values[known], model, models)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _over_known(values: Floats, scores: Floats) -> float | None:
    """Over models of which it is known; None with fewer than three."""
    known = ~np.isnan(values)
    return rank_correlation(values[known], scores[known]) if known.sum() > 2 else None
