"""The live screen over a session that another process runs."""

import asyncio
from typing import ClassVar

from textual.binding import Binding, BindingType

from core import commands as cmd
from core import events as ev
from core.attached import Attached, Watched
from core.errors import JagstormError
from tui.hints import attach_command
from tui.screens.feed import FeedScreen
from tui.screens.idea import IdeaScreen
from tui.screens.idea_keys import IdeaKeys
from tui.screens.live import LiveScreen
from tui.screens.steering import SteeringScreen


class AttachedScreen(LiveScreen):
    """A session that another process runs: who leaves the screen leaves it running."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "back", "Back", id="live.back", tooltip="Back to where you came from; the session runs on"),
        Binding(
            "S", "end", "Stop", id="live.end", show=False, tooltip="Stop the session for everybody; it can be resumed"
        ),
    ]

    feed: Watched

    def __init__(self, feed: Watched, run: "asyncio.Task[ev.SessionEnded]") -> None:
        super().__init__(feed, run)

    async def end_session(self, stop: cmd.Stop) -> JagstormError | None:
        """Follow it no longer: it is another process's to end."""
        self._run.cancel()
        await asyncio.wait({self._run})
        return None

    def parting_words(self) -> list[str]:
        if self.over and not self._run.cancelled():
            return super().parting_words()
        return [f"It runs on without you. Look in with: {attach_command(self.feed.folder)}"]

    def on_unmount(self) -> None:  # Textual calls the base class's as well
        self._run.cancel()

    def activity(self) -> str:
        if self.over:
            return super().activity()
        line = "attached"
        if isinstance(self.feed, Attached) and not self.feed.connected:
            line = self.feed.trouble.message if self.feed.trouble else "connecting"
        return f"{super().activity()} · {line}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "back":
            return True
        if action == "end":
            return not self.over
        return super().check_action(action, parameters)

    def action_end(self) -> None:
        self.tell(cmd.Stop())


_COMMANDS = {
    binding.action.partition("(")[0]
    for screen in (IdeaKeys, SteeringScreen, LiveScreen, AttachedScreen)
    for binding in screen.BINDINGS
    if isinstance(binding, Binding)
} - {"fork", "proposals", "replay", "back"}


class WatchScreen(AttachedScreen):
    """A session that is only looked at."""

    def activity(self) -> str:
        words = super().activity().removesuffix(" · attached").replace(" · r resume", "")
        return words if self.over else f"{words} · you only watch"

    def _doing(self) -> str:
        state = self.feed.state
        unheard = not (self.over or state.paused) and state.chain is not None and bool(state.chain.writing)
        return "writing" if unheard else super()._doing()

    def parting_words(self) -> list[str]:
        return []

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return False if action in _COMMANDS else super().check_action(action, parameters)

    def idea_screen(self, number: int) -> IdeaScreen:
        return FeedScreen.idea_screen(self, number)

    def _let_the_person_begin(self) -> None:
        """They have no say in it."""
