"""What a member is asked beside the steps, because a person wants it: merging, working out, naming a mechanism."""

from collections.abc import Sequence

from core.answers import read_tagged, without_thoughts
from core.levers import InForce
from core.models import Message, Prompt
from core.prompts import framed, plain
from core.text import clean, clean_line

_SYSTEM = "You are an expert scientist in a brainstorm."

_MERGE = """\
An open scientific question:

{question}

These ideas were given:
{ideas}

Make one idea of them: one that does what none of them does alone, in two to four sentences. Name its mechanism and \
say what each of them gives to it.

Write the idea, and nothing else, between <idea> and </idea>."""

_DEVELOP = """\
An open scientific question:

{question}

One idea for it:
{idea}

Work the idea out, in four short paragraphs that begin with these words:
Mechanism: what happens, step by step, and why it should work.
First experiment: the smallest one that would tell, with what is needed for it.
What would refute it: an outcome after which you would give it up.
Trade-offs: what it costs or makes worse, and how each of these could be softened."""

_NAME = """\
An idea for an open scientific question:
{idea}

Which mechanism or principle does it rest on? Answer with its name alone, in at most six words."""

LONGEST_MECHANISM = 120
"""Characters of a mechanism's name: what is longer is no name."""


def merge_prompt(question: str, ideas: Sequence[str], force: InForce) -> Prompt:
    numbered = "\n".join(f"{number}. {plain(idea)}" for number, idea in enumerate(ideas, 1))
    return _prompt(_MERGE.format(question=framed(question, force), ideas=numbered), "idea")


def develop_prompt(question: str, idea: str, force: InForce) -> Prompt:
    return _prompt(_DEVELOP.format(question=framed(question, force), idea=plain(idea)), "")


def mechanism_prompt(idea: str) -> Prompt:
    return _prompt(_NAME.format(idea=plain(idea)), "")


def read_merged(answer: str) -> str:
    """The idea on one line; of a model that wrote no tags, all of it. "" if there is none."""
    text = without_thoughts(answer).text or ""
    return read_tagged(text)


def read_development(answer: str) -> str:
    """The paragraphs as they were written; "" if there are none."""
    return clean(without_thoughts(answer).text or "").strip()


def read_mechanism(answer: str) -> str:
    """The name, on one line; "" where the answer is none."""
    line = next((line for line in (without_thoughts(answer).text or "").splitlines() if line.strip()), "")
    name = clean_line(line).strip(" .\"'*`")
    return name if len(name) <= LONGEST_MECHANISM else ""


def _prompt(text: str, tag: str) -> Prompt:
    return Prompt(messages=(Message("system", _SYSTEM), Message("user", text)), tag=tag)
