"""Every command at every moment of a session: the log stays valid and tells all, nothing is lost or done twice.

The moments are those at which something happens: while members write, while scores come, while a person is to choose,
in a pause, while a server is gone, and after the end.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.clock import SystemClock
from core.errors import UsageError
from core.levers import Each, Every, InForce, Off, Plateau, Seed
from core.models import CallFailedError, Chunk, ModelSpec, Prompt
from core.prompts import idea_prompt
from core.scoring.embeddings import WordLlamaEmbedder
from core.session import Session
from core.state import State, fold
from core.store import library
from core.store.log import EventLog, read_log
from tests.conftest import make_plan, scripted_team
from tests.scripted import ScriptedProvider, calling
from tests.unit.following import chain_of
from tests.unit.test_pipelining import SlowScorer, by_prompt

BANK = [Seed(name=f"banked {n}", text=f"Mechanism {n} carries over.", source="bank") for n in range(40)]

numbers = st.integers(1, 9)
words = st.uuids(version=4).map(lambda name: f"Say {name}")
seeds = st.builds(Seed, name=words, lever=st.sampled_from(["seed", "language", "persona", "deny"]))
steps = st.none() | st.integers(1, 3)
policies = st.sampled_from([Off(), Each(), Every(steps=2), Plateau(failures=1)])

people = st.sampled_from(["you", "ada"])


def said(kind: type[cmd.Command], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A command of one of two people."""
    return st.builds(kind, by=people, **fields)


commands = st.one_of(
    said(cmd.AddIdea, text=words),
    said(cmd.EditIdea, idea=numbers, text=words),
    said(cmd.RemoveIdea, idea=numbers),
    said(cmd.RestoreIdea, idea=numbers),
    said(cmd.PinIdea, idea=numbers, on=st.booleans()),
    said(cmd.RateIdea, idea=numbers, stars=st.integers(0, 5)),
    said(cmd.CommentIdea, idea=numbers, text=words | st.just("")),
    said(cmd.MergeIdeas, ideas=st.tuples(numbers, numbers)),
    said(cmd.DevelopIdea, idea=numbers),
    said(cmd.DenyMechanism, idea=st.none() | numbers, text=st.just("") | words),
    said(cmd.InjectSeed, seed=seeds, steps=steps),
    said(cmd.DrawSeed, distance=st.sampled_from(["near", "far", "any"]), steps=steps),
    said(cmd.WithdrawSeed, id=st.integers(1, 5).map("s{}".format)),
    said(cmd.SetSeeds, policy=policies),
    said(cmd.AddSteer, text=words),
    said(cmd.WithdrawSteer, id=st.integers(1, 4).map("g{}".format)),
    said(cmd.Choose, picks=st.sampled_from([(), (1,), (2, 1), (3,), (9,)])),
    said(cmd.Undo),
    said(cmd.SetPipelining, on=st.booleans()),
    said(cmd.ChangeTeam, team=st.sampled_from([scripted_team("anna", "dora"), scripted_team("emil")])),
    said(cmd.Pause),
    said(cmd.Resume),
)
"""All but those that end the session or save it elsewhere, which have tests of their own."""

programs = st.lists(st.tuples(st.integers(1, 90), commands), min_size=1, max_size=25)
strategies = st.sampled_from(["sample", "parallel", "me"])


