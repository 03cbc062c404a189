"""How a model's server is reached, and with which key: the same for whoever calls it and whoever lists its models."""

import os
import re
from urllib.parse import urlsplit

from msgspec import Struct

from core.keys import read_key
from core.models import CallFailedError, Served
from core.providers import faults, ollama_host
from core.providers.addresses import host_of, server_of

CONNECT_SECONDS = 10.0
"""How long a connection may take to come about."""

TOO_LATE = f"no connection within {CONNECT_SECONDS:.0f} s"

OPENAI, OPENAI_KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"
ANTHROPIC, ANTHROPIC_KEY = "https://api.anthropic.com", "ANTHROPIC_API_KEY"
AZURE_ENDPOINT, AZURE_KEY, AZURE_TOKEN = "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"

SIGN_IN = "the sign-in to Entra"
"""In place of a variable's name, where there is no key."""

_TITLES = {"openai": "OpenAI", "azure": "Azure", "anthropic": "Anthropic", "ollama": "Ollama"}

_MICROSOFT = tuple(
    f".{service}.{cloud}"
    for service in ("openai", "cognitiveservices", "services.ai")
    for cloud in ("azure.com", "azure.us", "azure.cn")
)


class Access(Struct, frozen=True, kw_only=True):
    """A server, and the key for it."""

    name: str
    """What a person calls the server: the same for all that share one limit."""
    url: str
    variable: str = ""
    """The environment variable that holds the key; "" if it is to get none."""
    own: bool = False
    """The provider's own server, as against those of whoever followed it."""
    trusted: bool = False
    """Whether what else the environment has for the provider (an organization, further headers) is meant for it."""
    todo: str = "check that it runs and that base_url is right"
    """What to do if nobody answers."""
    hint: str = "check base_url (it often ends in /v1)"
    """What to look at if it answers that there is no such path."""


def access_to(spec: Served) -> Access:
    """For OpenAI, Azure, Anthropic and Ollama. Raises `CallFailedError` of kind `address` for what is no address."""
    match spec.provider:
        case "openai":
            return _openai(spec)
        case "azure":
            return _azure(spec)
        case "anthropic":
            return _anthropic(spec)
        case "ollama":
            return _ollama(spec)
    raise ValueError(f"{spec.provider} is reached in a way of its own")


def server_name(spec: Served) -> str:
    """What a person calls the server of `spec`; the provider's title where there is no address."""
    try:
        return access_to(spec).name
    except CallFailedError:
        return _TITLES[spec.provider]


def key_in(variable: str, server: str) -> str:
    """The key for `server` that an environment variable holds. Raises `CallFailedError` if it holds none."""
    key = read_key(variable)
    if not key:
        raise CallFailedError("denied", f"{server} needs a key: set {variable}, in the environment or in a .env file")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise CallFailedError("denied", f"{variable} holds characters that are in no key: set it again")
    return key


def missing_key(spec: Served) -> str:
    """The environment variable that has to hold the key for `spec` and does not; "" if nothing is missing."""
    if spec.provider not in _TITLES:
        return ""
    try:
        variable = access_to(spec).variable
    except CallFailedError:
        return ""
    return "" if variable in ("", SIGN_IN) or read_key(variable) else variable


def _openai(spec: Served) -> Access:
    url = _checked(spec.base_url.strip() or _set("OPENAI_BASE_URL") or OPENAI).rstrip("/")
    own = _is_at(url, "api.openai.com")
    return Access(
        name="OpenAI" if own else server_of(url),
        url=url,
        variable=_variable(spec, OPENAI_KEY, own=own),
        own=own,
        trusted=own or not spec.base_url,
        **({"todo": "check the network"} if own else {}),
    )


def _anthropic(spec: Served) -> Access:
    # The SDK puts the version into the path itself.
    url = _checked(spec.base_url.strip() or _set("ANTHROPIC_BASE_URL") or ANTHROPIC).rstrip("/").removesuffix("/v1")
    own = _is_at(url, "api.anthropic.com")
    return Access(
        name="Anthropic" if own else server_of(url),
        url=url,
        variable=_variable(spec, ANTHROPIC_KEY, own=own),
        own=own,
        trusted=own or not spec.base_url,
    )


def _azure(spec: Served) -> Access:
    """Whatever of a longer address people copy from Azure's pages, up to its path."""
    written = spec.base_url.strip() or _set(AZURE_ENDPOINT)
    if not written:
        raise CallFailedError("address", f"No endpoint for Azure: set base_url or {AZURE_ENDPOINT}")
    url = _checked(re.sub(r"(?<=[^/])/openai(?:/.*)?$", "", written).rstrip("/"))
    mine = host_of(url) == host_of(_set(AZURE_ENDPOINT))
    variable = spec.api_key_env
    if not variable and (mine or (url.startswith("https://") and host_of(url).endswith(_MICROSOFT))):
        variable = next((name for name in (AZURE_KEY, AZURE_TOKEN) if read_key(name)), SIGN_IN)
    return Access(
        name=server_of(url),
        url=url,
        variable=variable,
        own=True,
        hint="check the endpoint (as in https://NAME.openai.azure.com) and api_version",
    )


def _ollama(spec: Served) -> Access:
    try:
        url = ollama_host.server_url(spec.base_url)
    except ValueError as error:
        written = faults.quoted(spec.base_url) or "$OLLAMA_HOST"
        raise CallFailedError("address", f"{written} is no address of an Ollama server: {error}") from None
    own = ollama_host.is_own(url)
    return Access(
        name=f"Ollama on {server_of(url)}",
        url=url,
        variable=spec.api_key_env or (ollama_host.OWN_KEY if own else ""),
        own=own,
        todo="start it with `ollama serve`, or say where it is with OLLAMA_HOST or base_url",
        hint="check base_url or OLLAMA_HOST (Ollama's port is 11434)",
    )


def _variable(spec: Served, usual: str, *, own: bool) -> str:
    """A person's usual key goes to the provider, and to whomever their environment names in its place."""
    if spec.api_key_env:
        return spec.api_key_env
    # Whoever is named in the provider's place may need none.
    return usual if own or (not spec.base_url and read_key(usual)) else ""


def _checked(url: str) -> str:
    """`url`, if something can be sent there."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise CallFailedError("address", f"{faults.quoted(url)} is no address: base_url begins with http(s)://")
    return url


def _is_at(url: str, host: str) -> bool:
    return url.startswith("https://") and (host_of(url) == host or host_of(url).endswith(f".{host}"))


def _set(variable: str) -> str:
    return os.environ.get(variable, "").strip()
