"""What of all that was read a profile shows: which models and sessions, which questions, under which rules."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import Struct

from core.analysis.profiles import Series
from core.analysis.rescoring import Change, Counts
from core.analysis.ribbons import ribbons
from core.analysis.series import chain_series
from core.analysis.table import RULES, Flags, Table
from core.questions import Question, QuestionBank
from core.text import clean_line
from tui.words import RULES as RULE_WORDS

Level = Literal["model", "leaf", "question", "chain", "idea"]


class Inside(Struct, frozen=True, kw_only=True):
    """How far a person went down from all models: to one, to a leaf of it, to a question, to a chain."""

    model: str | None = None
    leaf: str | None = None
    question: str | None = None
    chain: tuple[str, int] | None = None
    """Its session, and its place among the chains of this."""

    @property
    def level(self) -> Level:
        """What there is to choose from here."""
        steps: tuple[tuple[object, Level], ...] = (
            (self.model, "model"),
            (self.leaf, "leaf"),
            (self.question, "question"),
            (self.chain, "chain"),
        )
        return next((level for step, level in steps if step is None), "idea")

    def up(self) -> "Inside":
        """One step back."""
        kept = {name: getattr(self, name) for name in self.__struct_fields__ if getattr(self, name) is not None}
        return Inside(**dict(list(kept.items())[:-1]))


class Selection(Struct, frozen=True, kw_only=True):
    """What is shown."""

    without_models: frozenset[str] = frozenset()
    without_sessions: frozenset[str] = frozenset()
    domain: str = ""
    """As `fitting` takes it."""
    words: str = ""
    """The same."""
    change: Change = Change()
    inside: Inside = Inside()


class Row(Struct, frozen=True, kw_only=True):
    """One of the things to choose from."""

    name: str
    text: str = ""
    """What it is shown as, if not as its name."""
    said: str = ""
    """A number beside it."""
    included: bool | None = None
    """None where it can't be left out."""
    chain: tuple[str, int] | None = None
    """Where it is, if it is one."""


def passing(table: Table, selection: Selection, *, models: bool = True) -> Flags:
    """(chains,): those in `selection`; without `models`, whatever models are left out of it."""
    chains = table.chains
    mask = fitting(table.questions, selection.words, selection.domain)[chains.question]
    mask &= ~_named(table.sessions, selection.without_sessions)[chains.session]
    if models:
        mask &= ~_named(table.models, selection.without_models)[chains.model]
    return mask


def within(table: Table, inside: Inside) -> Flags:
    """(chains,): those that a person went down to."""
    chains = table.chains
    mask = np.ones(len(chains.model), dtype=np.bool_)
    if inside.model is not None:
        mask &= _named(table.models, {inside.model})[chains.model]
    if inside.leaf is not None:
        mask &= np.array([question.leaf == inside.leaf for question in table.questions])[chains.question]
    if inside.question is not None:
        mask &= np.array([question.text == inside.question for question in table.questions])[chains.question]
    if inside.chain is not None:
        session, place = inside.chain
        mask &= _named(table.sessions, {session})[chains.session] & (chains.place == place)
    return mask


def fitting(questions: Sequence[Question], words: str, domain: str) -> Flags:
    """(questions,): which have all of `words` in text, id or leaf, and are of `domain`. "" is all; case is ignored.

    `domain` is a domain or a leaf; where it is neither, the last part of a leaf.
    """
    said = {id(question) for question in QuestionBank(tuple(questions)).search(words)}
    return np.array([id(question) in said for question in questions], dtype=np.bool_) & _of_domain(questions, domain)


def _of_domain(questions: Sequence[Question], domain: str) -> Flags:
    wanted = clean_line(domain).casefold()
    full = [wanted in ("", question.domain.casefold(), question.leaf.casefold()) for question in questions]
    last = [wanted == question.leaf.casefold().rpartition(" / ")[2] for question in questions]
    return np.array(full if any(full) else last, dtype=np.bool_)


def _named(names: tuple[str, ...], wanted: "frozenset[str] | set[str]") -> Flags:
    return np.array([name in wanted for name in names], dtype=np.bool_)


def own_rule(table: Table, selection: Selection, rule: str) -> float | None:
    """The value that all chains in `selection` have of a rule; None if they differ, or have none."""
    column = {"patience": "patience", "max_ideas": "max_ideas"}.get(rule, f"rule_{rule}")
    values = np.unique(getattr(table.chains, column)[passing(table, selection)])
    return float(values[0]) if len(values) == 1 and (values[0] > 0 or rule != "max_ideas") else None


def thresholds(table: Table, selection: Selection) -> Change:
    """Those in force: a person's, else the chains' own; None where these differ."""
    change = selection.change
    return Change(
        coherence=_or_own(change.coherence, table, selection, "coherence"),
        embedding_novelty=_or_own(change.embedding_novelty, table, selection, "embedding_novelty"),
        judged_novelty=_or_own(change.judged_novelty, table, selection, "judged_novelty"),
    )


