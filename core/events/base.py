"""What every event has, and the words that events share."""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

FailedRule = Literal["coherence", "embedding_novelty", "judged_novelty", "mechanical"]
VerdictWord = Literal["passed", "failed", "unscored"]
EndReason = Literal[
    "coherence", "embedding_novelty", "judged_novelty", "mechanical", "cap", "budget", "person", "refused", "error"
]

Number = Annotated[int, Meta(ge=0, le=2**53)]
"""A count or a place, of a size that every JSON reader can hold."""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Event(Struct, frozen=True, kw_only=True, tag_field="type", tag=_snake):
    seq: Annotated[int, Meta(ge=-1, le=2**53)] = -1
    """From 0, without gaps; -1 until the session stamps it."""
    t: float = 0.0
    """Seconds since the session's start, time between a stop and a resume left out."""
    at: str = ""
    """Wall time, ISO 8601 with offset."""


def slot_of(member: str, draft: int) -> str:
    """What tells a proposal from the others of its step: the member, and which of its drafts it is."""
    return f"{member}·{draft + 1}" if draft else member
