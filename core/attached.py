"""Sessions that other processes run, as feeds: one that only looks, and one that has a say."""

import asyncio
import os
from collections.abc import Callable
from datetime import datetime
from math import inf
from pathlib import Path
from time import monotonic

import msgspec
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.annotating import annotate
from core.errors import EXIT_INTERRUPTED, JagstormError, UsageError
from core.feed import Listener, Listeners
from core.lines import decode
from core.speaking import Answer, Follow, UnreachableError, encode_line, reach, read_answer, unreachable
from core.state import State, apply
from core.store.library import load
from core.store.log import LOCK_FILE, is_locked
from core.store.runner import login_name
from core.store.tail import LogTail

LOOK_EVERY = 0.25
"""Seconds between two looks at the log of somebody whom we can't hear."""

LONGEST_EVENT = 1 << 26
"""Bytes of a line from the runner: an idea with all that a model thought before it."""


class SessionInterruptedError(JagstormError):
    """The process that ran a session is no more, and has not ended it."""

    title = "The session was interrupted"
    exit_code = EXIT_INTERRUPTED


class Watched:
    """A session that is only looked at. It is read from its log, and needs no more than that."""

    def __init__(self, folder: Path) -> None:
        """Raises `SessionUnreadableError`."""
        stored = load(folder)
        self.plan = stored.plan
        self.folder = folder
        self.problems = stored.record.problems_in_brief
        self._state = stored.state()
        self._tail = LogTail(folder, stored.record.size)
        self._listeners = Listeners()
        self._zero: float | None = None
        """When the session would have begun, had it never stood still, on this machine's clock; None while it does."""
        self._over = False
        self._set_clock(_seconds_since(self._state))

    # ── a feed ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> State:
        return self._state

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self._listeners.subscribe(listener)

    def send(self, command: cmd.AnyCommand) -> None:
        raise UsageError("You only watch this session: `jagstorm attach` has a say in it")

    @property
    def fault(self) -> JagstormError | None:
        """None: a session that ended by a fault says so in its log."""
        return None

    def elapsed(self) -> float:
        """Seconds since the session's start, now; as of the last event where it stands still."""
        return self._state.t if self._zero is None else max(self._state.t, monotonic() - self._zero)

    # ── following ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(self) -> ev.SessionEnded:
        """Follow the session to its end. Returns how it ended.

        Raises `SessionInterruptedError` if its runner is no more, `SessionUnreadableError`.
        """
        try:
            while True:
                run = is_run(self.folder)
                self._catch_up()
                if self._state.ended:
                    return self._state.ended
                if not run:
                    raise SessionInterruptedError("The process that ran it is no more. It can be resumed where it was.")
                await self._listen()
        finally:
            self._over, self._zero = True, None

    async def _listen(self) -> None:
        """Wait for more."""
        await asyncio.sleep(LOOK_EVERY)

    def _catch_up(self, last: float = inf) -> None:
        """Take in what has come to the log, up to event number `last`. Raises `SessionUnreadableError`."""
        before = self._state.seq
        if before < last:
            for event in self._tail.read():
                self._take(event)
                if self._state.seq >= last:
                    break
        if self._state.seq > before:
            self._set_clock(_seconds_since(self._state))

    def _take(self, event: ev.Event) -> None:
        """Take in an event, if it was not there yet."""
        if not 0 <= event.seq <= self._state.seq:
            apply(self._state, event)
            self._listeners.tell(event)

    def _set_clock(self, now: float) -> None:
        """The session's seconds are `now`."""
        self._zero = None if self._over or self._state.ended else monotonic() - now


