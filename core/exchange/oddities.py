"""What is odd in public results: marked where it is, and counted."""

import re
from collections.abc import Iterable

from msgspec import Struct

from core.exchange.public import PublicAnswer

ENDLESS = 20_000
"""Characters from which an answer is called endless: a chain of ours keeps no more of one."""

_TAG = re.compile(r"</?answer>", re.IGNORECASE)


class Oddities(Struct, kw_only=True):
    """What is not as one would expect, counted. All of it is kept."""

    without_answers: int = 0
    """Chains."""
    blank: int = 0
    endless: int = 0
    tagged: int = 0
    """With literal tags of the prompt in them."""
    soft_hyphens: int = 0
    below_zero: int = 0
    """With a novelty below zero."""
    marked_within: int = 0
    """With the mark of an error or a stop, though the chain went on."""
    misnumbered: int = 0
    not_numbers: int = 0
    """Scores and times that are NaN or infinite."""
    without_questions: int = 0
    """Leaves that name a model and no question."""

    def add(self, names: Iterable[str]) -> None:
        """Count one more of each."""
        for name in names:
            setattr(self, name, getattr(self, name) + 1)

    def include(self, others: "Oddities") -> None:
        for name in Oddities.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(others, name))


def odd_in(answer: PublicAnswer, place: int, *, stops: bool) -> tuple[str, ...]:
    """What is odd in the answer that stands at `place`, from 1, by the names in `Oddities`.

    `stops`: whether it is nothing odd if it bears the mark of a stop.
    """
    found = {
        "blank": not answer.text or answer.text.isspace(),
        "endless": len(answer.text) > ENDLESS,
        "tagged": "answer>" in answer.text.casefold() and bool(_TAG.search(answer.text)),
        "soft_hyphens": "\u00ad" in answer.text,
        "below_zero": min(answer.embedding_novelty or 0, answer.judged_novelty or 0) < 0,
        "marked_within": bool(answer.mark) and not stops,
        "misnumbered": answer.number != place,
    }
    return tuple(name for name, there in found.items() if there)


_WORDS = {
    "without_answers": ("chain without answers", "chains without answers"),
    "blank": ("blank answer", "blank answers"),
    "endless": (f"answer of more than {ENDLESS:,} characters", f"answers of more than {ENDLESS:,} characters"),
    "tagged": ("answer with literal <answer> tags", "answers with literal <answer> tags"),
    "soft_hyphens": ("answer with soft hyphens", "answers with soft hyphens"),
    "below_zero": ("novelty below zero", "novelties below zero"),
    "marked_within": ("stop in the midst of a chain", "stops in the midst of a chain"),
    "misnumbered": ("answer with another's number", "answers with other answers' numbers"),
    "not_numbers": ("number that is not finite", "numbers that are not finite"),
    "without_questions": ("leaf without questions", "leaves without questions"),
}


def oddity_words(found: Oddities) -> list[str]:
    """What was odd, in words that begin with how many."""
    counts = ((name, getattr(found, name)) for name in Oddities.__struct_fields__)
    return [f"{count:,} {_WORDS[name][count != 1]}" for name, count in counts if count]


def odd_words(name: str) -> str:
    """What one oddity is called where one answer has it."""
    return _WORDS[name][0] if name in _WORDS else name
