"""The next step is asked while scores are still coming, and yet the chain is the one that waiting would have given."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.chain import Chain, Idea
from core.levers import Each, Seed
from core.models import YOU, CallFailedError, Chunk, ModelSpec, Prompt, TeamSpec
from core.rules import Rules, Scores
from core.scoring.account import Account
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import State, fold
from core.store import library
from core.store.log import EventLog, read_log
from tests.conftest import make_plan, scripted_team
from tests.scripted import WORDS, ScriptedProvider, calling
from tests.unit.following import Follower, chain_of

OWN = "Let the harbour seals carry the hydrophones."


def by_prompt(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """What is said depends on every word of the prompt: whoever is asked with another chain says something else.

    Now and then it says what was said before, so that ideas fail.
    """
    text = "\n".join(message.text for message in prompt.messages)
    digest = hashlib.sha256(f"{spec.name}{random_seed}{text}".encode()).digest()
    if prompt.held and digest[0] < 70:
        return prompt.held[digest[1] % len(prompt.held)]
    first, second, third = (WORDS[byte % 30] for byte in digest[2:5])
    return f"Couple the {first} to a {second} and read out how the {third} answers over {digest[5]} hours."


class SlowScorer(ChainScorer):
    """Takes its time, longer for some ideas than a step takes, shorter for others."""

    async def score(self, chain: Chain, idea: Idea, account: Account) -> Scores:
        await asyncio.sleep(0.012 + 0.03 * (hashlib.sha256(idea.text.encode()).digest()[0] / 255))
        return await super().score(chain, idea, account)


class Provider(ScriptedProvider):
    """`by_prompt`, a little slowly; some calls fail, always the same ones."""

    def __init__(self, failing: int = 0) -> None:
        super().__init__(by_prompt)
        self._failing = failing

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        await asyncio.sleep(0.015)
        if random_seed % 100 < self._failing:
            self.calls.append(prompt)
            raise CallFailedError("server", "no")
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk


def team(strategy: str) -> TeamSpec:
    return scripted_team("anna", "bert", "cleo", strategy=strategy)


Open = Callable[..., Session]


@pytest.fixture
def open_one(sessions: Path, embedder: WordLlamaEmbedder) -> Open:
    def begin(*, pipelining: bool, strategy: str = "sample", failing: int = 0, **rules: int) -> Session:
        plan = make_plan(team=team(strategy))
        limits = Rules(embedding_novelty=0.185, max_ideas=rules.get("max_ideas", 14), patience=rules.get("patience", 9))
        plan = replace(plan, rules=limits, pipelining=pipelining)
        log = library.create(sessions, replace(plan, id=f"{plan.id}{pipelining}{strategy}"))
        bank = [Seed(name="Soliton", text="A wave keeps its shape where spreading and steepening balance.")]
        return Session(plan, log, calling(Provider(failing)), SlowScorer(embedder), bank=lambda: bank)

    return begin


def outcome(state: State) -> tuple[object, ...]:
    """Everything that makes a chain: ideas, scores, verdicts, reasons; not when it happened, nor what it took."""
    chain = state.chain
    assert chain
    rows = [
        (
            idea.number,
            idea.text,
            idea.author,
            idea.step if idea.author != YOU else None,
            idea.prompt and [shown.text for shown in chain.shown_by(idea.prompt)],
            idea.score and (idea.score.verdict, idea.score.embedding_novelty, idea.score.nearest),
        )
        for idea in chain.ideas
    ]
    end = chain.ended
    return (*rows, end and (end.reason, end.responses, end.valid))


@pytest.mark.parametrize("strategy", ["solo", "sample", "parallel", "bandit"])
@pytest.mark.parametrize("failing", [0, 25])
async def test_the_chain_is_the_same_as_without(open_one: Open, strategy: str, failing: int) -> None:
    ahead = open_one(pipelining=True, strategy=strategy, failing=failing)
    follower = Follower(ahead)
    waiting = open_one(pipelining=False, strategy=strategy, failing=failing)
    await asyncio.gather(ahead.run(), waiting.run())
    assert outcome(ahead.state) == outcome(waiting.state)
    if strategy != "parallel":  # there the farthest is picked, which seldom fails
        assert any(idea.failed for idea in chain_of(ahead).ideas), "else nothing was shown"
        assert follower.of(ev.StepDropped), "and something was asked in vain"
        assert ahead.state.wasted_tokens > 0
    assert waiting.state.wasted_tokens == 0
    assert fold(read_log(ahead.folder).events) == ahead.state


async def test_it_ends_for_the_same_reason(open_one: Open) -> None:
    ahead, waiting = (open_one(pipelining=on, patience=1, max_ideas=30) for on in (True, False))
    await asyncio.gather(ahead.run(), waiting.run())
    assert outcome(ahead.state) == outcome(waiting.state)
    end = chain_of(ahead).ended
    assert end
    assert end.reason in ("embedding_novelty", "mechanical")


DOINGS: dict[str, Callable[[int], cmd.AnyCommand]] = {
    "add": lambda at: cmd.AddIdea(text=OWN),
    "edit": lambda at: cmd.EditIdea(idea=max(1, at - 1), text=OWN),
    "edit the last": lambda at: cmd.EditIdea(idea=at, text=OWN),
    "remove": lambda at: cmd.RemoveIdea(idea=max(1, at - 1)),
    "pin": lambda at: cmd.PinIdea(idea=at),
    "steer": lambda at: cmd.AddSteer(text="prefer what a student can test"),
    "seed": lambda at: cmd.InjectSeed(seed=Seed(name="Tidal locking"), steps=2),
    "seeds": lambda at: cmd.SetSeeds(policy=Each(seed="Soliton")),
    "team": lambda at: cmd.ChangeTeam(team=scripted_team("dora", "emil")),
}


@pytest.mark.parametrize("at", range(1, 8))
@pytest.mark.parametrize("when", [ev.IdeaAdded, ev.IdeaScored], ids=["added", "scored"])
@pytest.mark.parametrize("doing", DOINGS)
async def test_what_a_person_does_counts_as_it_would_have_without(
    open_one: Open, doing: str, when: type[ev.IdeaAdded | ev.IdeaScored], at: int
) -> None:
    async def run(session: Session) -> State:
        done = False

        def act(event: ev.Event) -> None:
            nonlocal done
            if isinstance(event, when) and event.idea == at and not done:
                done = True
                session.send(DOINGS[doing](at))

        session.subscribe(act)
        await session.run()
        return session.state

    ahead, waiting = await asyncio.gather(*(run(open_one(pipelining=on, max_ideas=9)) for on in (True, False)))
    assert outcome(ahead) == outcome(waiting)


@pytest.mark.parametrize("at", [0.0, 0.02, 0.05, 0.11, 0.2])
async def test_stopped_anywhere_and_resumed_it_is_the_same(
    open_one: Open, embedder: WordLlamaEmbedder, at: float
) -> None:
    waiting = open_one(pipelining=False, max_ideas=8)
    await waiting.run()
    ahead = open_one(pipelining=True, max_ideas=8)
    running = asyncio.create_task(ahead.run())
    await asyncio.sleep(at)
    ahead.send(cmd.Stop())
    await running
    log, record = EventLog.reopen(ahead.folder)
    again = Session(ahead.plan, log, calling(Provider()), SlowScorer(embedder), history=fold(record.events))
    await again.run()
    assert outcome(again.state) == outcome(waiting.state)


@pytest.mark.parametrize("strategy", ["sample", "parallel"])
async def test_killed_after_any_event_and_resumed_it_is_the_same(
    open_one: Open, embedder: WordLlamaEmbedder, tmp_path: Path, strategy: str
) -> None:
    ahead = open_one(pipelining=True, strategy=strategy, max_ideas=5)
    await ahead.run()
    lines = (ahead.folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    wanted = outcome(ahead.state)

    async def resumed(cut: int) -> tuple[object, ...]:
        folder = tmp_path / f"cut-{cut}"
        folder.mkdir()
        (folder / "events.jsonl").write_bytes(b"".join(lines[:cut]))
        log, record = EventLog.reopen(folder)
        session = Session(ahead.plan, log, calling(Provider()), SlowScorer(embedder), history=fold(record.events))
        await session.run()
        return outcome(session.state)

    for cut in range(1, len(lines) - 2, 1 if strategy == "sample" else 3):
        assert await resumed(cut) == wanted, f"cut after event {cut}: {lines[cut - 1][:80]!r}"


async def test_a_key_turns_it_off_and_on(open_one: Open) -> None:
    session = open_one(pipelining=True, max_ideas=6)
    follower = Follower(session)
    session.send(cmd.SetPipelining(on=False))
    await session.run()
    assert follower.of(ev.StepDropped) == []
    scored = [event.idea for event in follower.events if isinstance(event, ev.IdeaScored)]
    begun = [place for place, event in enumerate(follower.events) if isinstance(event, ev.StepStarted)]
    assert scored == [1, 2, 3, 4, 5, 6]
    for place in begun[1:]:
        earlier = [event for event in follower.events[:place] if isinstance(event, ev.IdeaAdded | ev.IdeaScored)]
        assert isinstance(earlier[-1], ev.IdeaScored), "no step begins before the last idea has its verdict"


async def test_another_team_takes_over_where_it_would_have_without(open_one: Open) -> None:
    async def run(session: Session) -> State:
        def change(event: ev.Event) -> None:
            if isinstance(event, ev.IdeaAdded) and event.idea == 3:
                session.send(cmd.ChangeTeam(team=scripted_team("dora")))

        session.subscribe(change)
        await session.run()
        return session.state

    ahead, waiting = await asyncio.gather(*(run(open_one(pipelining=on, max_ideas=7)) for on in (True, False)))
    assert outcome(ahead) == outcome(waiting)
    assert [idea.author for idea in ahead.chain.ideas][3:] == ["dora"] * 4  # type: ignore[union-attr]
