"""The app in a child process, so that a crash in native code leaves the terminal as it was.

The parent does nothing but wait: it passes signals on, stops and continues with the child, and cleans up if it dies.
When the child goes on without a terminal, the parent ends and leaves it alone.
"""

import gc
import os
import shlex
import signal
import sys
import termios
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

from core.errors import EXIT_INTERRUPTED, UsageError
from core.text import shown
from tui.detaching import Leave, let_all_go
from tui.signals import STOPPING, held_signals

if TYPE_CHECKING:
    from core.models import Budget
    from core.store.library import StoredSession
    from tui.app import JagstormApp

LEFT = signal.SIGUSR1
"""What the child sends when it has left the terminal."""

# Leave the alternate screen, show the cursor, end mouse reports, bracketed paste and the kitty keyboard protocol.
RESTORE = (
    "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l"
    "\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[<u\x1b[0m\r\n"
)


def run_app(
    sessions: str | None,
    question_files: tuple[str, ...],
    models: tuple[str, ...],
    config: str | None,
    own_first: float | None = None,
) -> int:
    """Open the app on its first screen; `own_first` minutes are for the person's own ideas. Returns the exit code.

    Raises `ModelUnavailableError` for a file that is no model, `UsageError` for a name that means nothing and for
    settings that can't be read.
    """
    from core.config import sessions_folder
    from core.planning import Wishes, team_for
    from core.surroundings import surroundings
    from core.teams.results import EarlierSessions

    settings = surroundings(config).settings
    earlier = EarlierSessions(sessions_folder(sessions))
    team = team_for(Wishes(models=models), settings, results=earlier) if models else None

    def start(leave: Leave) -> int:
        app = _app_class()(
            sessions, question_files, team=team, config=config, own_first=own_first, leave_terminal=leave
        )
        return app.launch()

    return _guarded(start, sessions)


def resume_in_app(
    session: str,
    sessions: str | None = None,
    max_ideas: int | None = None,
    budget: "Budget | None" = None,
    config: str | None = None,
) -> int:
    """Open the app on a session taken up again. Returns the exit code.

    Raises `UsageError` or another `JagstormError` before the app opens, if the session can't be resumed.
    """
    from core.store.library import check_unfinished

    stored = _stored(sessions, session)
    check_unfinished(stored.plan, stored.state(), max_ideas, budget)
    return _opened(
        lambda app: app.resume_session(stored.folder, max_ideas, budget, on_fault=app.leave_with), sessions, config
    )


def replay_in_app(sessions: str | None, session: str, speed: float) -> int:
    """Open the app on a recorded session. Returns the exit code.

    Raises `UsageError` or `SessionUnreadableError` before the app opens, if there is nothing to replay.
    """
    stored = _stored(sessions, session)
    return _opened(lambda app: app.open_replay(stored.folder, speed), sessions)


def attach_in_app(sessions: str | None, session: str) -> int:
    """Open the app on a session that another process runs. Returns the exit code.

    Raises `UsageError` or `SessionUnreadableError` before the app opens, if nobody runs it or it can't be reached.
    """
    from core.speaking import reach
    from tui.attaching import check_run

    stored = _stored(sessions, session)
    check_run(stored)
    reach(stored.folder)
    return _opened(lambda app: app.attach_session(stored.folder), sessions, back=f"attach {shlex.quote(session)}")


def watch_in_app(sessions: str | None, session: str) -> int:
    """Open the app on a session to look at. Returns the exit code.

    Raises `UsageError` or `SessionUnreadableError` before the app opens, if there is nothing to see.
    """
    stored = _stored(sessions, session)
    return _opened(lambda app: app.watch_session(stored.folder), sessions)


def _stored(sessions: str | None, session: str) -> "StoredSession":
    """The session that `session` means. Raises `UsageError`, `SessionUnreadableError`."""
    from core.config import sessions_folder
    from core.store.library import find, load

    return load(find(sessions_folder(sessions), session))


