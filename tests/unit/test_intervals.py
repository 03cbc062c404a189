"""Bootstrap intervals: how often they hold the truth, and what they say of too little."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

from core.analysis.intervals import (
    ENOUGH,
    Interval,
    _t_quantile,
    column_intervals,
    column_ratios,
    mean_interval,
    ratio_interval,
)


def interval(*rows: tuple[float, ...]) -> Interval:
    return mean_interval(np.array(rows, dtype=float), default_rng(1))


def test_the_interval_is_around_the_mean_and_the_same_each_time() -> None:
    found = interval((1, 2), (3, 4), (5, 9))
    assert found.value == 4.0
    assert found.low is not None
    assert found.high is not None
    assert found.low < 4.0 < found.high
    assert found == interval((1, 2), (3, 4), (5, 9))


def test_one_run_has_no_interval() -> None:
    assert interval((3,)) == Interval(3.0, None, None, 1)


def test_what_is_always_the_same_has_an_interval_without_width() -> None:
    assert interval((2, 2), (2, 2)) == Interval(2.0, 2.0, 2.0, 4)


def test_the_interval_never_leaves_what_was_measured() -> None:
    found = interval((1,), (2,))
    assert (found.low, found.high) == (1.0, 2.0)


@pytest.mark.parametrize("shape", [(1, 8), (6, 1), (12, 1), (5, 3)])
def test_it_misses_the_truth_about_once_in_twenty_times(shape: tuple[int, int]) -> None:
    rng = default_rng(7)
    missed = 0
    for _ in range(150):
        by_question = rng.normal(0, 1, (shape[0], 1)) if shape[0] > 1 else 0.0
        found = mean_interval(by_question + rng.normal(0, 1, shape), rng)
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0 <= found.high
    assert missed <= 18, "twice as often would be 15; chance alone makes 18 of 7.5 once in two thousand times"


def test_a_difference_that_is_there_is_seen() -> None:
    values = default_rng(3).normal(1.0, 0.5, (12, 2))
    assert mean_interval(values, default_rng(1)).above_zero
    assert mean_interval(-values, default_rng(1)).below_zero
    assert not mean_interval(values - 1.0, default_rng(1)).above_zero


def test_too_few_runs_tell_nothing_however_alike_they_are() -> None:
    few, enough = ([(1.0,)] * count for count in (ENOUGH - 1, ENOUGH))
    assert not interval(*few).above_zero
    assert interval(*few).low == 1.0
    assert interval(*enough).above_zero


def test_a_ratio_is_of_the_sums() -> None:
    over, under = np.array([[1.0], [9.0]]), np.array([[10.0], [10.0]])
    found = ratio_interval(over, under, default_rng(1))
    assert (found.value, found.low, found.high) == (0.5, 0.1, 0.9)


def test_nothing_over_nothing_is_nothing_and_something_over_nothing_has_no_bound() -> None:
    none = np.zeros((2, 1))
    assert ratio_interval(none, none, default_rng(1)).value == 0.0
    assert math.isinf(ratio_interval(none + 1, none, default_rng(1)).value)


@pytest.mark.parametrize(("freedom", "expected"), [(3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042)])
def test_the_quantiles_of_t_are_those_of_the_tables(freedom: int, expected: float) -> None:
    assert _t_quantile(freedom, 1.959964) == pytest.approx(expected, abs=0.004)


def test_ratios_of_columns_are_of_sums_over_the_questions_that_both_have() -> None:
    over = np.array([[2.0, 5.0, 1.0], [4.0, np.nan, 2.0], [6.0, 1.0, 3.0]])
    under = np.array([[1.0, 2.0, 0.0], [1.0, 4.0, 0.0], [2.0, np.nan, 0.0]])
    first, second, third = column_ratios(over, under)
    assert first is not None
    assert (first.value, first.runs) == (3.0, 3)
    assert second == Interval(2.5)
    assert third is None, "there is nothing to divide by"


def test_ratios_by_one_are_the_means_with_the_same_intervals() -> None:
    values = default_rng(0).gamma(2.0, 5.0, (40, 3))
    for ratio, mean in zip(column_ratios(values, np.ones_like(values)), column_intervals(values), strict=True):
        assert ratio is not None
        assert mean is not None
        assert (ratio.value, ratio.low, ratio.high) == pytest.approx((mean.value, mean.low, mean.high))
