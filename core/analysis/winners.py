"""Who is best in which leaf, how sure that is, and whether sending each question to the best of its leaf pays."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from core.analysis.grids import Grid, groups, responses_grid
from core.analysis.intervals import Interval, column_intervals, resamples
from core.analysis.profiles import Contender, Winner, Winners
from core.analysis.rescoring import Counts
from core.analysis.table import Flags, Floats, Ints


def winners(counts: Counts) -> Winners:
    """The best single model of each leaf; and a router that asks it, beside the best single model and the teams.

    A leaf's candidates are compared on the questions that all of them answered; `_field` says who and what that is.
    """
    table = counts.table
    grid = responses_grid(counts)
    teams = _teams(counts)
    singles = grid[:, ~teams]
    names = [name for name, team in zip(table.models, teams, strict=True) if not team]
    leaf_names, leaf = groups(table.questions, "leaf")
    leaves = {name: _field(singles, leaf == leaf_names.index(name)) for name in table.leaves()}
    fields = {name: field for name, field in leaves.items() if field is not None}
    best = _best_everywhere(singles, list(fields.values()))
    rows = tuple(_winner(name, singles, field, names, best) for name, field in fields.items())
    routed = _contenders(singles, list(fields.values()), names, best)
    of_teams = [_team(table.models[team], grid[:, team], singles, best) for team in np.flatnonzero(teams).tolist()]
    return Winners(
        rows=rows,
        left_out=tuple(name for name, field in leaves.items() if field is None),
        contenders=(*routed, *(team for team in of_teams if team)),
    )


class _Field(Struct, frozen=True, eq=False):
    """Who can be compared in a leaf, and on what."""

    questions: Ints
    models: Ints
    """Their columns."""


def _teams(counts: Counts) -> Flags:
    """(models,): whether each is a team."""
    teams = np.zeros(len(counts.table.models), dtype=np.bool_)
    teams[counts.table.chains.model[counts.table.chains.is_team]] = True
    return teams


def _field(singles: Grid, within: Flags) -> _Field | None:
    """Of the questions `within` (questions,): those questions and models without a gap that hold most answers.

    Questions come in one by one, the one first that keeps most models. None where no two models share a question.
    """
    answered = ~np.isnan(singles) & within[:, None]
    models = np.ones(answered.shape[1], dtype=np.bool_)
    questions: list[int] = []
    best, most = None, 0
    while within.sum() > len(questions):
        kept = (answered & models).sum(axis=1)
        kept[questions] = -1
        questions.append(int(kept.argmax()))
        models = models & answered[questions[-1]]
        if models.sum() > 1 and models.sum() * len(questions) > most:
            most = int(models.sum()) * len(questions)
            best = _Field(np.sort(questions), np.flatnonzero(models))
    return best


def _values(grid: Grid, field: _Field) -> Grid:
    """(questions, candidates), without gaps."""
    values: Grid = grid[np.ix_(field.questions, field.models)]
    return values


def _best_everywhere(singles: Grid, fields: Sequence[_Field]) -> int | None:
    """The column of the model with the highest mean over the questions of all fields, of those that answered them."""
    if not fields:
        return None
    questions = np.concatenate([field.questions for field in fields])
    means = singles[questions].mean(axis=0)
    return None if np.isnan(means).all() else int(np.nanargmax(means))


def _winner(leaf: str, singles: Grid, field: _Field, names: Sequence[str], best: int | None) -> Winner:
    values = _values(singles, field)
    first, second = np.argsort(-values.mean(axis=0), kind="stable")[:2]
    mean, lead = _intervals(values[:, first], values[:, first] - values[:, second])
    return Winner(
        leaf=leaf,
        questions=len(values),
        model=names[field.models[first]],
        mean=mean,
        sure=float(wins(values)[first]),
        runner_up=names[field.models[second]],
        lead=lead,
        best_single=None if best is None else float(singles[field.questions, best].mean()),
    )


def wins(values: Grid) -> Floats:
    """(models,): in how many of all resamples of the questions each has the highest mean of `values` (questions,
    models), as a share; a resample in which several have it is shared among them."""
    means = resamples(len(values)) @ values
    highest = np.isclose(means, means.max(axis=1, keepdims=True), rtol=1e-12, atol=0)
    shares: Floats = (highest / highest.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def _contenders(
    singles: Grid, fields: Sequence[_Field], names: Sequence[str], best: int | None
) -> tuple[Contender, ...]:
    if best is None:
        return ()
    alone = np.concatenate([singles[field.questions, best] for field in fields])
    routed = np.concatenate([_routed(_values(singles, field)) for field in fields])
    held_out = np.concatenate([_held_out(_values(singles, field)) for field in fields])
    return (
        _contender("router", "router", routed, alone),
        _contender("router, held out", "router", held_out, alone),
        _contender(names[best], "single", alone, alone),
    )


def _routed(values: Grid) -> Floats:
    """(questions,): what the model has there that is best on these very questions."""
    best: Floats = values[:, int(values.mean(axis=0).argmax())]
    return best


def _held_out(values: Grid) -> Floats:
    """(questions,): what the model has there that is best on all the others; with no others, what models have."""
    if len(values) > 1:
        picks = (values.sum(axis=0) - values).argmax(axis=1)
        picked: Floats = values[np.arange(len(values)), picks]
    else:
        picked = values.mean(axis=1)
    return picked


def _team(name: str, values: Floats, singles: Grid, best: int | None) -> Contender | None:
    """A team, on the questions that it and the best single model answered; None if there are none."""
    if best is None:
        return None
    both = ~np.isnan(values) & ~np.isnan(singles[:, best])
    return _contender(name, "team", values[both], singles[both, best]) if both.any() else None


def _contender(name: str, kind: Literal["router", "single", "team"], values: Floats, alone: Floats) -> Contender:
    mean, difference = _intervals(values, values - alone)
    return Contender(name=name, kind=kind, mean=mean, over_single=difference, questions=len(values))


def _intervals(*columns: Floats) -> list[Interval]:
    return [interval for interval in column_intervals(np.column_stack(columns)) if interval is not None]
