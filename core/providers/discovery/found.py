"""What can be used here and now: from the config file, keys, AWS's settings, servers on the usual ports, files."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from core.errors import ModelUnavailableError
from core.models import CallFailedError, ModelSpec
from core.providers.access import AZURE_ENDPOINT, access_to, missing_key
from core.providers.addresses import host_of, is_local, server_of
from core.providers.catalog import Providers
from core.providers.discovery.aws import aws_settings
from core.providers.discovery.listing import Ask, Listing, ask_for, listings
from core.providers.discovery.lists import Listed
from core.providers.known import UNKNOWN, Host, Port, at_host, catalogue, completed, family_of, public_hosts, short_name
from core.providers.ollama_host import DEFAULT, pull_name, server_url
from core.text import clean_line

FoundState = Literal["ready", "needs a key", "server down", "not set up"]

NO_LIST = "it did not list its models just now: `jagstorm models test NAME` tries it"

OLLAMA = ModelSpec(name="ollama", provider="ollama")
"""Whatever the usual server has."""

CHOSEN = 3
"""Models that are recommended of a server none of whose models we know to recommend."""

_DATED = re.compile(r"-(20\d\d-\d\d-\d\d|20\d{6}|\d{4})$")
_SET_UP_AWS = "set up AWS: `aws configure`, or AWS_PROFILE"
_BUILT_IN = "SmolLM2-135M-Instruct"


class FoundModel(Struct, frozen=True, kw_only=True):
    """A model that is there, or would be."""

    name: str
    """What a person types to mean it."""
    spec: ModelSpec
    """Completed, as it goes into a plan."""
    where: str
    """Where it was found."""
    state: FoundState = "ready"
    todo: str = ""
    """What to do if it is not ready, or what to know if it is."""
    price: str = ""
    """In words; "" until `with_prices` has looked it up."""
    recommended: bool = False
    """One of those that a team is offered from."""
    judge: bool = False
    """Good enough to judge, quick and cheap."""


class Configured(Protocol):
    """Settings, as far as they matter here."""

    @property
    def models(self) -> Mapping[str, ModelSpec]: ...


async def find_models(
    settings: Configured,
    providers: Providers,
    seconds: float = 2.0,
    *,
    everything: bool = False,
    ports: Sequence[Port] | None = None,
) -> list[FoundModel]:
    """The models that can be used, and what keeps others from it. All are asked at once, for `seconds`.

    With `everything`, old models and those that nobody has described too. `ports` are looked at on this machine, by
    default the usual ones. Calls no model, and sends a key only to whom it belongs.
    """
    ports = catalogue().ports if ports is None else ports
    hosts = [host for host in catalogue().hosts if _is_open(host)]
    asks = [ask_for(_at(host)) for host in hosts]
    asks += [ask_for(spec) for spec in settings.models.values() if _is_elsewhere(spec)]
    asks += [Ask("openai", _port_url(port)) for port in ports] + [ask_for(OLLAMA)]
    answers = await listings({ask for ask in asks if ask}, providers, seconds)
    mine = [_configured(name, spec, answers) for name, spec in settings.models.items()]
    others = [
        *(model for host in hosts for model in _hosted(host, answers, everything)),
        *_on_servers(answers, ports),
        *_embedded(),
        *(_closed(host) for host in catalogue().hosts if host not in hosts),
    ]
    taken = {_place(model.spec) for model in mine}
    return [*mine, *(model for model in others if _place(model.spec) not in taken)]


def with_prices(found: Sequence[FoundModel]) -> list[FoundModel]:
    """The same, with what each costs. Blocks: the tables of prices take a quarter of a second to load."""
    from core.providers.prices import price_words

    return [replace(model, price=price_words(model.spec)) for model in found]


def _configured(name: str, spec: ModelSpec, answers: Mapping[Ask, Listing]) -> FoundModel:
    found = FoundModel(name=name, spec=spec, where="config.toml", recommended=True)
    if trouble := _not_set_up(spec):
        return replace(found, **trouble)
    ask = ask_for(spec)
    answer = answers.get(ask) if ask else None
    if isinstance(answer, CallFailedError):
        return replace(found, **_trouble_of(spec, answer))
    if spec.provider == "ollama" and answer is not None and spec.model not in _ollama_names(answer):
        return replace(found, state="not set up", todo=f"`jagstorm models pull {pull_name(spec.model, spec.base_url)}`")
    return found


def _not_set_up(spec: ModelSpec) -> "_Trouble | None":
    """What is missing here, before anybody is asked."""
    if variable := missing_key(spec):
        return {"state": "needs a key", "todo": f"set {variable}"}
    match spec.provider:
        case "bedrock" if not (spec.aws_profile or aws_settings()):
            return {"state": "needs a key", "todo": _SET_UP_AWS}
        case "azure" if not (spec.base_url or os.environ.get(AZURE_ENDPOINT)):
            return {"state": "not set up", "todo": f"set base_url, or {AZURE_ENDPOINT}"}
        case "embedded" if why := _unreadable(spec.model):
            return {"state": "not set up", "todo": why}
        case "openai" | "azure" | "anthropic" | "ollama":
            try:
                access_to(spec)
            except CallFailedError as error:
                return {"state": "not set up", "todo": clean_line(str(error), 300)}
    return None


def _trouble_of(spec: ModelSpec, error: CallFailedError) -> "_Trouble":
    """What it means for a model in the config file that its server listed nothing: not everybody has a list."""
    answers = error.kind in ("limited", "server") or (error.kind == "missing" and not _is_near(spec))
    late = error.kind == "timeout" and not _is_elsewhere(spec)
    return {"state": "ready", "todo": NO_LIST} if answers or late else _trouble(error)


def _hosted(host: Host, answers: Mapping[Ask, Listing], everything: bool) -> Iterator[FoundModel]:
    """What somebody serves to whoever has a key, and the key is there."""
    spec = _at(host)
    where = spec.api_key_env or next((name for name in host.keys if os.environ.get(name)), "") or aws_settings()
    if host.provider == "azure":
        todo = "name a deployment in config.toml: provider, model, and base_model for its price"
        yield FoundModel(name="azure/DEPLOYMENT", spec=spec, where=AZURE_ENDPOINT, state="not set up", todo=todo)
        return
    ask = ask_for(spec)
    answer = answers.get(ask) if ask else None
    if isinstance(answer, CallFailedError) and answer.kind in ("denied", "connection", "address", "missing", "quota"):
        yield replace(_served(host, Listed(host.models[0]), where), recommended=False, **_trouble(answer))
        return
    if not isinstance(answer, tuple):
        for name in host.models:
            yield replace(_served(host, Listed(name), where), todo=NO_LIST)
        return
    chosen = _chosen(host, answer)
    shown = answer if everything else _worth_showing(host, answer, chosen)
    places = {name: place for place, name in enumerate(chosen)}
    for listed in sorted(shown, key=lambda each: places.get(each.name, len(places))):
        yield replace(_served(host, listed, where), recommended=listed.name in places)


def _served(host: Host, listed: Listed, where: str) -> FoundModel:
    spec = at_host(ModelSpec(name=short_name(listed.name), provider=host.name, model=listed.name), host)
    return FoundModel(
        name=f"{host.name}/{listed.name}",
        spec=_sized(spec, listed),
        where=where,
        recommended=True,
        judge=listed.name == host.judge,
    )


def _chosen(host: Host, listed: Sequence[Listed]) -> list[str]:
    """The names that a team is offered from: ours that are listed, else the newest."""
    names = [each.name for each in listed]
    if known := [name for name in host.models if name in names]:
        return known
    newest = sorted(listed, key=_newness, reverse=True)
    return [each.name for each in newest if _is_current(each.name)][:CHOSEN]


def _worth_showing(host: Host, listed: Sequence[Listed], chosen: Sequence[str]) -> list[Listed]:
    """The current ones, newest first; a dated name only where there is none without the date."""
    names = {each.name for each in listed}

    def is_worth(name: str) -> bool:
        if name in chosen or name == host.judge:
            return True
        undated = _DATED.sub("", name)
        return not host.only and _is_current(name) and (undated == name or undated not in names)

    return [each for each in sorted(listed, key=_newness, reverse=True) if is_worth(each.name)]


def _newness(listed: Listed) -> str | float:
    return listed.newness


def _is_current(name: str) -> bool:
    family = family_of(name)
    return family is not UNKNOWN and family.chat and not family.aside


def _closed(host: Host) -> FoundModel:
    """Somebody to whom there is no key."""
    name = host.models[0] if host.models else "DEPLOYMENT"
    todo = f"set {' or '.join(host.keys)}"
    if host.provider == "azure":
        todo = f"set {AZURE_ENDPOINT} and {' or '.join(host.keys)}"
    if host.provider == "bedrock":
        todo = _SET_UP_AWS
    found = _served(host, Listed(name), host.title)
    return replace(found, state="needs a key", todo=todo, recommended=False, judge=False)


def _on_servers(answers: Mapping[Ask, Listing], ports: Sequence[Port]) -> Iterator[FoundModel]:
    """What servers of one's own have, by the usual ports and by Ollama's addresses."""
    titles = {_port_url(port): port.title for port in ports}
    for ask, answer in sorted(answers.items(), key=lambda each: each[0].url):
        if ask.kind == "ollama":
            yield from _at_ollama(ask.url, answer)
        elif ask.url in titles and isinstance(answer, tuple):
            for place, listed in enumerate([each for each in answer if family_of(each.name).chat]):
                spec = ModelSpec(name=short_name(listed.name), provider="openai", model=listed.name, base_url=ask.url)
                yield FoundModel(
                    name=f"openai/{listed.name}@{ask.url}",
                    spec=_sized(spec, listed),
                    where=f"{server_of(ask.url)} ({titles[ask.url]}?)",
                    recommended=place < CHOSEN,
                )


def _at_ollama(url: str, answer: Listing) -> Iterator[FoundModel]:
    usual = url == _ollama_url("")
    if isinstance(answer, CallFailedError):
        if os.environ.get("OLLAMA_HOST") and usual:
            yield FoundModel(name="ollama/MODEL", spec=completed(OLLAMA), where="OLLAMA_HOST", **_trouble(answer))
        return
    for place, listed in enumerate([each for each in answer if family_of(each.name).chat]):
        base_url = "" if usual else url
        spec = ModelSpec(name=short_name(listed.name), provider="ollama", model=listed.name, base_url=base_url)
        yield FoundModel(
            name=f"ollama/{listed.name}{'' if usual else f'@{url}'}",
            spec=_sized(spec, listed),
            where=f"{server_of(url)} (Ollama)",
            recommended=place < CHOSEN,
        )


def _embedded() -> Iterator[FoundModel]:
    """What this process runs itself: files that were fetched, and the built-in weights."""
    from core.providers.hub.files import local_models

    for path in local_models():
        spec = completed(ModelSpec(name=short_name(path.stem), model=str(path)))
        yield FoundModel(name=path.stem, spec=spec, where="fetched", recommended=True)
    why = _unreadable("")
    built_in = FoundModel(name="embedded", spec=ModelSpec(name=_BUILT_IN, max_tokens=96), where="built in")
    yield replace(built_in, state="not set up", todo=why) if why else built_in


def _unreadable(model: str) -> str:
    from core.providers.embedded import weights_path

    try:
        weights_path(model)
    except ModelUnavailableError as error:
        return error.message
    return ""


def _is_open(host: Host) -> bool:
    """Whether there is a key, or what stands in for one."""
    if host.provider == "azure":
        return bool(os.environ.get(AZURE_ENDPOINT))
    if host.provider == "bedrock":
        return bool(aws_settings())
    return not missing_key(_at(host))


def _at(host: Host) -> ModelSpec:
    return at_host(ModelSpec(name=host.title, provider=host.name), host)


def _is_elsewhere(spec: ModelSpec) -> bool:
    """Whether it is on a server that nobody here knows, and that may be down."""
    if spec.provider in ("openai", "anthropic"):
        return bool(spec.base_url) and host_of(spec.base_url) not in public_hosts()
    return spec.provider == "ollama"


def _is_near(spec: ModelSpec) -> bool:
    """Whether it is on a server of one's own, whose software we know."""
    return spec.provider == "ollama" or is_local(spec.base_url)


