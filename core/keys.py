"""Keys: read from the environment, remembered only so that they can be taken out of every text again.

A key is never in a plan, an event, a message or an exception's text.
"""

import os
import re

HIDDEN = "•••"

SHORTEST = 8
"""Characters below which a value is no key, and would be found in ordinary words."""

# Keys and the like that a server may quote, whoever they belong to. Words have no digits, and nobody masks them.
_LIKE_A_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk|xai|gsk|hf)[-_]|AIza|AKIA|ASIA)(?=[A-Za-z_.-]*[0-9*•])[A-Za-z0-9_*•.-]{12,}"
    r"|(?<=Bearer )[^\s'\",;]+|(?<=://)[^\s/@]+@(?=[^\s/])"
)

_known: set[str] = set()


def read_key(name: str) -> str:
    """The value of the environment variable `name`, white space around it taken off; "" if it is not set."""
    value = os.environ.get(name, "").strip()
    remember(value)
    return value


def remember(key: str) -> None:
    """Let `hide` and `scrub` know a key that came from elsewhere (a signed-in account, AWS's own settings)."""
    if len(key) >= SHORTEST:
        _known.add(key)


def hide(text: str) -> str:
    """`text`, a model's answer, without any key that was ever read."""
    for key in _known:
        if key in text:
            text = text.replace(key, HIDDEN)
    return text


def scrub(text: str) -> str:
    """`text`, somebody's message, without any key that was ever read, and without anything that looks like one."""
    return _LIKE_A_KEY.sub(HIDDEN, hide(text))


class StreamScrubber:
    """Takes keys out of a text that comes in pieces: what may be the beginning of one is held back."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown by now."""
        text = hide(self._held + piece)
        cut = min((_beginning_of(key, text) for key in _known), default=len(text))
        self._held = text[cut:]
        return text[:cut]

    def rest(self) -> str:
        """What was held back, and is no key."""
        held, self._held = self._held, ""
        return held


def _beginning_of(key: str, text: str) -> int:
    """Where in `text` a beginning of `key` stands that its next piece might complete; its length if nowhere."""
    place = max(0, len(text) - len(key) + 1)
    while (place := text.find(key[0], place)) >= 0:
        if key.startswith(text[place:]):
            return place
        place += 1
    return len(text)
