"""From a team as a person writes it (`core.settings.TeamTable`) to its members, weights and routes."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from core.errors import JagstormError, TeamIncompleteError
from core.models import YOU, Chooser, Group, Member, ModelSpec, Place, TeamSpec
from core.settings import MemberTable, TeamTable
from core.teams.building import chosen
from core.teams.results import Results
from core.teams.routes import Table, key_of, route_table
from core.teams.weights import Weight, weights, with_weights
from core.text import clean_line

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel

BEST = "best"
"""As a selector: the member of the greatest weight."""

ME: Literal["me"] = "me"
"""As a selector: the person."""

_PARTING = re.compile("[/·]")
"""What members of teams within teams, and drafts, are told apart by in the log: no member's own name holds it."""


class Book(Struct, frozen=True, kw_only=True):
    """All teams that are written down, and what the names in them mean."""

    tables: Mapping[str, TeamTable]
    model_named: Callable[[str], ModelSpec]
    found: "Sequence[FoundModel] | None" = None
    """The models found here; None where nobody has looked."""
    results: Callable[[], Results] = Results
    """Of earlier sessions; asked for only where they matter."""


class Fault(Struct, frozen=True):
    """Why a team can't be put together."""

    key: str
    """Where in its table: `members[1]`; "" for the whole of it."""
    what: str
    incomplete: bool = False
    """Nothing is wrong with it: what it is made of was not found."""


class Written(Struct, frozen=True):
    """A team, put together."""

    team: TeamSpec
    weights: tuple[Weight, ...] = ()
    """Where they matter."""
    table: Table | None = None
    """Of a router whose routes were computed: also those who were looked at and are nobody's specialist."""


def read_team(name: str, book: Book) -> Written | tuple[Fault, ...]:
    """The team called `name`, or all that keeps it from being one."""
    return _Reader(name, book, ()).written()


class Choosers(Struct, frozen=True):
    """Who picks among proposals, as in `TeamSpec`."""

    selector: ModelSpec | Chooser | Literal["me"] = "novel"
    instead: ModelSpec | Chooser = "novel"


