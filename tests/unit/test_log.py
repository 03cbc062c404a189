"""`events.jsonl` as it is written, cut, damaged, and taken up again."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import events as ev
from core.errors import SessionBusyError, SessionUnreadableError, StoreError
from core.lines import encode
from core.store.log import EventLog, is_locked, read_log

HISTORY: tuple[ev.Event, ...] = (
    ev.SessionStarted(seq=0, version="0.1.0"),
    ev.QuestionStarted(seq=1, question="q", text="Propose a way to hear 日本語 👩‍🔬 in ice.", domain="Own"),
    ev.StepStarted(seq=2, question="q", step=1, members=("anna",)),
    ev.IdeaAdded(seq=3, question="q", idea=1, step=1, text="Tap it.\nListen.\tWait.", author="anna"),
    ev.IdeaScored(seq=4, question="q", idea=1, embedding_novelty=1.0, verdict="passed"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "session"
    path.mkdir()
    return path


@pytest.fixture
def recorded(folder: Path) -> Path:
    """A session of five events, closed."""
    log = EventLog.create(folder)
    for event in HISTORY:
        log.append(event)
    log.close()
    return folder


def lines_of(folder: Path) -> bytes:
    return (folder / "events.jsonl").read_bytes()


def go_on(folder: Path, *events: ev.Event) -> None:
    """Take the log up again and add to it."""
    log, _ = EventLog.reopen(folder)
    for event in events:
        log.append(event)
    log.close()


def test_what_was_appended_is_read_back(recorded: Path) -> None:
    record = read_log(recorded)
    assert record.events == HISTORY
    assert record.problems == ()
    assert lines_of(recorded) == b"".join(encode(event) + b"\n" for event in HISTORY)


def test_an_event_is_in_the_file_when_append_returns(folder: Path) -> None:
    log = EventLog.create(folder)
    for count, event in enumerate(HISTORY, 1):
        log.append(event)
        assert read_log(folder).events == HISTORY[:count]
        assert log.backlog == 0
    log.close()


def test_a_log_is_taken_up_again_where_it_ended(recorded: Path) -> None:
    before = lines_of(recorded)
    log, record = EventLog.reopen(recorded)
    assert record.events == HISTORY
    log.append(ev.Notice(seq=5, text="again"))
    log.close()
    assert lines_of(recorded) == before + encode(ev.Notice(seq=5, text="again")) + b"\n"


def test_an_empty_log_is_a_session_that_has_not_begun(folder: Path) -> None:
    EventLog.create(folder).close()
    assert lines_of(folder) == b""
    record = read_log(folder)
    assert (record.events, record.problems) == ((), ())
    go_on(folder, *HISTORY)
    assert read_log(folder).events == HISTORY


def test_a_log_is_never_made_over_another(recorded: Path) -> None:
    with pytest.raises(OSError, match="exists"):
        EventLog.create(recorded)
    assert read_log(recorded).events == HISTORY


def test_only_its_owner_can_read_it(recorded: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in recorded.iterdir()}
    assert modes["events.jsonl"] == 0o600
    assert set(modes.values()) == {0o600}


# ── cut and damaged ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_cut_at_any_byte_every_whole_event_is_there_and_nothing_else(recorded: Path) -> None:
    whole = lines_of(recorded)
    for cut in range(len(whole) + 1):
        (recorded / "events.jsonl").write_bytes(whole[:cut])
        record = read_log(recorded)
        # A line whose newline alone is missing is whole.
        count = (whole[:cut] + b"\n" if whole[cut : cut + 1] == b"\n" else whole[:cut]).count(b"\n")
        torn = cut > 0 and whole[cut - 1 : cut] != b"\n" and whole[cut : cut + 1] != b"\n"
        assert record.events == HISTORY[:count], cut
        assert record.problems == (
            (f"events.jsonl, line {count + 1} was cut off as it was written and is dropped",) if torn else ()
        ), cut


def test_cut_at_any_byte_the_log_goes_on_as_if_the_torn_line_had_never_begun(recorded: Path) -> None:
    whole = lines_of(recorded)
    added = ev.Notice(seq=9, text="after the cut")
    for cut in range(len(whole) + 1):
        (recorded / "events.jsonl").write_bytes(whole[:cut])
        kept = read_log(recorded).events
        go_on(recorded, added)
        record = read_log(recorded)
        assert record.events == (*kept, added), cut
        assert record.problems == (), cut
        assert lines_of(recorded) == b"".join(encode(event) + b"\n" for event in record.events), cut


@pytest.mark.parametrize("rubbish", [b"\x00" * 4096, b"{", b"\xff\xfe\x00", b'{"type":"notice","text":"\xf0\x9f'])
def test_a_tail_of_rubbish_is_a_torn_line(recorded: Path, rubbish: bytes) -> None:
    before = lines_of(recorded)
    (recorded / "events.jsonl").write_bytes(before + rubbish)
    assert read_log(recorded).events == HISTORY
    go_on(recorded)
    assert lines_of(recorded) == before


@pytest.mark.parametrize(
    "damage",
    [b"\x00\x00", b"{}", b'{"type":"idea_added"}', b"\xff", b"[" * 100_000, b"rubbish"],
    ids=["zeros", "no type", "no fields", "not UTF-8", "depth", "rubbish"],
)
def test_a_damaged_line_is_named_skipped_and_never_rewritten(recorded: Path, damage: bytes) -> None:
    lines = lines_of(recorded).splitlines(keepends=True)
    lines[2] = damage + b"\n"
    before = b"".join(lines)
    (recorded / "events.jsonl").write_bytes(before)
    record = read_log(recorded)
    assert record.events == HISTORY[:2] + HISTORY[3:]
    [problem] = record.problems
    assert problem.startswith("events.jsonl, line 3 is damaged and skipped: ")
    go_on(recorded, HISTORY[0])
    assert lines_of(recorded) == before + encode(HISTORY[0]) + b"\n"


def test_a_damaged_last_line_that_is_whole_stays_too(recorded: Path) -> None:
    before = lines_of(recorded) + b"rubbish\n"
    (recorded / "events.jsonl").write_bytes(before)
    assert read_log(recorded).problems[0].startswith("events.jsonl, line 6 is damaged")
    go_on(recorded)
    assert lines_of(recorded) == before


def test_blank_lines_and_another_systems_line_ends_do_no_harm(recorded: Path) -> None:
    (recorded / "events.jsonl").write_bytes(b"\n" + lines_of(recorded).replace(b"\n", b"\r\n") + b"  \n")
    record = read_log(recorded)
    assert record.events == HISTORY
    assert record.problems == ()


@given(st.lists(st.one_of(st.binary(max_size=30), st.sampled_from([encode(event) for event in HISTORY]))))
def test_whatever_the_file_holds_good_lines_are_found(lines: list[bytes]) -> None:
    good = [line for line in lines if line in [encode(event) for event in HISTORY]]
    with TemporaryDirectory() as name:
        content = b"\n".join(lines) + b"\n"
        (Path(name) / "events.jsonl").write_bytes(content)
        record = read_log(Path(name))
        assert [encode(event) for event in record.events if event in HISTORY] == good
        go_on(Path(name), HISTORY[-1])
        assert (Path(name) / "events.jsonl").read_bytes() == content + encode(HISTORY[-1]) + b"\n"


def test_a_folder_without_a_log(folder: Path) -> None:
    with pytest.raises(SessionUnreadableError, match=r"events\.jsonl can't be read: No such file"):
        read_log(folder)
    with pytest.raises(SessionUnreadableError):
        EventLog.reopen(folder)
    assert not is_locked(folder)


def test_a_log_that_is_a_folder(folder: Path) -> None:
    (folder / "events.jsonl").mkdir()
    with pytest.raises(SessionUnreadableError, match="Is a directory"):
        read_log(folder)


# ── one writer ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_writer_is_refused_until_the_first_is_done(folder: Path) -> None:
    log = EventLog.create(folder)
    log.append(HISTORY[0])
    assert is_locked(folder)
    with pytest.raises(SessionBusyError, match="Another jagstorm is writing session"):
        EventLog.reopen(folder)
    assert read_log(folder).events == HISTORY[:1], "reading is always allowed"
    log.close()
    assert not is_locked(folder)
    go_on(folder, HISTORY[1])


def test_a_log_that_could_not_be_taken_up_is_not_held(recorded: Path) -> None:
    (recorded / "events.jsonl").rename(recorded / "elsewhere")
    with pytest.raises(SessionUnreadableError):
        EventLog.reopen(recorded)
    assert not is_locked(recorded)


def test_a_place_where_no_lock_can_be_made_is_said_to_be_unwritable(recorded: Path) -> None:
    (recorded / ".lock").unlink(missing_ok=True)
    (recorded / ".lock").mkdir()
    with pytest.raises(StoreError, match=r"session can't be written: "):
        EventLog.reopen(recorded)


def test_asking_whether_it_is_written_makes_no_file(folder: Path) -> None:
    assert not is_locked(folder)
    assert list(folder.iterdir()) == []


def test_after_closing_nothing_goes_to_a_file_that_took_its_number(recorded: Path, tmp_path: Path) -> None:
    log, _ = EventLog.reopen(recorded)
    number = log._fd
    log.close()
    with ExitStack() as files:
        innocent = [files.enter_context((tmp_path / f"innocent-{place}").open("wb")) for place in range(5)]
        assert number in [file.fileno() for file in innocent]
        with pytest.raises(StoreError):
            log.append(HISTORY[0])
    assert [path.read_bytes() for path in tmp_path.glob("innocent-*")] == [b""] * 5


def test_looking_whether_it_is_written_keeps_nobody_from_writing_it(recorded: Path) -> None:
    """Somebody lists sessions over and over while others are taken up again."""
    done = threading.Event()
    looks = 0

    def look() -> None:
        nonlocal looks
        while not done.is_set():
            is_locked(recorded)
            looks += 1

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(200):
            log, record = EventLog.reopen(recorded)
            assert is_locked(recorded)
            log.close()
            assert record.events == HISTORY
    finally:
        done.set()
        for looker in lookers:
            looker.join()
    assert looks > 200


def test_two_who_look_at_once_do_not_see_each_other(recorded: Path) -> None:
    fd = os.open(recorded / ".lock", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    assert not is_locked(recorded)
    os.close(fd)


def test_another_process_sees_that_it_is_written(recorded: Path) -> None:
    code = f"from pathlib import Path; from core.store.log import is_locked; print(is_locked(Path({str(recorded)!r})))"

    def seen_from_outside() -> str:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    log, _ = EventLog.reopen(recorded)
    assert seen_from_outside() == "True"
    log.close()
    assert seen_from_outside() == "False"


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def refuse(*_: object) -> int:
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("call", ["ftruncate", "open"])
def test_a_log_that_can_not_be_taken_up_leaves_no_file_open(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    EventLog.reopen(recorded)[0].close()
    before = open_files()
    real = os.open

    def refuse_the_log(path: Path, *rest: int) -> int:
        to_write = Path(path).name == "events.jsonl" and rest[0] & os.O_RDWR
        return refuse() if to_write else real(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse if call == "ftruncate" else refuse_the_log)
        with pytest.raises(StoreError, match="can't be written: Input/output error"):
            EventLog.reopen(recorded)
    assert open_files() == before
    assert not is_locked(recorded)
    go_on(recorded)


def test_a_log_that_can_not_be_made_or_moved_to_holds_nothing(recorded: Path, tmp_path: Path) -> None:
    before = open_files()
    with pytest.raises(FileExistsError):
        EventLog.create(recorded)
    assert (open_files(), is_locked(recorded)) == (before, False)
    (tmp_path / "other").mkdir()
    other = EventLog.create(tmp_path / "other")
    before = open_files()
    with pytest.raises(StoreError, match="File exists"):
        other.move(recorded)
    assert (open_files(), is_locked(recorded), is_locked(tmp_path / "other")) == (before, False, True)
    other.close()
