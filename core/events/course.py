"""The session itself: its questions, its pauses, its end."""

from typing import Literal

from core.events.base import EndReason, Event, Number
from core.models import Budget, Cap


class SessionStarted(Event, frozen=True, kw_only=True):
    version: str
    format: int = 1


class SessionEnded(Event, frozen=True, kw_only=True):
    how: Literal["finished", "stopped", "interrupted", "error"]
    message: str = ""


class Forked(Event, frozen=True, kw_only=True):
    """What stands before this is the past of another session, shared with it."""

    session: str
    """The id of that session."""
    question: str
    idea: Number
    """The last idea of it that is shared."""


class QuestionStarted(Event, frozen=True, kw_only=True):
    question: str
    text: str
    domain: str
    subdomain: str | None = None


class QuestionEnded(Event, frozen=True, kw_only=True):
    question: str
    reason: EndReason
    censored: bool
    responses: Number
    valid: Number
    message: str = ""


STORAGE = "storage"
"""Who pauses a session that could not be written."""

TROUBLE = "trouble"
"""Who pauses a session in which calls or scores fail again and again."""

OWN_FIRST = "own ideas first"
"""Who holds a session at its start, while the person writes."""


class Paused(Event, frozen=True, kw_only=True):
    """`by` a person's login name, or one of the three above."""

    by: str
    why: str = ""


class Resumed(Event, frozen=True, kw_only=True):
    """Goes on after a pause, or, in a session opened again, after its end; then with what was given anew."""

    by: str
    max_ideas: Cap | None = None
    budget: Budget | None = None


class Notice(Event, frozen=True, kw_only=True):
    text: str
    question: str | None = None


class Unknown(Event, frozen=True, kw_only=True):
    """An event of a newer version: kept as it is (but for what must not reach a terminal), and shown as unknown."""

    name: str
    raw: bytes
