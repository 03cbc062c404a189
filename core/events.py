"""Everything that can happen in a session, one tagged union.

The names and fields are a contract with people's scripts: fields may be added, none renamed or removed. Each event is
one line of `events.jsonl`, but for `proposal_delta` and `scoring_progress`, which are shown and not stored.
"""

import re
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from core.models import Budget, Cap, Outcome, Parameter, Style, TeamSpec, Usage
from core.text import clean_all

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


class SessionStarted(Event, frozen=True, kw_only=True):
    version: str
    format: int = 1


class SessionEnded(Event, frozen=True, kw_only=True):
    how: Literal["finished", "stopped", "interrupted", "error"]
    message: str = ""


class QuestionStarted(Event, frozen=True, kw_only=True):
    question: str
    text: str
    domain: str
    subdomain: str | None = None


class StepStarted(Event, frozen=True, kw_only=True):
    """`members` are those asked: for a strategy that draws, the draw."""

    question: str
    step: Number
    members: tuple[str, ...]
    seeds: tuple[str, ...] = ()
    steers: tuple[str, ...] = ()


class ProposalStarted(Event, frozen=True, kw_only=True):
    """With the ideas shown and the prompt's style and version, the prompt can be built again."""

    question: str
    step: Number
    member: str
    shown: tuple[Number, ...] = ()
    style: Style = "list"
    persona: str = ""
    concept: str = ""
    prompt_version: int = 0
    random_seed: int = 0


class ProposalDelta(Event, frozen=True, kw_only=True):
    question: str
    step: Number
    member: str
    text: str = ""
    thoughts: str = ""


Trace = tuple[tuple[int, int], ...]
"""How a text arrived: ((milliseconds since the call began, characters so far), …), at most 20 a second."""


class ProposalFinished(Event, frozen=True, kw_only=True):
    """A call that ended `ok`. `text` is the idea as read from `raw`, what the model wrote."""

    question: str
    step: Number
    member: str
    text: str
    raw: str = ""
    thoughts: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    trace: Trace = ()
    outcome: Outcome = "ok"
    parameters: dict[str, Parameter] = {}
    """As they were sent, by the names of the provider's interface."""
    tries: Number = 1


class ProposalFailed(Event, frozen=True, kw_only=True):
    question: str
    step: Number
    member: str
    outcome: Outcome
    kind: str = ""
    message: str = ""
    text: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    parameters: dict[str, Parameter] = {}
    tries: Number = 1


class ProposalChosen(Event, frozen=True, kw_only=True):
    """Only where there was a choice. `order` is the shuffled order that the chooser saw."""

    question: str
    step: Number
    order: tuple[str, ...]
    pick: str
    by: Literal["draw", "selector", "person"]
    why: str = ""


class IdeaAdded(Event, frozen=True, kw_only=True):
    """`author` is a member's name, or `you`."""

    question: str
    idea: Number
    step: Number
    text: str
    author: str


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
    usage: Usage = Usage()
    """Of judges and embedder."""
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


class TeamChanged(Event, frozen=True, kw_only=True):
    """From the next step on the session has another team."""

    team: TeamSpec
    by: str


class ContextTrimmed(Event, frozen=True, kw_only=True):
    """The chain no longer fits: of `ideas` only `shown` were shown."""

    question: str
    step: Number
    member: str
    ideas: Number
    shown: Number
    why: str


class RetryScheduled(Event, frozen=True, kw_only=True):
    question: str
    step: Number
    member: str
    why: str
    until: float
    """In the session's seconds."""


class Notice(Event, frozen=True, kw_only=True):
    text: str
    question: str | None = None


class Paused(Event, frozen=True, kw_only=True):
    by: str
    why: str = ""


class Resumed(Event, frozen=True, kw_only=True):
    """Goes on after a pause, or, in a session opened again, after its end; then with what was given anew."""

    by: str
    max_ideas: Cap | None = None
    budget: Budget | None = None


class QuestionEnded(Event, frozen=True, kw_only=True):
    question: str
    reason: EndReason
    censored: bool
    responses: Number
    valid: Number
    message: str = ""


class Unknown(Event, frozen=True, kw_only=True):
    """An event of a newer version: kept as it is (but for what must not reach a terminal), and shown as unknown."""

    name: str
    raw: bytes


Known = (
    SessionStarted
    | SessionEnded
    | QuestionStarted
    | StepStarted
    | ProposalStarted
    | ProposalDelta
    | ProposalFinished
    | ProposalFailed
    | ProposalChosen
    | IdeaAdded
    | IdeaScored
    | ScoringProgress
    | ControlScored
    | TeamChanged
    | ContextTrimmed
    | RetryScheduled
    | Notice
    | Paused
    | Resumed
    | QuestionEnded
)

_TYPES = frozenset(_snake(cls.__name__) for cls in get_args(Known))
_decoder = msgspec.json.Decoder(Known)
_encoder = msgspec.json.Encoder()


# What an editor's hand, or somebody else's file, may hold that our own lines never do: escapes for controls, controls
# themselves, bidirectional overrides. Such a line is cleaned before it is believed.
_SUSPECT = re.compile(rb"\\[ubfr]|\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


class _Header(Struct):
    type: str
    seq: Annotated[int, Meta(ge=-1, le=2**53)] = -1
    t: float = 0.0
    at: str = ""


_header_decoder = msgspec.json.Decoder(_Header)


def encode(event: Event) -> bytes:
    """One line of JSON, without its newline. Text must have passed `core.text.clean`."""
    if isinstance(event, Unknown):
        return event.raw
    return _encoder.encode(event)


def cleaned(event: Event) -> Event:
    """`event` as it will be read back: its texts clean, whoever forgot to clean them."""
    try:
        if not _SUSPECT.search(encode(event)):
            return event
    except UnicodeEncodeError:  # a lone surrogate
        pass
    return msgspec.convert(clean_all(msgspec.to_builtins(event)), type(event))


def decode(line: bytes) -> Event:
    """The event of one line, its texts clean; `Unknown` if its type is.

    Raises `msgspec.DecodeError` if it is no event at all.
    """
    try:
        return _decode(line)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"not UTF-8 text: {error.reason}") from None
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None


def _decode(line: bytes) -> Event:
    if _SUSPECT.search(line):
        line = _encoder.encode(clean_all(msgspec.json.decode(line)))
    try:
        event: Event = _decoder.decode(line)
    except msgspec.ValidationError:
        header = _header_decoder.decode(line)
        if header.type in _TYPES:
            raise
        return Unknown(seq=header.seq, t=header.t, at=header.at, name=header.type, raw=bytes(line))
    return event
