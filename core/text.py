"""The one gate for text from outside: models, files, servers, people."""

import re
from typing import Any

# C0 but tab and newline, DEL, C1, and the bidirectional overrides, which reorder what a person reads.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?|\u2028|\u2029|\x85")


def clean(text: str, limit: int | None = None) -> str:
    """Text that is safe to show, store and send: no control but newline and tab, no lone surrogate, cut at `limit`.

    Line ends become newlines. What is left is text and nothing else; whoever shows it must still turn markup off.
    """
    text = _LINE_ENDS.sub("\n", text)
    text = _UNSAFE.sub("", text)
    text = _SURROGATE.sub("\ufffd", text)
    return text if limit is None else text[:limit]


def clean_line(text: str, limit: int | None = None) -> str:
    """The same on one line: every run of white space becomes one space."""
    line = " ".join(clean(text).split())
    return line if limit is None else line[:limit].rstrip()


def shown(path: object) -> str:
    """A path, or a folder's name, as it can be shown: on one line, with nothing in it that a terminal would obey."""
    return clean_line(str(path), 400)


def counted(count: int, one: str, many: str = "") -> str:
    """So many of a thing, as in `no ideas`, `1 idea`, `1,200 ideas`; `many` where an s is not enough."""
    return f"{f'{count:,}' if count else 'no'} {one if count == 1 else many or f'{one}s'}"


def clean_all(value: Any) -> Any:
    """`value`, made of dicts, lists, tuples and scalars, with every text in it clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key) if isinstance(key, str) else key: clean_all(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_all(inner) for inner in value]
    return value
