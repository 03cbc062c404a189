"""The score in a judge's reply. Never a guess: what is not plainly a score is none."""

import re

import msgspec
from msgspec import Struct

from core.answers import without_thoughts
from core.text import clean

HIGHEST = 100

_TAGGED = re.compile(r"<\s*score\s*>([^<]*)</\s*score\s*>", re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*\n([^`]*)```")
_MARKS = re.compile(r"""(?<![0-9])[*_`"']+|[*_`"']+(?![0-9])""")
_NUMBER = re.compile(
    r"(?:[a-z ]{0,40}\b(?:score|rating|coherence|similarity)\s*(?::|=|\bis\b)\s*)?"
    r"([0-9]{1,3})(?:\.0{1,6})?\s*(?:/\s*100(?:\.0)?|out of 100|%)?\.?",
    re.IGNORECASE,
)


class _Scored(Struct):
    score: int | float | str


_decoder = msgspec.json.Decoder(_Scored)


def read_score(reply: str) -> int | None:
    """The score that `reply` gives, 0 to 100; None if it gives none.

    It is the whole of the last complete `<score>` outside thoughts, of `{"score": …}` (fenced or not), or of a reply
    that says nothing else. `75.0`, `75/100` and `Score: 75` are 75; `850`, `-5`, `fifty` and `0.75` are no scores.
    """
    text = without_thoughts(clean(reply)).text
    if text is None:  # the thoughts never ended, so there is no answer yet
        return None
    text = text.strip()
    part = text if _in_json(text) else _last(_TAGGED, text) or _last(_FENCED, text) or text
    return _number(_in_json(part) or part)


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.findall(text)
    return str(found[-1]) if found else ""


def _in_json(text: str) -> str:
    """The score of a JSON object, as text; "" if `text` is no such object."""
    try:
        return str(_decoder.decode(text).score)
    except (msgspec.DecodeError, RecursionError):
        return ""


def _number(text: str) -> int | None:
    match = _NUMBER.fullmatch(_MARKS.sub("", text).strip())
    if match is None:
        return None
    number = int(match[1])
    return number if number <= HIGHEST else None
