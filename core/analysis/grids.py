"""Models × questions: each model's mean on each question, over the chains that it has there."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.analysis.rescoring import Counts
from core.analysis.table import Floats, Ints, Table
from core.questions import Question

By = Literal["model", "leaf", "domain", "question"]
"""What a model's questions are grouped by: `model` is all of them together."""

Grid = NDArray[np.float64]
"""(questions, models): NaN where a model did not answer."""


def means(values: Floats | Ints, group: Ints, groups: int) -> Floats:
    """(groups,): the mean of `values` (n,) by `group` (n,); NaN for one that has none."""
    number = np.bincount(group, minlength=groups)
    found: Floats = np.full(groups, np.nan)
    return np.divide(np.bincount(group, values, groups), number, out=found, where=number > 0)


def tallies(rows: Ints, columns: Ints, shape: tuple[int, int], weights: Floats | Ints | None = None) -> Floats:
    """(rows, columns): how many of n are in each cell, as `rows` and `columns` (n,) say; or the sums of `weights`."""
    flat = np.bincount(rows.astype(np.int64) * shape[1] + columns, weights, shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64, copy=False)


class Answers(Struct, frozen=True, kw_only=True, eq=False):
    """What each model has of each question that it answered: (answers,) each, ordered by model, then by question."""

    model: Ints
    question: Ints
    chains: Ints
    responses: Floats
    """Mean over these chains."""
    valid: Floats
    of_chain: Ints
    """(chains,): to which of these each chain belongs."""


def answers(counts: Counts) -> Answers:
    chains = counts.table.chains
    key = chains.model.astype(np.int64) * max(1, len(counts.table.questions)) + chains.question
    found, own = np.unique(key, return_inverse=True)
    number = np.bincount(own, minlength=len(found))
    model, question = np.divmod(found, max(1, len(counts.table.questions)))
    return Answers(
        model=model,
        question=question,
        chains=number,
        responses=means(counts.responses, own, len(found)),
        valid=means(counts.valid, own, len(found)),
        of_chain=own,
    )


def responses_grid(counts: Counts) -> Grid:
    """Mean responses, one row a question and one column a model of the table, whether it has chains or not."""
    return grid(counts.table, counts.responses)


def valid_grid(counts: Counts) -> Grid:
    """The same of valid ideas."""
    return grid(counts.table, counts.valid)


def grid(table: Table, values: Floats | Ints) -> Grid:
    """The same of any `values` (chains,), over the chains that have one: NaN is none."""
    shape = (len(table.questions), len(table.models))
    cell = table.chains.question * shape[1] + table.chains.model
    known = ~np.isnan(values)
    return means(values[known], cell[known], shape[0] * shape[1]).reshape(shape)


def sums(table: Table, values: Floats | Ints) -> Grid:
    """The sums of `values` (chains,), one row a question and one column a model; 0 where there is no chain."""
    shape = (len(table.questions), len(table.models))
    return tallies(table.chains.question, table.chains.model, shape, values)


def groups(questions: Sequence[Question], by: By) -> tuple[list[str], Ints]:
    """The names of what questions are grouped by, and (questions,) the place of each one's among them.

    Names are in the order in which they come; for `question` they are the texts.
    """
    names = [_name(question, by) for question in questions]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return list(places), np.array([places[name] for name in names], dtype=np.int64)


def _name(question: Question, by: By) -> str:
    match by:
        case "model":
            return ""
        case "leaf":
            return question.leaf
        case "domain":
            return question.domain
        case "question":
            return question.text
