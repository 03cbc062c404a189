"""A session that another process runs, followed and commanded from here."""

import asyncio
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from core import attached, serving
from core import commands as cmd
from core import events as ev
from core.attached import Attached, SessionInterruptedError, Watched
from core.errors import SessionUnreadableError, StoreError, UsageError
from core.lines import EVENTS_FILE
from core.speaking import UnreachableError
from core.state import State, fold
from core.store.log import LOCK_FILE, EventLog, read_log
from core.store.runner import HOST, RUNNER_FILE, login_name
from tests.conftest import Open, make_plan
from tests.scripted import HeldProvider, ScriptedProvider, varied
from tests.unit.following import Follower, chain_of
from tests.unit.served import following, running, until

WHO = login_name(os.getuid())


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attached, "LOOK_EVERY", 0.02)


def without_time(state: State) -> State:
    return replace(state, t=0.0)


def notices_to(feed: Watched) -> list[str]:
    """What is said from now on to whoever looks at `feed`."""
    texts: list[str] = []
    feed.subscribe(lambda event: texts.append(event.text) if isinstance(event, ev.Notice) else None)
    return texts


# ── following ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_who_is_attached_sees_each_event_in_the_runner_s_own_order(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=4), provider)
    told = Follower(session)
    async with running(session) as here:
        await provider.halfway.wait()
        async with following(session.folder) as there:
            seen: list[ev.Event] = []
            there.subscribe(seen.append)
            before = len(told.events)
            provider.go_on.set()
            await here.run
            await until(lambda: there.state.ended)
            assert seen == told.events[before:]
            assert any(isinstance(event, ev.ProposalDelta) for event in seen)
            assert there.state == session.state == fold(read_log(session.folder).events)


async def test_who_comes_amid_an_idea_sees_what_was_written_of_it_so_far(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(), provider)
    async with running(session):
        await provider.halfway.wait()
        async with following(session.folder) as there:
            await until(lambda: without_time(there.state) == without_time(session.state))
            [writing] = chain_of(session).writing.values()
            assert writing.text
            assert there.state.chain is not None
            assert list(there.state.chain.writing.values()) == [writing]


async def test_the_seconds_are_the_runner_s(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(), provider)
    session._zero -= 1000
    async with running(session):
        await provider.halfway.wait()
        async with following(session.folder) as there:
            assert there.elapsed() == pytest.approx(session.elapsed(), abs=0.5)


async def test_many_may_be_attached_and_each_says_who_they_are(open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session), following(session.folder) as one, following(session.folder) as two:
        one.send(cmd.AddIdea(text="From the first.", by="somebody else"))
        two.send(cmd.AddSteer(text="From the second"))
        for feed in (one, two):
            await until(lambda feed=feed: feed.state.chain.ideas and feed.state.steers)  # type: ignore[misc]
        assert session.state.steers_in_force[0].by == WHO
        added = [event for event in read_log(session.folder).events if isinstance(event, ev.IdeaAdded)]
        assert [event.by for event in added] == [WHO]


async def test_a_command_that_can_t_be_obeyed_comes_back_as_a_notice_to_who_said_it(open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session), following(session.folder) as one, following(session.folder) as two:
        heard: dict[str, list[ev.Event]] = {"one": [], "two": []}
        one.subscribe(heard["one"].append)
        two.subscribe(heard["two"].append)
        one.send(cmd.PinIdea(idea=9))
        await until(lambda: heard["one"])
        [notice] = heard["one"]
        assert isinstance(notice, ev.Notice)
        assert notice.text.startswith("There is no idea 9")
        assert heard["two"] == []
        assert one.state.notices == []


async def test_one_who_stops_the_session_is_told_of_its_end_like_all(open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session) as here, following(session.folder) as one, following(session.folder) as two:
        one.send(cmd.Stop())
        ended = await here.run
        assert (ended.how, ended.message) == ("stopped", WHO)
        for feed in (one, two):
            await until(lambda feed=feed: feed.state.ended == ended)  # type: ignore[misc]


