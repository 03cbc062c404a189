"""A process that goes on without its terminal."""

import os
import signal
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

LOG_FILE = "detached.log"
"""Where in a session's folder goes what would have been printed, tracebacks too."""

Leave = Callable[[Path], None]
"""Goes on without a terminal; what is printed from then on goes into that folder."""


def on_terminal() -> bool:
    """Whether this process was begun on a terminal, one that may be gone by now."""
    return any(_is_terminal(fd) for fd in range(3))


def let_go(folder: Path) -> None:
    """Go on without the terminal; nothing that becomes of it is heard of any more. Pipes and files stay."""
    _go_on_without(filter(_is_terminal, range(3)), folder)


def let_all_go(folder: Path) -> None:
    """The same without whatever this process was begun with: whoever waits for the end of a pipe waits no longer."""
    _go_on_without(range(3), folder)


def _go_on_without(fds: Iterable[int], folder: Path) -> None:
    try:
        os.setsid()
    except PermissionError:
        pass  # a shell made us the first of our group: then we stay in its session, and ignore the end of that
    for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGTTIN, signal.SIGTTOU, signal.SIGWINCH):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    null, log = os.open(os.devnull, os.O_RDWR), _log(folder)
    for fd in fds:
        os.dup2(log if fd else null, fd)
    os.close(null)
    os.close(log)


def _log(folder: Path) -> int:
    try:
        return os.open(folder / LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _is_terminal(fd: int) -> bool:
    """Also of one that was hung up, which the system takes for a terminal no more."""
    try:
        about = os.fstat(fd)
    except OSError:  # it is closed
        return False
    return stat.S_ISCHR(about.st_mode) and about.st_rdev != os.stat(os.devnull).st_rdev
