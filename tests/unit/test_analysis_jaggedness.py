"""How uneven models are, and where the differences between chains lie."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.random import default_rng

from core.analysis.jaggedness import between, leaf_table, split
from core.analysis.profiles import Split
from core.analysis.rescoring import Counts
from tests.unit.tables import counts_of, grid_of, public_counts, row

LEAVES = ("Chemistry", "Nanoscience", "Biology")


def simulated(seed: int, *, missing: float = 0.0, repeats: int = 1, noise: float = 0.0) -> Counts:
    """15 models on 60 questions in three leaves. Of the variance of ln(1 + responses) 1 part is the models', ¼ the
    questions', 0.1 that of models by leaf and 0.15 that of models by question; `noise` is a standard deviation more."""
    rng = default_rng(seed)
    of_models, of_questions = rng.normal(0, 1, 15), rng.normal(0, 0.5, 60)
    by_leaf, by_question = rng.normal(0, 0.1**0.5, (15, 3)), rng.normal(0, 0.15**0.5, (15, 60))
    rows, logs = [], []
    for model, question in np.ndindex(15, 60):
        if rng.random() < missing:
            continue
        level = 5 + of_models[model] + of_questions[question] + by_leaf[model, question % 3]
        for _ in range(repeats):
            rows.append(row(f"m{model}", f"q{question}", 0, leaf=LEAVES[question % 3], ideas=()))
            logs.append(level + by_question[model, question] + rng.normal(0, noise))
    return replace(counts_of(*rows), responses=np.expm1(np.array(logs)))


def usual(**made: float) -> dict[str, float]:
    """The mean shares of many simulations."""
    found = [split(simulated(seed, **made)) for seed in range(12)]  # type: ignore[arg-type]
    assert all(found)
    names = ("model", "question", "interaction", "by_leaf", "noise")
    return {name: float(np.mean([getattr(each, name) or 0.0 for each in found])) for name in names}


def test_the_parts_of_a_simulation_are_found_again() -> None:
    whole = usual()
    assert whole["model"] == pytest.approx(1 / 1.5, abs=0.1)
    assert whole["question"] == pytest.approx(0.25 / 1.5, abs=0.05)
    assert whole["interaction"] == pytest.approx(0.25 / 1.5, abs=0.05)
    assert whole["by_leaf"] == pytest.approx(0.1 / 1.5, abs=0.03)


def test_gaps_do_not_bend_them() -> None:
    whole, gaps = usual(), usual(missing=0.4)
    for name, share in whole.items():
        assert gaps[name] == pytest.approx(share, abs=0.05), name


def test_chance_is_told_from_interaction_where_chains_are_repeated() -> None:
    found = usual(repeats=3, noise=0.5)
    assert found["noise"] == pytest.approx(0.25 / 1.75, abs=0.03)
    assert found["interaction"] == pytest.approx(0.25 / 1.75, abs=0.05)
    once = split(simulated(1))
    assert once is not None
    assert once.noise is None


def test_models_that_differ_by_a_factor_everywhere_are_not_jagged() -> None:
    counts = grid_of({"m": [1, 3, 7], "n": [3, 7, 15], "o": [7, 15, 31]})  # 1 + responses: powers of two
    found = split(counts)
    assert found is not None
    assert found.interaction == pytest.approx(0.0, abs=1e-9)
    assert found.by_leaf == pytest.approx(0.0, abs=1e-9)
    assert found.model == pytest.approx(found.question)
    assert found.balanced


def test_models_that_only_swap_places_are_nothing_but_jagged() -> None:
    found = split(grid_of({"m": [3, 7, 3, 7], "n": [7, 3, 7, 3]}))
    assert found is not None
    assert (found.model, found.question, found.interaction) == (0.0, 0.0, 1.0)


def test_too_little_to_tell_is_none() -> None:
    assert split(grid_of({"m": [1, 2, 3]})) is None
    assert split(grid_of({"m": [1], "n": [2]})) is None
    assert split(counts_of()) is None


def test_the_published_models_are_jagged() -> None:
    found = split(public_counts())
    assert found is not None
    assert (found.models, found.questions, found.chains, found.balanced) == (25, 157, 3727, False)
    assert found.model + found.question + found.interaction == pytest.approx(1.0)
    assert found.interaction > found.model, "who answers tells less than who answers what"
    assert isinstance(found, Split)


def test_equal_groups_have_the_variance_of_the_textbook() -> None:
    values = np.array([1.0, 3.0, 5.0, 7.0])
    assert between(values, np.array([0, 0, 1, 1])) == pytest.approx((16 - 2) / 2)
    assert between(np.array([1.0, 9.0, 1.0, 9.0]), np.array([0, 0, 1, 1])) == 0.0
    assert between(values, np.array([0, 1, 2, 3])) == 0.0


def test_a_model_is_compared_with_its_own_mean() -> None:
    leaves = ["Chemistry"] * 2 + ["Biology"] * 2
    [twice, once] = leaf_table(grid_of({"m": [2, 4, 10, 12], "n": [4, 8, 20, 24]}, leaves)).rows
    assert (once.model, twice.model) == ("m", "n")
    assert once.jaggedness == twice.jaggedness
    assert (once.jaggedness.strongest, once.jaggedness.weakest) == ("Biology", "Chemistry")
    assert once.jaggedness.over_leaves == pytest.approx(32**0.5 / 7)
    assert 0 < once.jaggedness.beyond_chance < once.jaggedness.over_leaves


def test_the_table_has_the_leaves_in_their_order_and_gaps_where_nothing_was_answered() -> None:
    counts = counts_of(row("m", "q", 4, leaf="Biology"), row("n", "r", 6, leaf="Physics / Fundamental"))
    found = leaf_table(counts)
    assert found.leaves == ("Physics / Fundamental", "Biology")
    assert [(each.model, [mean and mean.value for mean in each.means]) for each in found.rows] == [
        ("n", [6.0, None]),
        ("m", [None, 4.0]),
    ]
