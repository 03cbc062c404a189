"""Every prompt text for ideas. Pure functions."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from core.answers import read_line, read_tagged, without_thoughts
from core.levers import InForce, Seed
from core.models import Message, Prompt, Style
from core.text import clean_line

NOTHING = InForce()

VERSION = 2
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

_ALONG = "Look in this direction: {direction}."

_STEER = "Keep to this instruction: {text}"

_SEED = {
    "mention": "You may think of this on the way: {seed}.",
    "analogy": "Take this as a source of analogy: {seed}. Say which of its mechanisms carries over.",
    "constraint": "The idea must be built on this: {seed}. Say which of its mechanisms it uses.",
}

_LANGUAGE = "Think about it in {name}, but write the answer in English."

_DENY = "This mechanism has been used and may not be used again, in any form: {name}."

_PARAGRAPH = ("\n\n",)

_TAGGED_TASK = """\
Here is an open scientific question.

{question}

{earlier}Propose one new answer to it, in one paragraph of two to four sentences. Name the mechanism or method, say \
why it would work, and say what one would measure or build to find out. Be concrete: a specialist should be able to \
tell what is new.

Write the answer, and nothing else, between <idea> and </idea>."""

_TAGGED_EARLIER = """\
These answers have been given already:
{ideas}

A further answer counts only if it rests on a different mechanism or principle than every one of them; other words, \
other materials or other numbers for the same thing do not make it different.

"""

# Tag-like text that some model's tokenizer or template takes for its own: <|im_end|>, </s>, <think>, [INST].
_SPECIAL = re.compile(r"<(?=[|｜/!_A-Za-z][^<>\s]{0,60}>)|\[(?=/?(?:INST|SYS)\])")


def idea_prompt(
    question: str,
    shown: Sequence[str],
    *,
    style: Style,
    persona: str = "",
    concept: str = "",
    direction: str = "",
    force: InForce = NOTHING,
) -> Prompt:
    """A request for one more idea after those in `shown`; with a `direction`, for one along it.

    `persona` is a way of thinking, as in "You are …"; one in `force` takes its place. In the style `concept` the idea
    opens from `concept`.
    """
    persona = next((lever.name for lever in reversed(force.of("persona"))), persona)
    ideas = [plain(idea) for idea in shown]
    along = [_ALONG.format(direction=plain(direction))] if direction else []
    said = [*along, *_said(force)]
    if style == "tagged":
        return _tagged("\n\n".join([plain(question), *said]), ideas, persona)
    asked = " ".join([plain(question), *said])
    if style == "chat":
        return _chat(asked, ideas, persona)
    if style == "turns":
        return _turns(asked, ideas, persona)
    return _list(asked, ideas, persona, plain(concept) if style == "concept" else "")


def framed(question: str, force: InForce) -> str:
    """`question` with what all must mind, on one line, for those who pick, lead or work out: seeds are for writers."""
    return " ".join([plain(question), *_minded(force)])


def _said(force: InForce) -> list[str]:
    """What is in force, but for who to be, a sentence or two each."""
    seeds = [_SEED[seed.style].format(seed=_described(seed)) for seed in force.of("seed")]
    denied = [_DENY.format(name=plain(lever.name)) for lever in force.of("deny")]
    return [*seeds, *denied, *_minded(force)]


def _minded(force: InForce) -> list[str]:
    languages = [_LANGUAGE.format(name=plain(lever.name)) for lever in force.of("language")]
    return [*(_STEER.format(text=_sentence(plain(steer))) for steer in force.steers), *languages]


def _described(seed: Seed) -> str:
    name, text = plain(seed.name).rstrip("."), plain(seed.text).rstrip(".")
    return f"{name} ({text})" if text else name


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def read_idea(prompt: Prompt, answer: str) -> str:
    """The idea in `answer`, on one line, without thoughts, tags and marks around it; "" if there is none."""
    text = without_thoughts(answer).text
    if text is None:
        return ""
    return read_tagged(text) if prompt.tag else read_line(text, prompt.lead)


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


def _tagged(question: str, ideas: Sequence[str], persona: str) -> Prompt:
    """For models that follow instructions well; the answer stands between tags, whatever is said around it."""
    numbered = "\n".join(f"{number}. {idea}" for number, idea in enumerate(ideas, 1))
    earlier = _TAGGED_EARLIER.format(ideas=numbered) if ideas else ""
    task = _TAGGED_TASK.format(question=question, earlier=earlier)
    return Prompt(messages=(_system(persona), Message("user", task)), tag="idea")


def _turns(question: str, ideas: Sequence[str], persona: str) -> Prompt:
    messages = [_system(persona), Message("user", _CHAT_TASK.format(question=question))]
    for idea in ideas:
        messages += [Message("assistant", idea), Message("user", _MORE)]
    return Prompt(messages=tuple(messages), stop=_PARAGRAPH)


def _system(persona: str) -> Message:
    # Without one of ours, templates put in their own, which names the model.
    return Message("system", _SYSTEM.format(persona=plain(persona) or _SCIENTIST))


@lru_cache(maxsize=32_768)
def plain(text: str) -> str:
    """`text` on one line that means nothing to a prompt format."""
    return _SPECIAL.sub(lambda match: f"{match[0]} ", clean_line(text))
