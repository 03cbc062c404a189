"""A session that can't be saved: it holds, says so, keeps everything, and goes on when there is a place for it."""

import asyncio
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from core import commands as cmd
from core import events as ev
from core.errors import StoreError
from core.session import Session
from core.state import fold
from core.store import library
from core.store.log import EventLog, read_log
from tests.conftest import Open, make_plan
from tests.scripted import HeldProvider, ScriptedProvider, calling, varied
from tests.unit.following import Follower, chain_of
from tests.unit.test_log_trouble import room_for

Run = tuple[Session, Follower, "asyncio.Task[ev.SessionEnded]"]


def stored(follower: Follower) -> tuple[ev.Event, ...]:
    """What should be in the file: all that was shown, but for text as it streamed."""
    return tuple(event for event in follower.events if not isinstance(event, ev.ProposalDelta))


async def settled() -> None:
    """Let everything happen that can happen without anyone's doing."""
    for _ in range(50):
        await asyncio.sleep(0)


async def full_after_one(open_session: Open, provider: ScriptedProvider | None = None) -> Run:
    """A session that runs into a full disk after its first idea."""
    session = open_session(make_plan(max_ideas=4), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await follower.next(ev.IdeaScored)
    return session, follower, running


async def test_a_full_disk_pauses_with_everything_kept_and_the_file_is_complete_once_there_is_room(
    open_session: Open,
) -> None:
    session, follower, running = await full_after_one(open_session)
    size = (session.folder / "events.jsonl").stat().st_size
    with room_for(size + 100):
        paused = await follower.next(ev.Paused)
        await settled()
        assert (paused.by, paused.why) == ("storage", f"{session.folder} can't be written: File too large")
        assert session.state.paused == paused
        assert (session.folder / "events.jsonl").stat().st_size == size + 100
        shown = len(follower.of(ev.IdeaAdded))
        session.send(cmd.Resume())
        assert session.state.paused, "it never goes on unsaved"
        assert follower.of(ev.Notice)[-1].text.startswith("Still not saved. ")
        await settled()
        assert len(follower.of(ev.IdeaAdded)) == shown
    session.send(cmd.Resume())
    assert session.state.paused is None
    await running
    assert read_log(session.folder).events == stored(follower)
    assert read_log(session.folder).problems == ()
    assert chain_of(session).responses == 4
    assert [event.seq for event in stored(follower)] == list(range(len(stored(follower))))


async def test_it_can_go_on_elsewhere(open_session: Open, tmp_path: Path) -> None:
    session, follower, running = await full_after_one(open_session)
    old = session.folder
    with room_for((old / "events.jsonl").stat().st_size + 100):
        await follower.next(ev.Paused)
        await settled()
        session.send(cmd.SaveElsewhere(folder=str(tmp_path / "elsewhere")))
        assert session.folder == old, "there is no room there either"
        assert "can't be written" in follower.of(ev.Notice)[-1].text
        assert session.state.paused
    session.send(cmd.SaveElsewhere(folder=str(tmp_path / "elsewhere")))
    assert session.folder == tmp_path / "elsewhere" / old.name
    assert session.state.paused is None
    await running
    assert library.load(session.folder).plan == session.plan
    assert library.load(session.folder).record.events == stored(follower)
    assert chain_of(session).responses == 4


async def test_a_folder_deleted_mid_idea_is_noticed_and_nothing_shown_is_lost(
    open_session: Open, tmp_path: Path
) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=2), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    shutil.rmtree(session.folder)
    session.send(cmd.AddIdea(text="Teach seals to wear magnetometers below the floe."))
    assert session.state.paused
    assert session.state.paused.why.startswith("The session's folder is gone: ")
    provider.go_on.set()
    await settled()
    session.send(cmd.Resume())
    assert session.state.paused
    session.send(cmd.SaveElsewhere(folder=str(tmp_path / "elsewhere")))
    await running
    assert library.load(session.folder).record.events == stored(follower)


