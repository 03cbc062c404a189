"""A person's own settings: `config.toml` in the config folder, or what `--config` or $JAGSTORM_CONFIG names."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from core.config import Judging, config_folder, path_of
from core.errors import UsageError
from core.files import read_file, write_private
from core.keys import scrub
from core.models import Budget, Effort, EmbedderSpec, ModelSpec, Style
from core.text import clean_line, shown

CONFIG_FILE = "config.toml"


LostTerminal = Annotated[Literal["detach", "stop"], Meta(description="What sessions do when their terminal goes away")]
"""Run on without it, or end there, to be resumed."""


class MemberTable(Struct, frozen=True, kw_only=True):
    """A member as a person writes it: a model, or another team in its place."""

    model: str = ""
    """As `core.naming.model_named` takes it."""
    team: str = ""
    name: str = ""
    """"" for the model's, or the team's."""
    weight: Annotated[float, Meta(gt=0, le=1e6, description="How often it is asked, next to the others")] | None = None
    """None for what results say."""
    style: Style | None = None
    """None for what suits the model."""
    persona: Annotated[str, Meta(description="Who it is to be")] = ""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """None, and "" for the effort: as the model has it."""
    effort: Effort = ""


class TeamTable(Struct, frozen=True, kw_only=True):
    """A team as a person writes it. What is not explained here is as in `TeamSpec`."""

    members: Annotated[tuple[str | MemberTable, ...], Meta(min_length=1)] = ()
    """Names of models, or tables."""
    found: Literal["", "best", "vendors"] = ""
    """In place of members: the best of the models that are found here, or the best of each maker."""
    size: Annotated[int, Meta(ge=1, le=50)] | None = None
    """How many of those; None for all there are."""
    strategy: str = ""
    """One of `TeamSpec`'s; "" for what suits the number of members."""
    about: str = ""
    inverted: bool = False
    drafts: Annotated[int, Meta(ge=1, le=20)] = 1
    selector: str = "novel"
    """A `Chooser`; `best` for the member of the greatest weight; a member's name, or a model's; `me` for the person."""
    selector_seconds: Annotated[float, Meta(gt=0, le=1e6)] | None = None
    instead: str = "novel"
    """As `selector`, but for `me`."""
    selector_orders: Literal[1, 2] = 1
    lead: str = ""
    directions: Annotated[int, Meta(ge=1, le=20)] | None = None
    routes: dict[str, str] = {}
    """Of a router without any they are computed."""
    per: Literal["idea", "cost", "time"] = "idea"
    judges: tuple[str, ...] | None = None
    """Names of models; None for those of `[judging]`."""
    embedder: str = ""
    """"" for the one of the whole file."""


class Settings(Struct, frozen=True, kw_only=True):
    """What `config.toml` says, checked. Names of models are looked up when they are needed, by `core.naming`."""

    path: Path
    models: dict[str, ModelSpec] = {}
    """By name, with what was left open as suits each model."""
    embedders: dict[str, EmbedderSpec] = {}
    teams: dict[str, TeamTable] = {}
    judges: tuple[str, ...] = ()
    """Names of models."""
    judging: Judging = Judging()
    """Without its judges."""
    budget: Budget = Budget()
    default_team: Annotated[str, Meta(description="The team chosen at the start")] = ""
    embedder: Annotated[str, Meta(description="Measures novelty")] = ""
    theme: Annotated[str, Meta(description="Colours")] = ""
    lost_terminal: LostTerminal = "detach"
    problems: tuple[str, ...] = ()
    """What is odd in the file but does no harm, a line each: keys that are not ours."""

    @property
    def key_variables(self) -> set[str]:
        """The environment variables that the file says hold keys."""
        specs = (*self.models.values(), *self.embedders.values())
        return {spec.api_key_env for spec in specs if spec.api_key_env}


def settings_path(given: str | None = None) -> Path:
    """`given`, else $JAGSTORM_CONFIG, else `config.toml` in the config folder. Raises `UsageError`."""
    named = given or os.environ.get("JAGSTORM_CONFIG")
    return path_of(named) if named else config_folder() / CONFIG_FILE


def read_settings(given: str | None = None) -> Settings:
    """The settings in the file that `settings_path` gives; none if nobody named a file and there is none.

    Raises `UsageError`, which names the file, the table, the key and what was expected.
    """
    path = settings_path(given)
    try:
        content = read_file(path)
    except FileNotFoundError:
        if given or os.environ.get("JAGSTORM_CONFIG"):
            raise UsageError(f"There is no config file {shown(path)}") from None
        return Settings(path=path)
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    from core.settings_reader import checked_settings

    return checked_settings(path, parsed(path, content))


def remember(path: Path, key: Literal["theme", "default_team", "embedder"], value: str) -> None:
    """Set one key at the top of the file at `path`, and leave all else in it as it is, comments and order too.

    Raises `UsageError`, and writes nothing, if the file is no TOML or can't be written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        path = path.resolve()  # a link to a file elsewhere stays one
        content = read_file(path) if path.exists() else b""
        parsed(path, content)
        document = tomlkit.parse(content.decode("utf-8-sig"))
        document[key] = value
        text = tomlkit.dumps(document)
        if tomllib.loads(text) != tomllib.loads(content.decode("utf-8-sig")) | {key: value}:
            raise ValueError("it is too unusual to be changed by a program")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, text)
    except (TOMLKitError, ValueError) as error:
        reason = clean_line(scrub(str(error)), 200)
        raise UsageError(f"{shown(path)} was not changed ({reason}): set {key} in it by hand") from None
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be written: {error.strerror or error}") from None


def parsed(path: Path, content: bytes) -> dict[str, Any]:
    """Raises `UsageError` for what is no text or no TOML."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{shown(path)} is not UTF-8 text (line {line})") from None
    except (ValueError, RecursionError) as error:  # tomllib passes on what Python says of absurd numbers and depths
        raise UsageError(f"{shown(path)} is not TOML: {clean_line(scrub(str(error)), 200)}") from None
