"""Keys: read from the environment, remembered only so that they can be taken out of every text again.

A key is never in a plan, an event, a message or an exception's text.
"""

import os
import re

HIDDEN = "•••"

SHORTEST = 8
"""Characters below which a value is no key, and would be found in ordinary words."""

# Keys and the like that a server may quote, whoever they belong to.
_LIKE_A_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk|xai|gsk|hf)[-_]|AIza|AKIA|ASIA)[A-Za-z0-9_*•.-]{12,}|(?<=Bearer )[^\s'\",;]+|(?<=://)[^\s/@]+@(?=[^\s/])"
)

_known: set[str] = set()


def read_key(name: str) -> str:
    """The value of the environment variable `name`, white space around it taken off; "" if it is not set."""
    value = os.environ.get(name, "").strip()
    remember(value)
    return value


def remember(key: str) -> None:
    """Let `scrub` know a key that came from elsewhere (a signed-in account, AWS's own settings)."""
    if len(key) >= SHORTEST:
        _known.add(key)


def scrub(text: str) -> str:
    """`text` without any key that was ever read, and without anything that looks like one."""
    for key in _known:
        if key in text:
            text = text.replace(key, HIDDEN)
    return _LIKE_A_KEY.sub(HIDDEN, text)


def holds_key(text: str) -> bool:
    """Whether one of the keys that were read is in `text`."""
    return any(key in text for key in _known)
