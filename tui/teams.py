"""`jagstorm teams`: which teams there are, one in full, and what is wrong in a file of them."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core.config import path_of, sessions_folder
from core.errors import EXIT_ENDED, EXIT_USAGE, JagstormError
from core.models import Member, ModelSpec, TeamSpec
from core.naming import book_of, fault_line, judging_of, written_team
from core.providers.access import missing_key
from core.providers.discovery.found import FoundModel
from core.providers.known import host_for
from core.settings import Settings
from core.teams.checking import check_file
from core.teams.published import published_source
from core.teams.results import EarlierSessions
from core.teams.routes import Route, Table
from core.teams.sample import shares
from core.teams.weights import Weight
from core.teams.written import Book, Written, read_team
from core.text import clean_line, counted, shown
from tui.settings import models_here, settings_with_keys
from tui.words import STRATEGIES, member_words, strategy_lines

WIDTH = 80
NAME, STRATEGY = 20, 10
MEMBER, LEAF, SPECIALIST = 24, 26, 20
"""Columns."""

_SOURCES = {
    "given": "as written",
    "beside": "1, where nothing is written",
    "own": "yours",
    "published": "published",
    "mean": "the mean of the others: nothing is known of it",
    "alike": "nothing is known: all alike",
}

_INSTEAD = {"incomplete": "not there yet", "broken": "can't be put together"}
"""What is said where there are no members to name."""

_TABLES = {
    "own": "From your earlier sessions.",
    "published": "From the published figures.",
    "none": "Nothing is known of anybody yet: the first member is asked everywhere.",
}


class Row(Struct, frozen=True, kw_only=True):
    """A team in a list."""

    name: str
    strategy: str
    origin: str
    about: str
    members: tuple[str, ...] = ()
    state: Literal["ready", "not ready", "incomplete", "broken"] = "ready"
    todo: str = ""
    """What is missing or wrong; "" for one that is ready."""


def show_teams(
    *, name: str | None, checked: str | None, as_json: bool, sessions: str | None, config: str | None
) -> int:
    """Print all teams, or one, or what is wrong in a file. Returns the exit code. Raises `UsageError` and others."""
    if checked is not None:
        return _check(checked, as_json)
    settings = settings_with_keys(config, lambda read: read.problems)  # teams that are broken say so themselves
    earlier = EarlierSessions(sessions_folder(sessions))()
    found = models_here(settings)
    book = book_of(settings, found, lambda: earlier)
    if name is None:
        rows = [_row(each, settings, book, found) for each in book.tables]
        _print(rows, as_json, _list_lines)
    else:
        written = written_team(name, settings, book)
        todo = _lacking(written.team, settings, found)
        if as_json:
            click.echo(msgspec.json.encode(_as_object(written, settings, todo)))
        else:
            click.echo("\n".join(_team_lines(written, settings, todo)))
    return EXIT_ENDED


def _print(rows: Sequence[Row], as_json: bool, lines: Callable[[Sequence[Row]], Iterator[str]]) -> None:
    for line in (msgspec.json.encode(row).decode() for row in rows) if as_json else lines(rows):
        click.echo(line)


# ── all of them ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _row(name: str, settings: Settings, book: Book, found: Sequence[FoundModel]) -> Row:
    table = book.tables[name]
    written = read_team(name, book)
    row = Row(name=name, strategy=table.strategy, origin=_origin(name, settings), about=table.about)
    if isinstance(written, Written):
        team = written.team
        members = tuple(place.name for place in team.places)
        row = replace(row, strategy=team.strategy, members=members)
        try:
            todo = _lacking(team, settings, found)
        except JagstormError as error:  # of a judge that means nothing
            return replace(row, state="broken", todo=error.message)
        return replace(row, state="not ready" if todo else "ready", todo=todo)
    first = next((fault for fault in written if not fault.incomplete), written[0])
    if first.incomplete:
        return replace(row, state="incomplete", todo=first.what)
    return replace(row, state="broken", todo=fault_line(name, first, settings))


def _origin(name: str, settings: Settings) -> str:
    return shown(settings.path.name) if name in settings.teams else "comes with Jagstorm"


def _lacking(team: TeamSpec, settings: Settings, found: Sequence[FoundModel]) -> str:
    """What keeps a team from being used now; "" if nothing does. Raises `UsageError`, `ModelUnavailableError`."""
    members = (member.model for member in team.everybody)
    specs = (*members, *team.selectors, *judging_of(team.name, settings).judges)
    for spec in specs:
        if unready := next((model for model in found if model.state != "ready" and model.spec == spec), None):
            return f"{spec.name}: {unready.todo or unready.state}"
        if variable := missing_key(spec):
            return f"{spec.name}: set {variable}"
    return ""


def _list_lines(rows: Sequence[Row]) -> Iterator[str]:
    """In lines of at most 80 columns, as far as names allow: by where each is from."""
    origin = ""
    for row in rows:
        if row.origin != origin:
            origin = row.origin
            yield click.style(origin[:1].upper() + origin[1:] if "." not in origin else origin, bold=True)
        members = clean_line(", ".join(row.members)) or _INSTEAD[row.state]
        head = f"{'×' if row.todo else ' '} {clean_line(row.name, 60):{NAME}} {row.strategy:{STRATEGY}} "
        yield from _wrapped(head, members, len(head) if len(row.name) <= NAME else 4)
        if row.todo:
            for line in _wrapped("    ", row.todo.removeprefix(f"{row.name} "), 4):
                yield click.style(line, dim=True)
    yield ""
    yield from textwrap.wrap(
        "× can't be used now. `jagstorm teams NAME` shows a team in full, `jagstorm run --team NAME` runs it; your own "
        "go into config.toml, and `jagstorm teams --check FILE` says what is wrong in one.",
        WIDTH,
    )


# ── one in full ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _team_lines(written: Written, settings: Settings, todo: str) -> Iterator[str]:
    team = written.team
    yield click.style(clean_line(f"{team.name}, {_origin(team.name, settings)}", WIDTH), bold=True)
    if team.about:
        yield from _wrapped("  ", team.about, 2)
    if todo:
        yield from _wrapped("× ", f"Can't be used now. {todo}", 2)
    yield ""
    yield from _wrapped("  ", STRATEGIES[team.strategy], 2)
    if team.strategy != "router":
        for line in strategy_lines(team):
            yield from _wrapped("  ", line.strip(), 2)
    for group, member in _everybody(team):
        words = f"{member.name}: {_model_words(member.model)}, {member_words(member, alone=True)}"
        yield from _wrapped(f"    {group}", words, 8 + len(group))
    if written.weights and team.strategy == "sample":
        yield ""
        yield from _weight_lines(written.weights, team)
    if team.strategy == "router":
        yield ""
        yield from _table_lines(written.table) if written.table else _written_routes(team)
    if _is_published(written):
        yield ""
        yield from textwrap.wrap(f"Published: {clean_line(published_source())}", WIDTH)


def _model_words(spec: ModelSpec) -> str:
    """As a command takes it."""
    if spec.provider == "embedded":
        return spec.name
    host = host_for(spec)
    address = f"@{spec.base_url}" if spec.base_url and host is None else ""
    return f"{host.name if host else spec.provider}/{spec.model}{address}"


def _everybody(team: TeamSpec, within: str = "") -> Iterator[tuple[str, Member]]:
    """Each member with the teams around it."""
    for member in team.members:
        yield within, member
    for group in team.groups:
        yield from _everybody(group.team, f"{within}{clean_line(group.name, 40)} / ")


def _weight_lines(weights: Sequence[Weight], team: TeamSpec) -> Iterator[str]:
    """How often each is drawn, and who says so."""
    drawn = shares([weight.value for weight in weights], inverted=team.inverted)
    yield click.style(f"  {'Member':{MEMBER}} {'Weight':>7} {'Drawn':>6}  From", dim=True)
    for weight, share in zip(weights, drawn, strict=True):
        about = f": {weight.about}" if weight.about else ""
        name = clean_line(weight.member, 60)
        head = f"  {name:{MEMBER}} {weight.value:>7g} {share:>6.0%}  "
        yield from _wrapped(head, f"{_SOURCES[weight.source]}{about}", MEMBER + 19)


def _table_lines(table: Table) -> Iterator[str]:
    """Who is asked where, by how much, how sure."""
    if table.routes:
        yield click.style(
            f"  {'Leaf':{LEAF}} {'Specialist':{SPECIALIST}} {'Ideas':>6} {'Ahead':>6} {'Sure':>5} {'Runs':>5}", dim=True
        )
    for route in table.routes:
        yield _route_line(route)
    yield from textwrap.wrap(_TABLES[table.source], WIDTH, initial_indent="  ", subsequent_indent="  ")
    if table.routes:
        yield from textwrap.wrap(
            "Ideas: to be expected up to the first that fails. Ahead: of the next best. Sure: how likely it really is "
            "the best there. Runs: its own there, that this rests on; the fewer, the nearer to its mean everywhere.",
            WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
        )


def _route_line(route: Route) -> str:
    leaf = "everywhere else" if route.leaf == "*" else clean_line(route.leaf, LEAF)
    figures = f"{route.expected:>6.1f} {route.margin:>6.1f} {route.sure:>5.0%} {route.runs:>5.0f}"
    return f"  {leaf:{LEAF}} {_shortened(clean_line(route.member)):{SPECIALIST}} {figures}"


def _shortened(name: str) -> str:
    """To fit its column: cut in the middle, for the names of kin differ at their ends."""
    return name if len(name) <= SPECIALIST else f"{name[:11]}…{name[-8:]}"


def _written_routes(team: TeamSpec) -> Iterator[str]:
    for leaf, member in team.routes.items():
        name = "everywhere else" if leaf == "*" else clean_line(leaf, 60)
        yield f"  {name:{LEAF}} {clean_line(member, 60)}"
    yield "  As written."


def _is_published(written: Written) -> bool:
    by_weight = any(weight.source == "published" for weight in written.weights)
    return by_weight or bool(written.table and written.table.source == "published")


def _as_object(written: Written, settings: Settings, todo: str) -> dict[str, Any]:
    return {
        "name": written.team.name,
        "origin": _origin(written.team.name, settings),
        "todo": todo,
        "team": written.team,
        "weights": written.weights,
        "routes": written.table.routes if written.table else [],
        "routes_from": written.table.source if written.table else "given",
    }


# ── a file ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _check(file: str, as_json: bool) -> int:
    path = path_of(file)
    found = check_file(path)
    problems = [*((line, False) for line in found.wrong), *((line, True) for line in found.odd)]
    for line, harmless in problems:
        if as_json:
            click.echo(msgspec.json.encode({"problem": line, "harmless": harmless}))
        else:
            click.echo("\n".join(_wrapped("  " if harmless else "× ", line, 4)))
    if not as_json:
        teams = counted(len(found.teams), "team")
        wrong = counted(len(found.wrong), "fault")
        odd = f", {counted(len(found.odd), 'oddity', 'oddities')}" if found.odd else ""
        click.echo(f"{shown(path)}: {teams}, {wrong}{odd}.")
    return EXIT_USAGE if found.wrong else EXIT_ENDED


def _wrapped(head: str, text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        clean_line(text), WIDTH, initial_indent=head, subsequent_indent=" " * indent, break_on_hyphens=False
    ) or [head.rstrip()]
