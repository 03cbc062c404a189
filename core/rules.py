"""Thresholds and patience: scores in, verdict out."""

import math
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from core.events import FailedRule, VerdictWord

MAX_UNSCORED = 5
"""Ideas in a row without any score that pause a session: something is wrong with whoever scores."""

NOVELTY_THRESHOLDS = {"wordllama": 0.185}
"""The least embedding novelty that passes, on each embedder's own scale.

WordLlama's cuts the same 5.5 % of 3,402 recorded pairs as 0.15 does for text-embedding-3-large.
"""


class Rules(Struct, frozen=True, kw_only=True):
    """When an idea fails, and when a chain ends. The defaults are the paper's, but for the patience of a brainstorm."""

    coherence: float = 15.0
    """An idea of this coherence or less fails."""
    embedding_novelty: float = 0.15
    """An idea of less embedding novelty fails."""
    judged_novelty: float = 0.15
    """An idea of less judged novelty fails."""
    mechanical: bool = True
    """Whether the mechanical checks are a rule."""
    patience: Annotated[int, Meta(ge=1)] = 3
    """How many failing ideas in a row end a chain."""
    max_ideas: Annotated[int, Meta(ge=1)] | None = None
    """A cap on ideas, failing ones included."""


class Scores(Struct, frozen=True, kw_only=True):
    """Of one idea. None where nobody gave a score; a number that is not finite is no score."""

    coherence: float | None = None
    embedding_novelty: float | None = None
    judged_novelty: float | None = None
    nearest: int | None = None
    mechanical: str | None = None
    """What a mechanical check found, in words."""
    judges: tuple[str, ...] = ()
    embedder: str = ""
    chunks: int = 1

    def __post_init__(self) -> None:
        for name in ("coherence", "embedding_novelty", "judged_novelty"):
            score = getattr(self, name)
            if score is not None and not math.isfinite(score):
                force_setattr(self, name, None)


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
    if scores.coherence is None and scores.embedding_novelty is None and scores.judged_novelty is None:
        return Verdict("unscored")
    return Verdict("passed")
