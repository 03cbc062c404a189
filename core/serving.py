"""The socket of a running session: who is attached hears what happens, and says what is to be done.

Nobody who is attached can hold the session up: what they don't read waits for them up to a limit, then they are cut
off, and the log has all that they missed.
"""

import asyncio
import os
import socket
import stat
import struct
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from core import events as ev
from core.chain import Writing
from core.errors import JagstormError, UsageError
from core.events.course import STORAGE
from core.lines import encode
from core.session import Session
from core.speaking import LONGEST_LINE, Answer, Follow, encode_line, read_line
from core.store.runner import announce, login_name, noted_runner, withdraw
from core.text import clean_line

SOCKET_FILE = "session.sock"

MOST_WAITING = 4_000_000
"""Bytes that wait for somebody who does not read them, before they are cut off."""

MOST_ATTACHED = 100
"""How many can be connected at a time: each costs the process a file, and a session needs files of its own."""

FAREWELL_SECONDS = 1.0
"""How long somebody is still listened to who is sent away."""


class Serving:
    """Runs a session with its socket open."""

    def __init__(self, session: Session, *, detached: bool = False) -> None:
        self.session = session
        self._detached = detached
        self._folder = session.folder
        self._noted = False
        """Whether the folder holds our note and our socket."""
        self._socket = Path()
        self._trouble = ""
        """Why there is no socket, if there is none."""
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.StreamWriter] = set()
        self._followers: set[asyncio.StreamWriter] = set()
        self._opening: asyncio.Task[None] | None = None
        """Opens the socket where the session has gone on."""

    async def run(self) -> ev.SessionEnded:
        """Run the session to its end. Raises what `Session.run` raises."""
        unsubscribe = self.session.subscribe(self._tell)
        try:
            await self._open()
            return await self.session.run()
        finally:
            unsubscribe()
            self._close()

    def detach(self) -> None:
        """Note that the session runs without a terminal from now on."""
        self._detached = True
        if self._noted:
            self._announce()

    # ── the socket ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _open(self) -> None:
        """May be given up at any moment: by then, `_withdraw` knows of all that there is."""
        self._trouble = ""
        _clean_up_after(self._folder)
        try:
            self._server = await asyncio.start_unix_server(
                self._serve, sock=self._bind(), limit=LONGEST_LINE, start_serving=False
            )
            await self._server.start_serving()
        except OSError as error:
            self._trouble = clean_line(error.strerror or str(error), 200)
        self._noted = True
        self._announce()

    def _bind(self) -> socket.socket:
        """In the session's folder; where its path is too long, or its file system has no sockets, in one of our own."""
        bound = socket.socket(socket.AF_UNIX)
        try:
            try:
                self._socket = self._folder.resolve() / SOCKET_FILE
                _bind(bound, self._socket)
            except OSError:
                self._socket = Path(tempfile.mkdtemp(prefix="jagstorm-")) / SOCKET_FILE
                _bind(bound, self._socket)
        except OSError:
            bound.close()
            _remove(self._socket)
            raise
        return bound

    def _announce(self) -> None:
        address = "" if self._trouble else str(self._socket)
        try:
            announce(self._folder, detached=self._detached, address=address, trouble=self._trouble)
        except OSError:
            pass  # a folder that can't be written pauses the session, which says so

    def _withdraw(self) -> None:
        """Leave nothing behind in the folder: done while the log is locked, or it might be the next runner's."""
        if self._opening:
            self._opening.cancel()
            self._opening = None
        if self._server:
            self._server.close()
            self._server = None
            _remove(self._socket)
        if self._noted:
            self._noted = False
            withdraw(self._folder)

    def _move(self) -> None:
        """The session goes on in another folder, and is to be found there."""
        self._withdraw()
        self._folder = self.session.folder
        self._opening = asyncio.create_task(self._open())

    def _close(self) -> None:
        self._withdraw()
        for line in list(self._lines):
            line.close()

    # ── who is attached ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _serve(self, reader: asyncio.StreamReader, line: asyncio.StreamWriter) -> None:
        self._lines.add(line)
        try:
            by = self._admit(_uid(line))
            while said := await _next_line(reader, line):
                self._hear(said, by, line)
        except UsageError as refusal:
            await _send_away(reader, line, refusal.message)
        finally:
            self._lines.discard(line)
            self._followers.discard(line)
            line.close()

    def _admit(self, uid: int) -> str:
        """What the user of that number is called. Raises `UsageError` for one who can't be heard."""
        if uid not in (os.getuid(), 0):
            raise UsageError(f"Only {login_name(os.getuid())} can command this session")
        if len(self._lines) > MOST_ATTACHED:
            raise UsageError(f"{MOST_ATTACHED} are connected to this session already, and no more can be")
        return login_name(uid)

    def _hear(self, said: bytes, by: str, line: asyncio.StreamWriter) -> None:
        """Obey what somebody said, and answer; `by` is who it was, whatever the line says."""
        try:
            asked = read_line(said)
            if isinstance(asked, Follow):
                self._let_follow(line)
                return
            self.session.send(replace(asked, by=by))
            answer = Answer(ok=True, unsaved=self._unsaved.why if self._unsaved else "")
        except JagstormError as error:
            answer = Answer(error=clean_line(error.message, 500))
        except Exception as bug:  # for the loop to report; but whoever spoke waits for an answer
            line.write(encode_line(Answer(error=clean_line(f"It failed by a fault inside jagstorm: {bug!r}", 500))))
            raise
        line.write(encode_line(answer))

    @property
    def _unsaved(self) -> ev.Paused | None:
        """The pause of a session that can't be written."""
        paused = self.session.state.paused
        return paused if paused and paused.by == STORAGE else None

    def _let_follow(self, line: asyncio.StreamWriter) -> None:
        """Tell them where the session is, what the log does not say of it, and from now on every event."""
        state = self.session.state
        line.write(encode_line(Answer(ok=True, seq=state.seq, t=round(self.session.elapsed(), 3))))
        for event in self._unstored():
            line.write(encode(event) + b"\n")
        self._followers.add(line)

    def _unstored(self) -> Iterator[ev.Event]:
        """What is to be seen now and stands in no log."""
        state = self.session.state
        for chain in state.chains.values():
            for writing in filter(_has_begun, chain.writing.values()):
                yield ev.ProposalDelta(
                    question=chain.question,
                    step=writing.step,
                    member=writing.member,
                    draft=writing.draft,
                    text=writing.text,
                    thoughts=writing.thoughts,
                )
            if chain.scoring and not state.retry:
                yield chain.scoring
        if self._unsaved:
            yield replace(self._unsaved, seq=-1)

    def _tell(self, event: ev.Event) -> None:
        if self._followers:
            said = encode(event) + b"\n"
            for line in list(self._followers):
                if line.transport.get_write_buffer_size() > MOST_WAITING:
                    line.transport.abort()
                    self._followers.discard(line)
                else:
                    line.write(said)
        if isinstance(event, ev.SessionEnded):
            self._withdraw()
        elif self.session.folder != self._folder:
            self._move()


