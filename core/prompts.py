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

# Two ideas for another question, which show a small model how long, how concrete and how different ideas are.
_EXAMPLE = """\
Question: Propose a way to keep solar panels in a desert clean.
Different ideas, each one sentence that says what is done and why it would work:
1. Coat the glass with a transparent electrode grid and send a travelling voltage wave across it at dawn, so that \
charged dust hops off the lower edge.
2. Hang a curtain of native shrubs upwind of the panels, because their leaves slow the wind enough for the coarse \
sand to settle before it arrives.

"""

_LIST_HEAD = "Different ideas, each one sentence that says what is done and why it would work:"

_CHAT_TASK = """\
{question}

Give one idea in one sentence of 15 to 40 words. Be specific: say what is done, with what, and why it would work. \
No introduction."""

_CHAT_EARLIER = """

These ideas were already given. Yours must work in a different way:
{ideas}"""

_MORE = "Another idea, different from all the others, in one sentence."

_SYSTEM = "You are {persona}. You answer scientific questions with specific, workable ideas."
_SCIENTIST = "an inventive scientist"

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

    `persona` is a way of thinking, as in "You are …". With a `concept` the idea opens from it in style `concept`.
    """
    asked, ideas = _plain(question), [_plain(idea) for idea in shown]
    if style == "chat":
        return _chat(asked, ideas, persona)
    if style == "turns":
        return _turns(asked, ideas, persona)
    return _list(asked, ideas, persona, _plain(concept) if style == "concept" else "")


def read_idea(prompt: Prompt, answer: str) -> str:
    """The idea in `answer`: the prompt's lead and the first item, on one line, without what only marks it as one; or ""."""
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
    """A numbered list that the model continues by one line."""
    by = f" The ideas come from {persona}." if persona else ""
    items = "".join(f"{number}. {idea}\n" for number, idea in enumerate(ideas, 1))
    lead = f"Use {concept} to" if concept else ""
    text = f"{_EXAMPLE}Question: {question}{by}\n{_LIST_HEAD}\n{items}{len(ideas) + 1}."
    return Prompt(
        messages=(Message("user", f"{text} {lead}" if lead else text),), completion=True, stop=("\n",), lead=lead
    )


def _chat(question: str, ideas: Sequence[str], persona: str) -> Prompt:
    task = _CHAT_TASK.format(question=question)
    if ideas:
        task += _CHAT_EARLIER.format(ideas="\n".join(f"- {idea}" for idea in ideas))
    return Prompt(messages=(_system(persona), Message("user", task)), stop=("\n\n",))


def _turns(question: str, ideas: Sequence[str], persona: str) -> Prompt:
    messages = [_system(persona), Message("user", _CHAT_TASK.format(question=question))]
    for idea in ideas:
        messages += [Message("assistant", idea), Message("user", _MORE)]
    return Prompt(messages=tuple(messages), stop=("\n\n",))


def _system(persona: str) -> Message:
    # Without one of ours, templates put in their own, which names the model.
    return Message("system", _SYSTEM.format(persona=persona or _SCIENTIST))


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
    if len(line) > 1 and _QUOTES.get(line[0]) == line[-1]:
        line = line[1:-1].strip()
    return line
