"""Following a session as a screen does, and waiting for what it does next."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import msgspec

from core import events as ev
from core.chain import Chain
from core.lines import encode
from core.session import Session

E = TypeVar("E", bound=ev.Event)


class Follower:
    """Every event of a session, as listeners are told of them."""

    def __init__(self, session: Session) -> None:
        self.events: list[ev.Event] = []
        self._waiting: list[tuple[Callable[[ev.Event], bool], asyncio.Future[ev.Event]]] = []
        session.subscribe(self._hear)

    def _hear(self, event: ev.Event) -> None:
        self.events.append(event)
        for wanted, future in self._waiting:
            if not future.done() and wanted(event):
                future.set_result(event)

    async def next(self, kind: type[E], wanted: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of that kind. Begin to wait before what causes it can happen."""
        future: asyncio.Future[ev.Event] = asyncio.get_running_loop().create_future()
        self._waiting.append((lambda event: isinstance(event, kind) and wanted(event), future))
        event = await asyncio.wait_for(future, 10)
        assert isinstance(event, kind)
        return event

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def names(self) -> list[str]:
        """The types in order, stretches of text left out."""
        return [name_of(event) for event in self.events if not isinstance(event, ev.ProposalDelta)]


def name_of(event: ev.Event) -> str:
    name: str = msgspec.json.decode(encode(event))["type"]
    return name


def chain_of(session: Session) -> Chain:
    chain = session.state.chain
    assert chain is not None
    return chain
