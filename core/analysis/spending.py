"""What ideas take, in tokens, US dollars and seconds, and what comes of it."""

from collections.abc import Sequence

import numpy as np

from core.analysis.fits import rank_correlation
from core.analysis.grids import responses_grid, sums, valid_grid
from core.analysis.intervals import Interval, column_intervals, column_ratios
from core.analysis.profiles import Cost, Costs, Effort, Efforts
from core.analysis.rescoring import Counts
from core.analysis.table import Floats


def efforts(counts: Counts) -> Efforts:
    """Reasoning tokens, cost and seconds an idea, beside the mean responses."""
    ideas = counts.table.ideas
    reasoning, cost, seconds = (_per_idea(counts, each) for each in (ideas.reasoning_tokens, ideas.cost, ideas.seconds))
    scores = column_intervals(responses_grid(counts))
    rows = [
        Effort(
            model=counts.table.models[model],
            score=score,
            reasoning_tokens=reasoning[model],
            cost=cost[model],
            seconds=seconds[model],
        )
        for model, score in enumerate(scores)
        if score is not None
    ]
    return Efforts(
        rows=tuple(sorted(rows, key=lambda row: -row.score.value)),
        r_reasoning_tokens=_over_known(reasoning, scores),
        r_cost=_over_known(cost, scores),
        r_seconds=_over_known(seconds, scores),
    )


def costs(counts: Counts) -> Costs:
    """What a valid idea takes, failing ones included."""
    ideas = counts.table.ideas
    kinds = (ideas.cost, ideas.seconds, ideas.input_tokens + ideas.output_tokens, ideas.reasoning_tokens)
    cost, seconds, tokens, reasoning = (_per_valid_idea(counts, kind) for kind in kinds)
    rows = [
        Cost(
            model=counts.table.models[model],
            valid=score,
            cost=cost[model],
            seconds=seconds[model],
            tokens=tokens[model],
            reasoning_tokens=reasoning[model],
        )
        for model, score in enumerate(column_intervals(valid_grid(counts)))
        if score is not None
    ]
    return Costs(rows=tuple(sorted(rows, key=lambda row: -row.valid.value)))


def _per_idea(counts: Counts, values: Floats) -> list[Interval | None]:
    """By model: the mean of `values` (ideas,) over the counted ideas of which it is known; None where of none."""
    return column_ratios(*_known(counts, values))


def _per_valid_idea(counts: Counts, values: Floats) -> list[Interval | None]:
    """By model: the same for all counted ideas, over the valid ones of them; on the questions where it is known."""
    total, number = _known(counts, values)
    responses, valid = (sums(counts.table, each) for each in (counts.responses, counts.valid))
    return column_ratios(total / number * responses, valid)


def _known(counts: Counts, values: Floats) -> tuple[Floats, Floats]:
    """(questions, models) each: the sum of `values` (ideas,) over the counted ideas of which it is known, and how many
    these are; NaN where there is none."""
    known = counts.counted & ~np.isnan(values)
    chain, chains = counts.table.ideas.chain[known], len(counts.responses)
    total = sums(counts.table, np.bincount(chain, values[known], chains))
    number = sums(counts.table, np.bincount(chain, minlength=chains))
    return total, np.where(number > 0, number, np.nan)


def _over_known(values: Sequence[Interval | None], scores: Sequence[Interval | None]) -> float | None:
    """Spearman's ρ over models of which both are known; None with fewer than three."""
    pairs = [(value.value, score.value) for value, score in zip(values, scores, strict=True) if value and score]
    x, y = np.array(pairs, dtype=np.float64).reshape(len(pairs), 2).T
    return rank_correlation(x, y) if len(pairs) > 2 else None
