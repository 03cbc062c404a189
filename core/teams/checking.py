"""Everything that is wrong in a file of teams, not only the first of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from core.errors import JagstormError, UsageError
from core.files import read_file
from core.naming import book_of, embedder_named, fault_line, judge_named
from core.settings import Settings, TeamTable, parsed
from core.settings_reader import checked_settings
from core.teams.written import Fault, Written, read_team
from core.text import clean_line, shown

_SMALLEST: dict[str, dict[str, Any]] = {"teams": {"members": ["embedded"]}}
"""What a table needs to be one, by the section it is in."""


class Checked(Struct, frozen=True):
    """What is in a file."""

    teams: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    """What keeps teams from being used, a line each, with its place."""
    odd: tuple[str, ...] = ()
    """What does no harm: keys that are not ours, and such."""


def check_file(path: Path) -> Checked:
    """Look at a file that is written as `config.toml` is. Raises `UsageError` if it can't be read, or is no TOML."""
    content = _content(path)
    wrong = list(dict.fromkeys(_faults_of_tables(path, content)))
    if wrong:
        return Checked(_names(content), tuple(wrong))
    settings = checked_settings(path, content)
    return Checked(tuple(settings.teams), tuple(_faults_of_names(settings)), settings.problems)


def _faults_of_tables(path: Path, content: dict[str, Any]) -> Iterator[str]:
    """What can be seen without looking up any name: each key is read as if it were alone."""
    for key, value in content.items():
        if key in ("models", "embedders", "teams") and isinstance(value, dict):
            for name, table in value.items():
                yield from _faults_of_table(path, key, name, table)
        elif isinstance(value, dict):
            for inner in value:
                yield from _fault(path, {key: {inner: value[inner]}})
        else:
            yield from _fault(path, {key: value})


def _faults_of_table(path: Path, section: str, name: str, table: Any) -> Iterator[str]:
    whole = list(_fault(path, {section: {name: table}}))
    if not whole:
        return
    smallest = _SMALLEST.get(section, {}) if isinstance(table, dict) else {}
    single: list[str] = []
    for key, value in table.items() if isinstance(table, dict) else ():
        for alone in _one_by_one(key, value):
            beside = {"found": "best"} if key in ("found", "size") else smallest
            single += _fault(path, {section: {name: {**beside, key: alone}}})
    yield from single or whole


def _one_by_one(key: str, value: Any) -> Iterator[Any]:
    """Each of several members by itself, in its own place among others that are right."""
    if key != "members" or not isinstance(value, list) or not value:
        yield value
        return
    for place, member in enumerate(value):
        yield [member if place == other else "embedded" for other in range(len(value))]


def _fault(path: Path, content: dict[str, Any]) -> Iterator[str]:
    try:
        checked_settings(path, content)
    except UsageError as error:
        yield error.message


def _faults_of_names(settings: Settings) -> Iterator[str]:
    """What is found by looking up what is named."""
    book = book_of(settings)
    for name, table in settings.teams.items():
        written = read_team(name, book)
        faults = () if isinstance(written, Written) else written
        for fault in (*faults, *_faults_of_scoring(table, settings)):
            if not fault.incomplete:
                yield fault_line(name, fault, settings)
    if settings.default_team and settings.default_team not in book.tables:
        known = clean_line(", ".join(book.tables), 300)
        yield f"{shown(settings.path)}: default_team: expected one of {known}, got {settings.default_team!r}"


def _faults_of_scoring(table: TeamTable, settings: Settings) -> Iterator[Fault]:
    for judge in table.judges or ():
        try:
            judge_named(judge, settings)
        except JagstormError as error:
            yield Fault("judges", error.message)
    try:
        embedder_named(table.embedder, settings)
    except JagstormError as error:
        yield Fault("embedder", error.message)


def _content(path: Path) -> dict[str, Any]:
    """Raises `UsageError`."""
    try:
        return parsed(path, read_file(path))
    except FileNotFoundError:
        raise UsageError(f"There is no file {shown(path)}") from None
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be read: {error.strerror or error}") from None


def _names(content: dict[str, Any]) -> tuple[str, ...]:
    teams = content.get("teams")
    return tuple(teams) if isinstance(teams, dict) else ()
