"""Files that stand beside a session's log and can be made anew from it: what takes long to read is there at once.

One counts only as long as neither the log nor the plan has changed, and only if it is whole.
"""

import os
import tempfile
from pathlib import Path

from core.config import PLAN_FILE
from core.lines import EVENTS_FILE
from core.store.library import example_folder
from core.store.log import is_locked

Stamp = tuple[int, int, int, int]
"""Sizes and times of a session's log and plan."""


def stamp_of(folder: Path) -> Stamp | None:
    """None for a session beside which nothing is kept: one that is being written, or can't be read, or the example,
    which is not the user's own."""
    try:
        log, plan = (folder / EVENTS_FILE).stat(), (folder / PLAN_FILE).stat()
    except OSError:
        return None
    if is_locked(folder) or folder.resolve() == example_folder().resolve():
        return None
    return log.st_size, log.st_mtime_ns, plan.st_size, plan.st_mtime_ns


def keep_file(path: Path, content: bytes) -> None:
    """Put a file beside a session, whole or not at all; where it can't be put, let it be."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as part:
            part.write(content)
    except OSError:  # read-only, or no room
        return
    try:
        os.replace(part.name, path)
    except OSError:
        os.unlink(part.name)
