"""Recordings that are empty, of another version, or very long; and commands, which no recording obeys."""

from time import perf_counter

import pytest

from core import commands as cmd
from core import events as ev
from core.errors import UsageError
from core.state import State, apply, fold
from core.store.replay import Replay
from tests.unit.test_replay import PLAN, Playing, record, turns


@pytest.mark.parametrize(
    "command", [cmd.Pause(), cmd.Resume(), cmd.Stop(), cmd.AddIdea(text="x"), cmd.SaveElsewhere(folder="/")]
)
def test_commands_are_refused(command: cmd.AnyCommand) -> None:
    with pytest.raises(UsageError, match="only shows what was"):
        Replay(PLAN, record(1)).send(command)


async def test_an_empty_recording_does_no_harm() -> None:
    replay = Replay(PLAN, [])
    replay.seek(3)
    replay.seek_idea(1)
    replay.step()
    assert (replay.length, replay.seconds, replay.at_end, replay.marks()) == (0.0, 0.0, True, [])
    async with Playing(replay):
        await turns()
        assert not replay.playing
    assert replay.state == State()


def test_events_of_a_newer_version_and_without_a_time_stay_in_their_place() -> None:
    recorded = record(3)
    recorded.insert(9, ev.Unknown(name="idea_praised", raw=b'{"type":"idea_praised"}'))
    recorded.insert(14, ev.Unknown(name="mood_changed", raw=b'{"type":"mood_changed"}'))
    replay = Replay(PLAN, recorded)
    replay.seek(replay.length)
    assert replay.state == fold(recorded)
    assert replay.state.unknown == ["idea_praised", "mood_changed"]
    replay.seek_idea(2)
    assert replay.state.unknown == ["idea_praised"]


def test_four_thousand_ideas_open_fast_and_seek_at_once() -> None:
    recorded = record(4000)
    began = perf_counter()
    replay = Replay(PLAN, recorded)
    opened = perf_counter() - began
    slowest = 0.0
    for number in (4000, 1, 3999, 2000, 1234, 2001, 4000, 777):
        began = perf_counter()
        replay.seek_idea(number)
        slowest = max(slowest, perf_counter() - began)
        assert replay.state.chain
        assert replay.state.chain.ideas[-1].number == len(replay.state.chain.ideas) == number
    print(f"4,000 ideas, {len(replay._events):,} events: opened in {opened:.2f} s, sought in {slowest * 1000:.1f} ms")
    plain = State()
    for event in recorded:
        apply(plain, event)
    replay.seek(replay.length)
    assert replay.state == plain
