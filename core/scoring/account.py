"""What scores take, and how they come along: it stays with whoever asked for them, however that ends."""

from collections.abc import Callable

from msgspec import Struct

from core.models import FailureKind, Usage, added

OnProgress = Callable[[int, int], None]
"""Told how many judgements are there, of how many."""

OnRetry = Callable[[str, str, float], None]
"""Told who is asked again, why, and in how many seconds."""


class Trouble(Struct, frozen=True):
    """A call that failed for good."""

    who: str
    kind: FailureKind | None
    why: str


class Account:
    """Handed down to everybody who takes part in some scores; nobody returns what it used."""

    def __init__(
        self,
        on_progress: OnProgress = lambda done, total: None,
        on_retry: OnRetry = lambda who, why, seconds: None,
    ) -> None:
        self.on_progress = on_progress
        self.on_retry = on_retry
        self.usage = Usage()
        self.cost: float | None = 0.0
        """In US dollars; None if any price is unknown."""
        self.given: dict[tuple[str, int | None], int] = {}
        """The judgements that came: by judge, and by the number of the idea compared with, None for coherence."""
        self.troubles: list[Trouble] = []

    def pay(self, usage: Usage, cost: float | None) -> None:
        self.usage += usage
        self.cost = added(self.cost, cost)
