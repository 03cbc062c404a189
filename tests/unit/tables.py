"""Tables made for tests: chains by how long they are and why they ended."""

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.analysis.rescoring import Counts, as_stored
from core.analysis.table import RULES, ChainRow, IdeaRow, table_of
from core.questions import Question
from core.store.tables import read_tables


def public_results() -> Path:
    """Where the public result files are; skips the test where there are none."""
    if not (folder := os.environ.get("JAGSTORM_PUBLIC_DATA")):
        pytest.skip("JAGSTORM_PUBLIC_DATA is not set")
    return Path(folder) / "sciaidanbench"


@functools.cache
def public_counts() -> Counts:
    """What they come to, all together."""
    return as_stored(read_tables(sorted((public_results() / "per_model").glob("*.json"))).table)


def question(name: str, leaf: str = "Chemistry") -> Question:
    domain, _, subdomain = leaf.partition(" / ")
    return Question(name, f"How about {name}?", domain, subdomain or None)


def row(
    model: str,
    asked: str,
    responses: int,
    ended: str = "embedding_novelty",
    *,
    leaf: str = "Chemistry",
    ideas: Sequence[IdeaRow] | None = None,
    **more: Any,
) -> ChainRow:
    """A chain of ideas that pass, the last one excepted where a rule ended it."""
    by_rule = ended in RULES
    if ideas is None:
        ideas = [
            IdeaRow(
                number=number,
                author=model,
                coherence=80.0,
                embedding_novelty=0.1 if by_rule and number == responses else 0.5,
                judged_novelty=0.5,
                failed_rule=ended if by_rule and number == responses else None,
            )
            for number in range(1, responses + 1)
        ]
    return ChainRow(model=model, question=question(asked, leaf), ideas=ideas, ended=ended, censored=not by_rule, **more)


def counts_of(*rows: ChainRow) -> Counts:
    return as_stored(table_of(rows))


def grid_of(values: dict[str, Sequence[int]], leaves: Sequence[str] = ()) -> Counts:
    """One chain a model and question: `values` are the responses of each model, by question."""
    return counts_of(
        *(
            row(model, f"q{place}", responses, leaf=leaves[place] if leaves else "Chemistry")
            for model, each in values.items()
            for place, responses in enumerate(each)
        )
    )
