"""What the ideas of a session or a public result file say: read when somebody wants to see one, or to compare them."""

import functools
from pathlib import Path

from core.errors import SessionUnreadableError, UsageError
from core.exchange.public import read_public
from core.lines import EVENTS_FILE
from core.state import fold
from core.store.log import read_log
from core.text import shown

Texts = tuple[tuple[tuple[int, str], ...], ...]
"""Of each chain, in the order that its session has them, the numbers and texts of its ideas, in order."""


def texts_of(place: Path) -> Texts:
    """All of a session's folder, or of a public result file. Raises `SessionUnreadableError`, `UsageError`."""
    if place.is_dir():
        chains = fold(read_log(place).events).chains.values()
        return tuple(tuple((idea.number, idea.text) for idea in chain.ideas) for chain in chains)
    return tuple(tuple(enumerate((answer.text for answer in chain.answers), 1)) for chain in read_public(place))


def idea_text(place: Path, chain: int, number: int) -> str:
    """The text of the idea of this number, in a chain by its place among those of its session, from 0.

    What was read last is remembered. Raises as `texts_of`, and `UsageError` where there is no such idea any more.
    """
    log = place / EVENTS_FILE if place.is_dir() else place
    try:
        stat = log.stat()
    except OSError as error:
        raise SessionUnreadableError(f"{shown(log)} can't be read: {error.strerror or error}") from None
    chains = _remembered(place, stat.st_mtime_ns, stat.st_size)
    text = next((text for own, text in chains[chain] if own == number), None) if chain < len(chains) else None
    if text is None:
        raise UsageError(f"There is no such idea in {shown(place)} any more: look at the profile anew")
    return text


@functools.lru_cache(maxsize=1)
def _remembered(place: Path, _time: int, _size: int) -> Texts:
    return texts_of(place)
