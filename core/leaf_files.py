"""Files that hold entries of one leaf, Jagstorm's own and a person's: TOML with a `domain` and tables of one name."""

import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from msgspec import Struct

from core.errors import UsageError
from core.files import read_file
from core.text import clean_line, shown


class Entry(Struct, frozen=True):
    """One table, with what the file says of all its tables."""

    values: dict[str, Any]
    """As they stand there: unchecked, and not cleaned."""
    domain: str = ""
    subdomain: str | None = None


def read_text(path: Path) -> str:
    """A person's file. Raises `UsageError`, which says what is wrong but not where."""
    try:
        return read_file(path).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 text (byte {error.start})") from None


def read_entries(path: Path, content: str, name: str) -> Iterator[tuple[str, Entry | str]]:
    """The tables `[[name]]` of a TOML file, each with its place, file and line; or what is wrong, and where."""
    try:
        table = tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # tomllib passes on what Python says of absurd numbers and depths
        yield shown(path), f"not TOML: {error}"
        return
    entries = table.get(name)
    domain = table.get("domain", "")
    subdomain = table.get("subdomain", "")
    if not isinstance(entries, list):
        yield f"{shown(path)}:1", f"has no [[{name}]] tables"
    elif not isinstance(domain, str) or not isinstance(subdomain, str):
        yield f"{shown(path)}:1", "`domain` and `subdomain` must be text"
    else:
        header = re.compile(rf"\s*\[\[\s*{name}\s*\]\]")
        lines = [number for number, line in enumerate(content.split("\n"), 1) if header.match(line)]
        domain, subdomain = clean_line(domain, 60), clean_line(subdomain, 60) or None
        for entry, line in zip(entries, lines + [1] * len(entries), strict=False):
            values = entry if isinstance(entry, dict) else {}
            yield f"{shown(path)}:{line}", Entry(values, domain, subdomain)


def built_in_file(folder: str, leaf: str) -> tuple[Path, str]:
    """The name and the content of the file of `leaf` in a folder of `data`."""
    name = leaf.lower().replace(" / ", "-").replace(" ", "-") + ".toml"
    return Path(name), (resources.files("data") / folder / name).read_text(encoding="utf-8")
