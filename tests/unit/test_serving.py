"""The socket of a running session: who may speak, what is understood, and that nobody holds the session up."""

import asyncio
import getpass
import os
import pwd
import signal
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from core import commands as cmd
from core import events as ev
from core import serving
from core.errors import StoreError, UsageError
from core.events.course import OWN_FIRST, STORAGE, TROUBLE
from core.levers import POLICY
from core.models import YOU
from core.serving import SOCKET_FILE, Serving
from core.session import Session
from core.speaking import LONGEST_LINE, UnreachableError, tell
from core.store.log import EventLog, is_locked, read_log
from core.store.runner import HOST, RUNNER_FILE, announce, login_name, noted_runner
from tests.conftest import Open, make_plan
from tests.scripted import HeldProvider
from tests.unit.following import Follower, chain_of
from tests.unit.served import running, until

WHO = login_name(os.getuid())


@pytest.fixture
def sessions() -> Iterator[Path]:
    """A folder whose path is short enough for a socket; pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


async def answers(folder: Path, said: bytes) -> list[dict[str, object]]:
    """What a client is answered that says all this and then no more."""
    reader, writer = await asyncio.open_unix_connection(str(folder / SOCKET_FILE))
    writer.write(said)
    writer.write_eof()
    try:
        heard = await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()
    return [msgspec.json.decode(line) for line in heard.splitlines()]


@pytest.fixture
async def held(open_session: Open) -> AsyncIterator[Session]:
    """A session that is being served, amid its first idea, which does not come."""
    provider = HeldProvider()
    session = open_session(make_plan(), provider)
    async with running(session):
        await provider.halfway.wait()
        yield session


# ── what is understood ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_line_is_a_command_and_is_answered_by_a_line(held: Session) -> None:
    assert await answers(held.folder, b'{"type":"add_idea","text":"Weigh it from below."}\n') == [{"ok": True}]
    assert [idea.text for idea in chain_of(held).ideas] == ["Weigh it from below."]


async def test_several_lines_are_answered_in_order(held: Session) -> None:
    said = b'{"type":"pin_idea","idea":1}\n{"type":"add_idea","text":"One"}\n{"type":"pin_idea","idea":1}\n'
    first, second, third = await answers(held.folder, said)
    assert first == {"error": "There is no idea 1: there is none yet"}
    assert (second, third) == ({"ok": True}, {"ok": True})
    assert chain_of(held).ideas[0].pinned


async def test_while_nothing_can_be_written_the_answer_says_why(held: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(log: EventLog) -> None:
        raise StoreError("The disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(EventLog, "flush", full)
        said = b'{"type":"add_idea","text":"Weigh it from below."}\n'
        assert await answers(held.folder, said) == [{"ok": True, "unsaved": "The disk is full"}]
    assert await answers(held.folder, b'{"type":"resume"}\n') == [{"ok": True}]
    assert [type(event) for event in read_log(held.folder).events if isinstance(event, ev.IdeaAdded)] == [ev.IdeaAdded]


async def test_whatever_a_line_says_the_log_has_the_login_name(held: Session) -> None:
    await answers(held.folder, b'{"type":"add_steer","text":"Prefer cheap ones","by":"somebody else"}\n')
    [steer] = held.state.steers_in_force
    assert steer.by == WHO


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "truncated"),
        (b"hello", "malformed"),
        (b"{", "truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"idea":1}', "missing required field `type`"),
        (b'{"type":"launch"}', "Invalid value 'launch'"),
        (b'{"type":"pin_idea"}', "missing required field `idea`"),
        (b'{"type":"pin_idea","idea":"1"}', "Expected `int`, got `str`"),
        (b'{"type":"pin_idea","idea":1.5}', "Expected `int`, got `float`"),
        (b'{"type":"pin_idea","idea":-1}', "Expected `int` >= 1"),
        (b'{"type":"pin_idea","idea":999999999999999999999999999999999}', "Expected `int`"),
        (b'{"type":"rate_idea","idea":1,"stars":1e999}', "out of range"),
        (b'{"type":"merge_ideas","ideas":[' + b"1," * 10_000 + b"1]}", "length <= 10"),
        (b'{"type":"add_idea","text":"\xff\xfe"}', "UTF-8"),
        (b'{"type":"add_idea","text":"\\ud800"}', "truncated"),
        (b'{"type":"add_idea","text":"  \\u0000 "}', "An idea needs some words"),
        (b'{"type":"add_idea","text":"' + b"x" * 50_000 + b'"}', "20,000 characters"),
        (b'{"type":"pause","by":' + b"[" * 50_000 + b"]" * 50_000 + b"}", "nested too deeply"),
        (b'{"type":"choose","picks":[1]}', "nothing to pick"),
        (b'{"type":"save_elsewhere","folder":"~nobody-of-that-name/x"}', "Not a path"),
    ],
    ids=lambda value: str(value[:30]),
)
async def test_a_line_that_says_nothing_is_told_why_and_the_next_one_is_heard(
    held: Session, line: bytes, why: str
) -> None:
    before = read_log(held.folder).events
    wrong, right = await answers(held.folder, line + b'\n{"type":"set_pipelining","on":false}\n')
    assert why in str(wrong.get("error", held.state.notices))
    assert right == {"ok": True}
    after = read_log(held.folder).events[len(before) :]
    assert [type(event) for event in after if not isinstance(event, ev.Notice)] == [ev.PipeliningSet]


async def test_half_a_line_is_no_command(held: Session) -> None:
    assert await answers(held.folder, b'{"type":"stop"}') == []
    assert held.state.ended is None
    assert await answers(held.folder, b'{"type":"set_pipelining","on":false}\n') == [{"ok": True}]


async def test_a_line_without_end_is_cut_off_and_others_are_heard(held: Session) -> None:
    assert await answers(held.folder, b"x" * (LONGEST_LINE * 3)) == [{"error": "A line can have 1,000,000 bytes"}]
    assert await answers(held.folder, b'{"type":"set_pipelining","on":false}\n') == [{"ok": True}]


async def test_a_line_that_is_too_long_is_refused_with_all_that_comes_after_it(held: Session) -> None:
    said = b'{"type":"add_idea","text":"' + b"x" * LONGEST_LINE + b'"}\n{"type":"stop"}\n'
    assert await answers(held.folder, said) == [{"error": "A line can have 1,000,000 bytes"}]
    assert (chain_of(held).ideas, held.state.ended) == ([], None)


@pytest.mark.parametrize("bug", [KeyError("a bug"), ValueError("a bug"), BrokenPipeError("a bug")], ids=repr)
async def test_a_bug_is_answered_and_reported_and_others_are_heard(
    held: Session, monkeypatch: pytest.MonkeyPatch, bug: Exception
) -> None:
    def failing(command: cmd.AnyCommand) -> None:
        raise bug

    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    with monkeypatch.context() as patched:
        patched.setattr(held, "send", failing)
        [answer] = await answers(held.folder, b'{"type":"pause"}\n')
    assert answer == {"error": f"It failed by a fault inside jagstorm: {bug!r}"}
    assert reported == [bug]
    assert await answers(held.folder, b'{"type":"pause"}\n') == [{"ok": True}]


async def test_random_bytes_do_no_harm(held: Session) -> None:
    before = read_log(held.folder).events
    for _ in range(50):
        for answer in await answers(held.folder, os.urandom(2_000) + b"\n"):
            assert set(answer) == {"error"}
            assert "\n" not in str(answer["error"])
    assert read_log(held.folder).events == before


# ── who may speak, and where ──────────────────────────────────────────────────────────────────────────────────────────


async def test_the_socket_and_the_note_are_their_owner_s_alone(held: Session) -> None:
    for name in (SOCKET_FILE, RUNNER_FILE):
        assert stat.S_IMODE((held.folder / name).lstat().st_mode) == 0o600


async def test_another_user_is_refused(held: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_uid", lambda line: os.getuid() + 1)
    assert await answers(held.folder, b'{"type":"stop"}\n') == [{"error": f"Only {WHO} can command this session"}]
    assert held.state.ended is None


async def test_another_user_is_not_heard_after_the_farewell_either(
    held: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_uid", lambda line: os.getuid() + 1)
    monkeypatch.setattr(serving, "FAREWELL_SECONDS", 0.01)
    reader, writer = await asyncio.open_unix_connection(str(held.folder / SOCKET_FILE))
    await reader.readline()
    await asyncio.sleep(0.1)
    with suppress(ConnectionError):
        writer.write(b'{"type":"add_steer","text":"From a stranger"}\n')
        await writer.drain()
    await asyncio.sleep(0.1)
    writer.close()
    assert held.state.steers == {}


async def test_no_more_are_connected_than_the_process_can_bear(held: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_ATTACHED", 2)
    lines = [await asyncio.open_unix_connection(str(held.folder / SOCKET_FILE)) for _ in range(2)]
    for reader, writer in lines:
        writer.write(b'{"type":"follow"}\n')
        assert b'"ok":true' in await reader.readline()
    refused = {"error": "2 are connected to this session already, and no more can be"}
    assert await answers(held.folder, b'{"type":"pause"}\n') == [refused]
    for _, writer in lines:
        writer.close()
        await writer.wait_closed()
    assert await answers(held.folder, b'{"type":"pause"}\n') == [{"ok": True}]


async def test_root_may_speak_and_is_named(held: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_uid", lambda line: 0)
    await answers(held.folder, b'{"type":"add_steer","text":"Be brief"}\n')
    assert held.state.steers_in_force[0].by == "root"


async def test_the_note_says_who_runs_it_and_goes_with_the_end(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1))
    served = Serving(session)
    notes = []
    session.subscribe(lambda event: notes.append(noted_runner(session.folder)))
    await served.run()
    first = notes[0]
    assert first is not None
    assert (first.host, first.pid, first.login, first.detached) == (HOST, os.getpid(), WHO, False)
    assert {path.name for path in session.folder.iterdir()} == {"session.toml", "events.jsonl", ".lock"}


async def test_the_note_is_gone_before_another_can_run_the_session(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1))
    seen = []
    close = session._log.close

    def look() -> None:
        seen.append((is_locked(session.folder), (session.folder / RUNNER_FILE).exists()))
        close()

    session._log.close = look  # type: ignore[method-assign]
    await Serving(session).run()
    assert seen == [(True, False)]


async def test_detaching_is_noted(held: Session, open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session) as it:
        it.serving.detach()
        runner = noted_runner(session.folder)
        assert runner is not None
        assert runner.detached
        assert await answers(session.folder, b'{"type":"pause"}\n') == [{"ok": True}]


async def test_what_a_killed_runner_left_is_in_nobody_s_way(open_session: Open) -> None:
    session = open_session(make_plan(), HeldProvider())
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(session.folder / SOCKET_FILE))
    announce(session.folder, detached=True, address="/nowhere")
    async with running(session):
        await until(lambda: (note := noted_runner(session.folder)) and note.pid == os.getpid() and not note.detached)
        assert await answers(session.folder, b'{"type":"pause"}\n') == [{"ok": True}]


# ── one command from elsewhere ────────────────────────────────────────────────────────────────────────────────────────


async def test_telling_raises_what_the_runner_says_against_it(held: Session) -> None:
    with pytest.raises(UsageError, match="There is no idea 7"):
        await asyncio.to_thread(tell, held.folder, cmd.PinIdea(idea=7))


async def test_a_session_of_another_machine_names_it(open_session: Open) -> None:
    session = open_session(make_plan())
    note = session.folder / RUNNER_FILE
    announce(session.folder, detached=False, address="/nowhere")
    note.write_text(note.read_text().replace(HOST, "gpu07"))
    with pytest.raises(UnreachableError) as caught:
        tell(session.folder, cmd.Pause())
    assert caught.value.message == (
        f"It runs on gpu07: log in there to command it; `jagstorm watch {session.folder.name}` works from here"
    )
    session._log.close()


async def test_a_session_that_nobody_runs_can_t_be_told(open_session: Open) -> None:
    session = open_session(make_plan())
    session._log.close()
    with pytest.raises(UnreachableError, match="Nobody runs"):
        tell(session.folder, cmd.Pause())


@pytest.mark.parametrize(
    "content", ["", "{}", "\x00\xff", '{"host":1}', "[" * 100_000, '{"host":"a","pid":-1,"login":""}']
)
def test_a_note_that_can_t_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / RUNNER_FILE).write_text(content)
    assert noted_runner(tmp_path) is None


def test_the_name_is_the_one_of_the_login() -> None:
    assert login_name(os.getuid()) == getpass.getuser()
    assert login_name(2**31 - 5) == str(2**31 - 5)


@pytest.mark.parametrize("name", [YOU, POLICY, TROUBLE, STORAGE, OWN_FIRST, signal.SIGTERM.name, signal.SIGHUP.name])
def test_nobody_who_logs_in_is_taken_for_the_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    me = list(pwd.getpwuid(os.getuid()))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: pwd.struct_passwd([name, *me[1:]]))
    assert login_name(os.getuid()) == f"{name} (login)"


# ── who does not read ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_follower_who_does_not_read_is_cut_off_and_the_session_goes_on(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_WAITING", 10_000)
    session = open_session(make_plan())
    served = Serving(session)
    run = asyncio.create_task(served.run())
    await until(lambda: noted_runner(session.folder) is not None)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(str(session.folder / SOCKET_FILE))
        deaf.sendall(b'{"type":"follow"}\n')
        await until(lambda: served._followers)
        follower = Follower(session)
        await until(lambda: not served._followers)
        await follower.next(ev.IdeaScored)
    session.send(cmd.Stop())
    await run
    assert session.state.ended is not None