def _or_own(value: float | None, table: Table, selection: Selection, rule: str) -> float | None:
    return own_rule(table, selection, rule) if value is None else value


def model_rows(counts: Counts, selection: Selection) -> list[Row]:
    """Every model and team that there is in `counts`, the one with most ideas a question first."""
    return [
        Row(name=row.model, said=f"{row.mean_responses:.1f}", included=row.model not in selection.without_models)
        for row in ribbons(counts).rows
    ]


def session_rows(table: Table, selection: Selection) -> list[Row]:
    """Every session, with how many chains it has."""
    chains = np.bincount(table.chains.session, minlength=len(table.sessions))
    return [
        Row(name=name, text=Path(name).name, said=str(number), included=name not in selection.without_sessions)
        for name, number in zip(table.sessions, chains.tolist(), strict=True)
    ]


def rows_within(counts: Counts, inside: Inside, texts: Mapping[int, str] | None = None) -> list[Row]:
    """What there is to choose from where a person went down to; `counts` is what is `within` it.

    `texts` are those of the chain's ideas by number, as far as they have been read.
    """
    table = counts.table
    if inside.level == "leaf":
        means = {row.leaf or "": row.mean_responses for row in ribbons(counts, "leaf").rows}
        return [Row(name=leaf, said=f"{means[leaf]:.1f}") for leaf in table.leaves() if leaf in means]
    if inside.level == "question":
        return [
            Row(name=row.question or "", said=f"{row.mean_responses:g}") for row in ribbons(counts, "question").rows
        ]
    if inside.level == "chain":
        return [
            Row(name=f"{counts.responses[row]} ideas, ended by {counts.end(row)}", said=str(row + 1), chain=chain)
            for row, chain in enumerate(chains_of(table))
        ]
    series = chain_series(counts, [0]).series[0]
    return [_idea_row(series, position, texts or {}) for position in range(len(series.numbers))]


def _idea_row(series: Series, position: int, texts: Mapping[int, str]) -> Row:
    number, novelty = series.numbers[position], series.embedding_novelty[position]
    said = clean_line(texts.get(number, ""), 300)
    return Row(
        name=str(number),
        text=f"{'×' if series.failed[position] else ' '}{number:>3} {said}",
        said="" if novelty is None else f"{novelty:.2f}".removeprefix("0"),
    )


def chains_of(table: Table) -> list[tuple[str, int]]:
    """Where each chain is: its session, and its place among the chains of this."""
    chains = table.chains
    return [
        (table.sessions[session], place)
        for session, place in zip(chains.session.tolist(), chains.place.tolist(), strict=True)
    ]


class IdeaPlace(Struct, frozen=True):
    """Where an idea is, and what it is called."""

    session: str
    chain: int
    """Its place among the session's chains."""
    number: int
    title: str
    about: str
    """Its scores, and its question."""


def idea_place(table: Table, chain: int, number: int) -> IdeaPlace:
    """Where an idea of one of the table's chains is."""
    session, place = chains_of(table)[chain]
    title = f"{table.models[int(table.chains.model[chain])]}, idea {number}"
    return IdeaPlace(session, place, number, title, _about(table, chain, number))


def _about(table: Table, chain: int, number: int) -> str:
    """The stored scores of an idea in a line, and its question in another."""
    ideas = table.ideas
    row = np.flatnonzero((ideas.chain == chain) & (ideas.number == number))[0]
    scores = (
        ("novelty", ideas.embedding_novelty[row], "{:.2f}"),
        ("judged novelty", ideas.judged_novelty[row], "{:.2f}"),
        ("coherence", ideas.coherence[row], "{:.0f}"),
    )
    known = [f"{name} {form.format(score)}" for name, score, form in scores if not np.isnan(score)]
    failed = int(ideas.failed_rule[row])
    verdict = RULE_WORDS[RULES[failed]] if failed >= 0 else "passed" if ideas.scored[row] else "unscored"
    return f"{' · '.join([verdict, *known])}\n{table.questions[int(table.chains.question[chain])].text}"


def chains_to_draw(counts: Counts, inside: Inside, focus: str, most: int) -> list[int]:
    """The rows of at most so many chains on one question, one of the model in `focus` first, then the longest.

    The question is the one that a person went down to; else the one of the longest chain of the model in focus.
    """
    table = counts.table
    if not len(counts.responses):
        return []
    own = within(table, inside) & _named(table.models, {inside.model or focus})[table.chains.model]
    order = np.lexsort((-counts.responses, ~own))
    question = table.chains.question[order[0]]
    return [int(row) for row in order if table.chains.question[row] == question][:most]
