"""How uneven models are: over leaves, over questions, and against each other."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from core.analysis.grids import answers, groups, means, responses_grid
from core.analysis.intervals import Interval, column_intervals
from core.analysis.profiles import Jaggedness, LeafRow, LeafTable, Split
from core.analysis.rescoring import Counts
from core.analysis.table import Floats, Ints


def leaf_table(counts: Counts) -> LeafTable:
    """Mean responses by model and leaf, the models with most over all first."""
    leaves = counts.table.leaves()
    grid = responses_grid(counts)
    names, leaf = groups(counts.table.questions, "leaf")
    by_leaf = [column_intervals(grid[leaf == names.index(name)]) for name in leaves]
    overall = column_intervals(grid)
    rows = [
        LeafRow(
            model=counts.table.models[model],
            means=tuple(leaf_means[model] for leaf_means in by_leaf),
            overall=mean,
            jaggedness=_jaggedness(
                grid[:, model], leaf, [(name, own[model]) for name, own in zip(leaves, by_leaf, strict=True)]
            ),
        )
        for model, mean in enumerate(overall)
        if mean is not None
    ]
    return LeafTable(
        leaves=tuple(leaves), rows=tuple(sorted(rows, key=lambda row: -row.overall.value)), split=split(counts)
    )


def _jaggedness(values: Floats, leaf: Ints, by_leaf: Sequence[tuple[str, Interval | None]]) -> Jaggedness:
    """Of one model: `values` (questions,) with NaN for none, in `leaf` (questions,), and its means `by_leaf`."""
    answered = ~np.isnan(values)
    own, group = values[answered], leaf[answered]
    mean = own.mean()
    found = [(name, interval.value) for name, interval in by_leaf if interval is not None]
    of_leaves = np.array([value for _, value in found])
    return Jaggedness(
        over_questions=_relative(own.var(ddof=1) if len(own) > 1 else 0.0, mean),
        over_leaves=_relative(of_leaves.var(ddof=1) if len(of_leaves) > 1 else 0.0, mean),
        beyond_chance=_relative(between(own, group), mean),
        strongest=max(found, key=lambda pair: pair[1])[0],
        weakest=min(found, key=lambda pair: pair[1])[0],
    )


def _relative(variance: float, mean: float) -> float:
    return float(np.sqrt(variance) / mean) if mean else 0.0


def between(values: Floats, group: Ints) -> float:
    """The variance of the true means of the groups of `values` (n,), at least 0.

    The analysis-of-variance estimator for one random factor with unequal groups (Searle, Casella and McCulloch,
    Variance Components, 1992, section 3.6): (MSB − MSW) / n₀. 0 where no group has two values, or there is but one.
    """
    _, place = np.unique(group, return_inverse=True)
    sizes = np.bincount(place)
    if len(sizes) < 2 or len(values) == len(sizes):
        return 0.0
    means = np.bincount(place, values) / sizes
    within = ((values - means[place]) ** 2).sum() / (len(values) - len(sizes))
    across = (sizes * (means - values.mean()) ** 2).sum() / (len(sizes) - 1)
    return max(0.0, float((across - within) / _usual_size(sizes)))


def _usual_size(sizes: Ints) -> float:
    """n₀ of unequal groups: their size, were they equal."""
    return float((sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(sizes) - 1))


class _Effects(Struct, frozen=True, kw_only=True, eq=False):
    """A two-way model without interaction, fitted to one value a cell: sums of squares with degrees of freedom."""

    model_squares: float
    model_freedom: int
    """Of models, over what questions explain."""
    question_squares: float
    question_freedom: int
    residuals: Floats
    freedom: int


def split(counts: Counts) -> Split | None:
    """Where the differences between chains lie, in ln(1 + responses); None with too little to tell.

    Variance components of y = μ + model + question + rest, all random, by Henderson's method III (Searle, Casella and
    McCulloch 1992, section 5.5), which holds for models that did not answer all questions too; with one value a cell
    E[SS(model | question)] = (N − questions) σ² + freedom · rest, and likewise. The rest is interaction and, where
    nobody has two chains on a question, chance. `by_leaf` is the component of model × leaf in it, from the residuals.
    """
    found = answers(counts)
    models, model = np.unique(found.model, return_inverse=True)
    questions, question = np.unique(found.question, return_inverse=True)
    logs = np.log1p(counts.responses)
    values = means(logs, found.of_chain, len(found.model))
    effects = _two_way(values, model, question)
    if effects is None:
        return None
    rest = float((effects.residuals**2).sum() / effects.freedom)
    of_model = (effects.model_squares - effects.model_freedom * rest) / (len(found.model) - len(questions))
    of_question = (effects.question_squares - effects.question_freedom * rest) / (len(found.model) - len(models))
    noise = _within(logs, values, found.of_chain, len(found.model))
    interaction = rest if noise is None else max(0.0, rest - noise * float((1 / found.chains).mean()))
    _, leaf_of_question = groups(counts.table.questions, "leaf")
    by_leaf = min(interaction, _by_leaf(effects, model, leaf_of_question[found.question]))
    parts = np.array([max(0.0, of_model), max(0.0, of_question), interaction, noise or 0.0])
    shares = parts / parts.sum() if parts.sum() else parts
    return Split(
        model=float(shares[0]),
        question=float(shares[1]),
        interaction=float(shares[2]),
        by_leaf=float(shares[2] * by_leaf / interaction) if interaction else 0.0,
        noise=None if noise is None else float(shares[3]),
        models=len(models),
        questions=len(questions),
        chains=len(logs),
        balanced=len(found.model) == len(models) * len(questions),
    )


def _two_way(values: Floats, model: Ints, question: Ints) -> _Effects | None:
    """By least squares, with the questions eliminated. None where models, questions or what is left are too few."""
    counts = np.zeros((model.max(initial=-1) + 1, question.max(initial=-1) + 1))
    if min(counts.shape) < 2:
        return None
    counts[model, question] = 1
    values = values - values.mean()
    of_models, of_questions = counts.sum(axis=1), counts.sum(axis=0)
    sums = np.bincount(model, values)
    question_means = np.bincount(question, values) / of_questions
    reduced = np.diag(of_models) - (counts / of_questions) @ counts.T
    right = sums - counts @ question_means
    model_effects = np.linalg.pinv(reduced, hermitian=True) @ right
    question_effects = question_means - (model_effects @ counts) / of_questions
    rank = int(np.linalg.matrix_rank(reduced, hermitian=True))
    freedom = len(values) - len(of_questions) - rank
    if rank == 0 or freedom <= 0:
        return None
    residuals = values - model_effects[model] - question_effects[question]
    by_both = float((values**2).sum() - (residuals**2).sum())
    return _Effects(
        model_squares=float(model_effects @ right),
        model_freedom=rank,
        question_squares=by_both - float((sums**2 / of_models).sum()),
        question_freedom=len(of_questions) + rank - len(of_models),
        residuals=residuals,
        freedom=freedom,
    )


def _within(logs: Floats, usual: Floats, cell: Ints, cells: int) -> float | None:
    """The variance between chains of one model on one question; None where nobody has two."""
    freedom = len(logs) - cells
    return float(((logs - usual[cell]) ** 2).sum() / freedom) if freedom else None


def _by_leaf(effects: _Effects, model: Ints, leaf: Ints) -> float:
    """The variance of model × leaf in residuals, which add up to 0 over the leaves of a model and over a leaf."""
    cells, place = np.unique(model * (leaf.max() + 1) + leaf, return_inverse=True)
    sizes = np.bincount(place)
    freedom = len(cells) - len(np.unique(model)) - len(np.unique(leaf)) + 1
    if freedom <= 0 or effects.freedom <= freedom:
        return 0.0
    across = float((np.bincount(place, effects.residuals) ** 2 / sizes).sum())
    rest = (float((effects.residuals**2).sum()) - across) / (effects.freedom - freedom)
    return max(0.0, (across / freedom - rest) / _usual_size(sizes))
