"""One server's limits, shared by every call to it: how many at once, how many a minute, and when it is left alone."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from core.clock import Clock

EARLY = 0.001
"""Seconds by which a timer may ring too early, and nobody need be told of another wait."""

OnHeld = Callable[[float], None]
"""Told for how many seconds the server is left alone; it may raise, to give up."""


class Endpoint:
    """Concurrency that falls at a 429 and climbs back: additive increase, multiplicative decrease (as in TCP)."""

    def __init__(self, clock: Clock, concurrency: int, requests_per_minute: float | None = None) -> None:
        self._clock = clock
        self._most = concurrency
        self._spacing = 60 / requests_per_minute if requests_per_minute else 0.0
        self._limit = float(concurrency)
        self._cut_at = float("-inf")
        self._next = float("-inf")
        """When the next request may leave, where there is a limit a minute."""
        self._closed_until = float("-inf")
        self._under_way = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """Calls that may be under way at once, now."""
        return int(self._limit)

    def tighten(self, concurrency: int, requests_per_minute: float | None) -> None:
        """Keep to these limits too: of all that were ever set for a server, the least counts."""
        self._most = min(self._most, concurrency)
        self._limit = min(self._limit, float(self._most))
        if requests_per_minute:
            self._spacing = max(self._spacing, 60 / requests_per_minute)

    @asynccontextmanager
    async def slot(self, on_held: OnHeld = lambda seconds: None) -> AsyncGenerator[float, None]:
        """A place among the calls under way. Gives the clock's time at which the call may begin.

        `on_held` is told whenever it has to wait because the server wants to be left alone.
        """
        await self._enter(on_held)
        try:
            yield self._clock.monotonic()
        finally:
            self._under_way -= 1
            self._wake()

    def throttled(self, began: float, seconds: float) -> None:
        """A call that began at `began` was told to come again in `seconds`: nobody asks before then.

        However many calls of one moment are told so, the concurrency is cut once.
        """
        now = self._clock.monotonic()
        self._closed_until = max(self._closed_until, now + seconds)
        if began > self._cut_at:
            self._cut_at = now
            self._limit = max(1.0, self._limit / 2)

    def succeeded(self) -> None:
        """Climb back: by one for as many calls as may be under way."""
        self._limit = min(float(self._most), self._limit + 1 / self._limit)
        self._wake()

    async def _enter(self, on_held: OnHeld) -> None:
        try:
            while True:
                now = self._clock.monotonic()
                if (closed := self._closed_until - now) > EARLY:
                    on_held(closed)
                    await self._clock.sleep(closed)
                elif self._next > now:
                    await self._clock.sleep(self._next - now)
                elif self._under_way < int(self._limit):
                    break
                else:
                    await self._turn()
        except BaseException:
            self._wake()  # it may have been this one's turn: let the next have it
            raise
        self._under_way += 1
        if self._spacing:
            self._next = max(now, self._next) + self._spacing

    async def _turn(self) -> None:
        """Wait until there may be a place."""
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except BaseException:
            if turn in self._queue:
                self._queue.remove(turn)
            raise

    def _wake(self) -> None:
        for _ in range(min(len(self._queue), int(self._limit) - self._under_way)):
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