# ── a line that drops ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_line_that_drops_is_taken_up_again_and_nothing_is_missed(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=3), provider)
    async with running(session) as here:
        await provider.halfway.wait()
        async with following(session.folder) as there:
            assert isinstance(there, Attached)
            assert there._line is not None
            there._line.transport.abort()
            await until(lambda: not there.connected)
            session.send(cmd.AddIdea(text="Said while the line was down."))
            await until(lambda: there.connected)
            await until(lambda: without_time(there.state) == without_time(session.state))
            provider.go_on.set()
            await here.run
            await until(lambda: there.state == session.state)


async def test_one_who_was_cut_off_for_being_slow_catches_up_from_the_log(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_WAITING", -1)  # nobody is ever quick enough
    session = open_session(make_plan(max_ideas=3), ScriptedProvider(varied, delay=0.002))
    async with running(session) as here, following(session.folder) as there:
        await here.run
        await until(lambda: there.state.ended)
        assert there.state == fold(read_log(session.folder).events)


@pytest.mark.parametrize(
    ("count", "last"), [(1, "what you said last was"), (2, "the last 2 things that you said were")]
)
async def test_a_command_that_no_answer_came_to_is_not_lost_in_silence(
    open_session: Open, count: int, last: str
) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session) as here, following(session.folder) as there:
        assert isinstance(there, Attached)
        notices = notices_to(there)
        there.send(cmd.PinIdea(idea=9))
        await until(lambda: len(notices) == 1)  # this one is answered
        [line] = here.serving._lines
        line.transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(count):
            there.send(cmd.AddSteer(text="Heard by nobody"))
        line.transport.abort()  # as when the runner is killed
        await until(lambda: len(notices) == 2)
        assert notices[1] == f"The line was cut: it is not known whether {last} done"
        await until(lambda: there.connected)
        there.send(cmd.AddSteer(text="Prefer cheap ones"))
        await until(lambda: there.state.steers)
        assert len(notices) == 2


async def test_one_who_is_cut_off_for_being_slow_is_told_what_was_not_answered(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session), following(session.folder) as there:
        notices = notices_to(there)
        with monkeypatch.context() as patched:
            patched.setattr(serving, "MOST_WAITING", -1)
            there.send(cmd.AddSteer(text="Prefer cheap ones"))
            await until(lambda: notices)
        assert notices == ["The line was cut: it is not known whether what you said last was done"]
        await until(lambda: there.state.steers)


async def test_while_the_line_is_down_a_command_is_refused_and_not_lost_in_silence(open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session):
        there = Attached(session.folder)
        with pytest.raises(UnreachableError, match="line to the session is down"):
            there.send(cmd.Pause())


async def test_a_runner_that_is_gone_is_said_to_be(open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    session.emit(ev.SessionStarted(version="1"))
    there = Attached(session.folder)
    run = asyncio.create_task(there.run())
    await asyncio.sleep(0.05)
    assert not run.done()
    session._log.close()  # as when the process is killed
    with pytest.raises(SessionInterruptedError):
        await run
    assert there.state.resumable
    assert there.elapsed() == there.state.t


async def test_what_could_not_be_saved_is_shown_to_who_comes_then(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=2), provider)
    async with running(session) as here:
        await provider.halfway.wait()
        full = True
        append = EventLog.flush

        def flush(log: EventLog) -> None:
            if full:
                raise StoreError("The disk is full")
            append(log)

        monkeypatch.setattr(EventLog, "flush", flush)
        session.send(cmd.AddIdea(text="Not on the disk yet."))
        async with following(session.folder) as there:
            await until(lambda: there.state.paused)
            assert there.state.paused is not None
            assert there.state.paused.why == "The disk is full"
            full = False
            there.send(cmd.Resume())
            provider.go_on.set()
            await here.run
            await until(lambda: there.state.ended)
            assert there.state.chains == session.state.chains


