"""The app: which screens there are, the sessions it runs, and how it all ends."""

import asyncio
import gc
import importlib
import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from core import commands as cmd
from core.config import Plan, path_of, sessions_folder
from core.errors import EXIT_INTERRUPTED, JagstormError, UsageError
from core.files import write_private
from core.models import Budget, TeamSpec
from core.offers import offered
from core.providers.catalog import Providers
from core.settings import remember
from core.surroundings import surroundings
from core.teams.results import EarlierSessions
from core.text import clean, shown
from tui import themes
from tui.driver import TolerantDriver
from tui.screens.dialogs import Fault, Keys, TooSmall, as_fault
from tui.signals import STOPPING

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel
    from core.providers.progress import Progress
    from core.session import Session
    from core.store.library import Summary
    from tui.screens.live import LiveScreen

SMALLEST = (60, 16)
"""Columns and rows below which nothing useful fits."""

LONGEST_TOAST = 500
"""Characters of a toast."""


class JagstormApp(App[int]):
    TITLE = "Jagstorm"
    CSS_PATH = "styles/app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True, system=True),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, system=True, tooltip="Leave Jagstorm"),
        Binding("question_mark", "keys", "Keys", key_display="?", tooltip="Every key of this screen"),
        Binding("ctrl+t", "toggle_theme", "Dark or light", show=False, tooltip="Switch between dark and light"),
        Binding("f3", "sessions", "Sessions", show=False, tooltip="The sessions so far: replay or resume one"),
    ]

    def __init__(
        self,
        sessions: str | None = None,
        question_files: tuple[str, ...] = (),
        *,
        resume: Path | None = None,
        max_ideas: int | None = None,
        replay: Path | None = None,
        speed: float = 1.0,
        budget: Budget | None = None,
        team: TeamSpec | None = None,
        providers: Providers | None = None,
        config: str | None = None,
    ) -> None:
        super().__init__(driver_class=_driver())
        around = surroundings(config)
        self.settings = around.settings
        self.warnings = around.env.warnings
        """What a person should know of their surroundings."""
        self.offers = offered(self.settings, (), team)
        """The teams that a person can choose from, by now."""
        self.found: list[FoundModel] = []
        """The models that were found here, by now."""
        self.sessions = sessions_folder(sessions)
        self.earlier = EarlierSessions(self.sessions)
        """What members did in them."""
        self.question_paths = [path_of(name) for name in question_files]
        self.team = team
        """Named on the command line: it stands first."""
        self._first = (resume, max_ideas, budget, replay, speed)
        self.providers = providers or Providers()
        self.parting_words: list[str] = []
        self._live: dict[Path, LiveScreen] = {}
        """Every session that this app has run, by its folder."""
        self._interrupted_at = 0.0
        self._leaving = False
        for theme in (themes.DARK, themes.LIGHT):
            self.register_theme(theme)
        self.theme = themes.chosen_theme(self.settings.theme, self.console.color_system)

    def launch(self) -> int:
        """Run the app to its end, and say on the normal screen what a person needs then. Returns the exit code."""
        code = self.run()
        try:
            for line in self.parting_words:
                print(line, flush=True)  # noqa: T201
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the terminal is gone
        return self.return_code or code or 0

    # ── screens ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.DEFAULTS

    async def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in STOPPING:
            loop.add_signal_handler(number, self._on_signal, number)
        from tui.screens.setup import SetupScreen

        resume, max_ideas, budget, replay, speed = self._first
        await self.push_screen(SetupScreen())
        self.call_after_refresh(_collect_from_now)
        if replay:
            self.open_replay(replay, speed)
        elif resume:
            self.resume_session(
                resume, max_ideas, budget, on_fault=self._leave_with
            )  # asked on the command line: said there
        self._cover_if_too_small(self.size)

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
        """Take up an earlier session and show it; if that can't be, tell `on_fault`, by default with a dialog."""
        from core.opening import resume

        self._open(lambda: resume(folder, self.providers, max_ideas, budget), on_fault or self.show_fault)

    def _open(self, opened: "Callable[[], Session]", on_fault: Callable[[JagstormError], None]) -> None:
        from tui.screens.live import LiveScreen

        try:
            session = opened()
        except JagstormError as error:
            on_fault(error)
            return
        screen = self._live[session.folder] = LiveScreen(session)
        self.push_screen(screen)

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

    @work(exit_on_error=False, exclusive=True, group="models")
    async def look_for_models(self, tell: Callable[[], None]) -> None:
        """See what can be used here, beside everything else; then `offers` are anew, and `tell` is called."""
        from core.providers import prices
        from core.providers.discovery import found
        from core.spending import billed

        await asyncio.to_thread(importlib.import_module, "httpx")  # 0.15 s in which keys are still heard
        self.found = await found.find_models(self.settings, self.providers)
        results = await asyncio.to_thread(self.earlier)
        self.offers = offered(self.settings, self.found, self.team, lambda: results)
        tell()
        if billed(model.spec for model in self.found if model.state == "ready"):
            await asyncio.to_thread(prices.load)  # before somebody asks what a team costs

    def pull_model(self, name: str) -> "AsyncGenerator[Progress, None]":
        """Fetch a model to its Ollama server, as `jagstorm models pull` names it; tells how far it has come."""
        from core.providers.ollama import OllamaProvider
        from core.providers.ollama_host import split_pull_name

        provider = self.providers.get("ollama")
        assert isinstance(provider, OllamaProvider)
        model, base_url = split_pull_name(name)
        return provider.pull(base_url, model)

    @work(thread=True, exit_on_error=False, group="sessions")
    def read_sessions(self, tell: Callable[[list["Summary"]], None]) -> None:
        """Read what sessions there are, beside everything else, and `tell` it."""
        from core.store import library

        rows = list(library.summaries(self.sessions))
        self.call_from_thread(tell, rows)

    def show_fault(self, error: JagstormError) -> None:
        self.push_screen(Fault(error))

    def say(self, text: str, *, severity: SeverityLevel = "information") -> None:
        """A toast. `text` is text: whatever it holds, it is shown as it is."""
        self.notify(clean(text, LONGEST_TOAST), severity=severity, markup=False)

    def on_resize(self, event: Resize) -> None:
        if len(self.screen_stack) > 1:  # the first size comes before the first screen
            self._cover_if_too_small(event.size)

    def _cover_if_too_small(self, size: Size) -> None:
        """Cover what can't be shown by a screen that says so; it leaves by itself."""
        fits = size.width >= SMALLEST[0] and size.height >= SMALLEST[1]
        if not fits and not any(isinstance(screen, TooSmall) for screen in self.screen_stack):
            self.push_screen(TooSmall(SMALLEST))

    # ── actions everywhere ────────────────────────────────────────────────────────────────────────────────────────────

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every key of the screen is on the palette too."""
        for _, binding, enabled, tooltip in screen.active_bindings.values():
            if enabled and binding.description and not binding.system:
                yield SystemCommand(binding.description, tooltip or binding.tooltip, _runner(self, binding.action))
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Quit", "Screenshot"):
                yield command

    def action_keys(self) -> None:
        self.push_screen(Keys(self.screen.active_bindings))

    def action_toggle_theme(self) -> None:
        self.theme = themes.OTHER.get(self.theme, "jagstorm-dark")
        try:
            remember(self.settings.path, "theme", self.theme)
        except UsageError as error:
            self.say(error.message, severity="warning")

    def action_sessions(self) -> None:
        from tui.screens.sessions import SessionsScreen

        if not isinstance(self.screen, SessionsScreen):
            self.push_screen(SessionsScreen())

    def copy(self, text: str) -> None:
        """To the terminal's clipboard (OSC 52), which a tmux between may swallow, and so to a file as well."""
        self.copy_to_clipboard(text)
        import platformdirs

        path = platformdirs.user_state_path("jagstorm") / "copied.txt"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_private(path, text)
        except OSError as error:
            self.say(f"Copied to the clipboard. {shown(path)} can't be written: {error.strerror}")
        else:
            self.clear_notifications()
            self.say(f"Copied, also to\n{_with_tilde(path)}")

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def action_interrupt(self) -> None:
        """Ctrl+C: the second within two seconds quits."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._interrupted_at < 2:
            self.run_worker(self.action_quit(), exit_on_error=False)
            return
        self._interrupted_at = loop.time()
        self.say("Press Ctrl+C again to quit")

    async def action_quit(self) -> None:
        await self._leave("you", EXIT_INTERRUPTED if self._any_running() else 0)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Every worker's failure is shown in one place."""
        if event.state is WorkerState.ERROR and event.worker.error:
            self.show_fault(as_fault(event.worker.error))

    def _on_signal(self, number: signal.Signals) -> None:
        self.run_worker(self._leave(number.name, EXIT_INTERRUPTED), exit_on_error=False)

    def _leave_with(self, fault: JagstormError) -> None:
        """Leave before anything was opened."""
        self.parting_words.append(f"jagstorm: {fault.message}")
        self.exit(fault.exit_code, return_code=fault.exit_code)

    async def _leave(self, by: str, code: int) -> None:
        """End every session that runs, then the app. A second wish to leave, while it does, changes nothing."""
        if self._leaving:
            return
        self._leaving = True
        for screen in self._live.values():
            if fault := await screen.end_session(cmd.Stop(by=by)):
                self.parting_words.append(f"jagstorm: {fault.message}")
                code = fault.exit_code
            self.parting_words += screen.parting_words()
        await self.providers.close()
        self.exit(code, return_code=code)

    def _any_running(self) -> bool:
        return any(not screen.over for screen in self._live.values())


def _with_tilde(path: Path) -> str:
    home = str(Path.home())
    return shown(path).replace(home, "~", 1) if shown(path).startswith(home) else shown(path)


def _driver() -> type[TolerantDriver] | None:
    """Our driver on a real terminal; elsewhere (tests, the web) Textual's own choice."""
    return None if os.environ.get("TEXTUAL_DRIVER") else TolerantDriver


def _runner(app: App[int], action: str) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        await app.run_action(action, app.screen)

    return run


def _collect_from_now() -> None:
    """End the pause in collecting garbage that the guard began; what the start has made stays, so never look at it."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
