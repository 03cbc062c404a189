"""What goes over the socket of a running session, and one command said over it.

A line to the runner is a command as JSON, or `{"type": "follow"}`; each is answered by one line: `{"ok": true}`, with
`"unsaved": "why"` while nothing can be written, or `{"error": "why not"}`. Who follows is sent every event from then
on, a line each, those that are not stored too.
"""

import socket
from pathlib import Path
from time import monotonic, sleep

import msgspec
from msgspec import Struct

from core.commands import AnyCommand
from core.errors import UsageError
from core.store.log import is_locked
from core.store.runner import Runner, noted_runner
from core.text import clean_all, clean_line, shown

LONGEST_LINE = 1_000_000
"""Bytes of a line to the runner."""

ANSWER_SECONDS = 10.0
"""How long an answer may take: a runner obeys within a millisecond, if it is not held."""

NOTE_SECONDS = 1.0
"""How long a session may be locked by somebody who has not said yet who they are."""


class Follow(Struct, frozen=True, tag_field="type", tag="follow"):
    """Send every event from now on."""


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    ok: bool = False
    error: str = ""
    """Why it can't be obeyed, in one line."""
    unsaved: str = ""
    """Why it is obeyed and not written; "" where it is."""
    seq: int | None = None
    """To who follows: the number of the newest event in the log."""
    t: float | None = None
    """To who follows: the session's seconds."""


class UnreachableError(UsageError):
    """A session is run where its runner can't be told anything."""

    title = "The session can't be reached"


_decoder = msgspec.json.Decoder()


def encode_line(said: AnyCommand | Follow | Answer) -> bytes:
    """A line of JSON, with its newline."""
    return msgspec.json.encode(clean_all(msgspec.to_builtins(said))) + b"\n"


def read_line(line: bytes) -> AnyCommand | Follow:
    """What a line to the runner says, its texts clean. Raises `UsageError` for one that says nothing."""
    try:
        asked: AnyCommand | Follow = msgspec.convert(clean_all(_decoder.decode(line)), AnyCommand | Follow)
    except UnicodeDecodeError as error:
        raise UsageError(f"This is no command: it is not UTF-8 text ({error.reason})") from None
    except RecursionError:
        raise UsageError("This is no command: it is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise UsageError(f"This is no command: {clean_line(str(error), 200)}") from None
    return asked


def read_answer(line: bytes) -> Answer:
    """What the runner answered. Raises `UnreachableError` for a line that is none of ours, or half of one."""
    try:
        return msgspec.json.decode(line, type=Answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise UnreachableError("The session's runner has gone, or it is no jagstorm of this version") from None


def reach(folder: Path) -> Runner:
    """Who runs the session in `folder`, with a socket that can be reached from here.

    Raises `UnreachableError`, which says where it is run, or that nobody runs it.
    """
    deadline = monotonic() + NOTE_SECONDS
    while is_locked(folder):
        runner = noted_runner(folder)
        if (runner is None or runner.gone) and monotonic() < deadline:
            sleep(0.02)  # another one has only just begun
            continue
        return _reachable(folder, runner)
    raise UnreachableError(f"Nobody runs {shown(folder.name)}")


def is_reachable(folder: Path) -> bool:
    """Whether somebody runs the session in `folder` who can be reached from here."""
    try:
        reach(folder)
    except UnreachableError:
        return False
    return True


def _reachable(folder: Path, runner: Runner | None) -> Runner:
    look = f"`jagstorm watch {shown(folder.name)}` works from here"
    if runner is None:
        raise UnreachableError(f"Another jagstorm writes {shown(folder.name)} and has not said who it is; {look}")
    if not runner.here:
        raise UnreachableError(f"It runs on {runner.host}: log in there to command it; {look}")
    if not runner.socket:
        raise UnreachableError(f"It has no socket to be reached by ({runner.trouble}); {look}")
    return runner


def tell(folder: Path, command: AnyCommand) -> Answer:
    """Have the runner of the session in `folder` obey a command; by the time it answers, the log says what came of it.

    Raises `UsageError` with the reason where it can't be obeyed, `UnreachableError` where nobody can be told.
    """
    runner = reach(folder)
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(ANSWER_SECONDS)
            line.connect(runner.socket)
            line.sendall(encode_line(command))
            with line.makefile("rb") as lines:
                answer = read_answer(lines.readline(LONGEST_LINE))
    except OSError as error:
        raise unreachable(runner, error) from None
    if not answer.ok:
        raise UsageError(answer.error)
    return answer


def unreachable(runner: Runner, error: OSError) -> UnreachableError:
    """Why a socket that is there can't be spoken to."""
    if isinstance(error, PermissionError):
        return UnreachableError(f"Only {runner.login} can command this session; `jagstorm watch` shows it")
    why = "it does not answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
    return UnreachableError(f"The process {runner.pid}, which runs the session, can't be reached: {clean_line(why)}")
