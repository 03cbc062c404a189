"""What is in a config file, against what may be in it."""

import math
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from core.config import Judging
from core.errors import UsageError
from core.keys import scrub
from core.models import Budget, EmbedderSpec, ModelSpec, ProviderName, Served, TeamSpec
from core.providers.addresses import holds_secret
from core.providers.known import EMBEDDING, at_host, catalogue, completed, completed_embedder
from core.questions import LEAVES
from core.settings import LostTerminal, MemberTable, Settings, TeamTable
from core.spelling import nearest
from core.text import clean_all, clean_line, shown

Shape = TypeVar("Shape", bound=Struct)
Spec = TypeVar("Spec", bound=Served)

_SECRET_NAME = re.compile(
    r"(?:^|_|-)(?:(?:api)?key|secret|password|passwd|token|auth|authorization|bearer|credentials?)$"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE_A_KEY = re.compile(r"[A-Za-z0-9]{30,}")

_OF_A_TEAM = frozenset({"team", "name", "weight"})
"""Keys of a member that is a team."""

_LOOKED_AT_BY = {
    "inverted": "sample",
    "drafts": "parallel",
    "selector": "parallel",
    "selector_seconds": "parallel",
    "instead": "parallel",
    "selector_orders": "parallel",
    "lead": "hierarchy",
    "directions": "hierarchy",
    "routes": "router",
    "per": "bandit",
}
"""Keys of a team that matter to one strategy alone."""

_ADVICE = 'keys have no place in a file: set it as an environment variable and write api_key_env = "ITS_NAME"'


class _Top(Struct):
    """The whole file."""

    models: dict[str, Any] = {}
    embedders: dict[str, Any] = {}
    teams: dict[str, Any] = {}
    judging: dict[str, Any] = {}
    budget: dict[str, Any] = {}
    default_team: str = ""
    embedder: str = ""
    theme: str = ""
    lost_terminal: LostTerminal = "detach"


class _Judges(Struct):
    judges: tuple[str, ...] = ()


def checked_settings(path: Path, content: dict[str, Any]) -> Settings:
    """Raises `UsageError`, which names the file, the table, the key and what was expected."""
    return _Reader(path).settings(clean_all(content))


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems: list[str] = []

    def settings(self, content: dict[str, Any]) -> Settings:
        for where, key, value in _values(content, "", ""):
            self._refuse_secret(where, key, value)
            if isinstance(value, float) and not math.isfinite(value):
                raise self._wrong(where, f"{key}: expected a number, got {value}")
        top = self._read(content, _Top, "")
        judging_keys = _keys(Judging)
        return Settings(
            path=self._path,
            models={name: self._model(table, f"models.{name}", name) for name, table in top.models.items()},
            embedders={name: self._embedder(table, f"embedders.{name}", name) for name, table in top.embedders.items()},
            teams={name: self._team(table, f"teams.{name}") for name, table in top.teams.items()},
            judges=self._read(top.judging, _Judges, "judging", judging_keys).judges,
            judging=self._read(_without(top.judging, "judges"), Judging, "judging", judging_keys),
            budget=self._read(top.budget, Budget, "budget"),
            default_team=top.default_team,
            embedder=top.embedder,
            theme=top.theme,
            lost_terminal=top.lost_terminal,
            problems=tuple(dict.fromkeys(self._problems)),
        )

    def _model(self, table: Any, where: str, name: str) -> ModelSpec:
        return completed(self._served(table, ModelSpec, where, name), table)

    def _embedder(self, table: Any, where: str, name: str) -> EmbedderSpec:
        spec = self._served(table, EmbedderSpec, where, name)
        if spec.provider not in EMBEDDING:
            words = f"{', '.join(EMBEDDING)} or a server that speaks OpenAI's API"
            raise self._wrong(where, f"provider: expected one that embeds ({words}), got {spec.provider!r}")
        return completed_embedder(spec, table)

    def _served(self, table: Any, shape: type[Spec], where: str, name: str) -> Spec:
        """A model or an embedder, at the server that its provider means."""
        spec = self._read(self._as_table(table, where) | {"name": name}, shape, where)
        if "name" in table:
            self._note(where, "name", f"it is called {name} already")
        hosts = [host.name for host in catalogue().hosts]
        known = list(dict.fromkeys([*get_args(ProviderName), *hosts]))
        if spec.provider not in known:
            raise self._wrong(where, f"provider: expected one of {', '.join(known)}, got {spec.provider!r}")
        if spec.base_url and spec.provider != "ollama" and not spec.base_url.startswith(("http://", "https://")):
            raise self._wrong(where, "base_url: expected an address that begins with http:// or https://")
        host = catalogue().host(spec.provider)
        return at_host(spec, host) if host else spec

    def _team(self, table: Any, where: str) -> TeamTable:
        team = self._read(table, TeamTable, where)
        strategies = _choices(_type_at(TeamSpec, "strategy"))
        if team.strategy and team.strategy not in strategies:
            raise self._wrong(where, f"strategy: expected one of {', '.join(strategies)}, got {team.strategy!r}")
        if not team.members and not team.found:
            raise self._wrong(where, "table missing required field `members` (or `found`)")
        if team.members and team.found:
            raise self._wrong(where, "found: expected no members beside it: what is found here takes their place")
        if team.size and not team.found:
            raise self._wrong(where, 'size: expected only beside found = "best" or "vendors"')
        for place, member in enumerate(team.members):
            if isinstance(member, MemberTable):
                self._member(table["members"][place], member, where, f"members[{place}]")
        its_own = team.strategy or ("solo" if len(team.members) == 1 else "sample")
        for key, strategy in _LOOKED_AT_BY.items():
            if key in table and its_own != strategy:
                self._note(where, key, f"only the strategy {strategy} looks at it")
        for leaf in team.routes:
            known = [*LEAVES, *(part for name in LEAVES for part in name.split(" / ")), "*"]
            if leaf not in known and (near := nearest(leaf, known)):
                self._note(f"{where}.routes", leaf, f"no domain of the bank; did you mean {near[0]}?")
        return team

    def _member(self, table: dict[str, Any], member: MemberTable, where: str, place: str) -> None:
        self._note_unknown(table, _keys(MemberTable), f"{where}.{place}")
        if not member.model and not member.team:
            raise self._wrong(where, f"{place}: table missing required field `model` (or `team`)")
        if member.team and (beside := [key for key in table if key not in _OF_A_TEAM and key in _keys(MemberTable)]):
            raise self._wrong(
                where, f"{place}.{beside[0]}: expected no such key beside `team`: it has members of its own"
            )

    def _read(self, table: Any, shape: type[Shape], where: str, keys: Collection[str] = ()) -> Shape:
        """`table` as a `shape`. `keys` are those that may be in it, if others than the shape's."""
        table = self._as_table(table, where)
        self._note_unknown(table, keys or _keys(shape), where)
        try:
            return msgspec.convert(table, shape)
        except msgspec.ValidationError as error:
            raise self._wrong(where, _said(error, shape)) from None

    def _as_table(self, value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(where, f"expected a table of keys and values, got {_kind(value)}")
        return value

    def _refuse_secret(self, where: str, key: str, value: Any) -> None:
        """Raises `UsageError`, without the secret. Never mind what kind of value, or whether the key is ours."""
        if _SECRET_NAME.search(key.casefold()):
            raise self._wrong(where, f"{key}: {_ADVICE}")
        if not isinstance(value, str):
            return
        if key == "api_key_env" and value and (not _VARIABLE.fullmatch(value) or _LIKE_A_KEY.fullmatch(value)):
            raise self._wrong(where, "api_key_env: expected the name of an environment variable, as in MY_LAB_KEY")
        if key == "base_url" and holds_secret(value):
            raise self._wrong(where, f"base_url: it holds a password or a key; {_ADVICE}")
        if scrub(value) != value:
            raise self._wrong(where, f"{key}: this looks like a key; {_ADVICE}")

    def _note_unknown(self, table: dict[str, Any], keys: Collection[str], where: str) -> None:
        for key in table:
            if key not in keys:
                near = nearest(key, sorted(keys))
                self._note(where, key, "no key of ours" + (f"; did you mean {near[0]}?" if near else ""))

    def _note(self, where: str, key: str, what: str) -> None:
        self._problems.append(self._line(where, f"{scrub(clean_line(key, 60))}: {what}"))

    def _wrong(self, where: str, what: str) -> UsageError:
        return UsageError(self._line(where, what))

    def _line(self, where: str, what: str) -> str:
        return f"{shown(self._path)}: {scrub(f'[{clean_line(where, 80)}] ' if where else '')}{clean_line(what, 400)}"


def _values(value: Any, where: str, key: str) -> Iterator[tuple[str, str, Any]]:
    """Every scalar and list with the table it is in and its key."""
    if isinstance(value, dict):
        where = f"{where}.{key}" if where else key
        for name, inner in value.items():
            yield from _values(inner, where, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, where, key)
    else:
        yield where, key, value


def _without(table: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}


def _keys(shape: type[Struct]) -> frozenset[str]:
    return frozenset(field.name for field in fields(shape))


def _kind(value: Any) -> str:
    return {bool: "a truth value", str: "a text", list: "a list", int: "a number", float: "a number"}.get(
        type(value), "a date"
    )


def _said(error: msgspec.ValidationError, shape: type[Struct]) -> str:
    """What msgspec says, with the key in front, in TOML's words, and with the choices where there are some."""
    match = re.fullmatch(r"(.*?)(?: - at `\$\.?(.*)`)?", str(error), re.DOTALL)
    assert match
    what, key = match[1], match[2] or ""
    choices = _choices(_type_at(shape, key))
    if what.startswith("Invalid enum value") and choices:
        what = f"expected one of {', '.join(choices)}, got {what.removeprefix('Invalid enum value ')}"
    for word, plain in ((" | null", ""), ("object`", "table`"), ("Object ", "Table "), ("`array", "`list")):
        what = what.replace(word, plain)
    return f"{key}{': ' if key else ''}{what[:1].lower()}{what[1:]}"


def _type_at(shape: Any, key: str) -> Any:
    """The type that belongs at `key`, as in `members[0].style`."""
    for step in re.findall(r"[a-z_]+|\[", key):
        options = [shape, *_parts(shape)]
        if step == "[":
            shape = next((get_args(each)[0] for each in options if get_origin(each) is tuple), shape)
            continue
        structs = [each for each in options if isinstance(each, type) and issubclass(each, Struct)]
        shape = next((get_type_hints(each)[step] for each in structs if step in _keys(each)), None)
    return shape


def _choices(kind: Any) -> list[str]:
    return [
        str(choice)
        for each in [kind, *_parts(kind)]
        if get_origin(each) is Literal
        for choice in get_args(each)
        if choice
    ]


def _parts(kind: Any) -> list[Any]:
    """What a union is made of."""
    return list(get_args(kind)) if get_origin(kind) in (Union, UnionType) else []
