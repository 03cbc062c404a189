"""Sessions that are run with their socket open, and those who follow them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec import Struct

from core import commands as cmd
from core import events as ev
from core.attached import Attached, SessionInterruptedError, Watched
from core.serving import Serving
from core.session import Session
from core.store.runner import noted_runner


class Running(Struct, frozen=True):
    serving: Serving
    run: "asyncio.Task[ev.SessionEnded]"


async def until(it_is_so: Callable[[], object]) -> None:
    for _ in range(1000):
        if it_is_so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to that within ten seconds")


@asynccontextmanager
async def running(session: Session) -> AsyncIterator[Running]:
    """The session while it is run and served; stopped at the end, if it has not ended by then."""
    serving = Serving(session)
    run = asyncio.create_task(serving.run())
    try:
        await until(lambda: noted_runner(session.folder) is not None)
        yield Running(serving, run)
    finally:
        session.send(cmd.Stop())
        await run


@asynccontextmanager
async def following(folder: Path, kind: type[Watched] = Attached) -> AsyncIterator[Watched]:
    """The session as somebody else follows it, until they leave."""
    feed = kind(folder)
    run = asyncio.create_task(feed.run())
    try:
        await until(lambda: run.done() or not isinstance(feed, Attached) or feed.connected)
        yield feed
    finally:
        run.cancel()
        with suppress(asyncio.CancelledError, SessionInterruptedError):
            await run
