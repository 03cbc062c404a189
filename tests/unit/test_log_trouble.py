"""A log that can't be written: what waits stays in order and to the byte, and goes out once it can."""

import os
import resource
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core import events as ev
from core.errors import StoreError
from core.lines import encode
from core.store import library
from core.store.log import EventLog, is_locked, read_log
from tests.conftest import make_plan

IDEAS = [
    ev.IdeaAdded(seq=number, question="q", idea=number, step=number, text=f"Idea {number} 日本語", author="anna")
    for number in range(1, 8)
]
LINES = b"".join(encode(idea) + b"\n" for idea in IDEAS)


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file can grow beyond `size` bytes: the system itself writes in part, then refuses, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    folder = tmp_path / "session"
    folder.mkdir()
    log = EventLog.create(folder)
    yield log
    try:
        log.close()
    except (OSError, StoreError):
        pass  # the test closed it, or left it unwritable on purpose


def lines_of(log: EventLog) -> bytes:
    return (log.folder / "events.jsonl").read_bytes()


def append_all(log: EventLog) -> int:
    """Append every idea; how many could not be written at once."""
    failed = 0
    for idea in IDEAS:
        try:
            log.append(idea)
        except StoreError:
            failed += 1
    return failed


@pytest.mark.parametrize("room", [0, 1, 100, len(LINES) // 2, len(LINES) - 1])
def test_on_a_full_disk_what_is_missing_waits_to_the_byte(log: EventLog, room: int) -> None:
    with room_for(room):
        assert append_all(log) > 0
        assert lines_of(log) == LINES[:room]
        assert log.backlog == len(LINES) - room
        with pytest.raises(StoreError, match=r"session can't be written: File too large"):
            log.flush()
    log.flush()
    assert log.backlog == 0
    assert lines_of(log) == LINES


def test_room_that_comes_back_little_by_little(log: EventLog) -> None:
    with room_for(10):
        append_all(log)
    for room in range(11, len(LINES), 37):
        with room_for(room), pytest.raises(StoreError):
            log.flush()
        assert lines_of(log) == LINES[:room]
    log.append(IDEAS[0])
    assert lines_of(log) == LINES + encode(IDEAS[0]) + b"\n"


def test_what_never_got_out_is_told_when_closing(log: EventLog) -> None:
    with room_for(len(encode(IDEAS[0])) + 40):
        append_all(log)
        with pytest.raises(StoreError):
            log.close()
    assert not is_locked(log.folder)
    assert read_log(log.folder).events == (IDEAS[0],), "what is torn is dropped when read"


def test_a_device_that_is_full(log: EventLog) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, log._fd)
    os.close(full)
    with pytest.raises(StoreError, match="No space left on device"):
        log.append(IDEAS[0])
    assert log.backlog == len(encode(IDEAS[0])) + 1


def test_a_folder_that_is_deleted_is_noticed_at_the_next_event(log: EventLog) -> None:
    log.append(IDEAS[0])
    shutil.rmtree(log.folder)
    with pytest.raises(StoreError, match=r"folder is gone: .*/session"):
        log.append(IDEAS[1])
    assert log.backlog > 0


def test_a_folder_that_is_renamed_is_written_all_the_same(log: EventLog, tmp_path: Path) -> None:
    log.append(IDEAS[0])
    log.folder.rename(tmp_path / "renamed")
    log.append(IDEAS[1])
    assert read_log(tmp_path / "renamed").events == tuple(IDEAS[:2])


# ── going on elsewhere ────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_goes_on_elsewhere_with_all_that_was_and_what_waits(log: EventLog, tmp_path: Path) -> None:
    with room_for(200):
        append_all(log)
    before = lines_of(log)
    old = log.folder
    new = tmp_path / "new"
    new.mkdir()
    log.move(new)
    assert log.folder == new
    assert lines_of(log) == LINES
    assert (log.backlog, is_locked(new), is_locked(old)) == (0, True, False)
    assert (old / "events.jsonl").read_bytes() == before
    log.append(IDEAS[0])
    assert lines_of(log) == LINES + encode(IDEAS[0]) + b"\n"


def test_a_deleted_folder_is_no_loss_when_it_goes_on_elsewhere(log: EventLog, tmp_path: Path) -> None:
    for idea in IDEAS[:4]:
        log.append(idea)
    shutil.rmtree(log.folder)
    with pytest.raises(StoreError):
        log.append(IDEAS[4])
    (tmp_path / "new").mkdir()
    log.move(tmp_path / "new")
    assert read_log(tmp_path / "new").events == tuple(IDEAS[:5])


def test_a_whole_session_goes_on_under_another_folder(tmp_path: Path) -> None:
    plan = make_plan()
    log = library.create(tmp_path / "full", plan)
    append_all(log)
    library.move(log, plan, str(tmp_path / "with" / "room"))
    log.close()
    assert log.folder == tmp_path / "with" / "room" / plan.id
    assert library.load(log.folder).plan == plan
    assert library.load(log.folder).record.events == tuple(IDEAS)
    assert stat.S_IMODE(log.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in log.folder.iterdir()} == {0o600}


def test_a_move_that_fails_leaves_all_as_it_was_and_can_be_tried_again(tmp_path: Path) -> None:
    plan = make_plan()
    log = library.create(tmp_path / "here", plan)
    append_all(log)
    here = log.folder
    with room_for(len(LINES) - 1), pytest.raises(StoreError, match="can't be written"):
        library.move(log, plan, str(tmp_path / "there"))
    assert log.folder == here
    assert is_locked(here)
    assert list((tmp_path / "there").iterdir()) == [], "half a copy would look like a session"
    log.append(IDEAS[0])
    library.move(log, plan, str(tmp_path / "there"))
    log.close()
    assert read_log(tmp_path / "there" / plan.id).events == (*IDEAS, IDEAS[0])


def test_a_file_stands_where_it_should_go_on(tmp_path: Path) -> None:
    plan = make_plan()
    log = library.create(tmp_path / "here", plan)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file can't be written either: "):
        library.move(log, plan, str(tmp_path / "file"))
    log.append(IDEAS[0])
    log.close()


def test_a_move_to_where_it_is_already_changes_nothing(tmp_path: Path) -> None:
    plan = make_plan()
    log = library.create(tmp_path / "here", plan)
    append_all(log)
    with pytest.raises(StoreError, match="File exists"):
        library.move(log, plan, str(tmp_path / "here"))
    assert read_log(log.folder).events == tuple(IDEAS)
    log.close()