def _has_begun(writing: Writing) -> bool:
    return bool(writing.text or writing.thoughts)


def _bind(bound: socket.socket, path: Path) -> None:
    """Raises OSError. What a killed runner left there goes; whoever holds the log's lock is the only one who binds."""
    try:
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()
    except FileNotFoundError:
        pass
    bound.bind(str(path))
    path.chmod(0o600)  # before anybody can connect: nobody listens yet


def _clean_up_after(folder: Path) -> None:
    """A runner that was killed may have left a private folder with its socket."""
    before = noted_runner(folder)
    if before and before.gone and before.socket:
        _remove(Path(before.socket))


def _remove(path: Path) -> None:
    try:
        if path.name != SOCKET_FILE:
            return
        if path.is_socket():
            path.unlink()
        if path.parent.name.startswith("jagstorm-"):
            path.parent.rmdir()
    except OSError:
        pass  # the folder is gone


async def _next_line(reader: asyncio.StreamReader, line: asyncio.StreamWriter) -> bytes:
    """What they say when they have been answered; b"" when they have left. Raises `UsageError` if it is too long."""
    try:
        await line.drain()
        said = await reader.readline()
    except ConnectionError:
        return b""
    except ValueError:
        raise UsageError(f"A line can have {LONGEST_LINE:,} bytes") from None
    return said if said.endswith(b"\n") else b""


async def _send_away(reader: asyncio.StreamReader, line: asyncio.StreamWriter, why: str) -> None:
    """Say why they are not heard. What they still say is read for a moment, or they could not read that."""
    line.write(encode_line(Answer(error=why)))
    with suppress(TimeoutError, ConnectionError):
        line.write_eof()
        async with asyncio.timeout(FAREWELL_SECONDS):
            while await reader.read(LONGEST_LINE):
                pass


def _uid(line: asyncio.StreamWriter) -> int:
    """Whose process is at the other end."""
    if not hasattr(socket, "SO_PEERCRED"):
        return os.getuid()  # on other systems than Linux the socket's mode alone lets nobody else in
    credentials = line.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", credentials)
    return int(uid)
