"""A screen that shows what a feed's state is, and shows it again whenever something has come."""

from collections.abc import Callable

from textual.screen import Screen

from core import events as ev
from core.feed import Feed


class Following(Screen[None]):
    """What is heard is only noted: the screen shows it in its own time, and only while it is there to be seen.

    Whoever runs a session must not stumble over a screen that has not been laid out yet, or has just been left.
    """

    feed: Feed
    _unsubscribe: Callable[[], None]

    def show_state(self) -> None:
        """Show the state as it is now."""
        raise NotImplementedError

    def concerns(self, event: ev.Event) -> bool:
        """Whether `event` can change what is shown."""
        return not isinstance(event, ev.ProposalDelta | ev.ScoringProgress)

    def on_mount(self) -> None:
        self._unsubscribe = self.feed.subscribe(self._heard)
        self.show_state()

    def on_unmount(self) -> None:
        self._unsubscribe()

    def _heard(self, event: ev.Event) -> None:
        if self.concerns(event):
            self.call_later(self._show_if_there)

    def _show_if_there(self) -> None:
        if self in self.app.screen_stack:
            self.show_state()
