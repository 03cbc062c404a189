"""The sessions that this process runs."""

import asyncio
from typing import TYPE_CHECKING

from core import commands as cmd
from core import events as ev

if TYPE_CHECKING:
    from core.serving import Serving
    from core.session import Session


class Runs:
    """Sessions under way. They belong to the process and to no screen: whatever shows them may come and go."""

    def __init__(self) -> None:
        self._runs: dict[Serving, asyncio.Task[ev.SessionEnded]] = {}

    def begin(self, session: "Session") -> "asyncio.Task[ev.SessionEnded]":
        """Run a session to its end, where others can attach to it."""
        from core.serving import Serving

        serving = Serving(session)
        run = self._runs[serving] = asyncio.create_task(serving.run())
        run.add_done_callback(lambda _: self._runs.pop(serving))
        return run

    @property
    def under_way(self) -> "list[Session]":
        return [serving.session for serving in self._runs]

    def detach(self) -> None:
        """Note that they run without a terminal from now on."""
        for serving in self._runs:
            serving.detach()

    def stop(self, by: str) -> None:
        for serving in self._runs:
            serving.session.send(cmd.Stop(by=by))

    async def ended(self) -> list[BaseException]:
        """Wait until each of them has ended. Returns what ended those whose logs can't say it."""
        ends = await asyncio.gather(*self._runs.values(), return_exceptions=True)
        return [end for end in ends if isinstance(end, BaseException)]
