"""How long chains last when some of them were cut short."""

import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.densities import density, lengths, survival
from core.analysis.intervals import Interval
from core.analysis.profiles import Expected
from core.analysis.rescoring import Change, Counts, rescored
from core.analysis.ribbons import ribbons
from core.analysis.survival import expected, expected_interval, hazards
from tests.unit.tables import counts_of, grid_of, public_counts, row

ended = st.lists(st.integers(1, 30), min_size=1, max_size=40)


def expectation(counts: Counts) -> Expected | None:
    [found] = expected(hazards(counts, np.zeros(len(counts.responses), dtype=np.int64), 1))
    return found


def steps(values: Sequence[int], censored: Sequence[bool] = ()) -> dict[float, float]:
    marks = np.array(censored or [False] * len(values))
    ideas, alive, _, _ = survival(np.array(values, dtype=np.float64), marks)
    return dict(zip(ideas.tolist(), alive.tolist(), strict=True))


@settings(deadline=None)  # scipy is imported when it is first used
@given(ended)
def test_with_nothing_cut_short_it_is_the_share_that_was_longer(values: list[int]) -> None:
    for ideas, alive in steps(values).items():
        assert alive == pytest.approx(sum(value > ideas for value in values) / len(values))


@given(ended)
def test_with_nothing_cut_short_the_expected_ideas_are_their_mean(values: list[int]) -> None:
    found = expectation(grid_of({"m": values}))
    assert found is not None
    assert found.valid == pytest.approx(np.mean(values) - 1)
    assert found.observed == pytest.approx(found.valid)
    assert (found.ended, found.censored) == (len(values), 0)


@given(st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=6), min_size=1, max_size=8))
def test_chains_on_one_question_count_as_one_as_they_do_in_a_mean(questions: list[list[int]]) -> None:
    counts = counts_of(*(row("m", f"q{place}", length) for place, own in enumerate(questions) for length in own))
    [whole] = ribbons(counts).rows
    assert whole.expected is not None
    assert whole.expected.valid == pytest.approx(whole.mean_valid)
    assert (whole.expected.ended, whole.expected.censored) == (sum(map(len, questions)), 0)
    interval = lengths(counts).survivals[0].expected_interval
    assert interval is not None
    assert interval.value == pytest.approx(whole.mean_valid)


def test_a_chain_without_ideas_takes_nothing_from_the_others_on_its_question() -> None:
    begun = (row("m", "q", 20), row("m", "r", 2))
    assert expectation(counts_of(*begun, row("m", "q", 0, "empty"))) == expectation(counts_of(*begun))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20), st.booleans()), min_size=1, max_size=30))
def test_the_hazards_and_scipy_agree(chains: list[tuple[int, bool]]) -> None:
    counts = counts_of(
        *(row("m", f"q{place}", length, "cap" if cut else "coherence") for place, (length, cut) in enumerate(chains))
    )
    found = hazards(counts, np.zeros(len(chains), dtype=np.int64), 1)
    alive = np.cumprod(1 - found.ended[0] / np.maximum(1, found.at_risk[0]))
    for ideas, share in steps([length for length, _ in chains], [cut for _, cut in chains]).items():
        if ideas:
            assert alive[int(ideas) - 1] == pytest.approx(share)


def test_a_worked_example() -> None:
    """Of five chains, one is cut at two ideas and one at four: 4/5, then 2/3 of that, then none."""
    assert steps([1, 2, 3, 4, 5], [False, True, False, True, False]) == pytest.approx(
        {0: 1.0, 1: 0.8, 2: 0.8, 3: 0.8 * 2 / 3, 4: 0.8 * 2 / 3, 5: 0.0}
    )


def test_failing_ideas_that_patience_lets_pass_are_no_valid_ones() -> None:
    table = grid_of({"m": [3, 3, 3, 3]}).table
    found = expectation(rescored(table, Change(embedding_novelty=0.6, patience=2)))
    assert found is not None
    assert found.valid == 0.0


