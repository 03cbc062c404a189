"""What works here, and what to do about the rest: in words that are safe to paste in public."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from core.config import sessions_folder
from core.env_file import EnvFiles, load_env_file
from core.errors import JagstormError, UsageError
from core.keys import read_key
from core.machine import Check, native, sessions_checks, terminal, versions
from core.masking import Mask
from core.models import EmbedderSpec
from core.naming import broken_teams, embedder_of, judging_of, team_named
from core.providers.access import missing_key
from core.providers.catalog import Providers
from core.providers.discovery.aws import aws_settings
from core.providers.discovery.found import FoundModel, find_models
from core.providers.known import catalogue, embedding_of, name_paid_for
from core.settings import Settings
from core.surroundings import Surroundings, surroundings
from core.text import shown

_ADDRESSES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT", "OLLAMA_HOST", "HF_ENDPOINT")

_INSTALL = "run `make install` in a checkout, or `pip install xllamacpp wordllama`"


class Report(Struct, frozen=True):
    checks: tuple[Check, ...]
    can_run: bool
    """Whether a session can."""


async def examine(config: str | None, sessions: str | None, providers: Providers) -> Report:
    """Look at everything. Calls no model, and leaves nothing behind."""
    env = load_env_file()  # it counts even if the settings can't be read
    try:
        here, trouble = surroundings(config), ""
    except UsageError as error:
        here, trouble = Surroundings(Settings(path=Path("config.toml")), env), error.message
    settings = here.settings
    found, shell, engine, words = await asyncio.gather(
        find_models(settings, providers), terminal(), native("xllamacpp"), native("wordllama")
    )
    built_in = _built_in(found, engine)
    embedder = _embedder(settings, words)
    folder = _sessions(sessions)
    checks = [
        versions(),
        *shell,
        *_config(settings, trouble, found),
        *_keys(settings, env.then(here.env)),
        *_models(found),
        built_in,
        embedder,
        *_judges(settings),
        *folder,
    ]
    writes = built_in.health == "ok" or any(model.state == "ready" and model.where != "built in" for model in found)
    saves = all(check.health != "bad" for check in folder)
    mask = Mask(
        [*(model.spec.base_url for model in found), *(os.environ.get(name, "") for name in _ADDRESSES)],
        [*(model.spec.aws_profile for model in found), os.environ.get("AWS_PROFILE", "")],
    )
    masked = tuple(Check(each.topic, each.health, mask(each.words), mask(each.todo)) for each in checks)
    return Report(masked, writes and saves and not trouble and embedder.health != "bad")


def _config(settings: Settings, trouble: str, found: Sequence[FoundModel]) -> Iterator[Check]:
    if trouble:
        yield Check("config", "bad", trouble, "correct it: until then nothing in it counts, and no session starts")
        return
    what = f"{len(settings.models)} models, {len(settings.teams)} teams" if settings.path.exists() else "none yet"
    yield Check("config", "ok", f"{shown(settings.path)}: {what}")
    for problem in settings.problems:
        yield Check("config", "note", problem)
    for why in broken_teams(settings).values():
        yield Check("config", "note", why)
    if settings.default_team:
        try:
            team_named(settings.default_team, settings, found)
        except JagstormError as error:
            yield Check("config", "note", f"default_team: {error.message}")


def _keys(settings: Settings, files: EnvFiles) -> Iterator[Check]:
    names = {name for host in catalogue().hosts for name in host.keys} | settings.key_variables
    held = sorted(name for name in names if read_key(name))
    here = [f"{name} (from {shown(files.taken[name])})" if name in files.taken else name for name in held]
    if where := aws_settings():
        here.append(f"AWS (from {where})")
    yield Check("keys", "ok" if here else "note", ", ".join(here) or "none", "" if here else "set one: see `models`")
    risky = [name for name in files.left if name in _ADDRESSES or name.casefold().endswith("_proxy")]
    if risky:
        words = f"{', '.join(sorted(risky))} in a .env file: not taken, it could send keys elsewhere"
        yield Check("keys", "note", words, "set it in the environment if you mean it")


def _models(found: Sequence[FoundModel]) -> Iterator[Check]:
    ready = Counter(model.where for model in found if model.state == "ready" and model.where != "built in")
    if ready:
        yield Check("models", "ok", ", ".join(f"{count} from {where}" for where, count in ready.items()))
    else:
        todo = "set a key, start Ollama, or fetch one: `jagstorm models pull NAME`"
        yield Check("models", "note", "only the built-in one", todo)
    for model in found:
        if model.state == "server down" or (model.state != "ready" and model.where == "config.toml"):
            yield Check("models", "note", f"{model.name}: {model.state}", model.todo)


def _built_in(found: Sequence[FoundModel], engine: str) -> Check:
    weights = next(model for model in found if model.where == "built in")
    if engine:
        return Check("built-in model", "bad", f"llama.cpp: {engine}", _INSTALL)
    if weights.state != "ready":
        return Check("built-in model", "bad", weights.todo)
    return Check("built-in model", "ok", f"{weights.spec.name}, llama.cpp loads")


def _embedder(settings: Settings, words: str) -> Check:
    """The one that measures novelty unless a team has its own."""
    try:
        spec = embedder_of("", settings)
    except UsageError as error:
        return Check("embedder", "bad", error.message)
    if isinstance(spec, EmbedderSpec):
        known = embedding_of(name_paid_for(spec))
        said = f"{spec.name}, ideas pass from a novelty of {spec.threshold:g}"
        if variable := missing_key(spec):
            return Check("embedder", "bad", said, f"set {variable}")
        if known.calibrated:
            return Check("embedder", "ok", said)
        return Check("embedder", "note", said, "nobody has measured this threshold: look at the first scores")
    return Check("embedder", "bad", f"WordLlama: {words}", _INSTALL) if words else Check("embedder", "ok", "WordLlama")


def _sessions(given: str | None) -> list[Check]:
    try:
        return list(sessions_checks(sessions_folder(given)))
    except UsageError as error:
        return [Check("sessions", "bad", error.message, "correct --sessions or $JAGSTORM_SESSIONS")]


def _judges(settings: Settings) -> Iterator[Check]:
    try:
        judges = judging_of("", settings).judges
    except JagstormError as error:
        yield Check("judges", "bad", error.message)
        return
    if not judges:
        yield Check("judges", "note", "none: coherence is not judged", "name some: [judging] judges in config.toml")
        return
    yield Check("judges", "ok", ", ".join(judge.name for judge in judges))
    for judge in judges:
        if variable := missing_key(judge):
            yield Check("judges", "bad", f"{judge.name} needs a key", f"set {variable}")
