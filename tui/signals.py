"""The signals that stop a command, and when they may."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heeded() -> list[signal.Signals]:
    """Those that stop us; not a hang-up that whoever started us has us ignore, as nohup does."""
    unheard = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in STOPPING if not (unheard and number == signal.SIGHUP)]


def interrupt_on_signals() -> None:
    """From now on each of them raises KeyboardInterrupt."""
    for number in heeded():
        signal.signal(number, _interrupt)


def ignore_signals() -> None:
    """The command is ending: further ones change nothing."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def held_signals() -> Iterator[None]:
    """One that comes meanwhile waits: raised amid an import, an exception can be swallowed and the signal lost."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupt(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)
