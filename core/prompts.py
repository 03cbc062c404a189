"""Every prompt text there is, and how the idea is read out of what comes back. Pure functions."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from core.models import Message, Prompt, Style
from core.text import clean, clean_line

VERSION = 1
"""Raised by any change to a text here, so that a record says which words a model was given."""

_SYSTEM = "You are {persona}."
_SCIENTIST = "an expert scientist"

_LIST_TASK = """\
{question}

Brainstorm a numbered list of very different ideas. Each idea is one sentence of about 25 words that names a mechanism \
and says why it works. Stay on the question."""

# Another question with its list, which shows a small model how long, how concrete and how different ideas are.
_EXAMPLE_QUESTION = "Propose a way to keep solar panels in a desert clean."
_EXAMPLE_LIST = """\
1. Coat the glass with a transparent electrode grid and send a travelling voltage wave across it at dawn, so that \
charged dust hops off the lower edge.
2. Hang a curtain of native shrubs upwind of the panels, because their leaves slow the wind enough for coarse sand to \
settle before it arrives.
3. Let the panels turn face down on windy nights, so that gravity and vibration shake the loose grains off before \
sunrise."""

_LEAD = "Use {concept} to"

_CHAT_TASK = """\
{question}

Give one idea in one sentence of about 25 words that names a mechanism and says why it works. Stay on the question. \
No introduction."""

_CHAT_EARLIER = """

These ideas were already given. Yours must work in a different way:
{ideas}"""

_MORE = "One more idea that works in a different way, in one sentence."

_PARAGRAPH = ("\n\n",)

# Tag-like text that some model's tokenizer or template takes for its own: <|im_end|>, </s>, <think>, [INST].
_SPECIAL = re.compile(r"<(?=[|｜/!_A-Za-z][^<>\s]{0,60}>)|\[(?=/?(?:INST|SYS)\])")

_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_TEMPLATE_END = re.compile(r"<\|(?:im_end|im_start|endoftext|eot_id)\|>")
_TAG = re.compile(r"</?\s*(?:answer|idea|think|thinking|response|output)\b[^>\n]*>", re.IGNORECASE)
_ITEM = re.compile(
    r"\s*(?:\*\*)?(?:(?:idea|answer)\s+\d{1,3}\s*[.):]|\(?\d{1,3}[.):](?=\s|\*|$)|[-*•–](?=\s))", re.IGNORECASE
)
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}


def idea_prompt(question: str, shown: Sequence[str], *, style: Style, persona: str = "", concept: str = "") -> Prompt:
    """A request for one more idea after those in `shown`.

    `persona` is a way of thinking, as in "You are …". In the style `concept` the idea opens from `concept`.
    """
    asked, ideas = _plain(question), [_plain(idea) for idea in shown]
    if style == "chat":
        return _chat(asked, ideas, persona)
    if style == "turns":
        return _turns(asked, ideas, persona)
    return _list(asked, ideas, persona, _plain(concept) if style == "concept" else "")


def read_idea(prompt: Prompt, answer: str) -> str:
    """The idea in `answer`: the prompt's lead and the first item, on one line, without marks around it; "" if none."""
    text = _TEMPLATE_END.split(_THOUGHTS.sub("", clean(answer)), maxsplit=1)[0]
    text = _TAG.sub(" ", text)
    if prompt.lead:
        return clean_line(f"{prompt.lead} {text.strip()}") if text.strip() else ""
    return _bare(_first_item(text))


@cache
def concepts() -> tuple[str, ...]:
    """Short scientific concepts from many fields, for the style `concept`."""
    return tuple(tomllib.loads((files("data") / "concepts.toml").read_text("utf-8"))["concepts"])


def _list(question: str, ideas: Sequence[str], persona: str, concept: str) -> Prompt:
    """A list that the model has begun, and goes on with by one line."""
    lead = _LEAD.format(concept=concept) if concept else ""
    begun = "".join(f"{number}. {idea}\n" for number, idea in enumerate(ideas, 1))
    messages = (
        _system(persona),
        Message("user", _LIST_TASK.format(question=_EXAMPLE_QUESTION)),
        Message("assistant", _EXAMPLE_LIST),
        Message("user", _LIST_TASK.format(question=question)),
        Message("assistant", f"{begun}{len(ideas) + 1}. {lead}".rstrip()),
    )
    return Prompt(messages=messages, stop=("\n",), lead=lead)


def _chat(question: str, ideas: Sequence[str], persona: str) -> Prompt:
    task = _CHAT_TASK.format(question=question)
    if ideas:
        task += _CHAT_EARLIER.format(ideas="\n".join(f"- {idea}" for idea in ideas))
    return Prompt(messages=(_system(persona), Message("user", task)), stop=_PARAGRAPH)


def _turns(question: str, ideas: Sequence[str], persona: str) -> Prompt:
    messages = [_system(persona), Message("user", _CHAT_TASK.format(question=question))]
    for idea in ideas:
        messages += [Message("assistant", idea), Message("user", _MORE)]
    return Prompt(messages=tuple(messages), stop=_PARAGRAPH)


def _system(persona: str) -> Message:
    # Without one of ours, templates put in their own, which names the model.
    return Message("system", _SYSTEM.format(persona=_plain(persona) or _SCIENTIST))


def _plain(text: str) -> str:
    """One line that means nothing to a prompt format."""
    return _SPECIAL.sub(lambda match: f"{match[0]} ", clean_line(text))


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
