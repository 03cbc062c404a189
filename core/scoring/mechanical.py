"""What needs no judge to be seen as no idea at all: empty, an echo, a loop, or the prompt's own scaffolding."""

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz import fuzz, process

ECHO = 92
"""How alike two texts are, of 100, before the later one counts as an echo of the earlier."""

LOOP = 0.6
"""The least share of distinct three-word runs in a text that does not loop."""

_TAG = re.compile(r"</?\s*(?:answer|idea|think|thinking|response|output)\s*/?>|<\|[a-z_]+\|>", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def mechanical_fault(text: str, question: str, earlier: Sequence[str]) -> str | None:
    """Why `text` can't be an idea for `question` after those in `earlier`, in a few words; None if nothing is wrong."""
    words = _WORD.findall(text.lower())
    if not words:
        return "empty"
    if _TAG.search(text):
        return "literal tags"
    if _loops(words):
        return "looping text"
    if _alike(text, question):
        return "echo of the question"
    match = process.extractOne(_flat(text), [_flat(other) for other in earlier], scorer=fuzz.ratio, score_cutoff=ECHO)
    return f"echo of an earlier idea: {match[0][:60]}" if match else None


@lru_cache(maxsize=8192)
def _flat(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _alike(text: str, other: str) -> bool:
    return fuzz.ratio(_flat(text), _flat(other)) >= ECHO


def _loops(words: list[str]) -> bool:
    """Whether the text, or the last stretch of it, says the same three words over and over (distinct-3 below 0.6)."""
    return any(_distinct_runs(stretch) < LOOP for stretch in (words, words[-60:]))


def _distinct_runs(words: list[str]) -> float:
    """The share of runs of three words that are not repeats of another."""
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return len(set(runs)) / len(runs) if len(runs) >= 4 else 1.0
