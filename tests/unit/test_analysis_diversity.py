"""How varied a set of ideas is."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from core.analysis.diversity import (
    Vectors,
    cluster_sizes,
    distinct,
    mean_distance,
    novelty_fall,
    vendi,
    vendi_of_order_two,
)
from core.analysis.idea_map import idea_map, principal
from core.analysis.richness import coverage, first_answers, kinds
from core.analysis.table import IdeaRow
from core.analysis.variety import THRESHOLDS, varieties
from tests.unit.tables import counts_of, grid_of, row


def directions(seed: int, count: int, dims: int = 8) -> Vectors:
    rows = default_rng(seed).normal(size=(count, dims))
    vectors: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return vectors


sets = st.builds(directions, st.integers(0, 99), st.integers(1, 12), st.integers(2, 6))


def same(count: int) -> Vectors:
    return np.repeat(directions(1, 1), count, axis=0)


def orthogonal(count: int) -> Vectors:
    return np.eye(count, dtype=np.float32)


# ── Vendi scores ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("score", [vendi, vendi_of_order_two])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_same_again_counts_as_one_and_what_has_nothing_in_common_as_many(score: object, count: int) -> None:
    assert callable(score)
    assert score(same(count)) == pytest.approx(1.0)
    assert score(orthogonal(count)) == pytest.approx(count)
    assert score(np.empty((0, 4), dtype=np.float32)) == 0.0


@given(sets)
def test_it_is_between_one_and_their_number_and_the_rare_weigh_less_in_order_two(vectors: Vectors) -> None:
    assert 1 - 1e-9 <= vendi_of_order_two(vectors) <= vendi(vectors) + 1e-9
    assert vendi(vectors) <= len(vectors) + 1e-6


@given(sets, st.integers(0, 99))
def test_neither_their_order_nor_a_copy_of_them_all_changes_it(vectors: Vectors, seed: int) -> None:
    shuffled = default_rng(seed).permutation(vectors)
    assert vendi(shuffled) == pytest.approx(vendi(vectors))
    assert vendi(np.concatenate([vectors, shuffled])) == pytest.approx(vendi(vectors))


def test_many_ideas_of_few_dimensions_are_scored_as_by_their_similarities() -> None:
    vectors = directions(3, 40, 3)
    values = np.linalg.eigvalsh(vectors.astype(float) @ vectors.T.astype(float) / 40)
    values = values[values > 1e-9]
    assert vendi(vectors) == pytest.approx(math.exp(-(values * np.log(values)).sum()), rel=1e-5)


# ── pairs, clusters ───────────────────────────────────────────────────────────────────────────────────────────────────


@given(sets)
def test_the_mean_distance_is_that_of_all_pairs(vectors: Vectors) -> None:
    pairs = [1 - float(vectors[i] @ vectors[j]) for i in range(len(vectors)) for j in range(i)]
    assert mean_distance(vectors) == (pytest.approx(np.mean(pairs), abs=1e-5) if pairs else None)


@settings(deadline=None)  # scipy is imported when it is first used
@given(sets)
def test_clusters_become_fewer_the_more_distance_they_may_hold(vectors: Vectors) -> None:
    thresholds = np.linspace(0, 2, 9)
    counts = distinct(vectors, thresholds).tolist()
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1
    for threshold, count in zip(thresholds, counts, strict=True):
        sizes = cluster_sizes(vectors, threshold)
        assert (len(sizes), sizes.sum()) == (count, len(vectors))


def test_copies_are_one_cluster_and_strangers_as_many() -> None:
    assert distinct(same(5), np.array([0.0, 0.5])).tolist() == [1, 1]
    assert distinct(orthogonal(4), np.array([0.0, 0.99, 1.0])).tolist() == [4, 4, 1]
    assert distinct(np.empty((0, 4), dtype=np.float32), np.array([0.5])).tolist() == [0]


# ── novelty along a chain ─────────────────────────────────────────────────────────────────────────────────────────────


def test_an_order_of_chance_is_in_the_middle() -> None:
    found = novelty_fall(directions(4, 40, 20), default_rng(1))
    assert len(found.novelty) == 39
    assert 0.35 < found.percentile.mean() < 0.65
    assert found.expected[0] > found.expected[-1], "novelty falls with the number of earlier ideas, whatever they are"
    assert (found.low <= found.expected).all()
    assert (found.expected <= found.high).all()


def test_a_chain_that_runs_dry_is_low_at_its_end() -> None:
    fresh = directions(5, 12, 60)
    dry = np.concatenate([fresh, fresh])
    found = novelty_fall(dry, default_rng(1))
    assert found.percentile[-10:].mean() < 0.45
    assert found.percentile[:10].mean() > 0.6


def test_all_alike_is_neither_high_nor_low() -> None:
    assert novelty_fall(same(4), default_rng(1)).percentile.tolist() == [0.5] * 3


# ── how many there would be ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_estimates_are_those_of_the_papers() -> None:
    """By hand: 10 draws, of six kinds; three seen once, two twice, one three times."""
    sizes = np.array([1, 1, 1, 2, 2, 3])
    assert coverage(sizes) == pytest.approx(1 - 3 / 10 * (9 * 3 / (9 * 3 + 2 * 2)))
    assert kinds(sizes) == pytest.approx(6 + 9 / 10 * (3 * 2) / (2 * 3))


def test_all_different_says_nothing_and_all_seen_twice_says_there_is_no_more() -> None:
    assert coverage(np.array([1, 1, 1, 1])) == 0.0
    assert coverage(np.array([2, 2])) == 1.0
    assert kinds(np.array([2, 2])) == 2.0
    assert coverage(np.array([4, 1])) == pytest.approx(1.0)


@pytest.mark.parametrize("size", range(1, 7))
def test_one_kind_that_came_again_is_all_that_comes(size: int) -> None:
    assert coverage(np.array([size])) == (0.0 if size == 1 else 1.0)
    assert kinds(np.array([size])) == 1.0


def test_the_number_of_kinds_is_found_from_draws_of_equal_chances() -> None:
    rng = default_rng(1)
    seen = [np.bincount(rng.integers(50, size=80)) for _ in range(40)]
    assert np.mean([kinds(each[each > 0]) for each in seen]) == pytest.approx(50, rel=0.1)


def test_only_first_answers_count_and_only_where_coverage_is_a_half() -> None:
    counts = counts_of(*(row("m", "q", 2) for _ in range(4)), *(row("m", "r", 2) for _ in range(4)), row("m", "s", 3))
    strangers = orthogonal(20)
    vectors = strangers[:19].copy()
    vectors[[0, 2, 4, 6]] = strangers[[0, 0, 0, 1]]  # the first answers to q: three the same
    vectors[[8, 10, 12, 14]] = strangers[[2, 3, 4, 5]]  # to r: none
    many, none = first_answers(counts, vectors, 0.1)
    assert (many.chains, many.distinct, many.expected) == (4, 2, 2.0)
    assert many.coverage > 0.5
    assert (none.chains, none.distinct, none.coverage, none.expected) == (4, 4, 0.0, None)


@pytest.mark.parametrize(
    "dependent", [{"counts": False}, {"removed": True, "counts": False}, {"seed": "moss"}, {"shared": True}]
)
def test_what_a_person_did_what_a_seed_brought_and_a_fork_s_past_are_no_independent_answers(
    dependent: Mapping[str, Any],
) -> None:
    """Two chains answer by themselves; the first idea of a third one does not."""
    third = [IdeaRow(number=1, author="m", **dependent)]
    counts = counts_of(row("m", "q", 1, "cap"), row("m", "q", 1, "cap"), row("m", "q", 1, "cap", ideas=third))
    [found] = first_answers(counts, orthogonal(3), 0.1)
    assert (found.chains, found.distinct) == (2, 2)


# ── by model, and on a map ────────────────────────────────────────────────────────────────────────────────────────────


def test_models_are_measured_question_by_question_without_what_failed() -> None:
    counts = grid_of({"varied": [4, 4], "same": [4, 4]})  # three valid ideas each
    ideas = counts.table.ideas
    vectors = np.concatenate([orthogonal(8), np.repeat(orthogonal(8)[:1], 8, axis=0)])
    assert len(ideas.chain) == len(vectors)
    found = varieties(counts, vectors, 0.1, default_rng(1))
    varied, alike = found.rows
    assert (varied.model, varied.ideas.value) == ("varied", 3.0)
    assert (varied.vendi.value, alike.vendi.value) == pytest.approx((3.0, 1.0))
    assert varied.distance is not None
    assert varied.distance.value == pytest.approx(1.0)
    assert (varied.clusters, alike.clusters) == ((3.0,) * len(THRESHOLDS), (1.0,) * len(THRESHOLDS))
    assert varied.dry is None, "three ideas have no second half"
    # The first of `varied` is what `same` says all the time, on the first of the two questions.
    assert found.shared[0] == pytest.approx((1.0, 1 / 6))
    assert found.shared[1] == (0.5, 1.0)


def test_what_two_models_share_is_the_part_of_each_one_s_ideas_that_the_other_has_too() -> None:
    counts = counts_of(row("m", "q", 3, "cap"), row("n", "q", 2, "cap"))
    found = varieties(counts, orthogonal(4)[[0, 1, 2, 2, 3]], 0.1, default_rng(1))
    assert [each.model for each in found.rows] == ["m", "n"]
    assert found.shared[0] == pytest.approx((1.0, 1 / 3))
    assert found.shared[1] == (0.5, 1.0)


def test_models_without_a_question_in_common_share_nothing_that_is_known() -> None:
    counts = counts_of(row("m", "q", 3), row("n", "r", 3))
    found = varieties(counts, orthogonal(6), 0.1, default_rng(1))
    assert found.shared == ((1.0, None), (None, 1.0))


def test_the_map_shows_where_ideas_differ_most() -> None:
    rng = default_rng(2)
    plane = np.zeros((50, 6))
    plane[:, 1], plane[:, 4] = rng.normal(0, 3, 50), rng.normal(0, 1, 50)
    found, explained = principal((plane + 5).astype(np.float32))
    assert abs(np.corrcoef(found[:, 0], plane[:, 1])[0, 1]) > 0.99
    assert abs(np.corrcoef(found[:, 1], plane[:, 4])[0, 1]) > 0.99
    assert sum(explained) == pytest.approx(1.0)
    assert explained[0] > explained[1]


def test_places_on_the_map_say_which_idea_they_are() -> None:
    counts = counts_of(row("m", "q", 3), row("n", "q", 2, "error"))
    vectors = directions(7, 5)
    vectors[1] = np.nan
    found = idea_map(counts, vectors)
    assert [(place.chain, place.number, place.author, place.verdict) for place in found.places] == [
        (0, 1, "m", "passed"),
        (0, 3, "m", "embedding_novelty"),
        (1, 1, "n", "passed"),
        (1, 2, "n", "passed"),
    ]
    assert found.left_out == 1


@pytest.mark.parametrize("count", [0, 1])
def test_a_map_of_nothing_is_flat(count: int) -> None:
    found, explained = principal(directions(1, count))
    assert found.shape == (count, 2)
    assert explained == (0.0, 0.0)
