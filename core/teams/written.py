"""From a team as a person writes it (`core.settings.TeamTable`) to its members, weights and routes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from core.errors import JagstormError, TeamIncompleteError
from core.models import Chooser, Group, Member, ModelSpec, Place, TeamSpec
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
        draws = strategy == "sample" or (strategy == "parallel" and self._table.selector == BEST)
        weighed = weights(places, self._book.results, given) if draws else []
        table = route_table(places, self._book.results) if strategy == "router" and not self._table.routes else None
        if table and table.routes and self._table.found:
            places = _specialists(places, table)
        selector = self._selector(places, weighed)
        self._check_names(places)
        if self._faults:
            return tuple(self._faults)
        try:
            team = self._team(places, strategy, selector, table)
        except ValueError as error:
            return (Fault("members", str(error)),)
        return Written(with_weights(team, weighed) if strategy == "sample" else team, tuple(weighed), table)

    def _team(
        self, places: Sequence[Place], strategy: Any, selector: ModelSpec | Chooser, table: Table | None
    ) -> TeamSpec:
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
            selector=selector,
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
        member = member_of(written.name or free_name(spec.name, taken), _asked_otherwise(spec, written))
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
            self._expect(f"{key}.team", inner, list(self._book.tables))
            return None
        found = _Reader(inner, self._book, self._within).written()
        if isinstance(found, Written):
            return Group(name=written.name or free_name(inner, taken), team=found.team, weight=written.weight or 1.0)
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

    def _selector(self, places: Sequence[Place], weighed: Sequence[Weight]) -> ModelSpec | Chooser:
        """Who picks among proposals."""
        named = self._table.selector
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
            choosers = ", ".join([*get_args(Chooser), BEST])
            self._fault("selector", f"expected {choosers}, a member or a model. {error.message}")
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
    """`name`, with a number behind it if it is taken."""
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(each for each in names if each not in taken)


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
