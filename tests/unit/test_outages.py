"""Servers that are gone, keys that are wrong, budgets that are used up, and teams that take over."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.errors import ModelUnavailableError, UsageError
from core.models import Budget, CallFailedError, Chunk, FailureKind, ModelSpec, Prompt, Sent, Served, TextDelta, Usage
from core.opening import resume
from core.providers.calls import Caller
from core.providers.catalog import Providers
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import fold
from core.stepping import OUTAGE_SECONDS
from core.store import library
from core.store.log import read_log
from tests.clocks import HeldClock
from tests.conftest import Open, make_plan, scripted_team
from tests.scripted import ScriptedProvider, varied
from tests.unit.following import Follower, chain_of


class Flaky(ScriptedProvider):
    """Fails for the members that are named, in the way that is named."""

    def __init__(self) -> None:
        super().__init__(varied)
        self.faults: dict[str, FailureKind] = {}
        self.unready: set[str] = set()

    async def prepare(self, spec: ModelSpec) -> None:
        if spec.name in self.unready:
            raise ModelUnavailableError(f"{spec.name} has no key: set ANNA_API_KEY")

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        if kind := self.faults.get(spec.name):
            self.calls.append(prompt)
            raise CallFailedError(kind, f"{spec.name}: {kind}")
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk


class Situation:
    """A session with a clock that stands still, and a provider whose members can be made to fail."""

    def __init__(self, sessions: Path, embedder: WordLlamaEmbedder, *names: str, **plan: object) -> None:
        self.clock = HeldClock()
        self.provider = Flaky()
        self.plan = make_plan(team=scripted_team(*names), max_ideas=plan.pop("max_ideas", 5))  # type: ignore[arg-type]
        self.plan = replace(self.plan, **plan)
        self.caller = Caller(lambda _: self.provider, self.clock)
        self.session = Session(
            self.plan,
            library.create(sessions, self.plan),
            self.caller,
            ChainScorer(embedder),
            clock=self.clock,
        )
        self.follower = Follower(self.session)

    async def wait_until(self, what: type[ev.Event]) -> ev.Event:
        """Let time pass until something happens."""
        seen = len(self.follower.of(what))
        for _ in range(3000):
            await self.clock.advance(1)
            if len(self.follower.of(what)) > seen:
                return self.follower.of(what)[-1]
        raise AssertionError(f"no {what.__name__} within 50 minutes")


@pytest.fixture
def one(sessions: Path, embedder: WordLlamaEmbedder) -> Situation:
    return Situation(sessions, embedder, "anna")


@pytest.fixture
def two(sessions: Path, embedder: WordLlamaEmbedder) -> Situation:
    return Situation(sessions, embedder, "anna", "bert")


# ── a server that is gone ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_server_gone_for_five_minutes_is_waited_for_and_the_session_goes_on(one: Situation) -> None:
    running = asyncio.create_task(one.session.run())
    await one.follower.next(ev.IdeaScored, lambda scored: scored.idea == 2)
    one.provider.faults["model-anna"] = "connection"
    await one.clock.advance(300)
    assert not running.done()
    assert one.follower.of(ev.Paused) == []
    retry = one.session.state.retry
    assert retry is not None
    assert retry.why == "model-anna: connection"
    assert 0 <= retry.until - one.session.elapsed() <= 30, "and it says until when"
    del one.provider.faults["model-anna"]
    while not running.done():
        await one.clock.advance(5)
    assert running.result().how == "finished"
    assert chain_of(one.session).responses == 5
    assert one.session.state.retry is None


async def test_after_a_quarter_of_an_hour_a_person_must_say_how_it_goes_on(one: Situation) -> None:
    one.provider.faults["model-anna"] = "connection"
    running = asyncio.create_task(one.session.run())
    paused = await one.wait_until(ev.Paused)
    assert isinstance(paused, ev.Paused)
    assert paused.by == "trouble"
    assert "15 minutes without anybody to ask" in paused.why
    assert one.session.elapsed() >= OUTAGE_SECONDS
    del one.provider.faults["model-anna"]
    one.session.send(cmd.Resume())
    await running
    assert chain_of(one.session).responses == 5


async def test_while_one_server_is_gone_the_others_go_on_without_waiting(two: Situation) -> None:
    two.provider.faults["model-anna"] = "connection"
    running = asyncio.create_task(two.session.run())
    while not running.done():
        await two.clock.advance(1)
    assert {idea.author for idea in chain_of(two.session).ideas} == {"bert"}
    waits = [retry.until - retry.t for retry in two.follower.of(ev.RetryScheduled)]
    assert max(waits) < 6, "only the call layer's own"


async def test_meanwhile_a_person_can_let_another_team_take_over(one: Situation) -> None:
    one.provider.faults["model-anna"] = "connection"
    running = asyncio.create_task(one.session.run())
    await one.clock.advance(60)
    assert one.session.state.retry
    team = scripted_team("bert", "cleo")
    one.session.send(cmd.ChangeTeam(team=team))
    await asyncio.wait_for(running, 5)
    assert {idea.author for idea in chain_of(one.session).ideas} <= {"bert", "cleo"}
    [changed] = one.follower.of(ev.TeamChanged)
    assert (changed.team, changed.by) == (team, "you")
    assert one.session.state.team == team


async def test_a_new_team_takes_over_at_the_next_step_and_stays_after_a_resume(
    one: Situation, sessions: Path, embedder: WordLlamaEmbedder
) -> None:
    running = asyncio.create_task(one.session.run())
    await one.follower.next(ev.IdeaScored, lambda scored: scored.idea == 2)
    one.session.send(cmd.ChangeTeam(team=scripted_team("bert")))
    await one.follower.next(ev.IdeaAdded, lambda added: added.author == "bert")
    one.session.send(cmd.Stop())
    await running
    again = resume(one.session.folder, Providers({"scripted": ScriptedProvider(varied)}))
    await again.run()
    authors = [idea.author for idea in chain_of(again).ideas]
    assert authors == sorted(authors)
    assert authors[-1] == "bert"
    assert fold(read_log(one.session.folder).events) == again.state


async def test_a_team_that_is_not_ready_does_not_take_over(one: Situation) -> None:
    one.provider.unready.add("model-bert")
    running = asyncio.create_task(one.session.run())
    await one.follower.next(ev.IdeaScored)
    one.session.send(cmd.ChangeTeam(team=scripted_team("bert")))
    await running
    [notice] = one.follower.of(ev.Notice)
    assert notice.text == "scripted can't take over. model-bert has no key: set ANNA_API_KEY"
    assert {idea.author for idea in chain_of(one.session).ideas} == {"anna"}


# ── what stays until somebody does something ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["denied", "missing", "address", "quota", "context"])
async def test_what_nobody_but_a_person_can_mend_pauses_after_one_call(one: Situation, kind: FailureKind) -> None:
    one.provider.faults["model-anna"] = kind
    running = asyncio.create_task(one.session.run())
    paused = await one.follower.next(ev.Paused)
    assert (paused.by, paused.why) == ("trouble", f"anna: model-anna: {kind}")
    assert len(one.provider.calls) == 1
    assert chain_of(one.session).responses == 0
    del one.provider.faults["model-anna"]
    one.session.send(cmd.Resume())
    await running
    assert chain_of(one.session).responses == 5


async def test_one_member_without_a_key_does_not_hold_the_others(two: Situation) -> None:
    two.provider.faults["model-anna"] = "denied"
    await asyncio.wait_for(two.session.run(), 5)
    assert chain_of(two.session).responses == 5
    assert two.follower.of(ev.Paused) == []


async def test_a_prompt_that_was_cut_pauses_whatever_the_others_do(two: Situation) -> None:
    two.provider.faults["model-anna"] = "context"
    running = asyncio.create_task(two.session.run())
    paused = await two.follower.next(ev.Paused)
    assert paused.why == "anna: model-anna: context"
    two.session.send(cmd.Stop())
    await running


# ── budgets ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Paid(ScriptedProvider):
    def cost(self, spec: Served, usage: Usage) -> float | None:
        return 0.25


@pytest.mark.parametrize(
    ("budget", "ideas", "why"),
    [
        (Budget(max_cost=1.0), 4, "$1.00 spent"),
        (Budget(max_tokens=300), 3, "300 tokens used"),
        (Budget(max_minutes=1e-6), 0, "1e-06 minutes over"),
    ],
)
async def test_a_budget_that_is_used_up_ends_the_chain_as_censored(
    open_session: Open, budget: Budget, ideas: int, why: str
) -> None:
    session = open_session(replace(make_plan(max_ideas=9), budget=budget), Paid(varied))
    ended = await session.run()
    end = chain_of(session).ended
    assert end
    assert ended.how == "finished"
    assert (end.reason, end.censored, end.responses, end.message) == ("budget", True, ideas, why)


class Endless(ScriptedProvider):
    """Writes for ever; or says nothing for ever."""

    def __init__(self, word: str) -> None:
        super().__init__(varied)
        self._word = word

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        yield Sent({})
        while True:
            await asyncio.sleep(0.005)
            if self._word:
                yield TextDelta(self._word)


@pytest.mark.parametrize(
    ("word", "budget"),
    [("word " * 4, Budget(max_tokens=900)), ("word ", Budget(max_minutes=0.005)), ("", Budget(max_minutes=0.005))],
    ids=["tokens", "minutes", "silence"],
)
async def test_a_budget_cuts_a_call_that_would_not_end(open_session: Open, word: str, budget: Budget) -> None:
    session = open_session(replace(make_plan(max_ideas=9), budget=budget), Endless(word))
    follower = Follower(session)
    await asyncio.wait_for(session.run(), 8)
    end = chain_of(session).ended
    assert end
    assert (end.reason, end.responses) == ("budget", 0)
    assert [failed.outcome for failed in follower.of(ev.ProposalFailed)] == ["cancelled"]
    assert session.state.tokens < 2000


async def test_a_session_whose_budget_is_used_up_goes_on_with_a_larger_one(open_session: Open) -> None:
    session = open_session(replace(make_plan(max_ideas=9), budget=Budget(max_cost=0.5)), Paid(varied))
    await session.run()
    providers = Providers({"scripted": Paid(varied)})
    with pytest.raises(UsageError, match=r"used up its budget \(\$0.50 spent\): resume it with a larger --max-cost"):
        resume(session.folder, providers)
    again = resume(session.folder, providers, budget=Budget(max_cost=1.0))
    await again.run()
    end = chain_of(again).ended
    assert end
    assert (end.reason, end.responses) == ("budget", 4)


async def test_a_cost_that_nobody_knows_is_shown_as_unknown_and_never_as_nothing(open_session: Open) -> None:
    class Unpriced(ScriptedProvider):
        def cost(self, spec: Served, usage: Usage) -> float | None:
            return None

    session = open_session(make_plan(max_ideas=2), Unpriced(varied))
    await session.run()
    assert not session.state.cost_known
