"""How far fetching a model has come."""

from msgspec import Struct


class Progress(Struct, frozen=True):
    """`done` and `total` are bytes; `total` is 0 as long as nobody knows it, and may grow when there is more."""

    words: str
    done: int = 0
    total: int = 0


def size_words(size: float) -> str:
    """A number of bytes, for a person."""
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
