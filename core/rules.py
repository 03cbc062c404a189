"""Thresholds, patience and budgets: scores in, verdict out."""

import math
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace

from core.events import FailedRule, VerdictWord, Vote
from core.models import Budget, Cap

MAX_UNSCORED = 5
"""Ideas in a row without any score that pause a session: something is wrong with whoever scores."""


WORDLLAMA_THRESHOLD = 0.185
"""It cuts the same 5.5 % of 3,402 recorded pairs as 0.15 does for text-embedding-3-large."""


class Rules(Struct, frozen=True, kw_only=True):
    """When an idea fails, and when a chain ends. The defaults are the paper's, but for the patience of a brainstorm.

    The bounds and descriptions are those of the form in which a person sets them.
    """

    coherence: Annotated[float, Meta(ge=0, le=100, description="Most coherence that still fails, 0 to 100")] = 15.0
    embedding_novelty: Annotated[float, Meta(ge=0, le=1, description="Least novelty that passes, 0 to 1")] = 0.15
    judged_novelty: Annotated[float, Meta(ge=0, le=1, description="Least judged novelty that passes, 0 to 1")] = 0.15
    mechanical: Annotated[bool, Meta(description="Whether empty, echoing and looping texts fail")] = True
    patience: Annotated[int, Meta(ge=1, le=1000, description="Failing ideas in a row that end a chain")] = 3
    max_ideas: Annotated[Cap | None, Meta(description="Stop after so many ideas (empty: no cap)")] = None
    """Failing ideas count too."""


def rules_for(threshold: float) -> Rules:
    """The rules of a brainstorm; `threshold` is the least embedding novelty that passes on its embedder's scale."""
    return Rules(embedding_novelty=threshold)


class Scores(Struct, frozen=True, kw_only=True):
    """Of one idea. None where nobody gave a score; a number that is not finite is no score."""

    coherence: float | None = None
    embedding_novelty: float | None = None
    judged_novelty: float | None = None
    nearest: int | None = None
    mechanical: str | None = None
    """What a mechanical check found, in words."""
    judges: tuple[str, ...] = ()
    """Those who were asked; with any, a score that is None is one that they failed to give."""
    votes: tuple[Vote, ...] = ()
    coherence_spread: float | None = None
    compared: int = 0
    embedder: str = ""
    chunks: int = 1

    def __post_init__(self) -> None:
        for name in ("coherence", "embedding_novelty", "judged_novelty"):
            score = getattr(self, name)
            if score is not None and not math.isfinite(score):
                force_setattr(self, name, None)

    @property
    def missing(self) -> bool:
        """Whether one that should be there could not be had."""
        judged = None not in (self.coherence, self.judged_novelty)
        return self.embedding_novelty is None or (bool(self.judges) and not judged)


class Verdict(Struct, frozen=True):
    word: VerdictWord
    failed_rule: FailedRule | None = None


def judge(scores: Scores, rules: Rules) -> Verdict:
    """The verdict on `scores`: the first rule that fails is the reason.

    The order is the published benchmark's (coherence ≤, embedding novelty <, judged novelty <); the mechanical checks,
    which it does not have, come first.
    """
    if rules.mechanical and scores.mechanical:
        return Verdict("failed", "mechanical")
    if scores.coherence is not None and scores.coherence <= rules.coherence:
        return Verdict("failed", "coherence")
    if scores.embedding_novelty is not None and scores.embedding_novelty < rules.embedding_novelty:
        return Verdict("failed", "embedding_novelty")
    if scores.judged_novelty is not None and scores.judged_novelty < rules.judged_novelty:
        return Verdict("failed", "judged_novelty")
    return Verdict("unscored" if scores.missing else "passed")


def extended(budget: Budget, given: Budget) -> Budget:
    """`budget` with those of its limits replaced that were `given` anew."""
    return replace(budget, **{name: limit for name in Budget.__struct_fields__ if (limit := getattr(given, name))})


class Spent(Struct, frozen=True):
    """What a session has used: US dollars, tokens read and written, seconds."""

    cost: float
    tokens: int
    seconds: float


def over_budget(spent: Spent, budget: Budget) -> str | None:
    """What is used up, in words; None while there is some left of everything."""
    if budget.max_cost is not None and spent.cost >= budget.max_cost:
        return f"{dollars(budget.max_cost)} spent"
    if budget.max_tokens is not None and spent.tokens >= budget.max_tokens:
        return f"{budget.max_tokens:,} tokens used"
    if budget.max_minutes is not None and spent.seconds >= 60 * budget.max_minutes:
        return f"{budget.max_minutes:g} minutes over"
    return None


def dollars(cost: float) -> str:
    """Cents from ten cents on; below, as many places as say something."""
    if 0 < cost < 1e-6:
        return "less than $0.000001"
    return f"${cost:.2f}" if cost >= 0.1 or not cost else f"${cost:.6f}".rstrip("0")