# ── without a socket ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_session_on_another_machine_is_followed_by_its_log_alone(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=2), provider)
    async with running(session) as here:
        await provider.halfway.wait()
        note = session.folder / RUNNER_FILE
        note.write_text(note.read_text().replace(f'"{HOST}"', '"gpu07"'))
        there = Attached(session.folder)
        follows = asyncio.create_task(there.run())
        await until(lambda: there.trouble)
        with pytest.raises(UnreachableError, match="It runs on gpu07"):
            there.send(cmd.Pause())
        provider.go_on.set()
        await here.run
        assert await follows == session.state.ended
        assert there.state == fold(read_log(session.folder).events)


async def test_one_who_watches_sees_what_is_finished_and_has_no_say(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=2), provider)
    async with running(session) as here:
        await provider.halfway.wait()
        async with following(session.folder, Watched) as there:
            with pytest.raises(UsageError, match="only watch"):
                there.send(cmd.Stop())
            provider.go_on.set()
            await here.run
            await until(lambda: there.state.ended)
            assert there.state == fold(read_log(session.folder).events)


async def test_watching_holds_no_lock_and_writes_nothing(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1))
    await session.run()
    before = {path.name: path.stat().st_mtime_ns for path in session.folder.iterdir()}
    session.folder.chmod(0o500)
    try:
        assert await Watched(session.folder).run() == session.state.ended
    finally:
        session.folder.chmod(0o700)
    assert {path.name: path.stat().st_mtime_ns for path in session.folder.iterdir()} == before


async def test_where_the_lock_is_closed_to_us_the_log_tells_of_the_end(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(make_plan(max_ideas=2), ScriptedProvider(varied, delay=0.002))
    monkeypatch.setattr(attached, "is_locked", lambda folder: False)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != LOCK_FILE)
    async with running(session) as here:
        there = Watched(session.folder)
        follows = asyncio.create_task(there.run())
        ended = await here.run
        assert await follows == ended


async def test_a_line_that_is_being_written_is_waited_for_and_a_damaged_one_is_said(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1))
    await session.run()
    path = session.folder / EVENTS_FILE
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    there = Watched(session.folder)
    heard: list[ev.Event] = []
    there.subscribe(heard.append)
    with path.open("ab", buffering=0) as log:
        log.write(lines[4][:10])
        there._catch_up()
        assert heard == []
        log.write(lines[4][10:] + b"\x00\xff\n" + b"".join(lines[5:]))
        there._catch_up()
    notices = [event for event in heard if isinstance(event, ev.Notice)]
    assert len(notices) == 1
    assert "damaged" in notices[0].text
    assert there.state.ended == session.state.ended


async def test_a_folder_that_goes_away_ends_it_with_the_reason(open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    session.emit(ev.SessionStarted(version="1"))
    there = Watched(session.folder)
    (session.folder / EVENTS_FILE).unlink()
    with pytest.raises(SessionUnreadableError, match=EVENTS_FILE):
        await there.run()
    session._log._let_go()


# ── a session that nobody runs ────────────────────────────────────────────────────────────────────────────────────────


async def test_ideas_of_an_ended_session_can_be_marked(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=2))
    await session.run()
    there = Attached(session.folder)
    await there.run()
    there.send(cmd.RateIdea(idea=2, stars=4))
    there.send(cmd.PinIdea(idea=1, by="somebody else"))
    marks = [event for event in read_log(session.folder).events if isinstance(event, ev.IdeaRated | ev.IdeaPinned)]
    assert [mark.by for mark in marks] == [WHO, WHO]
    assert there.state.chain is not None
    assert [(idea.pinned, idea.rating) for idea in there.state.chain.ideas] == [(True, 0), (False, 4)]
    assert there.state == fold(read_log(session.folder).events)
    with pytest.raises(UsageError, match="resume it first"):
        there.send(cmd.AddIdea(text="Too late"))
