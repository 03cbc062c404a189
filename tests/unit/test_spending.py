"""Who sends a bill, and what is said where nobody knows how high it will be."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from core import events as ev
from core.config import Judging, Plan
from core.models import Budget, EmbedderSpec, Group, Member, ModelSpec, Served, TeamSpec, Usage
from core.opening import begin, resume
from core.providers.catalog import Providers
from core.spending import COST, TOKENS, asked, billed, proposal
from tests.conftest import make_plan
from tests.scripted import ScriptedProvider, varied
from tests.unit.following import Follower

JUDGE = ModelSpec(name="judge", provider="openai", model="gpt-4o")
NEAR = ModelSpec(name="near", provider="openai", model="gpt-4o", base_url="http://gpu07:8000/v1")
HERE = ModelSpec(name="here", provider="ollama", model="qwen3:8b")
CLOUD = ModelSpec(name="cloud", provider="ollama", model="gpt-oss:120b-cloud")
UNHEARD = ModelSpec(name="unheard", provider="openai", model="gpt-99-omega")

NOBODY = Judging()


def team(*specs: ModelSpec, **settings: object) -> TeamSpec:
    members = tuple(Member(name=spec.name, model=spec) for spec in specs)
    return TeamSpec(name="t", strategy="sample", members=members, **settings)  # type: ignore[arg-type]


def bills(team: TeamSpec, judging: Judging = NOBODY, embedder: EmbedderSpec | None = None) -> list[str]:
    return [spec.name for spec in billed(asked(team, judging, embedder or "wordllama"))]


def test_members_judges_selectors_and_embedders_may_all_send_a_bill() -> None:
    embedder = EmbedderSpec(name="large", provider="openai", model="text-embedding-3-large")
    assert bills(team(HERE, NEAR)) == []
    assert bills(team(HERE, CLOUD)) == ["cloud"], "Ollama passes some models on to its own paid servers"
    assert bills(team(HERE), Judging(judges=(JUDGE,)), embedder) == ["judge", "large"]
    parallel = replace(team(HERE), strategy="parallel", selector=JUDGE)
    assert bills(parallel) == ["judge"]
    assert bills(TeamSpec(name="all", groups=(Group(name="g", team=parallel),))) == ["judge"]


async def test_dollars_are_proposed_where_prices_are_known_and_tokens_where_not() -> None:
    providers = Providers()
    known, _ = proposal([HERE, JUDGE], providers)
    unknown, why = proposal([HERE, UNHEARD], providers)
    both, _ = proposal([JUDGE, UNHEARD], providers)
    await providers.close()
    assert known == Budget(max_cost=COST)
    assert unknown == Budget(max_tokens=TOKENS)
    assert both == Budget(max_cost=COST, max_tokens=TOKENS)
    assert "unheard" in why


class Priced(ScriptedProvider):
    """Knows the price of all but some."""

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return None if spec.name == "model-bert" else 0.01


def plan(budget: Budget) -> Plan:
    return replace(make_plan(max_ideas=1), budget=budget)


@pytest.mark.parametrize(
    ("budget", "told"), [(Budget(max_cost=2.0), True), (Budget(max_tokens=9000), False), (Budget(), False)]
)
async def test_a_limit_in_dollars_that_limits_nothing_is_said_once_when_the_session_begins(
    sessions: Path, budget: Budget, told: bool
) -> None:
    session = begin(sessions, plan(budget), Providers({"scripted": Priced(varied)}))
    follower = Follower(session)
    await session.run()
    notices = [event.text for event in follower.of(ev.Notice)]
    words = "The price of model-bert is unknown: $2.00 does not limit it, a number of tokens would"
    assert notices == ([words] if told else [])
    again = resume(session.folder, Providers({"scripted": Priced(varied)}), max_ideas=2)
    follower = Follower(again)
    await again.run()
    assert [event.text for event in follower.of(ev.Notice)] == []


async def test_one_that_is_given_at_a_resume_is_looked_at_too(sessions: Path) -> None:
    providers = Providers({"scripted": Priced(varied)})
    session = begin(sessions, plan(Budget()), providers)
    await session.run()
    again = resume(session.folder, providers, max_ideas=2, budget=Budget(max_cost=3.0))
    follower = Follower(again)
    await again.run()
    assert ["$3.00 does not limit it" in event.text for event in follower.of(ev.Notice)] == [True]
