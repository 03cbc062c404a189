"""What is known of models beforehand (`data/models.toml`): how to call a family well, and who serves it."""

import functools
import os
import re
import tomllib
from collections.abc import Collection
from importlib.resources import files
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core.models import Effort, EmbedderSpec, ModelSpec, Served
from core.providers.addresses import host_of, is_local
from core.text import clean_line

EMBEDDING = ("openai", "azure", "ollama")
"""The providers that embed."""

OWN_CONTEXT = 32_768
"""The most context assumed of a server of one's own: it may have been started with less than the model can take."""

LOADED_CONTEXT = 8192
THINKING_CONTEXT = 16_384
"""The most context asked of what is loaded for us, here or by Ollama: its memory grows with it."""


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Models that are called alike. The keys are explained in `data/models.toml`."""

    name: str = "unknown"
    match: str = ""
    thinking: Literal["none", "effort", "budget", "adaptive", "tags"] = "none"
    thinks: bool = True
    efforts: tuple[Effort, ...] = ()
    refuses: tuple[str, ...] = ()
    refuses_thinking: tuple[str, ...] = ()
    context: int = 32_768
    max_tokens: int = 2048
    temperature: float | None = None
    chat: bool = True
    aside: bool = False


class Host(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who serves models to whoever has a key."""

    name: str
    """What stands before the `/` in `openai/gpt-5`."""
    title: str
    provider: str = "openai"
    base_url: str = ""
    """"" for the provider's own."""
    keys: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    judge: str = ""
    embedder: str = ""
    only: bool = False
    refuses: tuple[str, ...] = ()