@pytest.mark.parametrize("moment", [ev.IdeaAdded, ev.IdeaScored, ev.QuestionEnded], ids=lambda kind: kind.__name__)
async def test_a_disk_full_at_the_last_idea_does_not_let_the_session_end_unsaved(
    open_session: Open, moment: type[ev.Event]
) -> None:
    session = open_session(make_plan(max_ideas=1))
    follower = Follower(session)
    folder = session.folder
    limits = ExitStack()

    def fill(event: ev.Event) -> None:
        """As of the event before `moment`, nothing more fits."""
        before = {ev.IdeaAdded: ev.ProposalFinished, ev.IdeaScored: ev.IdeaAdded, ev.QuestionEnded: ev.IdeaScored}
        if isinstance(event, before[moment]):
            limits.enter_context(room_for((folder / "events.jsonl").stat().st_size))

    session.subscribe(fill)
    with limits:
        running = asyncio.create_task(session.run())
        await follower.next(ev.Paused)
        await settled()
        assert not running.done()
        assert session.state.ended is None
    session.send(cmd.Resume())
    assert (await running).how == "finished"
    assert read_log(folder).events == stored(follower)


async def test_stopping_unsaved_is_told_as_such(open_session: Open) -> None:
    session, follower, running = await full_after_one(open_session)
    with room_for((session.folder / "events.jsonl").stat().st_size):
        await follower.next(ev.Paused)
        session.send(cmd.Stop())
        with pytest.raises(StoreError, match="can't be written: File too large"):
            await running
    assert read_log(session.folder).events == stored(follower)[: len(read_log(session.folder).events)]
    assert not isinstance(read_log(session.folder).events[-1], ev.SessionEnded)


async def test_a_pause_of_ones_own_does_not_hide_that_nothing_is_saved(open_session: Open) -> None:
    session, follower, running = await full_after_one(open_session)
    session.send(cmd.Pause())
    await settled()
    with room_for((session.folder / "events.jsonl").stat().st_size):
        session.send(cmd.AddIdea(text="Teach seals to wear magnetometers below the floe."))
        assert [paused.by for paused in follower.of(ev.Paused)] == ["you", "storage"]
        await settled()
    session.send(cmd.Resume())
    await running
    assert [paused.by for paused in follower.of(ev.Paused)] == ["you", "storage"], "said once"
    assert read_log(session.folder).events == stored(follower)


async def test_a_disk_full_from_the_very_first_event(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(make_plan(max_ideas=1), provider)
    follower = Follower(session)
    with room_for(0):
        running = asyncio.create_task(session.run())
        await follower.next(ev.Paused)
        await settled()
        assert provider.calls == []
    session.send(cmd.Resume())
    await running
    assert read_log(session.folder).events == stored(follower)


async def test_a_session_taken_up_again_on_a_full_disk_holds_until_there_is_room(open_session: Open) -> None:
    first = open_session(make_plan(max_ideas=1))
    await first.run()
    log, record = EventLog.reopen(first.folder)
    caller = calling(ScriptedProvider(varied))
    session = Session(first.plan, log, caller, first._scorer, history=fold(record.events), max_ideas=2)
    follower = Follower(session)
    with room_for((first.folder / "events.jsonl").stat().st_size):
        session.emit(ev.Notice(text="line 3 is damaged"))
        running = asyncio.create_task(session.run())
        await follower.next(ev.Paused)
        await settled()
        assert chain_of(session).responses == 1
    session.send(cmd.Resume())
    await running
    assert read_log(first.folder).events == record.events + stored(follower)
    assert chain_of(session).responses == 2


@pytest.mark.parametrize("folder", ["~nouser-at-all/x", "a\x00b", "x" * 300])
async def test_a_place_that_can_not_be_used_is_said_and_changes_nothing(open_session: Open, folder: str) -> None:
    session, follower, running = await full_after_one(open_session)
    old = session.folder
    session.send(cmd.SaveElsewhere(folder=folder))
    assert session.folder == old
    [notice] = follower.of(ev.Notice)
    assert notice.text.isprintable()
    await running
    assert read_log(old).events == stored(follower)
