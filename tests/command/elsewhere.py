"""A session that another process would run."""

import asyncio
from contextlib import suppress
from threading import Event, Thread

from core import commands as cmd
from core.seeds.sources import banked, of_bank
from core.serving import Serving
from core.session import Session
from tests.conftest import Open, make_plan
from tests.scripted import HeldProvider


class Elsewhere(Thread):
    """A session that is run beside this thread, as another process would run it; its second idea does not come."""

    def __init__(self, open_session: Open) -> None:
        super().__init__(daemon=True)
        self._open = open_session
        self._ready = Event()
        self.session: Session

    def __enter__(self) -> "Elsewhere":
        self.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self.session.send, cmd.Stop())
        self.join(20)

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        provider = HeldProvider()
        self.session = self._open(make_plan(), provider, bank=lambda: of_bank(banked().seeds))
        run = asyncio.create_task(Serving(self.session).run())
        await provider.halfway.wait()
        before, provider.go_on = provider.go_on, asyncio.Event()
        provider.halfway.clear()
        before.set()
        await provider.halfway.wait()
        self._ready.set()
        await run

    def end_in(self, seconds: float) -> None:
        self._loop.call_soon_threadsafe(self._loop.call_later, seconds, self.session.send, cmd.Stop())
