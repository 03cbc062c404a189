"""A clock that stands still until it is told to go on."""

import asyncio


class HeldClock:
    def __init__(self) -> None:
        self.time = 100.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self.time

    def now(self) -> str:
        return "2026-01-01T00:00:00.000+00:00"

    async def sleep(self, seconds: float) -> None:
        waking = asyncio.get_running_loop().create_future()
        sleeper = (self.time + seconds, waking)
        self._sleepers.append(sleeper)
        try:
            await waking
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)

    @property
    def sleepers(self) -> int:
        """How many wait for it."""
        return len(self._sleepers)

    @property
    def next_wake(self) -> float:
        """Seconds until the first of them wakes."""
        return min(until for until, _ in self._sleepers) - self.time

    async def advance(self, seconds: float) -> None:
        """Let time pass: whoever wakes meanwhile does so at its time, in order."""
        await settled()
        end = self.time + seconds
        while due := [until for until, _ in self._sleepers if until <= end + 1e-9]:
            self.time = max(self.time, min(due))
            awake = [sleeper for sleeper in self._sleepers if sleeper[0] <= self.time]
            self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self.time]
            for _, waking in awake:
                if not waking.done():
                    waking.set_result(None)
            await settled()
        self.time = end
        await settled()

    async def asleep(self, count: int) -> None:
        """Come back when `count` wait for it."""
        async with asyncio.timeout(10):
            while self.sleepers < count:  # noqa: ASYNC110
                await asyncio.sleep(0.002)


async def settled() -> None:
    """Come back when everything that could go on has."""
    for _ in range(50):
        await asyncio.sleep(0)


async def finished(running: asyncio.Task[object], clock: HeldClock) -> None:
    """Let `running` end, and time pass only while nothing but time can help it.

    That is seen by looking several times: a machine that is busy for a moment lets one look come too early, not ten.
    """
    while not running.done():
        for _ in range(10):
            await asyncio.wait([running], timeout=0.002)
        if not running.done() and clock.sleepers:
            await clock.advance(clock.next_wake)
