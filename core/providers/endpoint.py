"""One server's limits, shared by every call to it: how many at once, how many a minute, and when it is left alone."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from core.clock import Clock


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

    @property
    def closed_until(self) -> float:
        """In the clock's seconds."""
        return self._closed_until

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[float, None]:
        """A place among the calls under way. Gives the clock's time at which the call may begin."""
        await self._enter()
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

    async def _enter(self) -> None:
        while True:
            now = self._clock.monotonic()
            if (opens := max(self._closed_until, self._next)) > now:
                await self._clock.sleep(opens - now)
            elif self._under_way < int(self._limit):
                break
            else:
                await self._turn()
        self._under_way += 1
        if self._spacing:
            self._next = max(now, self._next) + self._spacing

    async def _turn(self) -> None:
        """Wait until there may be a place."""
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._queue:
                self._queue.remove(turn)
            else:
                self._wake()  # it was this one's turn: let the next have it
            raise

    def _wake(self) -> None:
        for _ in range(min(len(self._queue), int(self._limit) - self._under_way)):
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
