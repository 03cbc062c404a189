"""Time as a session sees it, so that tests can hold it still."""

import asyncio
import time
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds that never go back."""

    def now(self) -> str:
        """Wall time, ISO 8601 with offset."""

    async def sleep(self, seconds: float) -> None:
        """Come back after so many seconds."""


class SystemClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> str:
        return datetime.now().astimezone().isoformat(timespec="milliseconds")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
