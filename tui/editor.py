"""A text in the person's own editor, while the session goes on."""

import asyncio
import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from core.errors import JagstormError, UsageError
from core.files import write_private
from core.text import clean, clean_line, shown

if TYPE_CHECKING:
    from tui.app import JagstormApp

FALLBACK = "vi"
"""What POSIX has; where neither `$VISUAL` nor `$EDITOR` names one."""


class EditorFailedError(JagstormError):
    """The editor ended badly; `text` is what it left."""

    title = "The editor failed"

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


async def edited(app: "JagstormApp", text: str) -> str:
    """`text` as the person's editor leaves it, clean. The app paints nothing meanwhile, and everything else goes on.

    Raises `UsageError` if there is no editor or no terminal for it, `EditorFailedError` if it ends badly.
    """
    command = _command()
    with tempfile.TemporaryDirectory(prefix="jagstorm-") as folder:
        path = Path(folder) / "idea.txt"
        write_private(path, f"{text}\n")
        code = await _run(app, [*command, str(path)])
        after = clean(path.read_text("utf-8", errors="replace")).strip() if path.exists() else text
    if code:
        raise EditorFailedError(f"{clean_line(command[0], 80)} ended with exit code {code}", after)
    return after


def _command() -> list[str]:
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or FALLBACK
    try:
        return shlex.split(named) or [FALLBACK]
    except ValueError as error:
        raise UsageError(f"$EDITOR can't be read as a command: {shown(named)} ({error})") from None


async def _run(app: "JagstormApp", command: list[str]) -> int:
    """The exit code."""
    trouble: OSError | None = None
    try:
        with app.lent_terminal():
            # An exception that got out here would leave Textual without the terminal.
            try:
                code = await (await asyncio.create_subprocess_exec(*command)).wait()
            except OSError as error:
                trouble = error
    except SuspendNotSupported:
        raise UsageError("There is no terminal here for another editor: e edits in place") from None
    if trouble:
        raise UsageError(f"{clean_line(command[0], 80)} can't be run ({trouble.strerror}): set $EDITOR")
    return code
