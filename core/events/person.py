"""What a person does, and what a person has the team do beside its steps."""

from typing import Literal

from core.events.base import Event, Number
from core.levers import Seed, SeedPolicy
from core.models import YOU, Outcome, TeamSpec, Usage


class Deed(Event, frozen=True, kw_only=True):
    """Something that a person did and may undo."""

    question: str
    by: str = YOU
    """Who did it: `you`, or the login name of whoever is attached; `policy` for a seed that came by itself."""
    undoes: Number | None = None
    """The number of the event that this takes back."""


class IdeaAdded(Deed, frozen=True, kw_only=True):
    """`author` is a member's name, or `you`."""

    idea: Number
    step: Number
    text: str
    author: str
    draft: Number = 0
    parents: tuple[Number, ...] = ()
    """The ideas that the author was asked to merge; none for an idea that came by a step."""
    task: str = ""
    """The task that brought it, if one did."""

    @property
    def by_person(self) -> bool:
        """Whether a person brought it into the chain: their own, or one that they asked for."""
        return self.author == YOU or bool(self.parents)


class IdeaEdited(Deed, frozen=True, kw_only=True):
    """Another text in its place, which is scored anew."""

    idea: Number
    old: str
    new: str


class IdeaRemoved(Deed, frozen=True, kw_only=True):
    """Taken out of the chain: not shown to models, not counted as valid; new ideas are still compared with it."""

    idea: Number


class IdeaRestored(Deed, frozen=True, kw_only=True):
    idea: Number


class IdeaPinned(Deed, frozen=True, kw_only=True):
    """A pinned idea is always shown to the models."""

    idea: Number
    old: bool
    new: bool


class IdeaRated(Deed, frozen=True, kw_only=True):
    """1 to 5; 0 for no rating."""

    idea: Number
    old: Number
    new: Number


class IdeaCommented(Deed, frozen=True, kw_only=True):
    idea: Number
    old: str
    new: str


class SeedInjected(Deed, frozen=True, kw_only=True):
    """In the prompts from the next step on."""

    id: str
    """`s1`, `s2`, … in the order they came."""
    seed: Seed
    steps: Number | None = 1
    """For how many ideas; null: until withdrawn."""
    step: Number = 0
    """The next step when it came; where a policy brought it, the one that it is for."""
    why: str = ""
    """Why the policy brought it."""
    set_before: bool = False
    """Whether the policy brought it at a step that was set before, however ideas went."""
    task: str = ""
    """The task that brought it, if one did."""


class SeedWithdrawn(Deed, frozen=True, kw_only=True):
    id: str


class SeedPolicySet(Deed, frozen=True, kw_only=True):
    """When seeds come from now on."""

    old: SeedPolicy
    new: SeedPolicy


class SteerAdded(Deed, frozen=True, kw_only=True):
    """A standing instruction, in every prompt from the next step on."""

    id: str
    """`g1`, `g2`, … in the order they came."""
    text: str


class SteerWithdrawn(Deed, frozen=True, kw_only=True):
    id: str


class OwnIdeasFirst(Event, frozen=True, kw_only=True):
    """The person writes ideas before the team does."""

    question: str
    minutes: float
    shown: bool
    """Whether the team is shown them."""


class TaskGiven(Event, frozen=True, kw_only=True):
    """A member is asked for something beside the steps."""

    question: str
    id: str
    """`t1`, `t2`, … in the order they came."""
    task: Literal["merge", "develop", "deny"]
    """Make one idea of several; work one out; name the mechanism of one, to forbid it."""
    ideas: tuple[Number, ...]
    by: str = YOU


class TaskDone(Event, frozen=True, kw_only=True):
    question: str
    id: str
    text: str
    member: str
    thoughts: str = ""
    seeds: tuple[str, ...] = ()
    """What its prompt held, by their ids; instructions too."""
    steers: tuple[str, ...] = ()
    usage: Usage = Usage()
    cost: float | None = 0.0


class TaskFailed(Event, frozen=True, kw_only=True):
    question: str
    id: str
    member: str
    outcome: Outcome
    kind: str = ""
    message: str = ""
    usage: Usage = Usage()
    cost: float | None = None


class TeamWanted(Event, frozen=True, kw_only=True):
    """A person wants another team at the next step; or, where it can't take over, the one there is goes on."""

    team: TeamSpec
    by: str


class TeamChanged(Event, frozen=True, kw_only=True):
    """From the next step on the session has another team."""

    team: TeamSpec
    by: str


class PipeliningSet(Event, frozen=True, kw_only=True):
    """Whether the next step is asked for while scores are still coming, from now on."""

    on: bool
    by: str
