"""Everything that can happen in a session, one tagged union.

The names and fields are a contract with people's scripts: fields may be added, none renamed or removed. Each event is
one line of `events.jsonl`, but for `proposal_delta` and `scoring_progress`, which are shown and not stored.
"""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from core.models import Budget, Cap, Outcome, Parameter, Style, TeamSpec, Usage

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
    failed: Number = 0
    """Ideas that had failed when it was asked: with more of them it would have been asked otherwise."""


def slot_of(member: str, draft: int) -> str:
    """What tells a proposal from the others of its step: the member, and which of its drafts it is."""
    return f"{member}·{draft + 1}" if draft else member


class ProposalStarted(Event, frozen=True, kw_only=True):
    """With the ideas shown and the prompt's style and version, the prompt can be built again."""

    question: str
    step: Number
    member: str
    draft: Number = 0
    """From 0, where a member is asked for several proposals."""
    direction: str = ""
    """What the lead of a hierarchy gave the member to develop."""
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
    draft: Number = 0
    text: str = ""
    thoughts: str = ""


Trace = tuple[tuple[int, int], ...]
"""How a text arrived: ((milliseconds since the call began, characters so far), …), at most 20 a second."""


class ProposalFinished(Event, frozen=True, kw_only=True):
    """A call that ended `ok`. `text` is the idea as read from `raw`, what the model wrote."""

    question: str
    step: Number
    member: str
    draft: Number = 0
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
    draft: Number = 0
    outcome: Outcome
    kind: str = ""
    message: str = ""
    text: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    parameters: dict[str, Parameter] = {}
    tries: Number = 1


class ProposalChosen(Event, frozen=True, kw_only=True):
    """Only where there was a choice. `order` is the shuffled order that the chooser saw.

    Proposals are named by their member, the second draft of one as `member·2`.
    """

    question: str
    step: Number
    order: tuple[str, ...]
    pick: str
    by: Literal["draw", "selector", "novelty", "lead", "person"]
    why: str = ""
    chooser: str = ""
    """The model that was asked, if one was."""
    text: str = ""
    """What a lead made of several proposals, where it picked none of them."""
    usage: Usage = Usage()
    cost: float | None = 0.0


class DirectionsNamed(Event, frozen=True, kw_only=True):
    """The lead of a hierarchy said where to look; each direction is given to one worker.

    Where nothing it said could be read as directions, they are concepts of many fields that were drawn.
    """

    question: str
    step: Number
    member: str
    directions: tuple[str, ...]
    by: Literal["lead", "draw"] = "lead"
    usage: Usage = Usage()
    cost: float | None = 0.0


class AsideFailed(Event, frozen=True, kw_only=True):
    """A call to a selector or a lead that brought nothing."""

    question: str
    step: Number
    model: str
    outcome: Outcome
    kind: str = ""
    message: str = ""
    usage: Usage = Usage()
    cost: float | None = None


class StepDropped(Event, frozen=True, kw_only=True):
    """The step under way was asked ahead of the scores, which say that it must be asked anew."""

    question: str
    step: Number
    why: str
    usage: Usage = Usage()
    """What it had used, wasted; it is counted with its calls."""


class PipeliningSet(Event, frozen=True, kw_only=True):
    """Whether the next step is asked for while scores are still coming, from now on."""

    on: bool
    by: str


class IdeaAdded(Event, frozen=True, kw_only=True):
    """`author` is a member's name, or `you`."""

    question: str
    idea: Number
    step: Number
    text: str
    author: str
    draft: Number = 0


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
    scoring: bool = False
    """Whether it is a judge or an embedder that is asked again, called `member` here all the same."""


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
    | DirectionsNamed
    | AsideFailed
    | StepDropped
    | PipeliningSet
    | IdeaAdded
    | IdeaScored
    | JudgingPaid
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
