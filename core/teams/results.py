"""How the members of earlier sessions did, by leaf."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from core.chain import Chain, Idea
from core.config import Plan, read_plan
from core.errors import SessionUnreadableError, UsageError
from core.events import Event, TeamChanged
from core.files import read_file
from core.lines import EVENTS_FILE, decode
from core.models import Member, ModelSpec
from core.questions import Question
from core.state import fold
from core.store.library import session_folders
from core.teams.profiles import Profile, Tally
from core.teams.vendors import effort_of, identity

EXAMPLE = "example"
"""The session that comes with Jagstorm: nobody's own result."""

_CALLS = (b'{"type":"proposal_', b'{"type":"step_', b'{"type":"retry_', b'{"type":"control_', b'{"type":"context_')
"""How lines begin that say nothing of ideas and scores; they are most of a log."""


class Asked(Struct, frozen=True):
    """A model and how it is asked: what makes one member's results another's too."""

    model: str
    effort: str = ""
    thinking_tokens: int = 0
    temperature: float | None = None
    style: str = ""
    persona: str = ""


class Results(Struct, frozen=True):
    """Profiles of members."""

    profiles: Mapping[Asked, Profile] = {}

    def of(self, member: Member) -> Profile:
        """Of this model asked just so; if it never was, of this model however it was asked."""
        own = self.profiles.get(_asked(member))
        return own if own is not None and own.total.ideas else self.of_model(member.model)

    def of_model(self, spec: ModelSpec) -> Profile:
        """Of this model, with its effort and its room to think, however else it was asked."""
        wanted = _as_model(spec)
        found = (
            profile
            for asked, profile in self.profiles.items()
            if Asked(asked.model, asked.effort, asked.thinking_tokens) == wanted
        )
        return sum(found, Profile())


class EarlierSessions:
    """The sessions in a folder, each read again only once it has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, tuple[tuple[int, int], Mapping[Asked, Profile]]] = {}

    def __call__(self) -> Results:
        """The results of them all; of those that can't be read, none. May take a second with many long ones."""
        try:
            folders = [folder for folder in session_folders(self._folder) if folder.name != EXAMPLE]
        except UsageError:
            return Results()  # who begins a session there is told
        self._read = {folder: found for folder in folders if (found := self._of(folder))}
        return results_of(profiles for _, profiles in self._read.values())

    def _of(self, folder: Path) -> tuple[tuple[int, int], Mapping[Asked, Profile]] | None:
        try:
            stat = (folder / EVENTS_FILE).stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            if (known := self._read.get(folder)) and known[0] == stamp:
                return known
            return stamp, session_profiles(read_plan(folder), list(_events(folder)))
        except (OSError, SessionUnreadableError):
            return None


def results_of(sessions: Iterable[Mapping[Asked, Profile]]) -> Results:
    """The results of several sessions together."""
    profiles: dict[Asked, Profile] = {}
    for session in sessions:
        for asked, profile in session.items():
            profiles[asked] = profiles[asked] + profile if asked in profiles else profile
    return Results(profiles)


def session_profiles(plan: Plan, events: Sequence[Event]) -> dict[Asked, Profile]:
    """What the members of one session did in it. Those that speak from records wrote nothing for it."""
    members = _members(plan, events)
    profiles: dict[Asked, Profile] = {}
    for chain in fold(events).chains.values():
        for author, tally in chain_tallies(chain).items():
            if (member := members.get(author)) and member.model.provider != "recorded":
                profile = Profile({_leaf(chain): tally})
                asked = _asked(member)
                profiles[asked] = profiles[asked] + profile if asked in profiles else profile
    return profiles


def chain_tallies(chain: Chain) -> dict[str, Tally]:
    """The runs of each author in one chain; left out are ideas without a verdict, and what a person had a hand in."""
    by_author: dict[str, list[Idea]] = {}
    for idea in chain.ideas:
        if idea.score is not None and idea.counts:
            by_author.setdefault(idea.author, []).append(idea)
    return {author: _tally([idea.failed for idea in ideas]) for author, ideas in by_author.items()}


def _tally(failed: Sequence[bool]) -> Tally:
    lengths: list[int] = []
    length = 0
    for each in failed:
        length += 1
        if each:
            lengths.append(length)
            length = 0
    return Tally(len(lengths), sum(lengths), sum(each**2 for each in lengths), length)


def _members(plan: Plan, events: Sequence[Event]) -> dict[str, Member]:
    """Everybody who ever was in the session's team; a name that two different ones bore is nobody's."""
    teams = [plan.team, *(event.team for event in events if isinstance(event, TeamChanged))]
    found: dict[str, Member] = {}
    doubtful: set[str] = set()
    for member in (member for team in teams for member in team.everybody):
        if member.name in found and _asked(found[member.name]) != _asked(member):
            doubtful.add(member.name)
        found[member.name] = member
    return {name: member for name, member in found.items() if name not in doubtful}


def _events(folder: Path) -> Iterator[Event]:
    """Those that tell of ideas and their scores; what is damaged is passed over. Raises OSError."""
    for line in read_file(folder / EVENTS_FILE).split(b"\n"):
        if not line.strip() or line.startswith(_CALLS):
            continue
        try:
            yield decode(line)
        except msgspec.DecodeError:
            continue


def _leaf(chain: Chain) -> str:
    return Question(chain.question, chain.text, chain.domain, chain.subdomain).leaf


def _asked(member: Member) -> Asked:
    model = _as_model(member.model)
    return Asked(
        model.model, model.effort, model.thinking_tokens, member.model.temperature, member.style, member.persona
    )


def _as_model(spec: ModelSpec) -> Asked:
    return Asked(identity(spec), effort_of(spec), spec.thinking_tokens)
