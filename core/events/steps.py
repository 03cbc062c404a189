"""Steps: who is asked, what comes back, what is chosen."""

from typing import Literal

from msgspec import field

from core.events.base import Event, Number
from core.models import Outcome, Parameter, Style, Usage


class StepStarted(Event, frozen=True, kw_only=True):
    """`members` are those asked: for a strategy that draws, the draw."""

    question: str
    step: Number
    members: tuple[str, ...]
    seeds: tuple[str, ...] = ()
    """The seeds in force, by their ids."""
    steers: tuple[str, ...] = ()
    """The instructions in force, by their ids."""
    failed: Number = 0
    """Ideas that had failed when it was asked: with more of them it would have been asked otherwise."""


class ProposalStarted(Event, frozen=True, kw_only=True):
    """With the ideas shown, what was in force and the prompt's style and version, it can be built again."""

    question: str
    step: Number
    member: str
    draft: Number = 0
    """From 0, where a member is asked for several proposals."""
    direction: str = ""
    """What the lead of a hierarchy gave the member to develop."""
    whole: bool = False
    """Whether all ideas that stood then were shown. Ten thousand prompts that name them all would fill a disk."""
    shown: tuple[Number, ...] = ()
    """Those shown, where not all were."""
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
    parameters: dict[str, Parameter] = field(default_factory=dict)
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
    parameters: dict[str, Parameter] = field(default_factory=dict)
    tries: Number = 1


class ProposalChosen(Event, frozen=True, kw_only=True):
    """Only where there was a choice. `order` is the shuffled order that the chooser saw.

    Proposals are named by their member, the second draft of one as `member·2`. A person may take another one `also`,
    or none: then `pick` is "", and the next step asks again.
    """

    question: str
    step: Number
    order: tuple[str, ...]
    pick: str
    also: tuple[str, ...] = ()
    by: Literal["draw", "selector", "novelty", "lead", "person"]
    why: str = ""
    chooser: str = ""
    """The model that was asked, if one was, or the person's name."""
    text: str = ""
    """What a lead made of several proposals, where it picked none of them."""
    usage: Usage = Usage()
    cost: float | None = 0.0


class ChoiceOffered(Event, frozen=True, kw_only=True):
    """A person is to pick among the proposals of a step, by their places in `order`."""

    question: str
    step: Number
    order: tuple[str, ...]
    until: float | None = None
    """When the pick goes to somebody else, in the session's seconds; null: never."""


class ChoiceHandedOver(Event, frozen=True, kw_only=True):
    """A person took too long to pick: somebody else does."""

    question: str
    step: Number
    to: str
    """A model's name, `novel` or `random`."""


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
