"""Everything that a person can tell a running session, one tagged union."""

from msgspec import Struct

from core.models import TeamSpec


class Command(Struct, frozen=True, kw_only=True, tag_field="type", tag=True):
    by: str = "you"
    """Who says it: a person, or the signal that stopped the process."""


class Pause(Command, frozen=True):
    """Hold after the idea under way."""


class Resume(Command, frozen=True):
    """Go on after a pause; if the session could not be written, try that again first."""


class Stop(Command, frozen=True):
    """End now: the call under way is cancelled, and the session can be resumed later."""


class AddIdea(Command, frozen=True, kw_only=True):
    """A person's own idea, scored like any other."""

    text: str


class SaveElsewhere(Command, frozen=True, kw_only=True):
    """The session could not be written: go on in a copy under this folder."""

    folder: str


class ChangeTeam(Command, frozen=True, kw_only=True):
    """From the next step on, ask another team; a call that waits for a server is given up."""

    team: TeamSpec


class SetPipelining(Command, frozen=True, kw_only=True):
    """Whether to ask for the next step while scores are still coming."""

    on: bool


AnyCommand = Pause | Resume | Stop | AddIdea | SaveElsewhere | ChangeTeam | SetPipelining
