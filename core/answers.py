"""What a model wrote, told apart: thoughts and answer, tags and text. Pure functions; nothing here calls anything."""

import re
from typing import Literal

from msgspec import Struct

from core.text import clean, clean_line

_NAMES = "think|thinking|thought|thoughts|reasoning|scratchpad"
_OPEN = re.compile(rf"\s*(?:<(?:{_NAMES})>|\[THINK\])", re.IGNORECASE)
_CLOSE = re.compile(rf"</(?:{_NAMES})>|\[/THINK\]", re.IGNORECASE)
_EITHER = re.compile(rf"<(/?)(?:{_NAMES})>|\[(/?)THINK\]", re.IGNORECASE)

_TEMPLATE_END = re.compile(r"<\|(?:im_end|im_start|endoftext|eot_id|end)\|>")
_FENCE = re.compile(r"```[\w-]*\n?|~~~[\w-]*\n?")
_ANSWER_TAG = re.compile(r"<(/?)(?:idea|answer)\b[^<>\n]{0,80}>", re.IGNORECASE)
_TAG = re.compile(r"</?\s?(?:answer|idea|think|thinking|response|output)\b[^<>\n]{0,80}>", re.IGNORECASE)
_ITEM = re.compile(
    r"\s*(?:\*\*)?(?:(?:idea|answer)\s+\d{1,3}\s*[.):]|\(?\d{1,3}[.):](?=\s|\*|$)|[-*•–](?=\s))", re.IGNORECASE
)
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}


class Answer(Struct, frozen=True):
    """`text` is None where the thoughts never ended: then nothing of it is an answer."""

    text: str | None
    thoughts: str = ""


def without_thoughts(raw: str) -> Answer:
    """What is left when thoughts between tags are taken out, be they whole, only closed, or never closed."""
    text: list[str] = []
    thoughts: list[str] = []
    inside = False
    place = 0
    for tag in _EITHER.finditer(raw):
        closes = bool(tag[1] or tag[2])
        piece, place = raw[place : tag.start()], tag.end()
        if inside or closes:  # with only a closing tag, the opening one was part of the prompt
            thoughts += [*text, piece] if not inside else [piece]
            text = text if inside else []
        else:
            text.append(piece)
        inside = not closes
    rest = raw[place:]
    told = [*thoughts, rest] if inside else thoughts
    return Answer(None if inside else "".join([*text, rest]), "\n".join(filter(None, (part.strip() for part in told))))


class ThoughtSplitter:
    """Tells text from thoughts while they stream, for those who watch; `without_thoughts` has the last word."""

    def __init__(self) -> None:
        self._held = ""
        self._where: Literal["start", "thoughts", "text"] = "start"

    def feed(self, piece: str) -> tuple[str, str]:
        """What can be shown by now of text and of thoughts."""
        if self._where == "text":
            return piece, ""
        self._held += piece
        if self._where == "start":
            if match := _OPEN.match(self._held):
                self._where, self._held = "thoughts", self._held[match.end() :]
            elif _may_begin_thoughts(self._held):
                return "", ""
            else:
                return self._flush(), ""
        if match := _CLOSE.search(self._held):
            thoughts = self._held[: match.start()]
            self._held = self._held[match.end() :]
            return self._flush(), thoughts
        keep = self._held.rfind("<") if "<" in self._held[-16:] else len(self._held)
        thoughts, self._held = self._held[:keep], self._held[keep:]
        return "", thoughts

    def rest(self) -> tuple[str, str]:
        """What was held back to see whether it was a tag."""
        if self._where == "thoughts":
            held, self._held = self._held, ""
            return "", held
        return self._flush(), ""

    def _flush(self) -> str:
        self._where = "text"
        held, self._held = self._held, ""
        return held


def _may_begin_thoughts(text: str) -> bool:
    start = text.lstrip().casefold()
    tags = [f"<{name}>" for name in _NAMES.split("|")] + ["[think]"]
    return any(tag.startswith(start) for tag in tags)


def read_tagged(answer: str) -> str:
    """The idea in an answer that was asked for between tags; "" if there is none.

    The last complete tag counts; without one, what follows the last opening tag; without any, all of it, on one line
    and without code fences.
    """
    text = _FENCE.sub("", _TEMPLATE_END.split(clean(answer), maxsplit=1)[0])
    opened: int | None = None
    complete = ""
    for tag in _ANSWER_TAG.finditer(text):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            complete = text[opened : tag.start()].strip() or complete
            opened = None
    text = complete or (text[opened:] if opened is not None else text)
    return clean_line(_TAG.sub(" ", text))


def read_line(answer: str, lead: str = "") -> str:
    """The idea in the answer of a model that goes on with a list: the first item, on one line, without marks.

    `lead` is what the prompt had already begun the idea with.
    """
    text = _TAG.sub(" ", _TEMPLATE_END.split(clean(answer), maxsplit=1)[0])
    if lead:
        return clean_line(f"{lead} {text.strip()}") if text.strip() else ""
    return _bare(_first_item(text))


def _first_item(text: str) -> str:
    """Up to where a second list item starts, and without a line before the first that only announces it."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":") and not _ITEM.match(lines[0]):
        lines = lines[1:]
    kept = lines[:1]
    for line in lines[1:]:
        if _ITEM.match(line):
            break
        kept.append(line)
    return "\n".join(kept)


def _bare(text: str) -> str:
    """`text` on one line, without list marks, bold marks and quotes around it."""
    line = clean_line(text).replace("**", "")
    while match := _ITEM.match(line):
        line = line[match.end() :].strip()
    close = _QUOTES.get(line[:1])
    if close and len(line) > 1 and line[-1] == close and not {line[0], close} & set(line[1:-1]):
        line = line[1:-1].strip()
    return line
