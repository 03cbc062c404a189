"""What somebody may have meant."""

from collections.abc import Iterable

LIKE = 70.0
"""Of 100: how like a name another must be to be what was meant."""


def nearest(text: str, names: Iterable[str], most: int = 1) -> list[str]:
    """The names that are most like `text`, the likest first; those of models without their provider, too."""
    from rapidfuzz import fuzz

    def likeness(name: str) -> float:
        return max(fuzz.ratio(text.casefold(), part) for part in (name.casefold(), name.casefold().rpartition("/")[2]))

    return sorted((name for name in dict.fromkeys(names) if likeness(name) >= LIKE), key=likeness, reverse=True)[:most]
