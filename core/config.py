"""Where things are, and the plan of a session (`session.toml`)."""

import math
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomli_w
from msgspec import Meta, Struct

from core.errors import SessionUnreadableError, UsageError
from core.files import read_file, write_private
from core.levers import Hand, OwnFirst, SeedPolicy
from core.models import Budget, EmbedderSpec, ModelSpec, TeamSpec
from core.questions import Question
from core.rules import Rules
from core.text import clean, clean_all, shown

FORMAT = 1
"""The newest format of a session's files that this version reads."""

PLAN_FILE = "session.toml"


class Judging(Struct, frozen=True, kw_only=True):
    """Who judges, and how thoroughly. No judges: coherence and judged novelty are not judged."""

    judges: tuple[ModelSpec, ...] = ()
    mode: Literal["every", "nearest"] = "every"
    """Against every earlier idea, as in the paper, or only against the nearest by embedding."""
    nearest: Annotated[int, Meta(ge=1, le=1000)] = 8
    controls: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """The share of ideas beside which a judge is given something whose score is known."""


class Origin(Struct, frozen=True, kw_only=True):
    """The file that a session was imported from."""

    file: str
    """Its name."""
    digest: str
    """SHA-256 of its content, in hex."""
    layout: Literal["sciaidanbench", "aidanbench"]
    model: str
    """As the file names it."""
    temperature: str
    """As the file names it."""


class Plan(Struct, frozen=True, kw_only=True):
    """Enough to run a session again: written once, readable and editable by a person, without any key."""

    format: int = FORMAT
    id: str
    created: str
    """ISO 8601 with offset."""
    random_seed: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    embedder: Literal["wordllama"] | EmbedderSpec = "wordllama"
    questions: Annotated[tuple[Question, ...], Meta(min_length=1)]
    team: TeamSpec
    rules: Rules
    judging: Judging = Judging()
    budget: Budget = Budget()
    seeds: SeedPolicy = Hand()
    """When outside content is put into the prompts."""
    own_first: OwnFirst | None = None
    """Whether the person writes ideas before the team does."""
    pipelining: bool = True
    """Whether the next step is asked for while scores are still coming: the same chain, sooner."""
    origin: Origin | None = None
    """Where it comes from, if it happened elsewhere."""


class _Format(Struct):
    format: int = FORMAT


def config_folder() -> Path:
    """Where a person's own files are; made only when something is written there."""
    import platformdirs

    return platformdirs.user_config_path("jagstorm")


def own_question_files() -> list[Path]:
    """The question files in the config folder: `questions.toml`, `questions.txt`, and those in `questions/`.

    Raises `UsageError` if the folder can't be searched.
    """
    return _own_files("questions", ".toml", ".txt")


def own_seed_files() -> list[Path]:
    """The seed files in the config folder: `seeds.toml`, and those in `seeds/`. Raises as `own_question_files` does."""
    return _own_files("seeds", ".toml")


def _own_files(name: str, *suffixes: str) -> list[Path]:
    folder = config_folder()
    named = [folder / f"{name}{suffix}" for suffix in suffixes]
    try:
        inside = sorted((folder / name).glob("*"))
        return [path for path in named + inside if path.suffix in suffixes and path.is_file()]
    except OSError as error:
        raise UsageError(f"{shown(folder)} can't be searched for {name}: {error.strerror or error}") from None


def path_of(text: str) -> Path:
    """The path that a person named. Raises `UsageError` for one that is no text, or a home folder that nobody has."""
    if clean(text) != text or "\n" in text or not text.strip():
        raise UsageError(f"Not a path that can be used: {shown(text) or 'it is empty'}")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UsageError(f"Not a path that can be used: {shown(text)} ({shown(error)})") from None


def sessions_folder(given: str | None) -> Path:
    """`given`, else `$JAGSTORM_SESSIONS`, else `./sessions`. Raises `UsageError`."""
    return path_of(given or os.environ.get("JAGSTORM_SESSIONS") or "sessions")


def read_plan(folder: Path) -> Plan:
    """The plan in a session's folder.

    Raises `SessionUnreadableError` with the file, the key and what was expected there.
    """
    path = folder / PLAN_FILE
    try:
        content = read_file(path)
    except FileNotFoundError:
        raise SessionUnreadableError(f"{shown(folder)} is not a session: it has no {PLAN_FILE}") from None
    except OSError as error:
        raise SessionUnreadableError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    try:
        table = clean_all(tomllib.loads(content.decode("utf-8-sig")))
        version = msgspec.convert(table, _Format).format
        if version > FORMAT:
            raise SessionUnreadableError(
                f"{shown(path)} is of format {version}, from a newer jagstorm; this one reads up to {FORMAT}: "
                "update jagstorm"
            )
        return _plan(table)
    except msgspec.ValidationError as error:
        raise SessionUnreadableError(f"{shown(path)}: {_named(error)}") from None
    except UnicodeDecodeError as error:
        raise SessionUnreadableError(f"{shown(path)} is damaged, it is not UTF-8 text (byte {error.start})") from None
    except (ValueError, RecursionError) as error:  # tomllib passes on what Python says of absurd numbers and depths
        raise SessionUnreadableError(f"{shown(path)} is damaged, it is not TOML: {error}") from None


def checked(plan: Plan) -> Plan:
    """`plan`, which has been put together and not read. Raises `UsageError` if it could not be read again."""
    try:
        return _plan(msgspec.to_builtins(plan))
    except msgspec.ValidationError as error:
        raise UsageError(f"The plan can't be run. {_named(error)}") from None


def _plan(table: Any) -> Plan:
    """Raises `msgspec.ValidationError`."""
    plan = msgspec.convert(table, Plan)
    _check_finite(msgspec.to_builtins(plan), "$")
    return plan


def _check_finite(value: Any, key: str) -> None:
    """NaN is within every bound that msgspec checks."""
    if isinstance(value, float) and not math.isfinite(value):
        raise msgspec.ValidationError(f"Expected a number, got {value} - at `{key}`")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_finite(inner, f"{key}.{name}")
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            _check_finite(inner, f"{key}[{place}]")


def write_plan(folder: Path, plan: Plan) -> None:
    """Write the plan of a new session. Raises OSError."""
    write_private(folder / PLAN_FILE, tomli_w.dumps(_as_toml(plan)))


def _as_toml(plan: Plan) -> dict[str, Any]:
    """TOML has no null: what is None is left out."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(inner) for key, inner in value.items() if inner is not None}
        if isinstance(value, list | tuple):
            return [strip(inner) for inner in value]
        return value

    table: dict[str, Any] = strip(msgspec.to_builtins(plan))
    return table


def _named(error: msgspec.ValidationError) -> str:
    """msgspec's `Expected …, got … - at `$.rules.patience`` as `rules.patience: expected …, got …`."""
    match = re.fullmatch(r"(.*?) - at `\$\.?(.*)`", str(error))
    if not match or not match[2]:
        return str(error)
    what, key = match.groups()
    return f"{key}: {what[:1].lower()}{what[1:]}"
