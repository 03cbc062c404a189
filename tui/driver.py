"""Textual's Linux driver with two faults of its input loop mended."""

import codecs
import os
import selectors

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver


class TolerantDriver(LinuxDriver):
    """Bytes that are not UTF-8 (a mouse move after tmux is reattached) are replaced, where Textual's own loop ends the
    app with exit code 0 (Textual issue 6668); and when the terminal is gone, reading ends, where its loop spins.
    """

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