class _Reader:
    def __init__(self, name: str, book: Book, within: tuple[str, ...]) -> None:
        self._name = name
        self._table = book.tables[name]
        self._book = book
        self._within = (*within, name)
        self._faults: list[Fault] = []

    def written(self) -> Written | tuple[Fault, ...]:
        places, given = self._found() if self._table.found else self._places()
        if not places:
            return tuple(self._faults)
        strategy: Any = self._table.strategy or ("solo" if len(places) == 1 else "sample")
        draws = strategy == "sample" or (strategy == "parallel" and BEST in (self._table.selector, self._table.instead))
        weighed = weights(places, self._book.results, given) if draws else []
        table = route_table(places, self._book.results) if strategy == "router" and not self._table.routes else None
        if table and table.routes and self._table.found:
            places = _specialists(places, table)
        chosen_by = self._choosers(places, weighed) if strategy == "parallel" else Choosers()
        self._check_names(places)
        if self._faults:
            return tuple(self._faults)
        try:
            team = self._team(places, strategy, chosen_by, table)
        except ValueError as error:
            return (Fault("members", str(error)),)
        return Written(with_weights(team, weighed) if strategy == "sample" else team, tuple(weighed), table)

    def _team(self, places: Sequence[Place], strategy: Any, chosen_by: Choosers, table: Table | None) -> TeamSpec:
        """Raises ValueError."""
        written = self._table
        return TeamSpec(
            name=self._name,
            strategy=strategy,
            members=tuple(place for place in places if isinstance(place, Member)),
            groups=tuple(place for place in places if isinstance(place, Group)),
            about=written.about,
            inverted=written.inverted,
            drafts=written.drafts,
            selector=chosen_by.selector,
            selector_seconds=written.selector_seconds,
            instead=chosen_by.instead,
            selector_orders=written.selector_orders,
            lead=written.lead,
            directions=written.directions,
            routes=table.as_spec if table else {key_of(leaf): member for leaf, member in written.routes.items()},
            per=written.per,
        )

    def _check_names(self, places: Sequence[Place]) -> None:
        if self._table.lead:
            self._expect("lead", self._table.lead, [place.name for place in places if isinstance(place, Member)])
        for leaf, member in self._table.routes.items():
            self._expect(f"routes.{clean_line(leaf, 60)}", member, [place.name for place in places])

    def _places(self) -> tuple[list[Place], dict[str, float]]:
        """Members and groups in the order written, and the weights that stand there."""
        places: list[Place] = []
        given: dict[str, float] = {}
        for number, entry in enumerate(self._table.members):
            written = entry if isinstance(entry, MemberTable) else MemberTable(model=entry)
            key = f"members[{number}]"
            if parting := _PARTING.search(written.name):
                got = clean_line(written.name, 80)
                self._fault(f"{key}.name", f"expected a name without {parting[0]}, got {got!r}")
            taken = [place.name for place in places]
            place = self._group(written, key, taken) if written.team else self._member(written, key, taken)
            if place is None:
                continue
            places.append(place)
            if written.weight is not None:
                given[place.name] = written.weight
        return places, given

    def _member(self, written: MemberTable, key: str, taken: list[str]) -> Member | None:
        try:
            spec = self._book.model_named(written.model)
        except JagstormError as error:
            self._fault(key, error.message)
            return None
        name = clean_line(written.name) or free_name(spec.name, taken)
        member = member_of(name, _asked_otherwise(spec, written))
        return replace(
            member, weight=written.weight or 1.0, style=written.style or member.style, persona=written.persona
        )

    def _group(self, written: MemberTable, key: str, taken: list[str]) -> Group | None:
        inner = written.team
        if inner in self._within:
            chain = " → ".join([*self._within[self._within.index(inner) :], inner])
            self._fault(f"{key}.team", f"a team can't be a member of itself: {clean_line(chain, 200)}")
            return None
        if inner not in self._book.tables:
            self._expect(f"{key}.team", inner, [name for name in self._book.tables if name not in self._within])
            return None
        found = _Reader(inner, self._book, self._within).written()
        if isinstance(found, Written):
            name = clean_line(written.name) or free_name(inner, taken)
            return Group(name=name, team=found.team, weight=written.weight or 1.0)
        for fault in found:
            self._faults.append(
                Fault(f"{key}.team", f"the team {inner!r} can't be used: {_said(fault)}", fault.incomplete)
            )
        return None

    def _found(self) -> tuple[list[Place], dict[str, float]]:
        """The best of the models found here, as members."""
        try:
            specs = chosen(self._name, self._table, self._book.found, self._book.results)
        except TeamIncompleteError as error:
            self._faults.append(Fault("", error.message, incomplete=True))
            return [], {}
        places: list[Place] = []
        for spec in specs:
            places.append(member_of(free_name(spec.name, [place.name for place in places]), spec))
        return places, {}

    def _choosers(self, places: Sequence[Place], weighed: Sequence[Weight]) -> Choosers:
        """Who picks among proposals."""
        if self._table.selector == ME:
            return Choosers(ME, self._chooser("instead", self._table.instead, places, weighed))
        return Choosers(self._chooser("selector", self._table.selector, places, weighed))

    def _chooser(self, key: str, named: str, places: Sequence[Place], weighed: Sequence[Weight]) -> ModelSpec | Chooser:
        for chooser in get_args(Chooser):
            if named == chooser:
                return chooser  # type: ignore[no-any-return]
        members = {member.name: member for place in places for member in _everybody(place)}
        if named == BEST:
            heaviest = max(weighed, key=lambda weight: weight.value).member
            return _everybody(next(place for place in places if place.name == heaviest))[0].model
        if named in members:
            return members[named].model
        try:
            return self._book.model_named(named)
        except JagstormError as error:
            choosers = [*get_args(Chooser), BEST, *([ME] if key == "selector" else [])]
            self._fault(key, f"expected {', '.join(choosers)}, a member or a model. {error.message}")
            return "novel"

    def _expect(self, key: str, name: str, names: Collection[str]) -> None:
        if name not in names:
            listed = clean_line(", ".join(names), 300) or "a member"
            self._fault(key, f"expected one of {listed}, got {clean_line(name, 80)!r}{_meant(name, names)}")

    def _fault(self, key: str, what: str) -> None:
        self._faults.append(Fault(key, what))


def member_of(name: str, spec: ModelSpec) -> Member:
    """A member that is asked as suits its model: the built-in one is too small to answer between tags."""
    return Member(name=name, model=spec, style="list" if spec.provider == "embedded" else "tagged")


def free_name(name: str, taken: Collection[str]) -> str:
    """What a member is called after the model or team `name`, with a number behind it if that is taken."""
    name = _PARTING.sub("-", name) or "nameless"
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 3))
    return next(each for each in names if each not in (*taken, YOU))


def _asked_otherwise(spec: ModelSpec, written: MemberTable) -> ModelSpec:
    """`spec` with the settings that this member has for itself."""
    if written.temperature is not None:
        spec = replace(spec, temperature=written.temperature)
    if not written.effort:
        return spec
    from core.providers.known import completed

    spec = completed(replace(spec, effort=written.effort, thinking_tokens=0), {"context", "max_tokens"})
    room = min(2 * spec.thinking_tokens, spec.context // 2)
    return replace(spec, max_tokens=max(spec.max_tokens, room))


def _specialists(places: Sequence[Place], table: Table) -> list[Place]:
    """Those who are asked at all, whoever takes the most leaves first."""
    asked = [route.member for route in table.routes]
    return sorted((place for place in places if place.name in asked), key=lambda place: -asked.count(place.name))


def _everybody(place: Place) -> tuple[Member, ...]:
    return (place,) if isinstance(place, Member) else place.team.everybody


def _said(fault: Fault) -> str:
    return f"{fault.key}: {fault.what}" if fault.key else fault.what


def _meant(name: str, names: Collection[str]) -> str:
    from rapidfuzz import process

    found = process.extractOne(name, sorted(names), score_cutoff=70)
    return f"; did you mean {found[0]}?" if found else ""
