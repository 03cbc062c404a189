"""Who runs a session: a note in its folder, there for as long as the runner lives, or longer if it is killed.

Only the log's lock (`core.store.log.is_locked`) tells whether a session is run; the note says by whom, and where to
reach them.
"""

import os
import pwd
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from core.events.course import OWN_FIRST, STORAGE, TROUBLE
from core.files import read_file, write_private
from core.levers import POLICY
from core.models import YOU
from core.text import clean_all, clean_line

RUNNER_FILE = "runner.json"

HOST = clean_line(os.uname().nodename, 255)
"""What this machine is called."""

NO_LOGINS = frozenset({YOU, POLICY, STORAGE, TROUBLE, OWN_FIRST})
"""Whom a log names as doers who are nobody's login; names of signals (`SIG...`) are others."""


class Runner(Struct, frozen=True, kw_only=True):
    """The process that runs a session."""

    host: str
    pid: Annotated[int, Meta(gt=0, lt=2**31)]
    login: str
    detached: bool = False
    """Whether it has no terminal."""
    socket: str = ""
    """The path of its socket; "" if it has none."""
    trouble: str = ""
    """Why it has none."""

    @property
    def here(self) -> bool:
        """Whether it is on this machine."""
        return self.host == HOST

    @property
    def gone(self) -> bool:
        """Whether that process is no more."""
        if not self.here:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False  # somebody else's
        return False


def login_name(uid: int) -> str:
    """What the user of that number is called when they log in; the number itself where nobody knows.

    Who is called like one of those that are nobody's login is told from them: `policy (login)`.
    """
    try:
        name = clean_line(pwd.getpwuid(uid).pw_name, 80)
    except KeyError:
        return str(uid)
    return f"{name} (login)" if name in NO_LOGINS or name.startswith("SIG") else name


def announce(folder: Path, *, detached: bool, address: str = "", trouble: str = "") -> None:
    """Note that this process runs the session, with its socket at `address`. Raises OSError."""
    login = login_name(os.getuid())
    runner = Runner(host=HOST, pid=os.getpid(), login=login, detached=detached, socket=address, trouble=trouble)
    write_private(folder / RUNNER_FILE, msgspec.json.encode(runner).decode() + "\n")


def withdraw(folder: Path) -> None:
    """Take the note away."""
    try:
        (folder / RUNNER_FILE).unlink(missing_ok=True)
    except OSError:
        pass  # the folder is gone or closed to us; without the lock nobody believes what stays


def noted_runner(folder: Path) -> Runner | None:
    """Who ran the session last, as the note says; None if there is none that can be read."""
    try:
        content = clean_all(msgspec.json.decode(read_file(folder / RUNNER_FILE)))
        return msgspec.convert(content, Runner)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
