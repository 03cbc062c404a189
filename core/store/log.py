"""`events.jsonl`: one event a line, appended, never rewritten."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from core.errors import SessionBusyError, SessionUnreadableError, StoreError
from core.events import Event
from core.files import read_file
from core.lines import EVENTS_FILE, decode, encode
from core.text import shown

if TYPE_CHECKING:
    from filelock import FileLock

LOCK_FILE = ".lock"

LOCK_SECONDS = 0.5
"""How long a writer waits for the lock: whoever only looks whether it is held (`is_locked`) is gone long before."""


class Record(Struct, frozen=True):
    """What a log holds."""

    events: tuple[Event, ...]
    problems: tuple[str, ...]
    """Lines that could not be read, and why; none of them is ever rewritten."""
    size: int
    """Bytes up to the end of the last whole event."""
    open_ended: bool
    """Whether that event's newline is missing."""

    @property
    def problems_in_brief(self) -> tuple[str, ...]:
        """One line for all of `problems`, none if there are none: the first, and how many more."""
        if len(self.problems) < 2:
            return self.problems
        return (f"{self.problems[0]} (and {len(self.problems) - 1} more like it)",)


def read_log(folder: Path) -> Record:
    """The events of a session's log. A torn last line is dropped, damaged lines are skipped; `problems` tells of both.

    Raises `SessionUnreadableError` if there is no log or it can't be read.
    """
    path = folder / EVENTS_FILE
    try:
        content = read_file(path)
    except OSError as error:
        raise SessionUnreadableError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    events: list[Event] = []
    problems: list[str] = []
    *whole, last = content.split(b"\n")
    for number, line in enumerate(whole, start=1):
        if line.strip():
            try:
                events.append(decode(line))
            except msgspec.DecodeError as error:
                problems.append(f"{EVENTS_FILE}, line {number} is damaged and skipped: {error}")
    if not last:
        return Record(tuple(events), tuple(problems), len(content), open_ended=False)
    try:
        events.append(decode(last))
    except msgspec.DecodeError:
        problems.append(f"{EVENTS_FILE}, line {len(whole) + 1} was cut off as it was written and is dropped")
        return Record(tuple(events), tuple(problems), len(content) - len(last), open_ended=False)
    return Record(tuple(events), tuple(problems), len(content), open_ended=True)


class EventLog:
    """The one writer of a session's log.

    What could not be written stays in the backlog, in order and to the byte: nothing is lost while there is memory.
    """

    def __init__(self, folder: Path, fd: int, lock: "FileLock") -> None:
        self.folder = folder
        self._fd = fd
        self._lock = lock
        self._backlog = bytearray()

    @classmethod
    def create(cls, folder: Path) -> "EventLog":
        """A new, empty log. Raises OSError if it can't be made, or is there already."""
        fd, lock = _locked(folder, _new_file)
        return cls(folder, fd, lock)

    @classmethod
    def reopen(cls, folder: Path) -> tuple["EventLog", Record]:
        """The log of an earlier session, to go on with, and what it holds. A torn last line is cut away.

        Raises `SessionBusyError` if another process writes it, `SessionUnreadableError`, `StoreError`.
        """
        if not (folder / EVENTS_FILE).exists():  # nothing is made in a folder that is none of ours, not even a lock
            raise SessionUnreadableError(f"{shown(folder / EVENTS_FILE)} can't be read: it is not there")
        try:
            (fd, record), lock = _locked(folder, _cut)
        except OSError as error:
            raise _unwritable(folder, error) from None
        log = cls(folder, fd, lock)
        if record.open_ended:
            log._backlog += b"\n"
        return log, record

    @property
    def backlog(self) -> int:
        """Bytes that are not on disk yet."""
        return len(self._backlog)

    def append(self, event: Event) -> None:
        """Hand one event to the operating system. Raises `StoreError`; the event then waits in the backlog."""
        self.append_line(encode(event))

    def append_line(self, line: bytes) -> None:
        """As `append`, for one that has been encoded already."""
        self._backlog += line + b"\n"
        self.flush()

    def flush(self) -> None:
        """Write what waits. Raises `StoreError` if it can't be written."""
        try:
            if not os.fstat(self._fd).st_nlink:
                raise StoreError(f"The session's folder is gone: {shown(self.folder)}")
            while self._backlog:
                written = os.write(self._fd, self._backlog)
                del self._backlog[:written]
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def move(self, folder: Path) -> None:
        """Go on in `folder`, an empty one, with a copy of all that was written and what waits.

        Raises `StoreError`; the log is then where it was, and what there is of the copy may be deleted.
        """
        try:
            fd, lock = _locked(folder, _new_file)
        except OSError as error:
            raise _unwritable(folder, error) from None
        try:
            done = 0
            while piece := os.pread(self._fd, 1 << 20, done):
                done += os.write(fd, piece)
            waiting = bytes(self._backlog)
            while waiting:
                waiting = waiting[os.write(fd, waiting) :]
        except OSError as error:
            os.close(fd)
            lock.release()
            raise _unwritable(folder, error) from None
        self._let_go()
        self.folder, self._fd, self._lock = folder, fd, lock
        self._backlog.clear()

    def close(self) -> None:
        """Force what is written to the disk, and let others write. Raises `StoreError` if something still waits."""
        try:
            self.flush()
            os.fsync(self._fd)
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        finally:
            self._let_go()

    def _let_go(self) -> None:
        os.close(self._fd)
        self._fd = -1  # the number may soon be another file's
        self._lock.release()


def is_locked(folder: Path) -> bool:
    """Whether a process writes this session right now. Never makes a file, and never keeps another look from it."""
    try:
        fd = os.open(folder / LOCK_FILE, os.O_RDONLY)
    except OSError:  # there is none, or it is somebody else's, closed to us: nobody can tell
        return False
    try:
        # What filelock holds on Unix is an flock too; a shared one is refused as long as that is held.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(fd)
    return False


T = TypeVar("T")


def _locked(folder: Path, work: Callable[[Path], T]) -> tuple[T, "FileLock"]:
    """What `work` gives, done under the lock, which is then the caller's; if `work` fails, nobody holds it."""
    lock = _lock(folder)
    try:
        return work(folder), lock
    except BaseException:
        lock.release()
        raise


def _new_file(folder: Path) -> int:
    return os.open(folder / EVENTS_FILE, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)


def _cut(folder: Path) -> tuple[int, Record]:
    """The file of a log without its torn end, and what it holds. Raises OSError, `SessionUnreadableError`."""
    record = read_log(folder)
    fd = os.open(folder / EVENTS_FILE, os.O_RDWR | os.O_APPEND)
    try:
        os.ftruncate(fd, record.size)
    except OSError:
        os.close(fd)
        raise
    return fd, record


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"{shown(folder)} can't be written: {error.strerror or error}")


def _lock(folder: Path) -> "FileLock":
    """Raises `SessionBusyError`, or OSError where no lock can be made."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK_FILE, mode=0o600)
    try:
        lock.acquire(timeout=LOCK_SECONDS, poll_interval=0.01)
    except Timeout:
        name = shown(folder.name)
        raise SessionBusyError(
            f"Another jagstorm is writing {name}: stop that one first, or look at it with `jagstorm show`"
        ) from None
    return lock
