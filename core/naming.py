"""From a name to what it means: a model, an embedder or a team, as a person writes it in a file or a command."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec.structs import replace

from core.config import Judging, path_of
from core.errors import JagstormError, UsageError
from core.keys import scrub
from core.models import YOU, EmbedderSpec, Member, ModelSpec, Served, TeamSpec
from core.providers.addresses import holds_secret
from core.providers.known import at_host, catalogue, completed, completed_embedder
from core.settings import MemberTable, Settings, TeamTable
from core.teams.presets import EMBEDDED_SOLO, presets
from core.text import clean_line

if TYPE_CHECKING:
    from core.providers.found import FoundModel

Spec = TypeVar("Spec", bound=Served)

WORDLLAMA: Literal["wordllama"] = "wordllama"

OFFERED = "found"
"""What the team is called that is put together from what was found."""

MOST_OFFERED = 5

LIKE = 70.0
"""Of 100: how like a name another must be to be what was meant."""

_FORMS = "a name in config.toml, PROVIDER/MODEL as in openai/gpt-6-luna or ollama/qwen3:8b, or the path of a GGUF file"


def model_named(text: str, settings: Settings) -> ModelSpec:
    """The model that `text` means: a name in the config file, `provider/model`, or a GGUF file's path.

    A file that was fetched may go by its name. A server's address may follow, as in
    `ollama/qwen3:8b@http://gpu07:11434`. Raises `UsageError`, with the nearest names that there are, and
    `ModelUnavailableError` for a file that is no GGUF file.
    """
    text = text.strip()
    if text in settings.models:
        return settings.models[text]
    if text == "embedded":
        return EMBEDDED_SOLO.members[0].model
    if (fetched := _fetched(text)) or text.casefold().endswith(".gguf"):
        return _in_file(fetched or text)
    spec = _served(text, ModelSpec)
    if spec is None:
        near = _nearest(text, [*settings.models, *usual_names()])
        raise UsageError(f"There is no model {_quoted(text)}{near}: give {_FORMS}")
    return completed(spec)


def judge_named(text: str, settings: Settings) -> ModelSpec:
    """The model that `text` means, as a judge. Raises as `model_named` does."""
    return as_judge(model_named(text, settings))


def as_judge(spec: ModelSpec) -> ModelSpec:
    """`spec` set to say what is likeliest, unless it thinks first: then the temperature is not ours to set."""
    thinks = spec.thinking_tokens > 0 or spec.effort not in ("", "none")
    return spec if thinks else replace(spec, temperature=0.0)


def embedder_named(text: str, settings: Settings) -> Literal["wordllama"] | EmbedderSpec:
    """The embedder that `text` means: `wordllama` (or nothing), a name in the config file, or `provider/model`.

    Raises `UsageError`, with the nearest names that there are.
    """
    text = text.strip()
    if text in settings.embedders:
        return settings.embedders[text]
    if text in ("", WORDLLAMA):
        return WORDLLAMA
    spec = _served(text, EmbedderSpec)
    if spec is None or spec.provider == "anthropic":
        near = _nearest(text, [WORDLLAMA, *settings.embedders])
        raise UsageError(
            f"There is no embedder {_quoted(text)}{near}: give {WORDLLAMA}, a name in config.toml, or PROVIDER/MODEL "
            "as in openai/text-embedding-3-large or ollama/nomic-embed-text"
        )
    return completed_embedder(spec)


def teams(settings: Settings) -> dict[str, TeamSpec]:
    """By name: the person's own that can be put together, then those that come with Jagstorm."""
    own = {name: team for name in settings.teams if isinstance(team := _team(name, settings), TeamSpec)}
    return own | {name: team for name, team in presets().items() if name not in settings.teams}


def broken_teams(settings: Settings) -> dict[str, str]:
    """The person's teams that can't be put together, and why, in a line each."""
    return {name: team.message for name in settings.teams if isinstance(team := _team(name, settings), JagstormError)}


def team_named(name: str, settings: Settings) -> TeamSpec:
    """Raises `UsageError`, saying what is wrong with the team, or which there are."""
    if name in settings.teams:
        team = _team(name, settings)
        if isinstance(team, JagstormError):
            raise team
        return team
    known = teams(settings)
    if name not in known:
        raise UsageError(
            f"There is no team {_quoted(name)}{_nearest(name, known)}; there are: {clean_line(', '.join(known), 300)}"
        )
    return known[name]


def judging_of(team: str, settings: Settings) -> Judging:
    """Who judges what the team of that name writes. Raises `UsageError`."""
    table = settings.teams.get(team)
    names = settings.judges if table is None or table.judges is None else table.judges
    return replace(settings.judging, judges=tuple(judge_named(name, settings) for name in names))


def embedder_of(team: str, settings: Settings) -> Literal["wordllama"] | EmbedderSpec:
    """What measures the novelty of what the team of that name writes. Raises `UsageError`."""
    table = settings.teams.get(team)
    return embedder_named((table.embedder if table else "") or settings.embedder, settings)