class Port(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    port: int
    title: str


class KnownEmbedding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Embedding models that are called alike."""

    name: str = "unknown"
    match: str = ""
    threshold: float = 0.15
    calibrated: bool = False
    """Whether anybody has measured what the threshold cuts off."""
    longest: int = 500
    """In tokens."""
    batch: int = 64


class Catalogue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    families: tuple[Family, ...]
    hosts: tuple[Host, ...]
    ports: tuple[Port, ...]
    embeddings: tuple[KnownEmbedding, ...]

    def host(self, name: str) -> Host | None:
        return next((host for host in self.hosts if host.name == name), None)


@functools.cache
def catalogue() -> Catalogue:
    return msgspec.convert(tomllib.loads(files("data").joinpath("models.toml").read_text("utf-8")), Catalogue)


UNKNOWN = Family(max_tokens=4096)
"""What nobody has described: nothing that could be refused is assumed, and room for some thoughts is left."""


def family_of(model: str) -> Family:
    """The family that a model's name belongs to; `UNKNOWN` if there is none."""
    name = _last_part(model)
    return next((family for family in catalogue().families if _fits(family.match, name)), UNKNOWN)


def embedding_of(model: str) -> KnownEmbedding:
    name = _last_part(model)
    return next((known for known in catalogue().embeddings if _fits(known.match, name)), KnownEmbedding())


def name_paid_for(spec: Served) -> str:
    """The name that says what a model is: behind an Azure deployment or a profile, its `base_model`."""
    return spec.base_model or spec.model or spec.name


def short_name(model: str) -> str:
    """What a model is called among others: without its maker, cut where it is long."""
    return clean_line(model.rstrip("/").rpartition("/")[2], 60) or "model"


def completed(spec: ModelSpec, given: Collection[str] = ()) -> ModelSpec:
    """`spec` with what a person left open as suits its family: this is what goes into a plan.

    `given` are the fields that a person set, even if to what they are by default. What is refused is never dropped
    from the spec: it stays a wish, and `refuses` says that it will not be sent. A wish for thinking is put into the
    form that the family takes, an effort or a number of tokens.
    """
    family = family_of(name_paid_for(spec))
    spec = _thinking(spec, family)
    context, max_tokens = _room(spec, family, given)
    return replace(
        spec,
        context=context,
        max_tokens=max_tokens,
        temperature=family.temperature if spec.temperature is None else spec.temperature,
        refuses=_refuses(spec, family),
    )


def completed_embedder(spec: EmbedderSpec, given: Collection[str] = ()) -> EmbedderSpec:
    """`spec` with what a person left open as suits its model. `dims` stays a wish of theirs alone."""
    known = embedding_of(name_paid_for(spec))
    open_fields = {
        name: getattr(known, name)
        for name in ("threshold", "longest", "batch")
        if name not in given and getattr(spec, name) == _default(EmbedderSpec, name)
    }
    return replace(spec, **open_fields)


def host_for(spec: Served) -> Host | None:
    """Who serves `spec`, if it is somebody known."""
    if spec.provider != "openai" or not spec.base_url:
        return next((host for host in catalogue().hosts if host.provider == spec.provider and not host.base_url), None)
    return next((host for host in catalogue().hosts if host_of(host.base_url) == host_of(spec.base_url)), None)


@functools.cache
def public_hosts() -> frozenset[str]:
    """Machines that serve whoever has a key."""
    hosts = {host_of(host.base_url) for host in catalogue().hosts if host.base_url}
    return frozenset({"api.openai.com", "api.anthropic.com", *hosts})


Spec = TypeVar("Spec", bound=Served)


def at_host(spec: Spec, host: Host) -> Spec:
    """`spec` as served by `host`: with its address, and with the variable of its key that is set, or the first."""
    if not host.base_url or spec.base_url:
        return replace(spec, provider=host.provider)
    variable = spec.api_key_env or next((name for name in host.keys if os.environ.get(name)), host.keys[0])
    return replace(spec, provider=host.provider, base_url=host.base_url, api_key_env=variable)


def _room(spec: ModelSpec, family: Family, given: Collection[str]) -> tuple[int, int]:
    """Context and the longest answer, in tokens."""
    context, max_tokens = spec.context, spec.max_tokens
    if "context" not in given and context == _default(ModelSpec, "context"):
        context = min(family.context, _most_context(spec, family))
    if "max_tokens" not in given and max_tokens == _default(ModelSpec, "max_tokens"):
        max_tokens = min(max(family.max_tokens, 2 * spec.thinking_tokens), context // 2)
    return context, max_tokens


def _most_context(spec: ModelSpec, family: Family) -> int:
    if spec.provider in ("embedded", "ollama"):
        return LOADED_CONTEXT if family.thinking == "none" else THINKING_CONTEXT
    return OWN_CONTEXT if spec.base_url and is_local(spec.base_url) else family.context


# An effort as a number of tokens, for families that take only that.
_BUDGETS: dict[str, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_768,
}


def _thinking(spec: ModelSpec, family: Family) -> ModelSpec:
    """With a wish for thinking in the form that the family takes."""
    tokens, effort = spec.thinking_tokens, spec.effort
    if family.thinking == "budget" and effort and not tokens:
        return replace(spec, effort="", thinking_tokens=_BUDGETS.get(effort, 0))
    if family.efforts and "thinking_tokens" in family.refuses and tokens:
        nearest = min(family.efforts, key=lambda level: abs(_BUDGETS.get(level, 0) - tokens))
        return replace(spec, effort=effort or nearest, thinking_tokens=0)
    return spec


def _refuses(spec: ModelSpec, family: Family) -> tuple[str, ...]:
    thinks = bool(spec.thinking_tokens) or (spec.effort != "none" if spec.effort else family.thinks)
    while_thinking = family.refuses_thinking if thinks else ()
    host = host_for(spec)
    refused = [*spec.refuses, *family.refuses, *while_thinking, *(host.refuses if host else ())]
    # Only OpenAI's own API has another name for it.
    renamed = set() if spec.provider in ("openai", "azure") else {"max_tokens"} - set(spec.refuses)
    return tuple(name for name in dict.fromkeys(refused) if name not in renamed)


def _last_part(model: str) -> str:
    return model.casefold().rstrip("/").rpartition("/")[2]


@functools.lru_cache(maxsize=4096)
def _fits(pattern: str, name: str) -> bool:
    return re.search(f"(?<![a-z0-9])(?:{pattern})", name) is not None


def _default(kind: type[Struct], field: str) -> object:
    return next(each.default for each in msgspec.structs.fields(kind) if each.name == field)
