"""A team with other members, weights or another strategy, as a person wants it amid a session."""

import pytest
from msgspec.structs import replace

from core.errors import UsageError
from core.models import Group, Place, TeamSpec
from core.teams.rearranged import rearranged
from tests.conftest import scripted_team

TEAM = scripted_team("anna", "bert", "cleo")


def weighed(*weights: float, team: TeamSpec = TEAM) -> list[tuple[Place, float]]:
    return list(zip(team.places, weights, strict=True))


def test_each_place_has_its_new_weight_and_one_of_0_is_left_out() -> None:
    team = rearranged(TEAM, weighed(3, 0, 1))
    assert [(member.name, member.weight) for member in team.members] == [("anna", 3), ("cleo", 1)]
    assert team.strategy == TEAM.strategy


def test_a_team_with_the_same_weights_is_the_same() -> None:
    assert rearranged(TEAM, [(place, place.weight) for place in TEAM.places]) == TEAM


def test_another_strategy_and_a_newcomer() -> None:
    [dora] = scripted_team("dora").members
    team = rearranged(TEAM, [*weighed(1, 1, 1), (dora, 2.0)], strategy="parallel", selector="me")
    assert (team.strategy, team.selector) == ("parallel", "me")
    assert [member.name for member in team.members] == ["anna", "bert", "cleo", "dora"]


def test_who_is_left_out_leads_no_more_and_is_nobodys_specialist() -> None:
    team = replace(TEAM, strategy="router", lead="bert", routes={"Physics": "bert", "*": "anna"})
    changed = rearranged(team, weighed(1, 0, 1))
    assert (changed.lead, changed.routes) == ("", {"*": "anna"})


@pytest.mark.parametrize(
    ("weights", "changes", "why"),
    [
        ((0, 0, 0), {}, "needs a member"),
        ((1, 1, 1), {"strategy": "router"}, "No specialist"),
    ],
)
def test_what_makes_no_team_is_said(weights: tuple[float, ...], changes: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        rearranged(TEAM, weighed(*weights), **changes)


def test_a_team_of_teams_has_nobody_to_lead_it() -> None:
    outer = TeamSpec(name="outer", strategy="sample", groups=(Group(name="inner", team=TEAM),))
    with pytest.raises(UsageError, match="nobody to lead"):
        rearranged(outer, weighed(1, team=outer), strategy="hierarchy")
