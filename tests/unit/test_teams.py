"""Who is asked: every draw by weight, and the same draw at the same place."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from core import events as ev
from core.chain import Chain, Idea
from core.models import Group, Member, TeamSpec, Usage
from core.randomness import generator
from core.teams.strategy import Proposal, Wanted, strategy_for
from tests.conftest import scripted_team

if TYPE_CHECKING:
    from numpy.random import Generator

DRAWS = 10_000


class View:
    """A step with nobody behind it: whoever is asked says its name."""

    def __init__(
        self,
        team: TeamSpec,
        number: int = 1,
        *,
        random_seed: int = 7,
        question: str = "q",
        barred: Collection[str] = (),
        chain: Chain | None = None,
    ) -> None:
        self.team = team
        self.chain = chain or Chain(question=question, text="How?", domain="Physics", subdomain="Astrophysics")
        self.barred = barred
        self.wanted: list[Wanted] = []
        self._place = (random_seed, self.chain.question, number)

    def rng(self, *what: str) -> "Generator":
        return generator(*self._place, *what)

    async def ask(self, wanted: Wanted) -> Proposal:
        self.wanted.append(wanted)
        return Proposal(wanted.place.name, f"{wanted.place.name} {wanted.draft} {wanted.direction}", wanted.draft)

    async def ask_all(self, wanted: Sequence[Wanted]) -> list[Proposal]:
        return [await self.ask(each) for each in wanted]

    async def pick(self, proposals: Sequence[Proposal]) -> Proposal:
        return proposals[-1]

    async def directions(self, lead: Member, count: int) -> tuple[str, ...]:
        return tuple(f"direction {number}" for number in range(count))

    async def pick_or_merge(self, lead: Member, proposals: Sequence[Proposal]) -> Proposal:
        return Proposal(lead.name, " + ".join(proposal.text for proposal in proposals))


def weighted(**weights: float) -> TeamSpec:
    team = scripted_team(*weights)
    return replace(team, members=tuple(replace(m, weight=weights[m.name]) for m in team.members))


def drawn(team: TeamSpec, step: int, **view: object) -> str:
    [place] = strategy_for(team).draw(View(team, step, **view))  # type: ignore[arg-type]
    return place.name


# ── sample ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("inverted", [False, True])
def test_draws_follow_the_weights_or_one_over_them(inverted: bool) -> None:
    weights = {"anna": 1.0, "bert": 3.0, "cleo": 0.5}
    team = replace(weighted(**weights), inverted=inverted)
    count = Counter(drawn(team, step) for step in range(DRAWS))
    parts = {name: 1 / weight if inverted else weight for name, weight in weights.items()}
    for name, part in parts.items():
        share = part / sum(parts.values())
        # Five standard deviations of a binomial count: the draws are fixed by the seed, so this holds for ever.
        assert abs(count[name] - DRAWS * share) < 5 * (DRAWS * share * (1 - share)) ** 0.5


def test_steps_are_drawn_independently() -> None:
    names = [drawn(weighted(anna=1.0, bert=1.0), step) for step in range(DRAWS)]
    repeats = sum(first == second for first, second in pairwise(names))
    assert abs(repeats - DRAWS / 2) < 5 * (DRAWS / 4) ** 0.5


def test_the_same_place_draws_the_same_and_other_places_others() -> None:
    team = weighted(anna=1.0, bert=1.0, cleo=1.0)
    once = [drawn(team, step) for step in range(50)]
    assert [drawn(team, step) for step in reversed(range(50))] == once[::-1]
    assert [drawn(team, step, random_seed=8) for step in range(50)] != once
    assert [drawn(team, step, question="r") for step in range(50)] != once


def test_what_a_member_draws_in_a_step_is_its_own() -> None:
    places: list[tuple[int | str, ...]] = [(1,), (1, "anna"), (1, "bert"), (2, "anna"), ("anna", 1)]
    assert len({int(generator(7, "q", *place).integers(2**62)) for place in places}) == len(places)


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e-3, 1e6])
def test_weights_are_shares_whatever_their_size(weight: float, inverted: bool) -> None:
    team = replace(weighted(anna=weight, bert=weight), inverted=inverted)
    assert {drawn(team, step) for step in range(40)} == {"anna", "bert"}
    uneven = replace(weighted(anna=weight, bert=1e6), inverted=inverted)
    expected = {"anna", "bert"} if weight == 1e6 else {"anna"} if inverted else {"bert"}
    assert {drawn(uneven, step) for step in range(40)} == expected


def test_whoever_can_not_be_asked_is_not_drawn() -> None:
    team = weighted(anna=1000, bert=1, cleo=1)
    assert {drawn(team, step, barred={"anna"}) for step in range(60)} == {"bert", "cleo"}


# ── solo, router ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_solo_asks_the_first_every_time() -> None:
    team = scripted_team("anna", "bert", strategy="solo")
    assert {drawn(team, step) for step in range(100)} == {"anna"}


@pytest.mark.parametrize("strategy", ["solo", "sample", "router", "bandit"])
def test_a_team_of_one(strategy: str) -> None:
    team = scripted_team("anna", strategy=strategy)
    assert {drawn(team, step) for step in range(20)} == {"anna"}


@pytest.mark.parametrize(
    ("routes", "name"),
    [
        ({"Astrophysics": "cleo", "Physics": "bert"}, "cleo"),
        ({"Physics": "bert", "*": "cleo"}, "bert"),
        ({"Chemistry": "bert", "*": "cleo"}, "cleo"),
        ({"Chemistry": "bert"}, "anna"),
        ({}, "anna"),
    ],
)
def test_the_specialist_of_the_leaf_is_asked_else_of_the_domain_else_whoever_has_the_rest(
    routes: dict[str, str], name: str
) -> None:
    team = replace(scripted_team("anna", "bert", "cleo", strategy="router"), routes=routes)
    assert drawn(team, 1) == name


def test_another_answers_for_a_specialist_that_can_not_be_asked() -> None:
    team = replace(scripted_team("anna", "bert", strategy="router"), routes={"Physics": "bert", "*": "anna"})
    assert drawn(team, 1, barred={"bert"}) == "anna"


# ── parallel, hierarchy ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_all_propose_at_once_as_often_as_there_are_drafts() -> None:
    team = replace(scripted_team("anna", "bert", strategy="parallel"), drafts=2)
    view = View(team)
    strategy = strategy_for(team)
    proposal = await strategy.propose(strategy.draw(view), view)
    assert [(each.place.name, each.draft) for each in view.wanted] == [
        ("anna", 0),
        ("anna", 1),
        ("bert", 0),
        ("bert", 1),
    ]
    assert proposal.slot == "bert·2"


async def test_a_lead_names_directions_and_each_worker_gets_one() -> None:
    team = replace(scripted_team("anna", "bert", "cleo", strategy="hierarchy"), lead="bert", directions=3)
    view = View(team)
    strategy = strategy_for(team)
    asked = strategy.draw(view)
    assert [place.name for place in asked] == ["bert", "anna", "cleo"]
    proposal = await strategy.propose(asked, view)
    assert [(each.place.name, each.draft, each.direction) for each in view.wanted] == [
        ("anna", 0, "direction 0"),
        ("cleo", 0, "direction 1"),
        ("anna", 1, "direction 2"),
    ]
    assert proposal.member == "bert"


async def test_whoever_can_not_be_asked_does_not_lead() -> None:
    team = replace(scripted_team("anna", "bert", "cleo", strategy="hierarchy"), lead="bert")
    assert [place.name for place in strategy_for(team).draw(View(team, barred={"bert"}))] == ["anna", "cleo"]
    alone = replace(scripted_team("anna", strategy="hierarchy"), groups=(Group(name="lab", team=scripted_team("x")),))
    assert [place.name for place in strategy_for(alone).draw(View(alone, barred={"anna"}))] == ["anna", "lab"]


@pytest.mark.parametrize(
    ("members", "directions", "asked"),
    [
        (("anna",), None, [("lab", 0), ("den", 0)]),
        (("anna",), 5, [("lab", 0), ("den", 0)]),
        (("anna", "bert"), 5, [("bert", 0), ("lab", 0), ("den", 0), ("bert", 1), ("bert", 2)]),
        (("anna", "bert"), 1, [("bert", 0)]),
    ],
)
async def test_a_team_in_a_members_place_proposes_once_a_step_along_a_lead(
    members: tuple[str, ...], directions: int | None, asked: list[tuple[str, int]]
) -> None:
    groups = tuple(Group(name=name, team=scripted_team("x", "y")) for name in ("lab", "den"))
    team = replace(scripted_team(*members, strategy="hierarchy"), groups=groups, directions=directions)
    view = View(team)
    await strategy_for(team).propose(strategy_for(team).draw(view), view)
    assert [(each.place.name, each.draft) for each in view.wanted] == asked
    assert len({each.direction for each in view.wanted}) == len(asked), "each a direction of its own"


async def test_and_among_all_who_propose_at_once() -> None:
    group = Group(name="lab", team=scripted_team("x", "y"))
    team = replace(scripted_team("anna", strategy="parallel"), groups=(group,), drafts=3)
    view = View(team)
    await strategy_for(team).propose(strategy_for(team).draw(view), view)
    assert [(each.place.name, each.draft) for each in view.wanted] == [
        ("anna", 0),
        ("anna", 1),
        ("anna", 2),
        ("lab", 0),
    ]


# ── bandit ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def with_history(*verdicts: tuple[str, bool], cost: float = 0.0, seconds: dict[str, float] | None = None) -> Chain:
    """A chain in which each (author, passed) has written an idea."""
    chain = Chain(question="q", text="How?", domain="Physics")
    for number, (author, passed) in enumerate(verdicts, 1):
        score = ev.IdeaScored(question="q", idea=number, verdict="passed" if passed else "failed")
        usage = Usage(seconds=(seconds or {}).get(author, 1.0))
        call = ev.ProposalFinished(question="q", step=number, member=author, text="x", usage=usage, cost=cost)
        chain.ideas.append(Idea(number=number, step=number, text="x", author=author, score=score, call=call))
    return chain


def shares(team: TeamSpec, chain: Chain) -> dict[str, float]:
    count = Counter(drawn(team, step, chain=chain) for step in range(2000))
    return {member.name: count[member.name] / 2000 for member in team.members}


def test_whose_ideas_pass_is_asked_more_and_nobody_is_given_up() -> None:
    team = scripted_team("anna", "bert", strategy="bandit")
    chain = with_history(*[("anna", True)] * 20, *[("bert", False)] * 20, ("anna", True))
    found = shares(team, chain)
    assert found["anna"] > 0.9
    assert found["bert"] > 0.01


def test_nothing_known_is_an_even_draw() -> None:
    team = scripted_team("anna", "bert", strategy="bandit")
    assert abs(shares(team, with_history())["anna"] - 0.5) < 0.06


def test_a_weight_that_is_the_length_of_its_chains_says_whom_to_begin_with() -> None:
    team = replace(weighted(anna=40.0, bert=3.0), strategy="bandit")
    assert shares(team, with_history())["anna"] > 0.75


def test_per_time_a_slow_member_must_be_as_much_better() -> None:
    team = replace(scripted_team("anna", "bert", strategy="bandit"), per="time")
    verdicts = [("anna", True), ("bert", True)] * 15
    found = shares(team, with_history(*verdicts, seconds={"anna": 1.0, "bert": 5.0}))
    assert found["anna"] > 0.9


def test_what_a_person_had_a_hand_in_tells_nothing_of_who_wrote_it() -> None:
    team = scripted_team("anna", "bert", strategy="bandit")
    chain = with_history(*[("anna", True), ("bert", False)] * 15)
    ideas = chain.ideas
    for touched in ({"original": "y"}, {"removed": True}, {"by_person": True}):
        chain.ideas = [replace(idea, **touched) for idea in ideas]
        assert shares(team, chain) == shares(team, with_history())


def test_the_last_idea_is_not_looked_at_so_that_a_step_asked_ahead_draws_the_same() -> None:
    team = scripted_team("anna", "bert", strategy="bandit")
    known = with_history(*[("anna", True), ("bert", False)] * 5, ("bert", True))
    open_ = with_history(*[("anna", True), ("bert", False)] * 5, ("bert", True))
    open_.ideas[-1] = replace(open_.ideas[-1], score=None)
    assert [drawn(team, step, chain=known) for step in range(50)] == [
        drawn(team, step, chain=open_) for step in range(50)
    ]


# ── teams within teams ────────────────────────────────────────────────────────────────────────────────────────────────


def test_members_of_a_team_within_a_team_have_names_of_their_own() -> None:
    inner = replace(scripted_team("anna", "bert"), lead="bert", routes={"Physics": "anna"})
    outer = TeamSpec(name="outer", members=scripted_team("anna").members, groups=(Group(name="lab", team=inner),))
    assert [member.name for member in outer.everybody] == ["anna", "lab/anna", "lab/bert"]
    assert outer.groups[0].named().routes == {"Physics": "lab/anna"}
    assert outer.groups[0].named().lead == "lab/bert"
    assert outer.member("lab/bert").model.name == "model-bert"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"members": ()}, "needs a member"),
        ({"lead": "nobody"}, "is no member"),
        ({"routes": {"Physics": "nobody"}}, "which is no member"),
        ({"groups": (Group(name="anna", team=scripted_team("x")),)}, "Two members are called"),
        (
            {"members": (), "groups": (Group(name="lab", team=scripted_team("x")),), "strategy": "hierarchy"},
            "nobody to lead it",
        ),
    ],
)
def test_a_team_that_can_not_be_is_refused(fields: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(scripted_team("anna", "bert"), **fields)
