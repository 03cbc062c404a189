"""What can be seen of the machine, the terminal and the disk: the doctor's checks that know nothing of models."""

import asyncio
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from msgspec import Struct

from core.text import clean_line, shown

SMALLEST = (80, 24)
"""Columns and rows that everything is made for."""

SPARE = 100 * 10**6
"""Bytes of a disk that should be free: a long session takes a few MB."""

NATIVE_SECONDS = 30.0
"""How long loading native code may take, from a slow disk."""

_PACKAGES = ("textual", "openai", "anthropic", "boto3", "ollama", "xllamacpp", "wordllama")

Health = Literal["ok", "note", "bad"]


class Check(Struct, frozen=True):
    """One thing that was looked at."""

    topic: str
    health: Health
    words: str
    todo: str = ""


def versions() -> Check:
    words = [f"{name} {_version(name)}" for name in ("jagstorm", *_PACKAGES)]
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return Check("versions", "ok", f"{system}, {', '.join(words)}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


async def terminal() -> list[Check]:
    return [_terminal(), *await _tmux()]


def _terminal() -> Check:
    term = os.environ.get("TERM", "")
    shown_here = sys.stdout.isatty()
    columns, rows = shutil.get_terminal_size(SMALLEST) if shown_here else SMALLEST
    size = f"{columns}×{rows}" if shown_here else "this goes to a file or a pipe"
    words = ", ".join([clean_line(term, 40) or "no TERM", size, _colours(term), *_connection()])
    if term in ("", "dumb"):
        return Check("terminal", "note", words, "the app needs a terminal; without one use `jagstorm run`")
    if not _is_utf8():
        return Check("terminal", "note", f"{words}, not UTF-8", "export LC_ALL=C.UTF-8, or lines and dots look wrong")
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        return Check("terminal", "note", words, f"{SMALLEST[0]}×{SMALLEST[1]} shows everything")
    return Check("terminal", "ok", f"{words}, UTF-8")


def _colours(term: str) -> str:
    if os.environ.get("NO_COLOR"):
        return "no colours (NO_COLOR)"
    if os.environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return "16 million colours"
    return "256 colours" if "256color" in term else "16 colours"


def _connection() -> list[str]:
    return ["over SSH"] if os.environ.get("SSH_CONNECTION") else []


def _is_utf8() -> bool:
    """By the first of the variables that decides; Python itself may have chosen UTF-8 where the terminal has not."""
    named = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := os.environ.get(name))), "")
    return "utf8" in named.casefold().replace("-", "") or (not named and sys.platform == "darwin")


async def _tmux() -> list[Check]:
    if os.environ.get("STY") and not os.environ.get("TMUX"):
        return [Check("screen", "note", "GNU screen", "what is copied stays in it: a file is written beside it")]
    if not os.environ.get("TMUX"):
        return []
    code, said = await _run("tmux", "show-options", "-gv", "set-clipboard", seconds=2.0)
    if code == 0 and said.strip() == "on":
        return [Check("tmux", "ok", "set-clipboard is on")]
    words = f"set-clipboard is {clean_line(said, 40)}" if code == 0 and said.strip() else "it does not answer"
    return [Check("tmux", "note", words, "`tmux set -g set-clipboard on` lets what is copied reach your own machine")]


async def native(module: str) -> str:
    """What is wrong with loading `module`, in another process: on some processors it would take this one with it.

    "" if nothing is.
    """
    code, said = await _run(sys.executable, "-c", f"import {module}", seconds=NATIVE_SECONDS)
    if code is None:
        return f"it did not load within {NATIVE_SECONDS:.0f} s"
    if code < 0:
        return f"it crashed while loading (signal {-code}): it was built for another processor"
    return clean_line(said.strip().rpartition("\n")[2], 200) if code else ""


async def _run(*command: str, seconds: float) -> tuple[int | None, str]:
    """The exit code, None if it could not be run or took too long, and what it printed."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=nothing, stdout=pipe, stderr=asyncio.subprocess.STDOUT
        )
    except OSError:
        return None, ""
    try:
        async with asyncio.timeout(seconds):
            out, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None, ""
    return process.returncode, out.decode(errors="replace")


def sessions_checks(folder: Path) -> Iterator[Check]:
    """Whether sessions can be kept in `folder`, or in what there is of its path. Leaves nothing behind."""
    there = next((path for path in (folder, *folder.absolute().parents) if path.exists()), Path("/"))
    words = shown(folder.absolute())
    if not there.is_dir():
        yield Check("sessions", "bad", f"{words}: {shown(there)} is not a folder", "name another with --sessions")
        return
    try:
        with tempfile.TemporaryDirectory(prefix=".jagstorm-doctor-", dir=there) as name:
            lock = FileLock(Path(name) / "lock", timeout=1)
            lock.acquire()
            lock.release()
    except (OSError, Timeout, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or "its files can't be locked"
        yield Check(
            "sessions", "bad", f"{words}: {reason}", "name another folder with --sessions or $JAGSTORM_SESSIONS"
        )
        return
    yield Check("sessions", "ok", f"{words} can be written")
    free = shutil.disk_usage(there).free
    health: Health = "ok" if free > SPARE else "bad"
    yield Check("disk", health, f"{free / 1e9:.1f} GB free there", "" if health == "ok" else "make room")
