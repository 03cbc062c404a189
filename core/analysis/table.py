"""Chains and their ideas as columns: what every number of a profile is computed from. Texts are not in them."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from core.questions import LEAVES, Question, question_key

Ints = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RULES = ("coherence", "embedding_novelty", "judged_novelty", "mechanical")
"""In the order in which `IdeaColumns.failed_rule` counts them."""

UNFINISHED = "unfinished"
"""Why a chain ended that did not."""

EMPTY = "empty"
"""Why a chain ended that an error kept from having any idea."""


class IdeaRow(Struct, frozen=True, kw_only=True, gc=False):
    """One idea. None where a number is not known."""

    number: int
    author: str
    coherence: float | None = None
    embedding_novelty: float | None = None
    judged_novelty: float | None = None
    scored: bool = True
    """Whether its verdict is that it passed or failed."""
    counts: bool = True
    """Whether patience counts it: nobody brought it beside the steps, changed it or took it out."""
    removed: bool = False
    shared: bool = False
    """Whether it is of the past that a fork shares with the session that it was made of."""
    failed_rule: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    """Tokens are those of all calls of its step that brought a proposal, and of the choice among them."""
    seconds: float | None = None
    """From the first word that was asked for to the last: of the slowest of these calls, and the choice."""
    cost: float | None = None
    """US dollars, for all of them; judges are not in it."""
    length: int = 0
    """Characters."""
    embedder: str = ""
    """By which its embedding novelty was measured; "" if it was not."""
    setting: str = ""
    """Team, random seed, embedder and judges: ideas on a question that have these in common differ in nothing but their
    seeds."""
    seed: str | None = None
    """In force when it was asked for."""
    seed_distance: float | None = None
    """From the question."""
    seed_called: bool = False
    """Whether the seed came because of how ideas went, by a person or at a plateau, and not at a step set before."""
    offered: tuple[str, ...] = ()
    """Who else proposed something in its step."""


class ChainRow(Struct, frozen=True, kw_only=True):
    """One chain with the rules that it stood under; the paper's unless said."""

    model: str
    """Who wrote it: a model, or a team under its own name."""
    made_of: str = ""
    """A team's strategy and members, which tell two of one name apart; "" for a model, and for what was imported."""
    question: Question
    ideas: Sequence[IdeaRow]
    ended: str
    """A rule's name, `cap`, `budget`, `person`, `refused`, `error`, `empty`, `unfinished`."""
    censored: bool
    is_team: bool = False
    damaged: bool = False
    """Whether the record that it is read from lacks something."""
    session: str = ""
    """Where it is stored."""
    place: int = 0
    """Among the chains of its session."""
    rule_coherence: float = 15.0
    rule_embedding_novelty: float = 0.15
    rule_judged_novelty: float = 0.15
    patience: int = 1
    max_ideas: int | None = None


class IdeaColumns(Struct, frozen=True, kw_only=True, eq=False):
    """(ideas,) each, chain by chain and in order. NaN where a number is not known."""

    chain: Ints
    """Rows of `ChainColumns`, never falling."""
    number: Ints
    author: Ints
    embedder: Ints
    setting: Ints
    seed: Ints
    """-1: none."""
    seed_distance: Floats
    seed_called: Flags
    coherence: Floats
    embedding_novelty: Floats
    judged_novelty: Floats
    scored: Flags
    counts: Flags
    removed: Flags
    shared: Flags
    failed_rule: Ints
    """Places in `RULES`; -1: it did not fail."""
    input_tokens: Floats
    output_tokens: Floats
    reasoning_tokens: Floats
    seconds: Floats
    cost: Floats
    length: Ints


class ChainColumns(Struct, frozen=True, kw_only=True, eq=False):
    """(chains,) each."""

    model: Ints
    question: Ints
    session: Ints
    place: Ints
    ended: Ints
    censored: Flags
    is_team: Flags
    damaged: Flags
    rule_coherence: Floats
    rule_embedding_novelty: Floats
    rule_judged_novelty: Floats
    patience: Ints
    max_ideas: Ints
    """0: no cap."""


