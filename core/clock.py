"""Time as a session sees it, so that tests can hold it still."""

import asyncio
import time
from datetime import datetime, tzinfo
from typing import Protocol


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds that never go back."""

    def now(self) -> str:
        """Wall time, ISO 8601 with offset."""

    async def sleep(self, seconds: float) -> None:
        """Come back after so many seconds."""


ZONE_SECONDS = 60.0
"""How long the offset of local time is believed: to ask for it takes longer than to say the time."""


class SystemClock:
    def __init__(self) -> None:
        self._zone: tzinfo | None = None
        self._asked = float("-inf")

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> str:
        if self.monotonic() - self._asked >= ZONE_SECONDS:
            self._zone, self._asked = datetime.now().astimezone().tzinfo, self.monotonic()
        return datetime.now(self._zone).isoformat(timespec="milliseconds")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
