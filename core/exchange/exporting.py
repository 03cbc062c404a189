"""Sessions in the formats of others."""

import errno
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, get_args

from core.errors import UsageError
from core.store.library import StoredSession
from core.text import shown

Format = Literal["md", "csv", "jsonl", "sciaidanbench", "html", "cast"]
FORMATS: tuple[Format, ...] = get_args(Format)

SUFFIXES: dict[str, Format] = {
    ".md": "md",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".json": "sciaidanbench",
    ".html": "html",
    ".htm": "html",
    ".cast": "cast",
}
"""What a file is by its name, where nobody says."""


def exported(sessions: Iterable[StoredSession], form: Format) -> Iterator[str]:
    """The sessions as text, piece by piece; each is asked for when the ones before are done."""
    return _exporter(form)(sessions)


def _exporter(form: Format) -> Callable[[Iterable[StoredSession]], Iterator[str]]:
    match form:
        case "md":
            from core.exchange.markdown import markdown

            return markdown
        case "html":
            from core.exchange.web_page import web_page

            return web_page
        case "csv":
            from core.exchange.rows import csv_lines

            return csv_lines
        case "jsonl":
            from core.exchange.rows import json_lines

            return json_lines
        case "sciaidanbench":
            from core.exchange.public_layout import public_layout

            return public_layout
        case "cast":
            from core.exchange.cast import cast

            return cast


def write_whole(path: Path, pieces: Iterable[str], *, replace: bool = False) -> None:
    """Write a file at once, or not at all. Only if `replace`, one that is there may be replaced.

    Raises `UsageError` if it is there, or can't be written.
    """
    try:
        target = _behind_links(path)
        if target.exists() and not (replace and target.is_file()):
            there = "is there already: choose another name, or replace it with --force"
            raise UsageError(f"{shown(target)} {there if target.is_file() else 'is no file that can be replaced'}")
        _write(target, pieces)
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be written: {error.strerror or error}") from None


def _behind_links(path: Path) -> Path:
    """The file itself: links to it stay. Raises OSError for a link that leads to itself."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, "the link leads to itself")
    return target


def _write(path: Path, pieces: Iterable[str]) -> None:
    """Raises OSError."""
    part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        # As readable for others as any new file of this person's.
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "w", encoding="utf-8") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
