"""A log that somebody else writes, read as it grows."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core import events as ev
from core.errors import SessionUnreadableError
from core.lines import EVENTS_FILE, decode
from core.text import shown


class LogTail:
    """What comes to a log after its first `size` bytes."""

    def __init__(self, folder: Path, size: int) -> None:
        self._path = folder / EVENTS_FILE
        self._size = size

    def read(self) -> Iterator[ev.Event]:
        """The events that have come since the last look, those whose lines are whole; what is not taken comes again.

        A damaged line is skipped, and a notice in its place says so. Raises `SessionUnreadableError`.
        """
        try:
            content = self._new_bytes()
        except OSError as error:
            raise SessionUnreadableError(f"{shown(self._path)} can't be read: {error.strerror or error}") from None
        *whole, _ = content.split(b"\n")
        for line in whole:
            self._size += len(line) + 1
            if line.strip():
                try:
                    yield decode(line)
                except msgspec.DecodeError as error:
                    yield ev.Notice(text=f"A line of {EVENTS_FILE} is damaged and skipped: {error}")

    def _new_bytes(self) -> bytes:
        # Opened anew each time: only so does a network file system show what another machine has written.
        with open(os.open(self._path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if os.fstat(file.fileno()).st_size <= self._size:
                return b""
            file.seek(self._size)
            return file.read()
