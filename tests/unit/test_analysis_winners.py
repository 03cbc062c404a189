"""Who is best where, how sure that is, and what a router is worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.profiles import Contender
from core.analysis.winners import winners, wins
from tests.unit.tables import counts_of, grid_of, public_counts, row
from tui.charts.catalog import chart
from tui.charts.look import COLORLESS

TWO = ["Chemistry"] * 4 + ["Biology"] * 4


@given(st.lists(st.tuples(*[st.integers(1, 9)] * 3), min_size=1, max_size=8))
def test_the_chances_of_all_add_up_to_one(rows: list[tuple[int, int, int]]) -> None:
    assert wins(np.array(rows, dtype=np.float64)).sum() == pytest.approx(1.0)


def test_who_is_ahead_on_every_question_is_sure_to_win_and_equals_share() -> None:
    assert wins(np.array([[3.0, 2.0], [9.0, 1.0], [4.0, 3.0]])).tolist() == [1.0, 0.0]
    assert wins(np.array([[3.0, 3.0], [5.0, 5.0]])).tolist() == [0.5, 0.5]


def test_each_leaf_has_its_winner() -> None:
    found = winners(grid_of({"m": [9, 8, 9, 8, 1, 2, 1, 2], "n": [1, 2, 1, 2, 7, 8, 7, 8]}, TWO))
    assert [(each.leaf, each.model, each.runner_up, each.sure) for each in found.rows] == [
        ("Chemistry", "m", "n", 1.0),
        ("Biology", "n", "m", 1.0),
    ]
    assert found.rows[0].lead.value == 7.0
    assert found.rows[0].best_single == 8.5
    router, held_out, single = found.contenders
    assert (router.name, held_out.name, single.name) == ("router", "router, held out", "m")
    assert (router.mean.value, held_out.mean.value, single.mean.value) == (8.0, 8.0, 5.0)
    assert router.over_single.value == 3.0


def test_a_winner_of_chance_wins_nothing_on_questions_it_was_not_chosen_by() -> None:
    found = winners(grid_of({"m": [20, 1, 1, 1], "n": [1, 20, 1, 1], "o": [1, 1, 20, 1]}))
    router, held_out, _ = found.contenders
    assert router.mean.value == 23 / 4
    assert held_out.mean.value == 1.0


def test_whoever_answered_but_a_few_questions_does_not_compete_and_takes_none_from_the_others() -> None:
    some = grid_of({"m": [4, 4, 4], "n": [3, 3, 3]})
    assert len(winners(some).rows) == 1
    rows = [row(model, f"q{place}", count) for model, count in (("m", 4), ("n", 3)) for place in range(3)]
    [found] = winners(counts_of(*rows, row("lucky", "q1", 50))).rows
    assert (found.model, found.questions) == ("m", 3)


def test_a_gap_here_and_there_leaves_the_questions_that_all_answered() -> None:
    gaps = {("b", 5), ("c", 7)}
    rows = [
        row(model, f"q{place}", 9 + place + (model == "c"), leaf=TWO[place])
        for model in "abc"
        for place in range(8)
        if (model, place) not in gaps
    ]
    found = winners(counts_of(*rows))
    assert [(each.leaf, each.model, each.questions) for each in found.rows] == [
        ("Chemistry", "c", 4),
        ("Biology", "c", 2),
    ]
    assert found.left_out == ()


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=6))
def test_where_two_models_share_a_question_there_is_a_winner_and_no_other_leaf_goes_without_a_word(
    answered: list[list[bool]],
) -> None:
    rows = [row(f"m{model}", f"q{place}", 5) for model, own in enumerate(answered) for place in range(4) if own[place]]
    found = winners(counts_of(*rows))
    shared = any(sum(own[place] for own in answered) > 1 for place in range(4))
    assert [each.leaf for each in found.rows] == ["Chemistry"] * shared
    assert found.left_out == ("Chemistry",) * (bool(rows) and not shared)


def test_a_leaf_in_which_no_two_models_answered_the_same_is_named() -> None:
    rows = [row(model, "q", count) for model, count in (("m", 4), ("n", 3))]
    found = winners(counts_of(*rows, row("m", "r", 9, leaf="Biology"), row("n", "s", 9, leaf="Biology")))
    assert [each.leaf for each in found.rows] == ["Chemistry"]
    assert found.left_out == ("Biology",)
    drawn = chart("winners", found).draw(100, 14, COLORLESS)
    lines = ["".join(segment.text for segment in line).rstrip() for line in drawn]
    assert "left out, as no two models answered the same there: Biology" in lines


def test_a_leaf_with_one_model_has_no_winner() -> None:
    found = winners(grid_of({"m": [1, 2, 3]}))
    assert (found.rows, found.contenders, found.left_out) == ((), (), ("Chemistry",))


def test_teams_stand_beside_the_best_single_model_on_their_own_questions() -> None:
    rows = [row(model, f"q{place}", count) for model, count in (("m", 4), ("n", 3)) for place in range(4)]
    team = [row("team", f"q{place}", 9, is_team=True) for place in range(2)]
    found = winners(counts_of(*rows, *team))
    assert {each.model for each in found.rows} == {"m"}
    last = found.contenders[-1]
    assert (last.name, last.kind, last.questions) == ("team", "team", 2)
    assert (last.mean.value, last.over_single.value) == (9.0, 5.0)


def test_the_published_router_owes_its_advantage_to_luck() -> None:
    found = winners(public_counts())
    assert len(found.rows) == 9
    by_name: dict[str, Contender] = {each.name: each for each in found.contenders}
    assert by_name["router"].mean.value > by_name["o3-mini-medium"].mean.value
    assert by_name["router, held out"].mean.value < by_name["o3-mini-medium"].mean.value
    assert max(each.sure for each in found.rows) < 0.7
