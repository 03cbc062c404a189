"""Items whose right score is known, to try a judge on. Their texts are in `data/controls.toml`."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core.rules import Rules, Scores, judge

if TYPE_CHECKING:
    from numpy.random import Generator

ControlKind = Literal[
    "right",  # a sound answer
    "wrong",  # rests on something plainly false
    "off-topic",  # a sound answer to another question
    "duplicate",  # an answer and itself
    "paraphrase",  # an answer and the same in other words
    "distinct",  # two answers that rest on different mechanisms
    "pair",  # two answers of which nobody knows: only their order is looked at
]

_FAILS: dict[ControlKind, bool | None] = {
    "right": False,
    "wrong": True,
    "off-topic": True,
    "duplicate": True,
    "paraphrase": True,
    "distinct": False,
    "pair": None,
}

PAPER = Rules()


class Control(Struct, frozen=True, kw_only=True):
    kind: ControlKind
    question: str
    answer: str
    earlier: str | None = None
    """What `answer` is compared with, where similarity is asked for; None: coherence is."""

    @property
    def fails(self) -> bool | None:
        """Whether a good judge's score fails it: incoherent, or not new; None: nobody knows."""
        return _FAILS[self.kind]

    @property
    def has_orders(self) -> bool:
        """Whether it can be asked the other way round, and ought to get the same score."""
        return self.earlier is not None and self.earlier != self.answer

    def turned(self) -> "Control":
        """The same pair in the other order."""
        return self if self.earlier is None else replace(self, earlier=self.answer, answer=self.earlier)


class _Idea(Struct, frozen=True):
    text: str
    reworded: str


class ControlQuestion(Struct, frozen=True, kw_only=True):
    id: str
    domain: str
    subdomain: str | None = None
    text: str
    wrong: tuple[str, ...]
    ideas: tuple[_Idea, ...]


class _File(Struct, frozen=True):
    questions: tuple[ControlQuestion, ...]


def fails(control: Control, score: float, rules: Rules = PAPER) -> bool:
    """Whether `score`, a judge's 0 to 100, would fail the answer under `rules`."""
    scores = Scores(coherence=score) if control.earlier is None else Scores(judged_novelty=1 - score / 100)
    return judge(scores, rules).word == "failed"


def is_right(control: Control, score: float, rules: Rules = PAPER) -> bool | None:
    """Whether a judge that gave `score` did what a good one does; None where nobody knows."""
    return None if control.fails is None else fails(control, score, rules) == control.fails


@cache
def control_questions() -> tuple[ControlQuestion, ...]:
    text = (files("data") / "controls.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _File).questions


@cache
def controls() -> tuple[Control, ...]:
    """All controls there are, question by question."""
    questions = control_questions()
    found: list[Control] = []
    for question, other in zip(questions, [*questions[1:], questions[0]], strict=True):
        text, ideas = question.text, question.ideas
        found += [Control(kind="right", question=text, answer=idea.text) for idea in ideas]
        found += [Control(kind="wrong", question=text, answer=wrong) for wrong in question.wrong]
        found += [Control(kind="off-topic", question=text, answer=idea.text) for idea in other.ideas]
        found += [pair("duplicate", text, idea.text, idea.text) for idea in ideas]
        found += [pair("paraphrase", text, idea.text, idea.reworded) for idea in ideas]
        found += [pair("distinct", text, one.text, two.text) for one, two in combinations(ideas, 2)]
    return tuple(found)


def pair(kind: ControlKind, question: str, earlier: str, answer: str) -> Control:
    return Control(kind=kind, question=question, earlier=earlier, answer=answer)


def draw(rng: "Generator") -> Control:
    """One control: every kind is as likely, and either order of a pair."""
    groups = _by_kind(controls())
    group = groups[int(rng.integers(len(groups)))]
    control = group[int(rng.integers(len(group)))]
    return control.turned() if rng.integers(2) else control


def some(pool: Sequence[Control], count: int, rng: "Generator") -> list[Control]:
    """`count` of `pool`, drawn so that there are equally many of each kind as far as they go; all if it has fewer."""
    shuffled = [[group[place] for place in rng.permutation(len(group))] for group in _by_kind(pool)]
    dealt = [control for round_ in zip_longest(*shuffled) for control in round_ if control is not None]
    return dealt[:count]


def _by_kind(pool: Sequence[Control]) -> list[list[Control]]:
    groups: dict[ControlKind, list[Control]] = {}
    for control in pool:
        groups.setdefault(control.kind, []).append(control)
    return list(groups.values())
