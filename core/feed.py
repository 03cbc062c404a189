"""What a screen shows: something with a state, events to follow, and perhaps an ear for commands."""

from collections.abc import Callable
from typing import Protocol

from core import commands
from core.config import Plan
from core.events import Event
from core.state import State

Listener = Callable[[Event], None]


class Feed(Protocol):
    """A running session or a replay: the same screen shows both."""

    plan: Plan

    @property
    def state(self) -> State: ...

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each event, after the state has taken it in. Returns a function that ends that."""

    def send(self, command: commands.Any) -> None:
        """Raises `UsageError` where commands can't be obeyed."""


class Listeners:
    """Those who follow a feed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, event: Event) -> None:
        for listener in list(self._listeners):
            listener(event)
