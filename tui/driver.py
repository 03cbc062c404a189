"""Textual's Linux driver, mended where bytes are odd and where the terminal goes away."""

import codecs
import os
import selectors
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, TextIO, cast

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

PATIENCE = 1.0
"""Seconds for which a terminal may take nothing before it counts as stalled, and between two looks from then on."""

CANCEL = "\x18"
"""Ends whatever sequence was cut short."""


class _TolerantFile:
    """A terminal that may be gone or take nothing, as when a network fails: then what is written is lost.

    Nothing else happens, but that `stalled` is told. Whoever writes never waits for long.
    """

    def __init__(self, file: IO[str], stalled: Callable[[], None]) -> None:
        self._file = file
        self._stalled = stalled
        self._fd = -1
        self.waits = False
        """Whether it is stalled: then nothing is written."""

    def write(self, text: str) -> None:
        waiting = text.encode(errors="replace")
        if self._fd < 0:
            self._fd = _without_blocking(self._file.fileno())
        while waiting and not self.waits:
            try:
                waiting = waiting[os.write(self._fd, waiting) :]
            except BlockingIOError:
                if not self.takes_more(PATIENCE):
                    self.waits = True
                    self._stalled()
            except OSError:
                return  # it is gone

    def takes_more(self, seconds: float = 0.0) -> bool:
        """Whether something can be written, now or within so many seconds; to one that is gone, too."""
        if self._fd < 0:
            return True
        with selectors.DefaultSelector() as selector:
            selector.register(self._fd, selectors.EVENT_WRITE)
            return bool(selector.select(seconds))

    def close(self) -> None:
        """Let the terminal go, until something is written again."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def flush(self) -> None:
        pass

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()


def _without_blocking(fd: int) -> int:
    """The same terminal opened anew, so that writing blocks neither us nor, as it would if shared, others' reading."""
    try:
        return os.open(os.ttyname(fd), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:  # it is somebody else's, or has no name here
        return os.dup(fd)


class TolerantDriver(LinuxDriver):
    """Textual's driver, but that a bad terminal ends nothing and holds nothing up.

    Bytes that are not UTF-8 (a mouse move after tmux is reattached) are replaced, where Textual's own loop ends the
    app with exit code 0 (Textual issue 6668). When the terminal is gone, the app is told as by a hang-up, where
    Textual's loop spins, and its writer dies and whoever writes next waits for ever. While the terminal takes nothing,
    what would be painted is lost, where Textual holds the app and with it every session; then all is painted anew.
    """

    def __init__(self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: Any = None) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._terminal = _TolerantFile(cast("TextIO", self._file), self._on_stalled)
        self._file = cast("Any", self._terminal)

    def _on_stalled(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody paints any more
            self._loop.call_soon_threadsafe(self._loop.call_later, PATIENCE, self._look)

    def _look(self) -> None:
        """Paint anew if the terminal takes something again."""
        if not self._terminal.takes_more():
            self._loop.call_later(PATIENCE, self._look)
            return
        self._terminal.waits = False
        if self._app.is_running:
            self.write(CANCEL)
            self._app.refresh()

    def stop_application_mode(self) -> None:
        self._terminal.waits = False  # what gives the terminal back is worth another try
        super().stop_application_mode()

    def close(self) -> None:
        super().close()
        self._terminal.close()

    def run_input_thread(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        parser = XTermParser(self._debug)
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    data = self._read()
                    if not data:
                        os.kill(os.getpid(), signal.SIGHUP)
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
