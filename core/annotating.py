"""Marks on a session that nobody runs: its log is held for as long as it takes to write them."""

from pathlib import Path

from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.clock import Clock, SystemClock
from core.errors import UsageError
from core.lines import cleaned
from core.obeying import marks
from core.state import fold
from core.store.library import example_folder
from core.store.log import EventLog


def annotate(folder: Path, command: cmd.AnyCommand, clock: Clock | None = None) -> list[ev.Event]:
    """Obey a command that marks ideas of the session in `folder`; it can't be run meanwhile. Returns the whole log.

    Raises `UsageError` for a command that can't be obeyed or needs a running session, `SessionBusyError` if it is run
    after all, `SessionUnreadableError`, `StoreError`.
    """
    if folder.resolve() == example_folder().resolve():
        raise UsageError("The example stays as it is: `jagstorm fork example 5` makes a session of your own of it")
    clock = clock or SystemClock()
    log, record = EventLog.reopen(folder)
    events = list(record.events)
    try:
        state = fold(events)
        for number, event in enumerate(marks(state, command), start=state.seq + 1):
            events.append(cleaned(replace(event, seq=number, t=state.t, at=clock.now())))
            log.append(events[-1])
    finally:
        log.close()
    return events
