"""Counts by model, leaf, domain and question: the published ones to the last digit, and what each number means."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.analysis.profiles import Ribbon
from core.analysis.rescoring import Change, Counts, as_stored, rescored
from core.analysis.ribbons import ribbons
from core.exchange.importing import import_results
from core.store.library import session_folders
from core.store.tables import read_tables
from tests.unit.tables import counts_of, grid_of, public_counts, public_results, row

STOPS = {
    "embedding_dissimilarity_threshold": "embedding_novelty",
    "llm_dissimilarity_threshold": "judged_novelty",
    "coherence_threshold": "coherence",
    "content_error": "refused",
}
"""The published words for why a chain ended, in ours; the others are the same."""


def only(counts: Counts, *models: str) -> list[Ribbon]:
    return [row for row in ribbons(counts).rows if not models or row.model in models]


# ── the published figures ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def golden() -> dict[str, dict[str, str]]:
    with (public_results() / "golden.csv").open() as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def as_published(counts: Counts, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """The ribbons in the words and digits of the golden figures."""
    leaves = {(row.model, row.leaf): row for row in ribbons(counts, "leaf").rows}
    table = {}
    for own in ribbons(counts).rows:
        found = {
            "model": own.model,
            "questions": str(own.questions),
            "responses": str(own.responses),
            "valid": str(own.valid),
            "mean_responses": f"{own.mean_responses:.4f}",
            "mean_valid": f"{own.mean_valid:.4f}",
            "min": str(own.fewest),
            "max": str(own.most),
        }
        for column in columns:
            if column.startswith("mean "):
                leaf = leaves.get((own.model, column.removeprefix("mean ")))
                found[column] = f"{leaf.mean_responses:.4f}" if leaf else ""
            elif column.startswith("stop "):
                stop = column.removeprefix("stop ")
                found[column] = str(own.stops.get(STOPS.get(stop, stop), 0))
        table[own.model] = found
    return table


def test_result_files_come_to_the_golden_figures(golden: dict[str, dict[str, str]]) -> None:
    assert as_published(public_counts(), list(golden["o1"])) == golden


def test_sessions_that_were_imported_come_to_them_too(golden: dict[str, dict[str, str]], sessions: Path) -> None:
    for name in ("o1-mini", "o3-high-azure", "codegemma_7b", "top-5-parallel__Neuroscience"):
        import_results(public_results() / "per_model" / f"model_{name}.json", sessions)
    read = read_tables(session_folders(sessions))
    assert read.problems == ()
    found = as_published(as_stored(read.table), list(golden["o1"]))
    assert found == {name: golden[name] for name in ("o1-mini", "o3-high-azure", "codegemma:7b", "top-5-parallel")}


def test_the_published_rules_give_back_what_they_gave() -> None:
    public = public_counts()
    paper = Change(coherence=15, embedding_novelty=0.15, judged_novelty=0.15, patience=1)
    again = rescored(public.table, paper)
    for column in ("failed", "counted", "responses", "valid", "censored"):
        assert np.array_equal(getattr(again, column), getattr(public, column)), column
    assert [again.end(chain) for chain in range(len(again.ended))] == [
        public.end(chain) for chain in range(len(public.ended))
    ]


# ── what each number means ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_row_says_what_a_model_has() -> None:
    [found] = only(counts_of(row("m", "q", 2), row("m", "r", 5), row("m", "s", 11, "error")))
    assert (found.questions, found.chains, found.responses, found.valid) == (3, 3, 18, 16)
    assert (found.mean_responses, found.mean_valid, found.median) == (6.0, 16 / 3, 5.0)
    assert (found.fewest, found.most) == (2, 11)
    assert found.log_mean == pytest.approx(math.exp((math.log(3) + math.log(6) + math.log(12)) / 3) - 1)
    assert found.stops == {"embedding_novelty": 2, "error": 1}
    assert found.responses_interval.value == 6.0
    assert found.responses_interval.runs == 3


def test_several_chains_on_one_question_count_as_one_question() -> None:
    [found] = only(counts_of(row("m", "q", 2), row("m", "q", 4), row("m", "r", 9)))
    assert (found.questions, found.chains, found.responses) == (2, 3, 15)
    assert found.mean_responses == 6.0
    assert (found.fewest, found.most) == (3, 9)


def test_the_top_tenth_is_rounded_up_to_whole_questions() -> None:
    [found] = only(grid_of({"m": [1] * 10 + [90]}))
    assert found.top_tenth == pytest.approx(91 / 100)
    [found] = only(counts_of(row("m", "q", 0, "empty")))
    assert found.top_tenth == 0.0


def test_the_best_come_first() -> None:
    counts = grid_of({"low": [1, 2], "high": [8, 9], "middle": [4, 5]})
    assert [row.model for row in ribbons(counts).rows] == ["high", "middle", "low"]


def test_rows_by_leaf_domain_and_question_have_only_what_was_answered() -> None:
    counts = counts_of(
        row("m", "q", 3, leaf="Physics / Fundamental"),
        row("m", "r", 5, leaf="Physics / Astrophysics"),
        row("n", "s", 7),
    )
    assert {(row.model, row.leaf, row.mean_responses) for row in ribbons(counts, "leaf").rows} == {
        ("m", "Physics / Fundamental", 3.0),
        ("m", "Physics / Astrophysics", 5.0),
        ("n", "Chemistry", 7.0),
    }
    assert {(row.model, row.domain, row.questions) for row in ribbons(counts, "domain").rows} == {
        ("m", "Physics", 2),
        ("n", "Chemistry", 1),
    }
    by_question = ribbons(counts, "question").rows
    assert [(row.model, row.question) for row in by_question] == [
        ("n", "How about s?"),
        ("m", "How about r?"),
        ("m", "How about q?"),
    ]
    assert by_question[0].responses_interval.low is None, "one question has no interval"


def test_no_chains_no_rows() -> None:
    assert ribbons(counts_of()).rows == ()


def test_chains_that_were_cut_short_count_as_far_as_they_came_and_are_expected_to_have_gone_on() -> None:
    [found] = only(grid_of({"m": [4, 6, 8, 10]}))
    assert found.expected is not None
    assert found.expected.valid == pytest.approx(found.mean_valid)
    [capped] = only(rescored(grid_of({"m": [4, 6, 8, 10]}).table, Change(max_ideas=6)))
    assert capped.expected is not None
    assert (capped.expected.ended, capped.expected.censored) == (2, 2)
    assert capped.expected.valid > capped.mean_valid
    [never] = only(counts_of(row("m", "q", 5, "person")))
    assert never.expected is None