class Attached(Watched):
    """A session that is followed by its socket, where it is run, and told what to do.

    What the socket tells is in the runner's own order; what was missed is read from the log. While nobody runs it, its
    ideas can still be marked.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._line: asyncio.StreamWriter | None = None
        self.trouble: UnreachableError | None = None
        """Why the runner can't be heard just now; its log is read all the same."""
        self._unanswered = 0
        """Commands that were said over the line and not answered yet."""

    def send(self, command: cmd.AnyCommand) -> None:
        """Say a command. Listeners are told by a notice if it can't be obeyed, or if the line is cut before the answer.

        Raises `UsageError` while the runner can't be reached; where nobody runs it, as `annotate` does.
        """
        if self._line:
            self._line.write(encode_line(command))
            self._unanswered += 1
        elif is_run(self.folder):
            raise self.trouble or UnreachableError("The line to the session is down: try again in a moment")
        else:
            annotate(self.folder, replace(command, by=login_name(os.getuid())))
            self._catch_up()

    @property
    def connected(self) -> bool:
        """Whether the runner is heard."""
        return self._line is not None

    async def _listen(self) -> None:
        """Hear the runner until the line is cut or the session ends."""
        try:
            runner = await asyncio.to_thread(reach, self.folder)
            try:
                reader, line = await asyncio.open_unix_connection(runner.socket, limit=LONGEST_EVENT)
            except OSError as error:
                raise unreachable(runner, error) from None
            try:
                await self._hear(reader, line)
            finally:
                self._line = None
                line.close()
        except UnreachableError as error:
            self.trouble = error
        self._tell_what_is_unanswered()
        if not self._state.ended:
            await super()._listen()

    async def _hear(self, reader: asyncio.StreamReader, line: asyncio.StreamWriter) -> None:
        """Raises `UnreachableError` if the runner does not want to be followed."""
        try:
            line.write(encode_line(Follow()))
            answer = read_answer(await reader.readline())
            if not answer.ok or answer.seq is None or answer.t is None:
                raise UnreachableError(answer.error)
            self._catch_up(answer.seq)
            self._forget_unstored()
            self._set_clock(answer.t)
            self._line, self.trouble = line, None
            while (said := await reader.readline()).endswith(b"\n"):
                if said.startswith(b'{"type":'):
                    self._hear_event(decode(said))
                else:
                    self._hear_answer(read_answer(said))
        except (ConnectionError, ValueError, msgspec.DecodeError):
            pass  # cut off: what was missed is in the log

    def _forget_unstored(self) -> None:
        """What is being written is told again from its beginning."""
        for chain in self._state.chains.values():
            for slot, writing in chain.writing.items():
                chain.writing[slot] = replace(writing, text="", thoughts="")

    def _hear_answer(self, answer: Answer) -> None:
        self._unanswered -= 1
        if answer.error:
            self._listeners.tell(ev.Notice(text=answer.error))

    def _tell_what_is_unanswered(self) -> None:
        """The line is no more, and no answer will come."""
        unanswered, self._unanswered = self._unanswered, 0
        if unanswered > 0:
            last = "what you said last was" if unanswered == 1 else f"the last {unanswered} things that you said were"
            self._listeners.tell(ev.Notice(text=f"The line was cut: it is not known whether {last} done"))

    def _hear_event(self, event: ev.Event) -> None:
        if event.seq > self._state.seq + 1:
            self._catch_up(event.seq - 1)
        if event.seq <= self._state.seq + 1:  # else it comes after what could not be saved and can't be read yet
            self._take(event)
            self._set_clock(max(self.elapsed(), event.t))


def is_run(folder: Path) -> bool:
    """Whether somebody runs the session in `folder`; also where nobody can tell, because the lock is closed to us."""
    lock = folder / LOCK_FILE
    return is_locked(folder) or (lock.exists() and not os.access(lock, os.R_OK))


def _seconds_since(state: State) -> float:
    """The session's seconds now, by the wall time of its last event."""
    try:
        last = datetime.fromisoformat(state.at)
        return state.t + max(0.0, (datetime.now(last.tzinfo) - last).total_seconds())
    except (ValueError, TypeError):  # a log of other hands
        return state.t