class OfferColumns(Struct, frozen=True, kw_only=True, eq=False):
    """(offers,) each: proposals of teams that were not picked."""

    chain: Ints
    position: Ints
    """Of the idea in its chain that was picked instead, from 0."""
    author: Ints


class Table(Struct, frozen=True, kw_only=True, eq=False):
    """Columns, and the names that their numbers stand for."""

    writers: tuple[str, ...]
    """Who wrote chains: the name of a model or a team, and of a team in a second line what it is made of."""
    questions: tuple[Question, ...]
    """Each text of a leaf once, whatever it is called."""
    sessions: tuple[str, ...]
    ends: tuple[str, ...]
    authors: tuple[str, ...]
    embedders: tuple[str, ...]
    settings: tuple[str, ...]
    seeds: tuple[str, ...]
    chains: ChainColumns
    ideas: IdeaColumns
    offers: OfferColumns

    @property
    def models(self) -> tuple[str, ...]:
        """What each of `writers` is called, no two alike: "my team (2)" is the second team of that name."""
        return _called(self.writers)

    @property
    def lengths(self) -> Ints:
        """(chains,): ideas of each."""
        return np.bincount(self.ideas.chain, minlength=len(self.chains.model))

    @property
    def starts(self) -> Ints:
        """(chains,): where the ideas of each begin."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def positions(self) -> Ints:
        """(ideas,): the place of each in its chain, from 0."""
        return np.arange(len(self.ideas.chain)) - self.starts[self.ideas.chain]

    def leaves(self) -> list[str]:
        """Those of questions that have chains: the nine in their order, then others."""
        present = dict.fromkeys(self.questions[place].leaf for place in np.unique(self.chains.question))
        return [leaf for leaf in LEAVES if leaf in present] + [leaf for leaf in present if leaf not in LEAVES]

    def only(self, chains: Flags) -> "Table":
        """What is left with the chains that are marked, (chains,). Names stay, whether they are still used or not."""
        renumbered = np.cumsum(chains) - 1
        return replace(
            self,
            chains=_each(self.chains, lambda column: column[chains]),
            ideas=_of_chains(self.ideas, chains, renumbered),
            offers=_of_chains(self.offers, chains, renumbered),
        )


Columns = TypeVar("Columns", IdeaColumns, ChainColumns, OfferColumns)


def _each(columns: Columns, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Columns:
    return type(columns)(**{name: change(getattr(columns, name)) for name in columns.__struct_fields__})


OfChains = TypeVar("OfChains", IdeaColumns, OfferColumns)


def _of_chains(columns: OfChains, chains: Flags, renumbered: Ints) -> OfChains:
    left = _each(columns, lambda column: column[chains[columns.chain]])
    return replace(left, chain=renumbered[left.chain])


@functools.lru_cache(maxsize=64)
def _called(writers: tuple[str, ...]) -> tuple[str, ...]:
    """A model has its own name, whatever teams are called."""
    taken = {writer for writer in writers if "\n" not in writer}
    names = []
    for writer in writers:
        own, of_team, _ = writer.partition("\n")
        name, number = own, 1
        while of_team and name in taken:
            number += 1
            name = f"{own} ({number})"
        taken.add(name)
        names.append(name)
    return tuple(names)


class _Names:
    """Names in the order in which they came, each once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        return self._places.setdefault(name, len(self._places))

    def all(self) -> tuple[str, ...]:
        return tuple(self._places)


