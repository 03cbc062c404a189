"""From a name to what it means: a model, an embedder or a team, as a person writes it in a file or a command."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec.structs import replace

from core.config import Judging, path_of
from core.errors import TeamIncompleteError, UsageError
from core.keys import scrub
from core.models import EmbedderSpec, Member, ModelSpec, Served, TeamSpec
from core.providers.addresses import holds_secret
from core.providers.known import EMBEDDING, at_host, catalogue, completed, completed_embedder, short_name
from core.settings import Settings, TeamTable
from core.spelling import nearest
from core.teams.presets import BUILT_IN, shipped
from core.teams.results import Results
from core.teams.written import Book, Fault, Written, free_name, member_of, read_team
from core.text import clean_line, shown

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel

Spec = TypeVar("Spec", bound=Served)

WORDLLAMA: Literal["wordllama"] = "wordllama"

OFFERED = "found"
"""What the team is called that is put together from what was found."""

MOST_OFFERED = 5

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
        return BUILT_IN
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
    if spec is None:
        usual = [f"{host.name}/{host.embedder}" for host in catalogue().hosts if host.embedder]
        near = _nearest(text, [WORDLLAMA, *settings.embedders, *usual])
        raise UsageError(
            f"There is no embedder {_quoted(text)}{near}: give {WORDLLAMA}, a name in config.toml, or PROVIDER/MODEL "
            "as in openai/text-embedding-3-large or ollama/nomic-embed-text"
        )
    if spec.provider not in EMBEDDING:
        raise UsageError(
            f"{_quoted(text)} can't be used here to embed: {spec.provider} can't, {', '.join(EMBEDDING)} and servers "
            "that speak OpenAI's API can"
        )
    return completed_embedder(spec)


def team_tables(settings: Settings) -> dict[str, TeamTable]:
    """All teams as they are written, by name: the person's own, then those that come with Jagstorm."""
    return settings.teams | {name: table for name, table in shipped().items() if name not in settings.teams}


def book_of(
    settings: Settings,
    found: "Sequence[FoundModel] | None" = None,
    results: Callable[[], Results] = Results,
) -> Book:
    """All teams with what their names mean here. `found` is None where nobody has looked for models."""
    return Book(
        tables=team_tables(settings),
        model_named=lambda name: model_named(name, settings),
        found=found,
        results=results,
    )


def teams(
    settings: Settings, found: "Sequence[FoundModel] | None" = None, results: Callable[[], Results] = Results
) -> dict[str, TeamSpec]:
    """By name: the person's own that can be put together, then those that come with Jagstorm."""
    book = book_of(settings, found, results)
    read = {name: read_team(name, book) for name in book.tables}
    return {name: written.team for name, written in read.items() if isinstance(written, Written)}


def broken_teams(settings: Settings) -> dict[str, str]:
    """The person's teams that can't be put together, and why, in a line each. Not those that only lack models."""
    book = book_of(settings)
    read = {name: read_team(name, book) for name in settings.teams}
    return {
        name: fault_line(name, fault, settings)
        for name, written in read.items()
        if not isinstance(written, Written) and (fault := next((each for each in written if not each.incomplete), None))
    }


def team_named(
    name: str,
    settings: Settings,
    found: "Sequence[FoundModel] | None" = None,
    results: Callable[[], Results] = Results,
) -> TeamSpec:
    """Raises `UsageError`, saying what is wrong with the team, or which there are; `TeamIncompleteError` for one that
    is made of models that were not found."""
    return written_team(name, settings, book_of(settings, found, results)).team


def written_team(name: str, settings: Settings, book: Book) -> Written:
    """The same, with where its weights and its routes are from."""
    if name not in book.tables:
        near, known = _nearest(name, book.tables), clean_line(", ".join(book.tables), 300)
        raise UsageError(f"There is no team {_quoted(name)}{near}; there are: {known}")
    written = read_team(name, book)
    if isinstance(written, Written):
        return written
    fault = next((each for each in written if not each.incomplete), written[0])
    if fault.incomplete:
        raise TeamIncompleteError(fault.what if not fault.key else f"{clean_line(name, 80)}: {fault.what}")
    raise UsageError(fault_line(name, fault, settings))