def apart(start: Callable[[Leave], int]) -> int:
    """Run `start` in a process that may leave the terminal, which ends this command. Returns the exit code."""

    def bury(name: str) -> None:
        sys.stderr.write(f"jagstorm: it died ({name}); what was seen is saved: jagstorm resume last\n")

    return _with_child(start, bury)


def _app_class() -> "type[JagstormApp]":
    gc.disable()  # there is nothing to collect while modules are imported; the app goes on after its first paint
    with held_signals():
        from tui.app import JagstormApp

    return JagstormApp


def _opened(
    first: "Callable[[JagstormApp], None]", sessions: str | None, config: str | None = None, back: str = "resume last"
) -> int:
    """The app, opened on what `first` opens; `back` is the command that goes there again, should it die."""

    def start(leave: Leave) -> int:
        return _app_class()(sessions, first=first, config=config, leave_terminal=leave).launch()

    return _guarded(start, sessions, back)


def _guarded(start: Callable[[Leave], int], sessions: str | None, back: str = "resume last") -> int:
    """The app in a child process, and the terminal as it was when that dies."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal; `jagstorm run` works without one")
    before = termios.tcgetattr(sys.stdin)

    def bury(name: str) -> None:
        _restore(before)
        where = f" --sessions {shlex.quote(shown(sessions))}" if sessions else ""
        sys.stderr.write(f"jagstorm: the app died ({name}); what was seen is saved: jagstorm {back}{where}\n")

    return _with_child(start, bury)


class _LeftError(Exception):
    """The child has left the terminal, and goes on without us."""


def _with_child(start: Callable[[Leave], int], bury: Callable[[str], None]) -> int:
    """Run `start` in a child process. Returns its exit code, or 0 when it has left the terminal.

    If a signal kills it, `bury` is told the signal's name.
    """
    watched, held = os.pipe()
    # Whatever comes between the fork and the handlers waits, or the parent could leave without its child.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {*STOPPING, LEFT})
    guard = os.getpid()
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(held)
        Thread(target=_end_with_parent, args=(watched,), daemon=True).start()
        _be_the_child(lambda: start(partial(_leave, guard)))
    os.close(watched)
    for number in STOPPING:
        signal.signal(number, lambda received, _: _pass_on(child, received))
    signal.signal(LEFT, lambda *_: _look_whether_it_left(child))
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    try:
        status = _wait(child)
    except _LeftError:
        return 0
    if os.WIFSIGNALED(status):
        bury(signal.Signals(os.WTERMSIG(status)).name)
        return EXIT_INTERRUPTED
    return os.waitstatus_to_exitcode(status)


def _be_the_child(start: Callable[[], int]) -> NoReturn:
    """Run `start` and end this process as the command itself would end."""
    from tui.cli import leave

    leave(start)


def _end_with_parent(watched: int) -> None:
    """If the parent is killed, it is as when the window is closed: nobody would clean up after us."""
    os.read(watched, 1)
    os.kill(os.getpid(), signal.SIGHUP)


def _leave(guard: int, folder: Path) -> None:
    """In the child: go on alone, and let the parent have the terminal."""
    let_all_go(folder)
    if os.getppid() == guard:
        os.kill(guard, LEFT)


def _look_whether_it_left(child: int) -> None:
    """Whoever sent the signal: a process that has left the terminal leads a session of its own."""
    try:
        if os.getsid(child) == child:
            raise _LeftError
    except ProcessLookupError:
        pass  # it has ended by now, which is waited for anyway


def _pass_on(child: int, number: int) -> None:
    try:
        os.kill(child, number)
    except ProcessLookupError:
        pass  # it has ended by itself


def _wait(child: int) -> int:
    """Wait for the child's end, stopping when it stops (Ctrl+Z) and waking it when this process is woken."""
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return status
        os.kill(os.getpid(), signal.SIGSTOP)
        _pass_on(child, signal.SIGCONT)


def _restore(attributes: list[Any]) -> None:
    """Give the terminal back as it was before the app."""
    try:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, attributes)
        os.write(sys.stdout.fileno(), RESTORE.encode())
    except (OSError, termios.error):
        pass  # the terminal itself is gone
