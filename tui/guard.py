"""The app in a child process, so that a crash in native code leaves the terminal as it was.

The parent does nothing but wait: it passes signals on, stops and continues with the child, and cleans up if it dies.
"""

import gc
import os
import shlex
import signal
import sys
import termios
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

from core.errors import EXIT_INTERRUPTED, UsageError
from core.text import shown
from tui.signals import STOPPING, held_signals

if TYPE_CHECKING:
    from core.models import Budget
    from tui.app import JagstormApp

# Leave the alternate screen, show the cursor, end mouse reports, bracketed paste and the kitty keyboard protocol.
RESTORE = (
    "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l"
    "\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[<u\x1b[0m\r\n"
)


def run_app(sessions: str | None, question_files: tuple[str, ...], models: tuple[str, ...], config: str | None) -> int:
    """Open the app on its first screen. Returns the exit code.

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

    def start() -> int:
        return _app_class()(sessions, question_files, team=team, config=config).launch()

    return _guarded(start, sessions)


def _app_class() -> "type[JagstormApp]":
    with held_signals():
        from tui.app import JagstormApp

    return JagstormApp


def resume_in_app(
    sessions: str | None,
    session: str,
    max_ideas: int | None = None,
    budget: "Budget | None" = None,
    config: str | None = None,
) -> int:
    """Open the app on a session taken up again. Returns the exit code.

    Raises `UsageError` or another `JagstormError` before the app opens, if the session can't be resumed.
    """
    from core.config import sessions_folder
    from core.store.library import check_unfinished, find, load

    folder = find(sessions_folder(sessions), session)
    stored = load(folder)
    check_unfinished(stored.plan, stored.state(), max_ideas, budget)

    def start() -> int:
        return _app_class()(sessions, resume=folder, max_ideas=max_ideas, budget=budget, config=config).launch()

    return _guarded(start, sessions)


def replay_in_app(sessions: str | None, session: str, speed: float) -> int:
    """Open the app on a recorded session. Returns the exit code.

    Raises `UsageError` or `SessionUnreadableError` before the app opens, if there is nothing to replay.
    """
    from core.config import sessions_folder
    from core.store.library import find, load

    folder = find(sessions_folder(sessions), session)
    load(folder)

    def start() -> int:
        return _app_class()(sessions, replay=folder, speed=speed).launch()

    return _guarded(start, sessions)


def _guarded(start: Callable[[], int], sessions: str | None) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The app needs a terminal; `jagstorm run` works without one")
    before = termios.tcgetattr(sys.stdin)
    watched, held = os.pipe()
    # Whatever comes between the fork and the handlers waits, or the parent could leave without its child.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(held)
        Thread(target=_end_with_parent, args=(watched,), daemon=True).start()
        _be_the_app(start)
    os.close(watched)
    for number in STOPPING:
        signal.signal(number, lambda received, _: _pass_on(child, received))
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    status = _wait(child)
    if os.WIFSIGNALED(status):
        _restore(before)
        name = signal.Signals(os.WTERMSIG(status)).name
        where = f" --sessions {shlex.quote(shown(sessions))}" if sessions else ""
        sys.stderr.write(f"jagstorm: the app died ({name}); what was seen is saved: jagstorm resume last{where}\n")
        return EXIT_INTERRUPTED
    return os.waitstatus_to_exitcode(status)


def _be_the_app(start: Callable[[], int]) -> NoReturn:
    """Run the app and end this process as the command itself would end."""
    from tui.cli import leave

    gc.disable()  # there is nothing to collect while modules are imported; the app goes on after its first paint
    leave(start)


def _end_with_parent(watched: int) -> None:
    """If the parent is killed, end as when the window is closed: nobody would clean up after us."""
    os.read(watched, 1)
    os.kill(os.getpid(), signal.SIGHUP)


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
