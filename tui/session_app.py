"""The app as far as sessions go: it runs them, shows those of others, and ends them or leaves them running."""

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.notifications import SeverityLevel
from textual.worker import Worker, WorkerState

from core import commands as cmd
from core.config import Plan
from core.errors import EXIT_INTERRUPTED, JagstormError, SessionBusyError
from core.models import Budget
from core.providers.catalog import Providers
from core.settings import Settings
from core.text import clean, shown
from tui.detaching import Leave
from tui.runs import Runs
from tui.screens.dialogs import Fault, as_fault
from tui.signals import heeded

if TYPE_CHECKING:
    from core.attached import Watched
    from core.session import Session
    from tui.screens.attached import AttachedScreen
    from tui.screens.live import LiveScreen

LONGEST_TOAST = 500
"""Characters of a toast."""


class SessionApp(App[int]):
    """Sessions under way, and the screens that show them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True, system=True),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, system=True, tooltip="Leave Jagstorm"),
        Binding(
            "ctrl+d",
            "detach",
            "Detach",
            show=False,
            priority=True,  # where something is typed, too
            tooltip="Leave Jagstorm; what is under way runs on",
        ),
    ]

    settings: Settings
    sessions: Path
    """Where they are kept."""
    providers: Providers

    def __init__(self, driver: type[Driver] | None, leave_terminal: Leave) -> None:
        """`leave_terminal` is for sessions that run on without one."""
        super().__init__(driver_class=driver)
        self.runs = Runs()
        self.parting_words: list[str] = []
        self._leave_terminal = leave_terminal
        self._shown: dict[Path, LiveScreen] = {}
        """Every session that was run or followed here, by its folder."""
        self._pressed: dict[str, float] = {}
        """When keys were pressed that count at the second time."""
        self._leaving = False
        self._hung_up = False
        """Whether nobody is there to read parting words."""
        self._lent = False

    def launch(self) -> int:
        """Run the app to its end, and then what it leaves running to its own. Returns the exit code."""
        return asyncio.run(self._run_to_the_end())

    async def _run_to_the_end(self) -> int:
        code = await self.run_async()
        if not self._hung_up:
            self._say_parting_words()
        if self.runs.under_way:
            await self._run_on()
        return self.return_code or code or 0

    def _say_parting_words(self) -> None:
        """What a person needs after leaving, on the normal screen."""
        try:
            for line in self.parting_words:
                print(line, flush=True)  # noqa: T201
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the terminal is gone

    async def _run_on(self) -> None:
        """Without a terminal, for as long as something is under way."""
        self.runs.detach()
        self._leave_terminal(self.runs.under_way[0].folder)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.runs.stop, number.name)
        for fault in await self.runs.ended():
            traceback.print_exception(fault)
        await self.providers.close()

    # ── sessions ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def start_session(self, plan: Plan) -> None:
        """Begin a new session and show it."""
        from core.opening import begin

        self._open(lambda: begin(self.sessions, plan, self.providers), self.show_fault)

    def resume_session(
        self,
        folder: Path,
        max_ideas: int | None = None,
        budget: Budget | None = None,
        on_fault: Callable[[JagstormError], None] | None = None,
    ) -> None:
        """Take up an earlier session and show it; if that can't be, tell `on_fault`, by default with a dialog.

        Where another has just taken it up, show what that one runs.
        """
        from core.opening import resume
        from core.speaking import is_reachable

        def fault(error: JagstormError) -> None:
            if isinstance(error, SessionBusyError) and is_reachable(folder):
                self.attach_session(folder)
            else:
                self.show_fault(error)

        self._open(lambda: resume(folder, self.providers, max_ideas, budget), on_fault or fault)

    def _open(self, opened: "Callable[[], Session]", on_fault: Callable[[JagstormError], None]) -> None:
        from tui.screens.live import LiveScreen

        try:
            session = opened()
        except JagstormError as error:
            on_fault(error)
            return
        self._show(LiveScreen(session, self.runs.begin(session)))

    def attach_session(self, folder: Path) -> None:
        """Show a session that another process runs, and tell it what a person says."""
        from core.attached import Attached
        from tui.screens.attached import AttachedScreen

        self._follow(folder, Attached, AttachedScreen)

    def watch_session(self, folder: Path) -> None:
        """Show a session that another process runs, or has run, and have no say in it."""
        from core.attached import Watched
        from tui.screens.attached import WatchScreen

        self._follow(folder, Watched, WatchScreen)

    def _follow(self, folder: Path, read: "type[Watched]", screen: "type[AttachedScreen]") -> None:
        try:
            feed = read(folder)
        except JagstormError as error:
            self.show_fault(error)
            return
        self._show(screen(feed, asyncio.create_task(feed.run())))

    def _show(self, screen: "LiveScreen") -> None:
        self._shown[screen.feed.folder] = screen
        self.push_screen(screen)

    def fork_session(self, folder: Path, idea: int, question: str) -> None:
        """Begin a session that shares the past of another up to an idea of that question, and show it."""
        from core.store.forking import fork

        try:
            forked = fork(folder, idea, self.sessions, question)
        except JagstormError as error:
            self.show_fault(error)
        else:
            self.resume_session(forked)
            self.say(f"A new session, which shares the past of {shown(folder.name)} up to idea {idea}")

    def open_session(self, folder: Path) -> None:
        """Show a session as it can be shown: live, where it is run, or as a replay."""
        from core.store.library import run_now

        there = self._shown.get(folder)
        if there and not there.over and there in self.screen_stack:
            while self.screen is not there:
                self.pop_screen()
        elif run_now(folder):
            self.attach_session(folder)
        else:
            self.open_replay(folder)

    def open_replay(self, folder: Path, speed: float = 1.0) -> None:
        """Show a recorded session."""
        from core.store.library import load
        from core.store.replay import Replay
        from tui.screens.replay import ReplayScreen

        try:
            stored = load(folder)
        except JagstormError as error:
            self.show_fault(error)
            return
        for problem in stored.record.problems_in_brief:
            self.say(problem, severity="warning")
        self.push_screen(ReplayScreen(Replay(stored.plan, stored.record.events, speed)))

    def show_fault(self, error: JagstormError) -> None:
        self.push_screen(Fault(error))

    def say(self, text: str, *, severity: SeverityLevel = "information") -> None:
        """A toast. `text` is text: whatever it holds, it is shown as it is."""
        self.notify(clean(text, LONGEST_TOAST), severity=severity, markup=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Every worker's failure is shown in one place."""
        if event.state is WorkerState.ERROR and event.worker.error:
            self.show_fault(as_fault(event.worker.error))

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_load(self) -> None:
        loop = asyncio.get_running_loop()
        for number in heeded():
            loop.add_signal_handler(number, self._on_signal, number)

    def _on_signal(self, number: signal.Signals) -> None:
        if self._leaving or (number == signal.SIGINT and self._lent):
            return
        if number == signal.SIGHUP and self.runs.under_way and self.settings.lost_terminal == "detach":
            self._hung_up = True
            self._detach()
        else:
            self.run_worker(self._leave(number.name, EXIT_INTERRUPTED), exit_on_error=False)

    @contextmanager
    def lent_terminal(self) -> Iterator[None]:
        """The terminal is another program's: nothing is painted, and Ctrl+C, which reaches us too, is for that one.

        Raises `SuspendNotSupported` where there is no terminal to lend.
        """
        self._lent = True
        try:
            with self.suspend(), self.batch_update():
                yield
        finally:
            self._lent = False

    def action_interrupt(self) -> None:
        """Ctrl+C: the second within two seconds quits."""
        if self._pressed_again("ctrl+c"):
            self.run_worker(self.action_quit(), exit_on_error=False)
            return
        detach = ", Ctrl+D to leave the session running" if self.runs.under_way else ""
        self.say(f"Press Ctrl+C again to quit{detach}")

    def _pressed_again(self, key: str) -> bool:
        """Whether this is the second time within two seconds."""
        now = asyncio.get_running_loop().time()
        before, self._pressed[key] = self._pressed.get(key, -2.0), now
        return now - before < 2

    async def action_quit(self) -> None:
        await self._leave("you", EXIT_INTERRUPTED if self.runs.under_way else 0)

    def action_detach(self) -> None:
        """Ctrl+D leaves; at the second time only where something is being typed, which would be lost."""
        if self._typing() and not self._pressed_again("ctrl+d"):
            self.say("What you are typing is not said yet. Press Ctrl+D again to leave without it")
        else:
            self._detach()

    def _typing(self) -> bool:
        from textual.widgets import Input, TextArea  # which takes long

        match self.focused:
            case Input(value=text) | TextArea(text=text):
                return bool(text.strip())
        return False

    def _detach(self) -> None:
        """End the app, and no session."""
        if not self._leaving:
            self._leaving = True
            for screen in self._shown.values():
                self.parting_words += screen.parting_words()
            self.exit(0)

    def leave_with(self, fault: JagstormError) -> None:
        """Leave before anything was opened."""
        self.parting_words.append(f"jagstorm: {fault.message}")
        self.exit(fault.exit_code, return_code=fault.exit_code)

    async def _leave(self, by: str, code: int) -> None:
        """End every session that runs here, then the app. A second wish to leave, while it does, changes nothing."""
        if self._leaving:
            return
        self._leaving = True
        for screen in self._shown.values():
            if fault := await screen.end_session(cmd.Stop(by=by)):
                self.parting_words.append(f"jagstorm: {fault.message}")
                code = fault.exit_code
            self.parting_words += screen.parting_words()
        await self.providers.close()
        self.exit(code, return_code=code)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "detach":
            return any(not screen.over for screen in self._shown.values())
        return super().check_action(action, parameters)
