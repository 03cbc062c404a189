"""The app: what there is to begin with, and what can be done on every screen."""

import asyncio
import gc
import importlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.screen import Screen

from core.config import path_of, sessions_folder
from core.errors import UsageError
from core.files import write_private
from core.levers import OwnFirst
from core.models import TeamSpec
from core.offers import no_default, offered
from core.providers.catalog import Providers
from core.settings import remember
from core.surroundings import surroundings
from core.teams.results import EarlierSessions
from core.text import shown
from tui import themes
from tui.detaching import Leave, let_go
from tui.driver import TolerantDriver
from tui.screens.dialogs import Keys, TooSmall
from tui.session_app import SessionApp

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel
    from core.providers.progress import Progress
    from core.store.listing import Summary

SMALLEST = (60, 16)
"""Columns and rows below which nothing useful fits."""


class JagstormApp(SessionApp):
    TITLE = "Jagstorm"
    CSS_PATH = "styles/app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "keys", "Keys", key_display="?", tooltip="Every key of this screen"),
        Binding("ctrl+t", "toggle_theme", "Dark or light", show=False, tooltip="Switch between dark and light"),
        Binding("f3", "sessions", "Sessions", show=False, tooltip="The sessions so far: replay or resume one"),
        Binding("f4", "profiles", "Profiles", show=False, tooltip="Where models and teams are strong, as charts"),
    ]

    def __init__(
        self,
        sessions: str | None = None,
        question_files: tuple[str, ...] = (),
        *,
        first: "Callable[[JagstormApp], None] | None" = None,
        team: TeamSpec | None = None,
        providers: Providers | None = None,
        config: str | None = None,
        own_first: float | None = None,
        leave_terminal: Leave = let_go,
    ) -> None:
        """`first` opens what is to be seen first; `leave_terminal` is for sessions that are left running."""
        super().__init__(_driver(), leave_terminal)
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
        self.own_first = None if own_first is None else OwnFirst(minutes=own_first)
        """Whether the person has asked to write before the team does."""
        self._first = first
        self.providers = providers or Providers()
        for theme in (themes.DARK, themes.LIGHT):
            self.register_theme(theme)
        self.theme = themes.chosen_theme(self.settings.theme, self.console.color_system)

    # ── screens ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.DEFAULTS

    async def on_mount(self) -> None:
        from tui.screens.setup import SetupScreen

        await self.push_screen(SetupScreen())
        self.call_after_refresh(_collect_from_now)
        if self._first:
            self._first(self)
        self._cover_if_too_small(self.size)

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
        if self.team is None and (why := no_default(self.settings, self.found, lambda: results)):
            self.say(why, severity="warning")
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
        from core.store import listing

        rows = list(listing.summaries(self.sessions))
        self.call_from_thread(tell, rows)

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
        """Whatever has a key on the screen is on the palette too: once, however many keys it has."""
        listed: set[tuple[str, str]] = set()
        for _, binding, enabled, tooltip in screen.active_bindings.values():
            said = (binding.description, binding.action)
            if enabled and binding.description and not binding.system and said not in listed:
                listed.add(said)
                yield SystemCommand(binding.description, tooltip or binding.tooltip, _runner(self, binding.action))
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Quit", "Screenshot"):
                yield command

    def action_keys(self) -> None:
        self.push_screen(Keys(self.screen.active_bindings, self.screen.HELP or ""))

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

    def action_profiles(self) -> None:
        from tui.screens.profiles import ProfilesScreen

        if not isinstance(self.screen, ProfilesScreen):
            self.push_screen(ProfilesScreen())

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
