"""The teams that come with Jagstorm: `data/teams.toml`, written as a person's own are."""

import functools
import tomllib
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.errors import UsageError
from core.models import ModelSpec, TeamSpec
from core.settings import TeamTable
from core.teams.written import Book, Written, read_team
from core.text import clean_line

BUILT_IN = ModelSpec(name="SmolLM2-135M-Instruct", temperature=0.9, top_p=0.95, repeat_penalty=1.07, max_tokens=96)
"""The weights that come with Jagstorm, set as `tests/benchmarks/prompt_styles.py` found them best."""

DEFAULT = "embedded"


@functools.cache
def shipped() -> dict[str, TeamTable]:
    """All of them by name, those that need no set-up first."""
    content = tomllib.loads(files("data").joinpath("teams.toml").read_text("utf-8"))
    return msgspec.convert(content["teams"], dict[str, TeamTable])


@functools.cache
def presets() -> dict[str, TeamSpec]:
    """Those that need no set-up, by name, the default first."""
    book = Book(tables=shipped(), model_named=_built_in)
    found = (read_team(name, book) for name, table in shipped().items() if not table.found)
    return {written.team.name: written.team for written in found if isinstance(written, Written)}


def default_team() -> TeamSpec:
    return presets()[DEFAULT]


def on_model(team: TeamSpec, path: Path | None) -> TeamSpec:
    """The team with all its members on another GGUF file; as it is for None.

    Raises `ModelUnavailableError` for a file that can't be one.
    """
    if path is None:
        return team
    from core.providers.embedded import weights_path

    weights_path(str(path))
    members = tuple(
        replace(member, model=replace(member.model, model=str(path.absolute()), name=clean_line(path.stem, 60)))
        for member in team.members
    )
    return replace(team, members=members)


def _built_in(name: str) -> ModelSpec:
    if name != "embedded":
        raise UsageError(f"A team that needs no set-up has no model {name!r}")
    return BUILT_IN
