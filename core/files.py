"""Files as people have them: read only if they are files, written whole or not at all."""

import errno
import os
import stat
from pathlib import Path


def read_file(path: Path) -> bytes:
    """All of a regular file. Raises OSError, for a pipe or a device too: those may never end."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read()


def write_private(path: Path, text: str) -> None:
    """Write a whole file at once, or not at all, for nobody but its owner. Raises OSError."""
    part = path.with_suffix(".part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