def table_of(rows: Sequence[ChainRow]) -> Table:
    """The table of some chains."""
    writers, sessions, ends, authors, embedders, settings, seeds = (_Names() for _ in range(7))
    ideas = [idea for row in rows for idea in row.ideas]
    chain_of_idea = [number for number, row in enumerate(rows) for _ in row.ideas]
    offers = [
        (number, position, authors.place(author))
        for number, row in enumerate(rows)
        for position, idea in enumerate(row.ideas)
        for author in idea.offered
    ]
    questions, places = distinct([row.question for row in rows])
    return Table(
        chains=ChainColumns(
            model=ints(writers.place(f"{row.model}\n{row.made_of}" if row.made_of else row.model) for row in rows),
            question=ints(places),
            session=ints(sessions.place(row.session) for row in rows),
            place=ints(row.place for row in rows),
            ended=ints(ends.place(row.ended) for row in rows),
            censored=_flags(row.censored for row in rows),
            is_team=_flags(row.is_team for row in rows),
            damaged=_flags(row.damaged for row in rows),
            rule_coherence=_floats(row.rule_coherence for row in rows),
            rule_embedding_novelty=_floats(row.rule_embedding_novelty for row in rows),
            rule_judged_novelty=_floats(row.rule_judged_novelty for row in rows),
            patience=ints(row.patience for row in rows),
            max_ideas=ints(row.max_ideas or 0 for row in rows),
        ),
        ideas=IdeaColumns(
            chain=ints(chain_of_idea),
            number=ints(idea.number for idea in ideas),
            author=ints(authors.place(idea.author) for idea in ideas),
            embedder=ints(embedders.place(idea.embedder) for idea in ideas),
            setting=ints(settings.place(idea.setting) for idea in ideas),
            seed=ints(-1 if idea.seed is None else seeds.place(idea.seed) for idea in ideas),
            seed_distance=_floats(idea.seed_distance for idea in ideas),
            seed_called=_flags(idea.seed_called for idea in ideas),
            coherence=_floats(idea.coherence for idea in ideas),
            embedding_novelty=_floats(idea.embedding_novelty for idea in ideas),
            judged_novelty=_floats(idea.judged_novelty for idea in ideas),
            scored=_flags(idea.scored for idea in ideas),
            counts=_flags(idea.counts for idea in ideas),
            removed=_flags(idea.removed for idea in ideas),
            shared=_flags(idea.shared for idea in ideas),
            failed_rule=ints(-1 if idea.failed_rule is None else RULES.index(idea.failed_rule) for idea in ideas),
            input_tokens=_floats(idea.input_tokens for idea in ideas),
            output_tokens=_floats(idea.output_tokens for idea in ideas),
            reasoning_tokens=_floats(idea.reasoning_tokens for idea in ideas),
            seconds=_floats(idea.seconds for idea in ideas),
            cost=_floats(idea.cost for idea in ideas),
            length=ints(idea.length for idea in ideas),
        ),
        offers=OfferColumns(
            chain=ints(chain for chain, _, _ in offers),
            position=ints(position for _, position, _ in offers),
            author=ints(author for _, _, author in offers),
        ),
        writers=writers.all(),
        questions=questions,
        sessions=sessions.all(),
        ends=ends.all(),
        authors=authors.all(),
        embedders=embedders.all(),
        settings=settings.all(),
        seeds=seeds.all(),
    )


def ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _floats(values: Iterable[float | None]) -> Floats:
    """None becomes NaN."""
    return np.array(list(values), dtype=np.float64)


def _flags(values: Iterable[bool]) -> Flags:
    return np.array(list(values), dtype=np.bool_)


def plain(values: Floats) -> tuple[float | None, ...]:
    """As Python's own numbers, with None for NaN."""
    return tuple(None if np.isnan(value) else value for value in values.tolist())


NAMES = {
    "model": "writers",
    "question": "questions",
    "session": "sessions",
    "ended": "ends",
    "author": "authors",
    "embedder": "embedders",
    "setting": "settings",
    "seed": "seeds",
}
"""Columns that hold places among names, by the names that they are places among."""


Name = TypeVar("Name", str, Question)


def distinct(names: Iterable[Name]) -> tuple[tuple[Name, ...], list[int]]:
    """The first of those that are the same, and for each one its place among these."""
    first: dict[str, int] = {}
    union: list[Name] = []
    places: list[int] = []
    for name in names:
        key = f"{name.leaf}\n{question_key(name.text)}" if isinstance(name, Question) else name
        place = first.setdefault(key, len(union))
        if place == len(union):
            union.append(name)
        places.append(place)
    return tuple(union), places
