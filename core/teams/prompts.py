"""What selectors and leads are asked, and how their answers are read. Strictly: what is not clear is no answer."""

import re
from collections.abc import Sequence

from core.answers import read_tagged, without_thoughts
from core.models import Message, Prompt
from core.prompts import plain
from core.text import clean_line

_CHOOSER = "You are an expert scientist who decides where a brainstorm goes next."

_SO_FAR = """\
An open scientific question:

{question}

{earlier}"""

_EARLIER = """\
The brainstorm so far:
{ideas}

"""

_CHOICE = """\
Which of these proposals should come next? Take the one that opens the most promising new way to go on: something that \
the ideas so far do not already do, that could work, and from which further ideas would follow.

{proposals}

Write the number of your choice, and nothing else, between <pick> and </pick>."""

_DIRECTIONS = """\
Before anybody writes the next idea, name {count} directions to look in. They must rest on different mechanisms or \
principles than each other and than every idea so far. Say each in one short phrase, not as an idea.

Write each between <direction> and </direction>."""

_CHOICE_OR_MERGE = """\
These proposals were worked out for it:

{proposals}

If one of them is clearly the best, write its number, and nothing else, between <pick> and </pick>. If two or more \
become stronger together, write instead the one idea that you make of them, in two to four sentences, between <idea> \
and </idea>."""

_PICK = re.compile(r"<pick>\s*(\d{1,3})\s*</pick>", re.IGNORECASE)
_DIRECTION = re.compile(r"<direction>([^<>]{1,400})</direction>", re.IGNORECASE)


def choice_prompt(question: str, ideas: Sequence[str], proposals: Sequence[str]) -> Prompt:
    """Which of `proposals` should come next, by its number from 1?"""
    return _prompt(question, ideas, _CHOICE.format(proposals=_numbered(proposals)), "pick")


def directions_prompt(question: str, ideas: Sequence[str], count: int) -> Prompt:
    return _prompt(question, ideas, _DIRECTIONS.format(count=count), "direction")


def choice_or_merge_prompt(question: str, ideas: Sequence[str], proposals: Sequence[str]) -> Prompt:
    return _prompt(question, ideas, _CHOICE_OR_MERGE.format(proposals=_numbered(proposals)), "")


def read_choice(answer: str, count: int) -> int | None:
    """The place, from 0, of the proposal whose number stands in the answer's last tag; None if there is none such."""
    picks = _PICK.findall(without_thoughts(answer).text or "")
    return int(picks[-1]) - 1 if picks and 1 <= int(picks[-1]) <= count else None


def read_directions(answer: str, count: int) -> tuple[str, ...]:
    """The directions in the answer, at most `count`, each once."""
    found = _DIRECTION.findall(without_thoughts(answer).text or "")
    return tuple(dict.fromkeys(filter(None, map(clean_line, found))))[:count]


def read_merged(answer: str) -> str:
    """The idea that the answer makes of several; "" if it makes none."""
    text = without_thoughts(answer).text or ""
    return read_tagged(text) if re.search(r"<idea>", text, re.IGNORECASE) else ""


def _prompt(question: str, ideas: Sequence[str], task: str, tag: str) -> Prompt:
    earlier = _EARLIER.format(ideas=_numbered(ideas)) if ideas else ""
    text = _SO_FAR.format(question=plain(question), earlier=earlier) + task
    return Prompt(messages=(Message("system", _CHOOSER), Message("user", text)), tag=tag)


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {plain(text)}" for number, text in enumerate(texts, 1))