class Hasty(SystemClock):
    """Every wait is short."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0.001)


class Provider(ScriptedProvider):
    """Says what depends on the whole prompt; now and then its server is gone."""

    def __init__(self) -> None:
        super().__init__(by_prompt)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        await asyncio.sleep(0.001)
        if random_seed % 11 == 0 and len(self.calls) % 2:
            self.calls.append(prompt)
            raise CallFailedError("connection", "gone")
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk


class Run:
    """One session with a person who sends a program of commands; and who, when all else waits for them, goes on."""

    def __init__(self, folder: Path, embedder: WordLlamaEmbedder, strategy: str) -> None:
        team = scripted_team("anna", "bert", "cleo", strategy="sample" if strategy == "sample" else "parallel")
        if strategy == "me":
            team = replace(team, selector="me")
        self.plan = make_plan(max_ideas=7, patience=9, team=team)
        self.folder = folder
        self.provider = Provider()
        self.scorer = SlowScorer(embedder)
        self.accepted: list[cmd.AnyCommand] = []
        self.refused: list[str] = []
        self.killed = False
        self.expected: list[Prompt] = []

    def open(self, log: EventLog, history: State | None = None) -> Session:
        caller = calling(self.provider)
        caller.clock = Hasty()
        session = Session(self.plan, log, caller, self.scorer, bank=lambda: BANK, history=history)
        session.subscribe(lambda event: self._check(session, event))
        return session

    async def play(self, session: Session, program: list[tuple[int, cmd.AnyCommand]], cut: int | None = None) -> None:
        """To the end of the session; or, if it comes so far, only to its event number `cut`."""
        count = 0
        waiting = sorted(program, key=lambda each: each[0])
        running = asyncio.create_task(session.run())

        def hear(_: ev.Event) -> None:
            nonlocal count
            count += 1
            while waiting and waiting[0][0] <= count:
                asyncio.get_running_loop().call_soon(self._send, session, waiting.pop(0)[1])
            if count == cut:
                self.killed = running.cancel()

        session.subscribe(hear)
        idle = 0
        seen = -1
        while not running.done():
            await asyncio.wait([running], timeout=0.05)
            idle, seen = (idle + 1 if count == seen else 0), count
            if idle and not running.done():
                self._go_on(session)
            assert idle < 40, "nobody is waited for, and yet nothing happens"
        for _, command in waiting:
            self._send(session, command)
        if not running.cancelled():
            await running
        self.killed = False

    def _send(self, session: Session, command: cmd.AnyCommand) -> None:
        if self.killed:
            return
        before = session.state.seq
        try:
            session.send(command)
        except UsageError as error:
            self.refused.append(error.message)
        else:
            if session.state.seq > before:
                self.accepted.append(command)

    def _go_on(self, session: Session) -> None:
        chain = session.state.chain
        if session.state.paused:
            self._send(session, cmd.Resume())
        elif chain and chain.offered:
            self._send(session, cmd.Choose(picks=(1,)))

    def _check(self, session: Session, event: ev.Event) -> None:
        chain = session.state.chain
        if isinstance(event, ev.StepStarted):
            assert event.seeds == tuple(seed.id for seed in session.state.seeds_in_force)
            assert event.steers == tuple(steer.id for steer in session.state.steers_in_force)
        if isinstance(event, ev.ProposalStarted) and chain:
            force = InForce(
                tuple(session.state.seeds[name].injected.seed for name in chain.seeds),
                tuple(session.state.steers[name].added.text for name in chain.steers),
            )
            shown = [idea.text for idea in chain.ideas if not idea.removed and (idea.pinned or not idea.failed)]
            self.expected.append(idea_prompt(chain.text, shown, style=event.style, force=force))
            assert [idea.text for idea in chain.shown_by(event)] == shown


def check_log(run: Run, session: Session) -> None:
    record = read_log(session.folder)
    assert record.problems == ()
    assert [event.seq for event in record.events] == list(range(len(record.events)))
    assert fold(record.events) == session.state
    tasks = Counter(event.id for event in record.events if isinstance(event, ev.TaskDone))
    assert all(count == 1 for count in tasks.values())
    brought = [
        event.task for event in record.events if isinstance(event, ev.IdeaAdded | ev.SeedInjected) and event.task
    ]
    assert len(brought) == len(set(brought))
    steps = [idea.step for idea in chain_of(session).ideas if not idea.by_person]
    assert steps == sorted(steps)
    for prompt in run.provider.calls:
        if "brainstorm" not in prompt.messages[0].text:  # a task's has other words
            assert prompt.messages in [expected.messages for expected in run.expected]


ONE_EACH: dict[type[cmd.Command], type[ev.Event]] = {
    cmd.RemoveIdea: ev.IdeaRemoved,
    cmd.RestoreIdea: ev.IdeaRestored,
    cmd.PinIdea: ev.IdeaPinned,
    cmd.RateIdea: ev.IdeaRated,
    cmd.CommentIdea: ev.IdeaCommented,
    cmd.WithdrawSeed: ev.SeedWithdrawn,
    cmd.SetSeeds: ev.SeedPolicySet,
    cmd.WithdrawSteer: ev.SteerWithdrawn,
    cmd.ChangeTeam: ev.TeamWanted,
    cmd.SetPipelining: ev.PipeliningSet,
    cmd.Pause: ev.Paused,
}
"""Commands that are one event each, whatever else comes of it."""


def check_commands(run: Run, session: Session) -> None:
    """Whatever was accepted is in the log once, and what is in the log of these was accepted."""
    events = read_log(session.folder).events
    done = [each for each in events if not isinstance(each, ev.Deed) or each.undoes is None]
    for kind, deed in ONE_EACH.items():
        told = [each.by for each in done if isinstance(each, deed) and each.by in ("you", "ada")]  # type: ignore[attr-defined]
        assert told == [each.by for each in run.accepted if isinstance(each, kind)], kind
    undone = [each for each in events if isinstance(each, ev.Deed) and each.undoes is not None]
    assert len(undone) == sum(isinstance(each, cmd.Undo) for each in run.accepted)
    assert len({each.undoes for each in undone}) == len(undone)
    assert all(each.by == events[each.undoes or 0].by for each in undone)  # type: ignore[attr-defined]
    picked = [each.chooser for each in events if isinstance(each, ev.ProposalChosen) and each.by == "person"]
    assert picked == [each.by for each in run.accepted if isinstance(each, cmd.Choose)]
    added = [each.text for each in done if isinstance(each, ev.IdeaAdded) and each.author == "you"]
    assert added == [each.text for each in run.accepted if isinstance(each, cmd.AddIdea)]
    steers = [each.text for each in done if isinstance(each, ev.SteerAdded)]
    assert steers == [each.text for each in run.accepted if isinstance(each, cmd.AddSteer)]
    edits = [each.new for each in done if isinstance(each, ev.IdeaEdited)]
    assert edits == [each.text for each in run.accepted if isinstance(each, cmd.EditIdea)]
    injected = [each.seed for each in done if isinstance(each, ev.SeedInjected) and each.seed.source == "person"]
    assert [seed for seed in injected if seed.lever != "deny"] == [
        each.seed for each in run.accepted if isinstance(each, cmd.InjectSeed) and each.seed.lever != "deny"
    ]
    given = [each.task for each in done if isinstance(each, ev.TaskGiven)]
    assert len(given) == sum(
        isinstance(each, cmd.MergeIdeas | cmd.DevelopIdea) or (isinstance(each, cmd.DenyMechanism) and not each.text)
        for each in run.accepted
    )


quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@quick
@given(program=programs, strategy=strategies)
def test_whatever_a_person_does_and_when(
    embedder: WordLlamaEmbedder, program: list[tuple[int, cmd.AnyCommand]], strategy: str
) -> None:
    async def play(folder: Path) -> None:
        run = Run(folder, embedder, strategy)
        session = run.open(library.create(folder, run.plan))
        await run.play(session, program)
        assert session.state.ended
        check_log(run, session)
        check_commands(run, session)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


@quick
@given(program=programs, strategy=strategies, cut=st.integers(3, 80), kept=st.integers(2, 80))
def test_a_session_killed_anywhere_amid_a_persons_doings_goes_on(
    embedder: WordLlamaEmbedder, program: list[tuple[int, cmd.AnyCommand]], strategy: str, cut: int, kept: int
) -> None:
    async def play(folder: Path) -> None:
        run = Run(folder, embedder, strategy)
        session = run.open(library.create(folder, run.plan))
        await run.play(session, program, cut)
        path = session.folder / "events.jsonl"
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
        log, record = EventLog.reopen(session.folder)
        state = fold(record.events)
        if not state.resumable:
            log.close()
            return
        again = run.open(log, state)
        await run.play(again, [])
        assert again.state.ended
        assert again.state.tasks == {}
        check_log(run, again)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's waits are short here too."""
    monkeypatch.setattr("core.stepping.FIRST_WAIT", 0.001)
