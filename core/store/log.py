"""`events.jsonl`: one event a line, appended, never rewritten."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from core.errors import SessionBusyError, SessionUnreadableError, StoreError
from core.events import Event, decode, encode

if TYPE_CHECKING:
    from filelock import FileLock

EVENTS_FILE = "events.jsonl"
LOCK_FILE = ".lock"


class Record(Struct, frozen=True):
    """What a log holds."""

    events: tuple[Event, ...]
    problems: tuple[str, ...]
    """Lines that could not be read, and why; none of them is ever rewritten."""
    size: int
    """Bytes up to the end of the last whole event."""
    open_ended: bool
    """Whether that event's newline is missing."""


def read_log(folder: Path) -> Record:
    """The events of a session's log. A torn last line is dropped, damaged lines are skipped; `problems` tells of both.

    Raises `SessionUnreadableError` if there is no log or it can't be read.
    """
    path = folder / EVENTS_FILE
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SessionUnreadableError(f"{path} can't be read: {error.strerror or error}") from None
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
        lock = _lock(folder)
        return cls(folder, _new_file(folder), lock)

    @classmethod
    def reopen(cls, folder: Path) -> tuple["EventLog", Record]:
        """The log of an earlier session, to go on with, and what it holds. A torn last line is cut away.

        Raises `SessionBusyError` if another process writes it, `SessionUnreadableError`, `StoreError`.
        """
        try:
            lock = _lock(folder)
        except OSError as error:
            raise _unwritable(folder, error) from None
        try:
            record = read_log(folder)
            fd = os.open(folder / EVENTS_FILE, os.O_RDWR | os.O_APPEND)
            os.ftruncate(fd, record.size)
        except OSError as error:
            lock.release()
            raise _unwritable(folder, error) from None
        except SessionUnreadableError:
            lock.release()
            raise
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
        self._backlog += encode(event) + b"\n"
        self.flush()

    def flush(self) -> None:
        """Write what waits. Raises `StoreError` if it can't be written."""
        try:
            if not os.fstat(self._fd).st_nlink:
                raise StoreError(f"The session's folder is gone: {self.folder}")
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
            lock = _lock(folder)
            fd = _new_file(folder)
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
    """Whether a process writes this session right now. Never makes a file."""
    path = folder / LOCK_FILE
    if not path.exists():
        return False
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:  # somebody else's folder, open to us for reading only: nobody can tell
        return False
    lock.release()
    return False


def _new_file(folder: Path) -> int:
    return os.open(folder / EVENTS_FILE, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"{folder} can't be written: {error.strerror or error}")


def _lock(folder: Path) -> "FileLock":
    """Raises `SessionBusyError`, or OSError where no lock can be made."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK_FILE, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SessionBusyError(
            f"Another jagstorm is writing {folder.name}: stop that one first, or look at it with `jagstorm show`"
        ) from None
    return lock
