"""What a screen shows: something with a state, events to follow, and perhaps an ear for commands."""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from core import commands
from core.config import Plan
from core.errors import JagstormError
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

    def send(self, command: commands.AnyCommand) -> None:
        """Raises `UsageError` where commands can't be obeyed."""


class LiveFeed(Feed, Protocol):
    """A session under way, here or in another process."""

    @property
    def folder(self) -> Path: ...

    @property
    def fault(self) -> JagstormError | None:
        """Why it ended, if it ended by a fault that it did not raise."""

    def elapsed(self) -> float:
        """Seconds since its start, now; as it ended, once it has ended."""


class Listeners:
    """Those who follow a feed. Each hears every event once, in order, even if one of them causes the next event."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._untold: deque[Event] = deque()
        self._telling = False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def tell(self, event: Event) -> None:
        """Raises what the first listener at fault raised, after all have been told."""
        self._untold.append(event)
        if self._telling:
            return
        faults: list[Exception] = []
        self._telling = True
        try:
            while self._untold:
                event = self._untold.popleft()
                for listener in list(self._listeners):
                    try:
                        listener(event)
                    except Exception as error:
                        faults.append(error)
        finally:
            self._telling = False
        if faults:
            raise faults[0]
