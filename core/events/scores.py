"""Scores: what judges and embedder say of ideas, and what that takes."""

from typing import Annotated

from msgspec import Meta, Struct

from core.events.base import Event, FailedRule, Number, VerdictWord
from core.models import Usage


class Vote(Struct, frozen=True, kw_only=True):
    """What one judge said of one idea."""

    judge: str
    prompt_version: int
    coherence: int | None = None
    """0 to 100; null where it gave no score."""
    similarity: int | None = None
    """Its greatest to any idea compared, 0 to 100; null if one of them got no score."""
    unreadable: Number = 0
    """Replies in which no score could be found."""
    why: str = ""
    """Why a score is missing."""


class Given(Struct, frozen=True, kw_only=True):
    """One judgement of an idea whose scores are not all there yet."""

    judge: str
    prompt_version: int
    against: Number | None = None
    """The number of the idea that it was compared with; null: how coherent it is."""
    score: Annotated[int, Meta(ge=0, le=100)]


class IdeaScored(Event, frozen=True, kw_only=True):
    """A score is null where nobody gave one. `detail` says in words what a mechanical check found."""

    question: str
    idea: Number
    coherence: float | None = None
    embedding_novelty: float | None = None
    judged_novelty: float | None = None
    nearest: Number | None = None
    verdict: VerdictWord
    failed_rule: FailedRule | None = None
    detail: str = ""
    judges: tuple[str, ...] = ()
    """Who judged, by name. Where a judge's score is null all the same, it could not be had: it is unscored."""
    votes: tuple[Vote, ...] = ()
    coherence_spread: float | None = None
    """The greatest difference between two judges."""
    compared: Number = 0
    """Earlier ideas that judges compared it with; fewer than there are where only the nearest are judged."""
    embedder: str = ""
    chunks: int = 1
    why: str = ""
    """Why a score is missing, if one is."""
    mark: str = ""
    """How the file that it was imported from marks it, where that is no rule's name."""
    odd: tuple[str, ...] = ()
    """What is odd in it, if it was imported: names of `core.exchange.totals.Oddities`."""
    usage: Usage = Usage()
    """Of judges and embedder."""
    cost: float | None = 0.0

    @property
    def lacks_judges(self) -> bool:
        """Whether judges were asked, and not all that they should say could be had."""
        return bool(self.judges) and None in (self.coherence, self.judged_novelty)


class JudgingPaid(Event, frozen=True, kw_only=True):
    """What judges and embedder took beside what stands with scores.

    It was for scores of `idea` that did not come (yet), whose judgements so far are `given` and need not be asked for
    again; or, without an idea, for choosing among proposals or among the ideas that a prompt shows.
    """

    question: str
    idea: Number | None = None
    given: tuple[Given, ...] = ()
    usage: Usage = Usage()
    cost: float | None = 0.0


class ScoringProgress(Event, frozen=True, kw_only=True):
    """Shown and not stored."""

    question: str
    idea: Number
    done: Number
    total: Number
    """Judgements, of coherence and of likeness."""


class ControlScored(Event, frozen=True, kw_only=True):
    """A judge was given something whose score is known, to see whether it can be trusted."""

    question: str
    judge: str
    kind: str
    """`duplicate`, `paraphrase`, `distinct`, `off-topic`, `right`, `wrong`."""
    score: float | None
    """0 to 100; null where the judge's reply could not be read."""
    passed: bool
    usage: Usage = Usage()
    cost: float | None = 0.0
