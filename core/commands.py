"""Everything that a person can tell a running session, one tagged union."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from core.levers import Distance, Seed, SeedPolicy, SeedStyle, Steps
from core.models import YOU, TeamSpec

Idea = Annotated[int, Meta(ge=1, le=2**53)]
"""The number of an idea."""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Command(Struct, frozen=True, kw_only=True, tag_field="type", tag=_snake):
    by: str = YOU
    """Who says it: a person, or the signal that stopped the process."""


class Pause(Command, frozen=True):
    """Hold after the idea under way."""


class Resume(Command, frozen=True):
    """Go on after a pause; if the session could not be written, try that again first."""


class Stop(Command, frozen=True):
    """End now: the call under way is cancelled, and the session can be resumed later."""


class SaveElsewhere(Command, frozen=True, kw_only=True):
    """The session could not be written: go on in a copy under this folder."""

    folder: str


class ChangeTeam(Command, frozen=True, kw_only=True):
    """From the next step on, ask another team; a call that waits for a server is given up."""

    team: TeamSpec


class SetPipelining(Command, frozen=True, kw_only=True):
    """Whether to ask for the next step while scores are still coming."""

    on: bool


class AddIdea(Command, frozen=True, kw_only=True):
    """A person's own idea, scored like any other."""

    text: str


class IdeaCommand(Command, frozen=True, kw_only=True):
    """About an idea."""

    question: str = ""
    """Whose idea it is; "" for the question under way."""


class EditIdea(IdeaCommand, frozen=True, kw_only=True):
    """Another text for an idea, which is scored anew; the original is kept."""

    idea: Idea
    text: str


class RemoveIdea(IdeaCommand, frozen=True, kw_only=True):
    """Take an idea out of the chain."""

    idea: Idea


class RestoreIdea(IdeaCommand, frozen=True, kw_only=True):
    """Bring a removed idea back."""

    idea: Idea


class PinIdea(IdeaCommand, frozen=True, kw_only=True):
    """Always show an idea to the models; or no longer."""

    idea: Idea
    on: bool = True


class RateIdea(IdeaCommand, frozen=True, kw_only=True):
    """Give an idea 1 to 5; 0 takes the rating back."""

    idea: Idea
    stars: Annotated[int, Meta(ge=0, le=5)]


class CommentIdea(IdeaCommand, frozen=True, kw_only=True):
    """Say something of an idea; an empty text takes it back."""

    idea: Idea
    text: str


class MergeIdeas(IdeaCommand, frozen=True, kw_only=True):
    """Have the team make one idea of several."""

    ideas: Annotated[tuple[Idea, ...], Meta(min_length=2, max_length=10)]


class DevelopIdea(IdeaCommand, frozen=True, kw_only=True):
    """Have the team work an idea out: mechanism, first experiment, what would refute it, trade-offs."""

    idea: Idea


class DenyMechanism(IdeaCommand, frozen=True, kw_only=True):
    """Forbid a mechanism; without a text, the one of `idea`, or of the newest idea, which the team names."""

    idea: Idea | None = None
    text: str = ""


class InjectSeed(Command, frozen=True, kw_only=True):
    """Put a seed, or another lever, into the prompts from the next step on, for so many ideas or until withdrawn."""

    seed: Seed
    steps: Steps | None = 1


class DrawSeed(Command, frozen=True, kw_only=True):
    """Put a seed of the bank, drawn at random, into the prompts."""

    distance: Distance = "far"
    field: str = ""
    """Only of this leaf; "" for any."""
    style: SeedStyle = "analogy"
    steps: Steps | None = 1


class WithdrawSeed(Command, frozen=True, kw_only=True):
    id: str


class SetSeeds(Command, frozen=True, kw_only=True):
    """When seeds come, from now on."""

    policy: SeedPolicy


class AddSteer(Command, frozen=True, kw_only=True):
    """Give the team a standing instruction."""

    text: str


class WithdrawSteer(Command, frozen=True, kw_only=True):
    id: str


class Choose(Command, frozen=True, kw_only=True):
    """Pick among the proposals offered, by their places from 1: one, two, or none, which asks again."""

    picks: Annotated[tuple[Annotated[int, Meta(ge=1, le=1000)], ...], Meta(max_length=2)]
    step: int | None = None
    """The step whose proposals are meant, so that nobody picks blindly from the next one's; None: those offered now."""


class Undo(Command, frozen=True):
    """Take back the last thing that this person did and that can be taken back."""


AnyCommand = (
    Pause
    | Resume
    | Stop
    | SaveElsewhere
    | ChangeTeam
    | SetPipelining
    | AddIdea
    | EditIdea
    | RemoveIdea
    | RestoreIdea
    | PinIdea
    | RateIdea
    | CommentIdea
    | MergeIdeas
    | DevelopIdea
    | DenyMechanism
    | InjectSeed
    | DrawSeed
    | WithdrawSeed
    | SetSeeds
    | AddSteer
    | WithdrawSteer
    | Choose
    | Undo
)
