"""A real terminal for a command: a pty of a given size, its bytes, and what a person would see."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType

import pyte

BIN = Path(sys.executable).parent
JAGSTORM = str(BIN / "jagstorm")
SCRIPTED = (sys.executable, "-m", "tests.terminal.scripted_app")
"""The same command with models that follow a script; see `scripted_app`."""

ROOT = Path(__file__).parents[2]

PATIENCE = 20.0
"""Seconds until a wait gives up: far more than anything takes on a busy machine."""

# What pyte would misread as text or as something else: private sequences with <, = or > (kitty keyboard, XTVERSION).
_FOREIGN = re.compile(rb"\x1b\[[<=>][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p|\x1b\[\?u")


class Terminal:
    """Runs `command` on a pty. As a context manager it leaves no process behind, whatever happens."""

    def __init__(
        self,
        command: Sequence[str],
        columns: int = 80,
        rows: int = 24,
        *,
        env: Mapping[str, str | None] | None = None,
    ) -> None:
        """`env` is laid over this process's own; None takes a variable away."""
        self.raw = bytearray()
        """Every byte that was written to the terminal."""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.master, slave = pty.openpty()
        _set_size(slave, columns, rows)
        self.before = termios.tcgetattr(slave)
        plain = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "COLUMNS": None, "LINES": None}
        wanted = {**os.environ, **plain, **(env or {})}
        self.began = monotonic()
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env={name: value for name, value in wanted.items() if value is not None},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        self._slave = slave  # kept open, so that what a dying process wrote last can still be read
        self._seen: set[int] = {self.process.pid}

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is not None:
            print(f"The screen was:\n{self.text}")
        self.kill()

    # ── what is on it ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def lines(self) -> list[str]:
        return list(self._screen.display)

    @property
    def text(self) -> str:
        """The whole screen, a line a row."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def background(self, column: int, row: int) -> str:
        """The colour behind one cell."""
        return str(self._screen.buffer[row][column].bg)

    def pump(self, seconds: float = 0.0) -> int:
        """Take in what is written, waiting up to `seconds` for the first of it. Returns how many bytes came."""
        count = 0
        while self.master >= 0 and select.select([self.master], [], [], seconds)[0]:
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                break
            if not data:
                break
            count += len(data)
            self.raw += data
            self._stream.feed(_FOREIGN.sub(b"", data))
            seconds = 0.0
        return count

    # ── waiting ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def wait_until(self, condition: Callable[[], bool], what: str, timeout: float = PATIENCE) -> None:
        end = monotonic() + timeout
        while not condition():
            over = self.process.poll() is not None
            self.pump(0.02)
            assert condition() or not over, f"The command ended before {what}. The screen was:\n{self.text}"
            assert monotonic() < end, f"Waited {timeout:g} s for {what}. The screen was:\n{self.text}"
        self._note_children()

    def wait_for(self, text: str, timeout: float = PATIENCE) -> None:
        """Until `text` stands on the screen."""
        self.wait_until(lambda: text in self.text, repr(text), timeout)

    def wait_gone(self, text: str, timeout: float = PATIENCE) -> None:
        """Until `text` no longer stands on the screen."""
        self.wait_until(lambda: text not in self.text, f"{text!r} to go", timeout)

    def wait_exit(self, timeout: float = PATIENCE) -> int:
        """Until the command has ended. Returns its exit code, negative for a signal."""
        self.wait_until(lambda: self.process.poll() is not None, "the command's end", timeout)
        self.pump()
        assert self.process.returncode is not None
        return self.process.returncode

    def written_in(self, seconds: float) -> int:
        """How many bytes are written to the terminal in the next `seconds`."""
        end = monotonic() + seconds
        count = 0
        while (left := end - monotonic()) > 0:
            count += self.pump(left)
        return count

    def settle(self, quiet: float = 0.3, timeout: float = PATIENCE) -> None:
        """Until nothing has been written for `quiet` seconds."""
        end = monotonic() + timeout
        while self.written_in(quiet):
            assert monotonic() < end, f"Still writing after {timeout:g} s. The screen was:\n{self.text}"

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def send(self, keys: str | bytes) -> None:
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, columns: int, rows: int) -> None:
        """As a window manager would: the kernel tells the foreground processes."""
        self._screen.resize(rows, columns)
        _set_size(self.master, columns, rows)

    def hang_up(self) -> None:
        """Close the window: nobody reads the pty any more."""
        self._note_children()
        os.close(self._slave)
        os.close(self.master)
        self.master = self._slave = -1

    # ── processes ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def child(self) -> int:
        """The process id of the app itself, which the command runs as its child."""
        self.wait_until(lambda: bool(children(self.process.pid)), "the app's process")
        return children(self.process.pid)[0]

    def modes(self) -> list[object]:
        """The terminal's modes (echo, line editing, …) as they are now."""
        return termios.tcgetattr(self._slave)

    def _note_children(self) -> None:
        self._seen.update(children(self.process.pid))

    def kill(self) -> None:
        """End all that was started here, and close the pty."""
        self._note_children()
        for pid in self._seen:
            end(pid)
        self.process.wait(10)
        if self.master >= 0:
            os.close(self._slave)
            os.close(self.master)
            self.master = self._slave = -1


def alive(pid: int) -> bool:
    """Whether that process still runs; one that has ended and waits for its parent does not."""
    state = _ps(str(pid), "stat=")
    return bool(state) and not state.startswith("Z")


def end(pid: int) -> None:
    """Kill that process, if it still runs."""
    if alive(pid):
        os.kill(pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    rows = [line.split() for line in _ps("", "pid=,ppid=").splitlines()]
    return [int(row[0]) for row in rows if row[1] == str(pid)]


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used, in whole ticks of the clock (10 ms on Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _ps(pid: str, columns: str) -> str:
    chosen = ["-p", pid] if pid else ["-A"]
    return subprocess.run(["ps", *chosen, "-o", columns], capture_output=True, text=True, check=False).stdout.strip()


def _set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
