"""Sockets that cannot stand beside the log: too long a path, no sockets there, a session that moves."""

import asyncio
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import commands as cmd
from core import serving
from core.errors import StoreError
from core.serving import SOCKET_FILE
from core.speaking import UnreachableError, reach, tell
from core.store.log import EventLog
from core.store.runner import RUNNER_FILE, announce, login_name, noted_runner
from tests.conftest import Open, make_plan
from tests.scripted import HeldProvider
from tests.unit.served import running, until

WHO = login_name(os.getuid())


@pytest.fixture
def sessions() -> Iterator[Path]:
    """A folder whose path is short enough for a socket; pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def private(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private folders are made."""
    folder = sessions / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


async def test_the_private_folder_of_a_killed_runner_is_cleaned_up(open_session: Open, tmp_path: Path) -> None:
    session = open_session(make_plan(), HeldProvider())
    private = Path(tempfile.mkdtemp(prefix="jagstorm-"))
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(private / SOCKET_FILE))
    announce(session.folder, detached=True, address=str(private / SOCKET_FILE))
    note = session.folder / RUNNER_FILE
    note.write_text(note.read_text().replace(f'"pid":{os.getpid()}', f'"pid":{2**22 + 1}'))
    async with running(session):
        await until(lambda: (noted := noted_runner(session.folder)) and noted.pid == os.getpid())
        assert not private.exists()


async def test_a_path_too_long_for_a_socket_has_it_elsewhere(
    open_session: Open, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = sessions.joinpath(*["a folder with a long name"] * 8)
    from core.store import library

    create = library.create
    monkeypatch.setattr(library, "create", lambda _, plan: create(deep, plan))
    session = open_session(make_plan(), HeldProvider())
    async with running(session):
        runner = noted_runner(session.folder)
        assert runner is not None
        elsewhere = Path(runner.socket)
        assert not (session.folder / SOCKET_FILE).exists()
        assert stat.S_IMODE(elsewhere.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o600
        await asyncio.to_thread(tell, session.folder, cmd.Pause())
        assert session.state.paused
    assert not elsewhere.parent.exists()


async def test_a_file_system_without_sockets_has_it_elsewhere(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(make_plan(), HeldProvider())
    bind = serving._bind

    def refusing(bound: socket.socket, path: Path) -> None:
        if path.parent == session.folder.resolve():
            raise OSError(95, "Operation not supported")
        bind(bound, path)

    monkeypatch.setattr(serving, "_bind", refusing)
    async with running(session):
        await asyncio.to_thread(tell, session.folder, cmd.Pause())
        assert session.state.paused


async def test_without_any_socket_the_session_runs_and_says_why_it_can_t_be_reached(
    open_session: Open, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(bound: socket.socket, path: Path) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(serving, "_bind", refusing)
    session = open_session(make_plan(), HeldProvider())
    async with running(session) as it:
        assert list(private.iterdir()) == []
        with pytest.raises(UnreachableError, match=r"no socket .*Operation not supported.*jagstorm watch"):
            reach(session.folder)
        it.serving.detach()
        note = noted_runner(session.folder)
        assert note is not None
        assert note.trouble
    assert noted_runner(session.folder) is None


async def test_a_session_saved_elsewhere_is_found_there(open_session: Open, tmp_path: Path) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session):
        before = session.folder
        session.send(cmd.SaveElsewhere(folder=str(tmp_path / "other")))
        assert session.folder != before
        await until(lambda: noted_runner(session.folder) is not None)
        assert noted_runner(before) is None
        await asyncio.to_thread(tell, session.folder, cmd.Pause())
        assert session.state.paused


async def test_one_that_moves_amid_trouble_has_one_socket_at_a_time_and_none_in_the_end(
    open_session: Open, private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(make_plan(), HeldProvider())

    def full(log: EventLog) -> None:
        raise StoreError("The disk is full")

    async with running(session):
        with monkeypatch.context() as patched:
            patched.setattr(EventLog, "flush", full)
            session.send(cmd.AddIdea(text="Not on the disk yet."))
        for name in ("a" * 120, "b" * 120):  # too long for a socket
            before = session.folder
            session.send(cmd.SaveElsewhere(folder=str(tmp_path / name)))
            assert session.folder != before
        await until(lambda: noted_runner(session.folder) is not None)
        note = noted_runner(session.folder)
        assert note is not None
        assert [folder / SOCKET_FILE for folder in private.iterdir()] == [Path(note.socket)]
        await asyncio.to_thread(tell, session.folder, cmd.Pause())
        assert session.state.paused
    assert list(private.iterdir()) == []


@pytest.mark.parametrize("turns", range(6))
async def test_one_that_ends_as_it_moves_leaves_no_socket(
    open_session: Open, private: Path, tmp_path: Path, turns: int
) -> None:
    session = open_session(make_plan(), HeldProvider())
    async with running(session) as it:
        session.send(cmd.Stop())
        for _ in range(turns):
            await asyncio.sleep(0)
        session.send(cmd.SaveElsewhere(folder=str(tmp_path / ("a" * 120))))
        await it.run
    assert list(private.iterdir()) == []
    assert noted_runner(session.folder) is None
