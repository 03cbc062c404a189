"""A recording played back: the same states, the same text as it came, at any speed, from any place."""

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import pytest
from msgspec.structs import replace

from core import events as ev
from core.config import Plan
from core.levers import Seed
from core.state import State, fold
from core.store.log import read_log
from core.store.replay import CHECKPOINT, LATE_SECONDS, Replay
from tests.conftest import Open, make_plan, texts
from tests.scripted import ScriptedProvider, varied

PLAN: Plan = make_plan()
Q = "q"


def record(ideas: int, *, seconds: float = 2.0) -> list[ev.Event]:
    """A recording made by hand: an idea every two seconds, its text in four stretches within the first of them."""
    events: list[ev.Event] = [
        ev.SessionStarted(version="0"),
        ev.QuestionStarted(question=Q, text="Propose a test.", domain="Own"),
    ]
    for n in range(1, ideas + 1):
        t = (n - 1) * seconds
        raw = f"Idea {n}: listen to the ice number {n}."
        trace = tuple((ms, len(raw) * ms // 1000) for ms in (250, 500, 750, 1000))
        events += [
            ev.StepStarted(t=t, question=Q, step=n, members=("anna",)),
            ev.ProposalStarted(t=t, question=Q, step=n, member="anna"),
            ev.ProposalFinished(t=t + 1, question=Q, step=n, member="anna", text=raw, raw=raw, trace=trace),
            ev.IdeaAdded(t=t + 1, question=Q, idea=n, step=n, text=raw, author="anna"),
            ev.IdeaScored(
                t=t + 1.5, question=Q, idea=n, embedding_novelty=0.5, verdict="failed" if n % 5 == 0 else "passed"
            ),
        ]
    end = ideas * seconds
    events.append(ev.QuestionEnded(t=end, question=Q, reason="cap", censored=True, responses=ideas, valid=ideas))
    return [replace(event, seq=seq) for seq, event in enumerate(events)]


def until(recorded: Sequence[ev.Event], seconds: float) -> State:
    """The state at that moment, but for text that was just streaming in."""
    state = fold(event for event in recorded if event.t <= seconds)
    for chain in state.chains.values():
        chain.writing.clear()
    return state


def settled(replay: Replay, seconds: float) -> State:
    state = replay.state
    state.t = until(replay_events(replay), seconds).t
    for chain in state.chains.values():
        chain.writing.clear()
    return state


def replay_events(replay: Replay) -> list[ev.Event]:
    return [event for event in replay._events if not isinstance(event, ev.ProposalDelta)]


async def played(replay: Replay) -> list[ev.Event]:
    """Play to the end; all events that a listener was told of."""
    heard: list[ev.Event] = []
    done = asyncio.Event()

    def hear(event: ev.Event) -> None:
        heard.append(event)
        if replay.at_end:
            done.set()

    leave = replay.subscribe(hear)
    running = asyncio.create_task(replay.run())
    replay.play()
    await asyncio.wait_for(done.wait(), 10)
    running.cancel()
    leave()
    return heard


# ── as it was ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_at_its_end_a_replay_is_where_the_session_was(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=4), ScriptedProvider(varied, delay=0.001))
    await session.run()
    recorded = read_log(session.folder).events
    replay = Replay(session.plan, recorded, speed=float("inf"))
    heard = await played(replay)
    assert replay.state == fold(recorded) == session.state
    assert [event for event in heard if not isinstance(event, ev.ProposalDelta)] == list(recorded)
    assert texts(replay.state) == texts(session.state)


async def test_text_streams_as_it_came_and_before_its_idea(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=2), ScriptedProvider(varied, delay=0.01))
    await session.run()
    replay = Replay(session.plan, read_log(session.folder).events, speed=float("inf"))
    text = ""
    stretches = 0
    for event in await played(replay):
        match event:
            case ev.ProposalStarted():
                text, stretches = "", 0
            case ev.ProposalDelta():
                text += event.text
                stretches += 1
            case ev.ProposalFinished():
                assert text == event.raw
                assert stretches == len(event.trace) > 1
            case ev.IdeaAdded():
                assert text


def test_stretches_of_text_come_when_the_trace_says() -> None:
    replay = Replay(PLAN, record(2))
    deltas = [event for event in replay._events if isinstance(event, ev.ProposalDelta)]
    assert [delta.t for delta in deltas] == [0.25, 0.5, 0.75, 1.0, 2.25, 2.5, 2.75, 3.0]
    replay.seek(2.6)
    assert replay.state.chain
    assert replay.state.chain.writing["anna"].text == "Idea 2: listen to"


# ── moving ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_seeking_to_and_fro_gives_the_state_of_that_moment() -> None:
    recorded = record(500)
    replay = Replay(PLAN, recorded)
    assert len(replay._events) > 4 * CHECKPOINT
    for seconds in (700.0, 3.2, 999.5, 0.0, 250.0, 251.5, 1000.0, 249.0, 5000.0, -3.0):
        replay.seek(seconds)
        reached = min(max(seconds, 0.0), 1000.0)
        assert replay.seconds == reached
        assert settled(replay, reached) == until(recorded, reached), seconds


def test_seeking_changes_nothing_that_was_seen_before() -> None:
    replay = Replay(PLAN, record(30))
    replay.seek(10)
    kept = replay.state
    ideas = texts(kept)
    replay.seek(50)
    replay.step()
    assert texts(kept) == ideas


def test_step_by_step_from_any_place_to_the_end() -> None:
    recorded = record(6)
    replay = Replay(PLAN, recorded)
    replay.seek(5.1)
    heard: list[ev.Event] = []
    replay.subscribe(heard.append)
    while not replay.at_end:
        replay.step()
        assert replay.seconds == heard[-1].t
    replay.step()
    assert heard == replay._events[-len(heard) :]
    assert replay.state == fold(recorded)


@pytest.mark.parametrize(("number", "reached"), [(1, 1), (4, 4), (7, 7), (99, 7), (0, 1), (-5, 1)])
def test_going_to_an_idea_shows_it_just_scored(number: int, reached: int) -> None:
    replay = Replay(PLAN, record(7))
    replay.seek_idea(number)
    assert replay.state.chain
    assert len(replay.state.chain.ideas) == reached
    assert all(idea.score for idea in replay.state.chain.ideas)
    assert replay.seconds == (reached - 1) * 2 + 1.5


def test_what_the_time_bar_marks() -> None:
    events = [*record(5)[:-1], ev.Paused(t=11.0, by="you"), ev.Resumed(t=12.0, by="you")]
    events.append(ev.IdeaAdded(t=13.0, question=Q, idea=6, step=5, text="Mine.", author="you"))
    assert Replay(PLAN, events).marks() == [(9.5, "failed"), (11.0, "person"), (12.0, "person"), (13.0, "person")]


def test_whatever_persons_did_is_marked_and_where_seeds_came() -> None:
    where: dict[str, Any] = {"question": Q}
    deeds = [
        ev.IdeaPinned(**where, t=20, idea=1, old=False, new=True),
        ev.SteerAdded(**where, t=21, id="g1", text="Dare more."),
        ev.SeedInjected(**where, t=22, id="s1", seed=Seed(name="tides"), by="policy"),
        ev.TaskGiven(**where, t=23, id="t1", task="develop", ideas=(1,)),
        ev.ProposalChosen(**where, t=24, step=1, order=("a", "b"), pick="a", by="person"),
        ev.ProposalChosen(**where, t=25, step=1, order=("a", "b"), pick="a", by="draw"),
        ev.TeamChanged(t=26, team=PLAN.team, by="you"),
    ]
    kinds = [*["person"] * 2, "seed", *["person"] * 3]
    assert Replay(PLAN, [*record(1)[:-1], *deeds]).marks() == list(zip((20, 21, 22, 23, 24, 26), kinds, strict=True))


def test_a_pause_that_no_person_made_is_no_persons_mark() -> None:
    events = [*record(1)[:-1], ev.Paused(t=3.0, by="storage"), ev.Paused(t=4.0, by="trouble")]
    events.append(ev.Resumed(t=5.0, by="you"))
    assert Replay(PLAN, events).marks() == [(5.0, "person")]


# ── playing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def turns() -> None:
    """Let everything happen that can happen without time passing."""
    for _ in range(20):
        await asyncio.sleep(0)


class Playing:
    """A replay that runs, and whoever waits for what it shows."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.heard: asyncio.Queue[ev.Event] = asyncio.Queue()
        replay.subscribe(self.heard.put_nowait)

    async def __aenter__(self) -> "Playing":
        self._running = asyncio.create_task(self.replay.run())
        self.replay.play()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert not self._running.done(), "a replay runs until it is cancelled"
        self._running.cancel()

    async def next(self, kind: type[ev.Event]) -> ev.Event:
        while True:
            event = await asyncio.wait_for(self.heard.get(), 10)
            if isinstance(event, kind):
                return event


async def test_it_keeps_the_pace_of_the_recording() -> None:
    async with Playing(Replay(PLAN, record(1), speed=8.0)) as playing:
        began = perf_counter()
        await playing.next(ev.IdeaAdded)
        assert perf_counter() - began >= 1 / 8 - 0.02
        assert playing.replay.seconds >= 1.0


async def test_what_it_oversleeps_it_makes_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that each wait overshoots by 3 ms, as a busy machine's does."""
    watch = Watch(monkeypatch)

    async def oversleep(replay: Replay, seconds: float) -> None:
        watch.now += seconds + 0.003
        await asyncio.sleep(0)

    monkeypatch.setattr(Replay, "_wait", oversleep)
    replay = Replay(PLAN, record(9), speed=32.0)
    heard: list[float] = []
    replay.subscribe(lambda event: heard.append(replay.seconds - event.t))
    async with Playing(replay) as playing:
        await playing.next(ev.QuestionEnded)
    assert watch.now - 1000 == pytest.approx(18 / 32 + 0.003, abs=0.0005), f"{len(heard)} events"
    assert heard == pytest.approx([0.0] * len(heard), abs=0.003 * 32 + 1e-6)


async def test_a_process_that_was_held_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl+Z and an hour, the rest does not rush by."""
    watch = Watch(monkeypatch)
    waits: list[float] = []

    async def held_at_first(replay: Replay, seconds: float) -> None:
        watch.now += seconds + (0 if waits else 3600)
        waits.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(Replay, "_wait", held_at_first)
    async with Playing(Replay(PLAN, record(9))) as playing:
        await playing.next(ev.QuestionEnded)
    assert watch.now - 1000 - 3600 == pytest.approx(18 - LATE_SECONDS)


class Watch:
    """The machine's clock, in the test's hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("core.store.replay.monotonic", lambda: self.now)


LONG_WAIT = [*record(1)[:-1], ev.Notice(t=3600.0, text="late"), ev.Notice(t=7200.0, text="later")]


async def test_the_clock_moves_between_events_at_the_speed_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(monkeypatch)
    replay = Replay(PLAN, LONG_WAIT, speed=32.0)
    async with Playing(replay) as playing:
        await playing.next(ev.IdeaScored)
        await turns()
        assert replay.seconds == 1.5
        watch.now += 10
        assert replay.seconds == 321.5
        replay.set_speed(1.0)
        await turns()
        assert replay.seconds == 321.5, "what has passed, passed at the old speed"
        watch.now += 10
        assert replay.seconds == 331.5
        replay.pause()
        watch.now += 10
        await turns()
        assert replay.seconds == 331.5
        replay.play()
        await turns()
        watch.now += 10_000
        assert replay.seconds == 3600.0, "never beyond the next event"
        assert replay.state.t == 1.5


async def test_nobody_waits_for_a_pause_in_the_recording_who_asks_for_more_speed() -> None:
    replay = Replay(PLAN, LONG_WAIT, speed=32.0)
    async with Playing(replay) as playing:
        await playing.next(ev.IdeaScored)
        await turns()
        replay.set_speed(float("inf"))
        assert [await playing.next(ev.Notice), await playing.next(ev.Notice)] == LONG_WAIT[-2:]
        assert replay.seconds == 7200.0


async def test_pause_holds_at_once_and_play_goes_on_from_there() -> None:
    replay = Replay(PLAN, record(3), speed=32.0)
    async with Playing(replay) as playing:
        await playing.next(ev.IdeaAdded)
        replay.pause()
        held = replay.seconds
        await turns()
        assert (replay.playing, replay.seconds) == (False, held)
        assert playing.heard.empty()
        replay.play()
        await playing.next(ev.QuestionEnded)
        assert texts(replay.state) == texts(fold(record(3)))


async def test_dragged_to_its_end_while_it_plays_it_rests_there_and_can_go_back() -> None:
    recorded = record(3)
    replay = Replay(PLAN, recorded, speed=0.5)
    async with Playing(replay) as playing:
        await playing.next(ev.StepStarted)
        await turns()
        replay.seek(replay.length)
        await turns()
        assert (replay.at_end, replay.playing, replay.seconds) == (True, False, replay.length)
        assert replay.state == fold(recorded)
        replay.seek(2.0)
        replay.set_speed(float("inf"))
        replay.play()
        await playing.next(ev.QuestionEnded)


async def test_a_step_or_a_seek_while_it_waits_is_where_it_goes_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(monkeypatch)
    replay = Replay(PLAN, [*record(2)[:-1], ev.Notice(t=3600.0, text="late")], speed=0.5)
    async with Playing(replay) as playing:
        await playing.next(ev.StepStarted)
        replay.step()
        replay.step()
        assert replay.seconds in (0.25, 0.5)
        watch.now += 10
        replay.seek(100.0)
        await turns()
        assert replay.seconds == 100.0
        replay.set_speed(float("inf"))
        while await playing.next(ev.Event) != ev.Notice(t=3600.0, text="late"):
            pass
        assert texts(replay.state) == texts(fold(record(2)))