def _sized(spec: ModelSpec, listed: Listed) -> ModelSpec:
    """Completed; what the server says of its context is truer than what we know."""
    if listed.context is None:
        return completed(spec)
    context = min(max(listed.context, 1), 10_000_000)
    return completed(replace(spec, context=context), {"context"})


class _Trouble(TypedDict):
    state: FoundState
    todo: str


def _trouble(error: CallFailedError) -> _Trouble:
    return {"state": "needs a key" if error.kind == "denied" else "server down", "todo": clean_line(str(error), 300)}


def _ollama_names(answer: Listing) -> set[str]:
    """With and without the tag that is meant where none is given."""
    names = {listed.name for listed in answer} if isinstance(answer, tuple) else set()
    return names | {name.removesuffix(":latest") for name in names}


def _port_url(port: Port) -> str:
    return f"http://127.0.0.1:{port.port}/v1"


def _place(spec: ModelSpec) -> tuple[str, str, str]:
    """Equal for the same model at the same server."""
    url = _ollama_url(spec.base_url) if spec.provider == "ollama" else spec.base_url.rstrip("/")
    return spec.provider, url.replace("//localhost", "//127.0.0.1"), spec.model


def _ollama_url(base_url: str) -> str:
    """Where an Ollama server is; the usual place for an address that is none."""
    try:
        return server_url(base_url)
    except ValueError:
        return DEFAULT
