"""Who is asked: every draw by weight, and the same draw at the same place."""

from collections import Counter
from collections.abc import Collection
from itertools import pairwise

import pytest
from msgspec.structs import replace

from core.models import TeamSpec
from core.randomness import generator
from core.teams.strategy import Strategy, strategy_for
from tests.conftest import scripted_team

DRAWS = 6000


def weighted(**weights: float) -> TeamSpec:
    team = scripted_team(*weights)
    return replace(team, members=tuple(replace(m, weight=weights[m.name]) for m in team.members))


def drawn(
    strategy: Strategy, step: int, random_seed: int = 7, question: str = "q", barred: Collection[str] = ()
) -> str:
    [member] = strategy.draw(generator(random_seed, question, step), barred)
    return member.name


def test_draws_follow_the_weights() -> None:
    strategy = strategy_for(weighted(anna=1.0, bert=3.0, cleo=0.5))
    count = Counter(drawn(strategy, step) for step in range(DRAWS))
    for name, share in {"anna": 1 / 4.5, "bert": 3 / 4.5, "cleo": 0.5 / 4.5}.items():
        # Five standard deviations of a binomial count: the draws are fixed by the seed, so this holds for ever.
        assert abs(count[name] - DRAWS * share) < 5 * (DRAWS * share * (1 - share)) ** 0.5


def test_steps_are_drawn_independently() -> None:
    strategy = strategy_for(weighted(anna=1.0, bert=1.0))
    names = [drawn(strategy, step) for step in range(DRAWS)]
    repeats = sum(first == second for first, second in pairwise(names))
    assert abs(repeats - DRAWS / 2) < 5 * (DRAWS / 4) ** 0.5


def test_the_same_place_draws_the_same_and_other_places_others() -> None:
    strategy = strategy_for(weighted(anna=1.0, bert=1.0, cleo=1.0))
    once = [drawn(strategy, step) for step in range(50)]
    assert [drawn(strategy, step) for step in reversed(range(50))] == once[::-1]
    assert [drawn(strategy, step, random_seed=8) for step in range(50)] != once
    assert [drawn(strategy, step, question="r") for step in range(50)] != once


def test_what_a_member_draws_in_a_step_is_its_own() -> None:
    places: list[tuple[int | str, ...]] = [(1,), (1, "anna"), (1, "bert"), (2, "anna"), ("anna", 1)]
    assert len({int(generator(7, "q", *place).integers(2**62)) for place in places}) == len(places)


def test_solo_asks_the_first_every_time() -> None:
    strategy = strategy_for(scripted_team("anna", "bert", strategy="solo"))
    assert {drawn(strategy, step) for step in range(100)} == {"anna"}


@pytest.mark.parametrize("strategy", ["solo", "sample"])
def test_a_team_of_one(strategy: str) -> None:
    assert {drawn(strategy_for(scripted_team("anna", strategy=strategy)), step) for step in range(20)} == {"anna"}


@pytest.mark.parametrize("weight", [1e-3, 1e6])
def test_weights_are_shares_whatever_their_size(weight: float) -> None:
    strategy = strategy_for(weighted(anna=weight, bert=weight))
    assert {drawn(strategy, step) for step in range(40)} == {"anna", "bert"}


def test_whoever_can_not_be_asked_is_not_drawn() -> None:
    strategy = strategy_for(weighted(anna=1000, bert=1, cleo=1))
    assert {drawn(strategy, step, barred={"anna"}) for step in range(60)} == {"bert", "cleo"}