def fault_line(name: str, fault: Fault, settings: Settings) -> str:
    """As `core.settings_reader` says what is wrong in a file."""
    key = f"{fault.key}: " if fault.key else ""
    return f"{shown(settings.path)}: [teams.{scrub(clean_line(name, 80))}] {key}{fault.what}"


def needs_models(name: str, settings: Settings) -> bool:
    """Whether a team is made of the models found here, or has such a team among its members."""
    book = book_of(settings)
    written = read_team(name, book) if name in book.tables else ()
    return not isinstance(written, Written) and any(fault.incomplete for fault in written)


def judging_of(team: str, settings: Settings) -> Judging:
    """Who judges what the team of that name writes. Raises `UsageError`."""
    table = settings.teams.get(team)
    names = settings.judges if table is None or table.judges is None else table.judges
    table_name = "judging" if table is None or table.judges is None else f"teams.{team}"
    try:
        return replace(settings.judging, judges=tuple(judge_named(name, settings) for name in names))
    except UsageError as error:
        raise UsageError(f"{settings.path.name}: [{table_name}] judges: {error.message}") from None


def embedder_of(team: str, settings: Settings) -> Literal["wordllama"] | EmbedderSpec:
    """What measures the novelty of what the team of that name writes. Raises `UsageError`."""
    table = settings.teams.get(team)
    try:
        return embedder_named((table.embedder if table else "") or settings.embedder, settings)
    except UsageError as error:
        where = f"[teams.{team}] embedder" if table and table.embedder else "embedder"
        raise UsageError(f"{settings.path.name}: {where}: {error.message}") from None


def solo_team(spec: ModelSpec) -> TeamSpec:
    """A team of one model, named after it."""
    return TeamSpec(name=spec.name, strategy="solo", members=(member_of(free_name(spec.name, ()), spec),))


def team_of(specs: Sequence[ModelSpec]) -> TeamSpec:
    """A team of several models, of which each step draws one."""
    members: list[Member] = []
    for spec in specs:
        members.append(member_of(free_name(spec.name, [member.name for member in members]), spec))
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


def _fetched(text: str) -> str:
    """The path of a file that was fetched, by its name; "" if there is none."""
    from core.providers.hub.files import local_models

    return next((str(path) for path in local_models() if text in (path.stem, path.name)), "")


def _in_file(text: str) -> ModelSpec:
    """A model in a GGUF file. Raises `UsageError`, `ModelUnavailableError`."""
    from core.providers.embedded import weights_path

    path = path_of(text)
    weights_path(str(path))
    return completed(ModelSpec(name=short_name(path.stem), model=str(path.absolute())))


def _served(text: str, kind: type[Spec]) -> Spec | None:
    """What `provider/model` or `provider/model@address` means; None if it is no such thing. Raises `UsageError`."""
    prefix, _, rest = text.partition("/")
    host = catalogue().host(prefix)
    model, base_url = _split_address(clean_line(rest, 400))
    if not model or not (host or prefix == "ollama"):
        return None
    spec = kind(name=short_name(model), provider=prefix, model=model, base_url=base_url)
    return at_host(spec, host) if host else spec


def _split_address(text: str) -> tuple[str, str]:
    """A model's name and the address behind its `@`, if there is one. Raises `UsageError`."""
    match = re.fullmatch(r"(.*)@(https?://.*)", text)
    if not match:
        if re.search(r"@[\w.-]+:\d+(?:/|$)|@localhost\b", text):
            raise UsageError(f"An address begins with http:// or https://: {_quoted(text)}")
        return text, ""
    if holds_secret(match[2]):
        raise UsageError("An address must hold no password and no key: name the variable of a key in config.toml")
    return match[1], match[2]


def _nearest(text: str, names: Iterable[str]) -> str:
    """The names that are most like `text`, as the end of a sentence."""
    found = nearest(text, names, 3)
    return f"; the nearest: {', '.join(found)}" if found else ""


def _quoted(text: str) -> str:
    return repr(clean_line(scrub(text), 80))
