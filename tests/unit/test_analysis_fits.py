"""Two profiles side by side: correlation, the line through the origin, differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.differences import differences
from core.analysis.fits import correlation, origin_slope, rank_correlation, scatter
from core.exchange.totals_table import read_totals
from tests.unit.tables import counts_of, grid_of, public_counts, public_results, row

pairs = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=20)


@given(pairs)
def test_correlations_are_numpy_s_and_know_when_there_is_none(found: list[tuple[int, int]]) -> None:
    x, y = np.array(found, dtype=np.float64).T
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert correlation(x, y) is None
    else:
        assert correlation(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_ranks_share_the_mean_of_what_is_equal() -> None:
    x, y = np.array([1.0, 2.0, 2.0, 9.0]), np.array([10.0, 30.0, 20.0, 1000.0])
    assert rank_correlation(x, y) == pytest.approx(np.corrcoef([1, 2.5, 2.5, 4], [1, 3, 2, 4])[0, 1])


def test_the_line_goes_through_the_origin() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert origin_slope(x, 3 * x) == pytest.approx(3.0)
    assert origin_slope(x, np.array([2.0, 2.0, 2.0])) == pytest.approx(14 / 21)
    assert origin_slope(np.zeros(2), np.ones(2)) == 0.0


def test_the_published_models_on_both_benchmarks() -> None:
    totals = read_totals(public_results() / "aidanbench_totals.csv")
    found = scatter(public_counts(), {each.model: each.mean for each in totals.rows}, "AidanBench")
    assert found.n == len(found.points) == 19
    assert f"{found.slope:.3f}" == "0.419"
    assert f"{found.r:.3f}" == "0.903"


def test_teams_and_models_without_a_figure_are_left_out() -> None:
    counts = counts_of(row("m", "q", 4), row("n", "q", 6), row("team", "q", 9, is_team=True))
    found = scatter(counts, {"m": 8.0, "team": 3.0}, "elsewhere")
    assert [(point.model, point.x, point.y) for point in found.points] == [("m", 8.0, 4.0)]
    assert (found.n, found.slope, found.r) == (1, 0.5, None)


def test_two_selections_differ_on_what_both_answered() -> None:
    leaves = ["Chemistry", "Chemistry", "Biology"]
    counts = grid_of({"m": [9, 7, 5], "n": [4, 4, 4]}, leaves)
    more = counts_of(row("m", "q9", 100))
    of_m, of_n = (counts.only(counts.table.chains.model == model) for model in (0, 1))
    every, chemistry, biology = differences(of_m, of_n, "leaf").rows
    assert (every.name, every.questions, every.one, every.other) == ("all", 3, 7.0, 4.0)
    assert every.difference.value == 3.0
    assert every.difference.low is not None
    assert 1 <= every.difference.low < 3.0
    assert (chemistry.name, chemistry.difference.value) == ("Chemistry", 4.0)
    assert (biology.name, biology.difference.value, biology.difference.low) == ("Biology", 1.0, None)
    assert [each.name for each in differences(of_m, of_n).rows] == ["all"]
    with pytest.raises(ValueError, match="different tables"):
        differences(of_m, more)


def test_two_selections_go_together_over_questions() -> None:
    counts = grid_of({"m": [2, 4, 9], "n": [1, 2, 3]})
    of_m, of_n = (counts.only(counts.table.chains.model == model) for model in (0, 1))
    found = differences(of_m, of_n)
    assert found.slope == pytest.approx((2 + 8 + 27) / 14)
    assert found.r == pytest.approx(0.9707, abs=1e-4)
    one_question = counts.only(counts.table.chains.question == 0)
    assert differences(one_question, one_question).r is None


def test_of_several_models_the_mean_counts_and_without_common_questions_there_is_no_difference() -> None:
    counts = counts_of(row("m", "q", 2), row("n", "q", 6), row("o", "q", 1), row("o", "r", 9))
    models, questions = counts.table.chains.model, counts.table.chains.question
    [found] = differences(counts.only(models < 2), counts.only(models == 2)).rows
    assert (found.one, found.other) == (4.0, 1.0)
    assert differences(counts.only(models < 2), counts.only(questions == 1)).rows == ()