def test_where_no_rule_ended_anything_nothing_can_be_expected() -> None:
    assert expectation(counts_of(row("m", "q", 5, "cap"), row("m", "r", 3, "person"))) is None
    assert steps([5, 3], [True, True]) == {0.0: 1.0}


def test_a_constant_hazard_is_found_behind_a_cap() -> None:
    rng = np.random.default_rng(5)
    counts = grid_of({"m": rng.geometric(0.05, 800).tolist()})
    full, capped = expectation(counts), expectation(rescored(counts.table, Change(max_ideas=12)))
    assert full is not None
    assert capped is not None
    assert capped.observed < 9
    assert capped.valid == pytest.approx(full.valid, rel=0.15)


def test_behind_a_cap_too_few_are_expected_where_questions_differ_in_their_hazards() -> None:
    rng = np.random.default_rng(5)
    hazards_of_questions = rng.choice([0.02, 0.2], 800)
    counts = grid_of({"m": rng.geometric(hazards_of_questions).tolist()})
    full, capped = expectation(counts), expectation(rescored(counts.table, Change(max_ideas=12)))
    assert full is not None
    assert capped is not None
    assert capped.observed < capped.valid < 0.85 * full.valid


def test_capped_runs_of_the_published_models_rank_nearly_like_full_ones() -> None:
    public = public_counts()
    full = {row.model: row.mean_valid for row in ribbons(public).rows if row.questions > 100}
    capped = {row.model: row.expected for row in ribbons(rescored(public.table, Change(max_ideas=20))).rows}
    order = sorted(full, key=lambda model: full[model])
    places = {model: place for place, model in enumerate(order)}
    found = sorted(full, key=lambda model: ((expectation := capped[model]) and expectation.valid) or 0.0)
    off = [abs(places[model] - place) for place, model in enumerate(found)]
    assert max(off) <= 5
    assert sum(off) / len(off) < 1.5


def test_the_chart_has_a_curve_a_model_and_no_density_of_too_little() -> None:
    counts = counts_of(
        *(row("many", f"q{place}", length) for place, length in enumerate([2, 3, 5, 8, 13])),
        *(row("alike", f"q{place}", 4) for place in range(5)),
        row("few", "q", 3),
        row("cut", "q", 3, "cap"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lengths(counts)
    assert [each.model for each in found.densities] == ["many"]
    assert [each.model for each in found.survivals] == ["many", "alike", "few", "cut"]
    curve = found.survivals[0]
    assert curve.ideas[:3] == (0.0, 2.0, 3.0)
    assert curve.alive[:3] == pytest.approx((1.0, 0.8, 0.6))
    assert curve.low[0] is None
    assert curve.low[1] is not None
    assert 0 < curve.low[1] < 0.8
    assert found.survivals[3].expected is None


def test_a_density_adds_up_to_one() -> None:
    grid = np.linspace(-10, 10, 2001)
    assert density(np.array([0.0, 1.0, 1.5]), grid).sum() * 0.01 == pytest.approx(1.0)


def test_what_is_expected_has_an_interval_over_questions() -> None:
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(60):
        table = grid_of({"m": rng.geometric(0.1, 30).tolist()}).table
        counts = rescored(table, Change(max_ideas=15))
        found = expected_interval(hazards(counts, counts.table.chains.question, len(counts.table.questions)))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.value <= found.high
        missed += not found.low <= 9 <= found.high
    assert missed <= 9, "chance alone makes 9 of 3 once in five hundred times"


def test_one_question_has_none_and_no_ending_no_expectation() -> None:
    def interval(counts: Counts) -> Interval | None:
        return expected_interval(hazards(counts, counts.table.chains.question, len(counts.table.questions)))

    assert interval(grid_of({"m": [4]})) == Interval(3.0)
    assert interval(counts_of(row("m", "q", 5, "cap"), row("m", "r", 3, "cap"))) is None
