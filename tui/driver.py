"""Textual's Linux driver, mended where bytes are odd and where the terminal goes away."""

import codecs
import os
import selectors
from contextlib import suppress
from typing import IO, Any, TextIO, cast

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver


class _TolerantFile:
    """A terminal that may be gone: then what is written is lost, and nothing else happens."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()


class TolerantDriver(LinuxDriver):
    """Bytes that are not UTF-8 (a mouse move after tmux is reattached) are replaced, where Textual's own loop ends the
    app with exit code 0 (Textual issue 6668); and when the terminal is gone, reading ends, where its loop spins, and
    writing goes nowhere, where its writer dies and whoever writes next waits for ever.
    """

    def __init__(self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: Any = None) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = cast("Any", _TolerantFile(cast("TextIO", self._file)))

    def run_input_thread(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        parser = XTermParser(self._debug)
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    data = self._read()
                    if not data:
                        return
                    # Half a character decodes to nothing, and to the parser nothing is the end of it all.
                    if text := decode(data):
                        for message in parser.feed(text):
                            self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)
        try:
            for _ in parser.feed(""):
                pass
        except (EOFError, ParseError):
            pass

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, 4096)
        except OSError:
            return b""