def solo_team(spec: ModelSpec) -> TeamSpec:
    """A team of one model, named after it."""
    name = spec.name if spec.name != YOU else f"{spec.name} (model)"
    return TeamSpec(name=name, strategy="solo", members=(_member(name, spec),))


def team_of(specs: Sequence[ModelSpec]) -> TeamSpec:
    """A team of several models, of which each step draws one."""
    members: list[Member] = []
    for spec in specs:
        members.append(_member(_free(spec.name, [member.name for member in members]), spec))
    return TeamSpec(name=" + ".join(member.name for member in members)[:80], strategy="sample", members=tuple(members))


def offered_team(found: "Sequence[FoundModel]") -> TeamSpec | None:
    """The team that suits what was found: the best of each server in turn; None if there is but the built-in model."""
    groups: dict[str, list[ModelSpec]] = {}
    for model in found:
        if model.recommended and model.state == "ready":
            groups.setdefault(model.where, []).append(model.spec)
    turns = zip_longest(*groups.values())
    specs = [spec for turn in turns for spec in turn if spec is not None][:MOST_OFFERED]
    if not specs:
        return None
    team = team_of(specs)
    about = f"What was found here: {clean_line(', '.join(member.name for member in team.members), 200)}"
    return replace(team, name=OFFERED, strategy="sample" if len(specs) > 1 else "solo", about=about)


def offered_judge(found: "Sequence[FoundModel]") -> ModelSpec | None:
    """A quick and cheap one that can judge; None if none was found."""
    return next((as_judge(model.spec) for model in found if model.judge and model.state == "ready"), None)


def usual_names() -> list[str]:
    """What models of known hosts are called."""
    return [f"{host.name}/{model}" for host in catalogue().hosts for model in host.models]


def _team(name: str, settings: Settings) -> TeamSpec | JagstormError:
    table = settings.teams[name]
    try:
        members = _members(table, settings)
        strategy: Any = table.strategy or ("solo" if len(members) == 1 else "sample")
        return TeamSpec(name=name, strategy=strategy, members=members, about=table.about)
    except (JagstormError, ValueError) as error:
        return UsageError(f"The team {_quoted(name)} in {settings.path.name} can't be used. {error}")


def _members(table: TeamTable, settings: Settings) -> tuple[Member, ...]:
    members: list[Member] = []
    for entry in table.members:
        written = entry if isinstance(entry, MemberTable) else MemberTable(model=entry)
        spec = model_named(written.model, settings)
        taken = [member.name for member in members]
        member = _member(written.name or _free(spec.name, taken), spec)
        style = written.style or member.style
        members.append(replace(member, weight=written.weight, style=style, persona=written.persona))
    return tuple(members)


def _member(name: str, spec: ModelSpec) -> Member:
    # The built-in model is too small to answer between tags.
    return Member(name=name, model=spec, style="list" if spec.provider == "embedded" else "tagged")


def _free(name: str, taken: list[str]) -> str:
    """`name`, with a number behind it if it is taken."""
    names = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(each for each in names if each not in taken)


def _fetched(text: str) -> str:
    """The path of a file that was fetched, by its name; "" if there is none."""
    from core.providers.model_files import local_models

    return next((str(path) for path in local_models() if text in (path.stem, path.name)), "")


def _in_file(text: str) -> ModelSpec:
    """A model in a GGUF file. Raises `UsageError`, `ModelUnavailableError`."""
    from core.providers.embedded import weights_path

    path = path_of(text)
    weights_path(str(path))
    return completed(ModelSpec(name=clean_line(path.stem, 60), model=str(path.absolute())))


def _served(text: str, kind: type[Spec]) -> Spec | None:
    """What `provider/model` or `provider/model@address` means; None if it is no such thing. Raises `UsageError`."""
    prefix, _, rest = text.partition("/")
    host = catalogue().host(prefix)
    model, base_url = _split_address(clean_line(rest, 400))
    if not model or not (host or prefix == "ollama"):
        return None
    spec = kind(name=clean_line(model.rpartition("/")[2], 60) or model, provider=prefix, model=model, base_url=base_url)
    return at_host(spec, host) if host else spec


def _split_address(text: str) -> tuple[str, str]:
    """A model's name and the address behind its `@`, if there is one. Raises `UsageError`."""
    match = re.fullmatch(r"(.*)@(https?://.*)", text)
    if not match:
        return text, ""
    if holds_secret(match[2]):
        raise UsageError("An address must hold no password and no key: name the variable of a key in config.toml")
    return match[1], match[2]


def _nearest(text: str, names: Iterable[str]) -> str:
    """The names that are most like `text`, with or without their provider, as the end of a sentence."""
    from rapidfuzz import fuzz

    def likeness(name: str) -> float:
        return max(fuzz.ratio(text.casefold(), part) for part in (name.casefold(), name.casefold().rpartition("/")[2]))

    found = sorted((name for name in dict.fromkeys(names) if likeness(name) >= LIKE), key=likeness, reverse=True)[:3]
    return f"; the nearest: {', '.join(found)}" if found else ""


def _quoted(text: str) -> str:
    return repr(clean_line(scrub(text), 80))
