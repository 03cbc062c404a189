"""Whom to ask for a list of models, and asking all of them at once."""

import asyncio
import os
from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from core.errors import ModelUnavailableError
from core.keys import read_key
from core.models import CallFailedError, Served
from core.providers import faults
from core.providers.addresses import host_of, is_local
from core.providers.aws import aws_settings
from core.providers.catalog import Providers
from core.providers.lists import Asker, Listed
from core.providers.ollama_host import DEFAULT, server_url

Answer = tuple[Listed, ...] | CallFailedError

_USUAL_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_USUAL_ADDRESSES = {
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
}


class Ask(Struct, frozen=True):
    """A server, and how to ask it. Equal ones are asked once."""

    kind: Literal["openai", "anthropic", "ollama", "bedrock"]
    url: str = ""
    variable: str = ""
    """That holds the key; "" for none."""
    region: str = ""
    aws_profile: str = ""


def missing_key(spec: Served) -> str:
    """The environment variable that has to hold the key for `spec` and does not; "" if nothing is missing."""
    variable = _variable(spec)
    return "" if not variable or read_key(variable) else variable


def ask_for(spec: Served) -> Ask | None:
    """Whom to ask what there is beside `spec`; None if there is nobody, or no key."""
    match spec.provider:
        case "ollama":
            return Ask("ollama", ollama_url(spec.base_url))
        case "openai" | "anthropic" if not missing_key(spec):
            variable, usual = _USUAL_ADDRESSES[spec.provider]
            url = spec.base_url or os.environ.get(variable, "").strip() or usual
            return Ask("openai" if spec.provider == "openai" else "anthropic", url.rstrip("/"), _variable(spec))
        case "bedrock" if spec.aws_profile or aws_settings():
            return Ask("bedrock", region=spec.region, aws_profile=spec.aws_profile)
    return None


def ollama_url(base_url: str = "") -> str:
    """Where an Ollama server is; the usual place for an address that is none."""
    try:
        return server_url(base_url)
    except ValueError:
        return DEFAULT


async def answers_to(asks: Collection[Ask], providers: Providers, seconds: float) -> dict[Ask, Answer]:
    """Everybody's answer within `seconds`. Whoever fails or hangs keeps nobody else from it."""
    async with Asker() as asker, asyncio.TaskGroup() as group:
        tasks = {ask: group.create_task(_answer(ask, asker, providers, seconds)) for ask in asks}
    return {ask: task.result() for ask, task in tasks.items()}


async def _answer(ask: Ask, asker: Asker, providers: Providers, seconds: float) -> Answer:
    try:
        async with asyncio.timeout(seconds):
            return tuple(await _list(ask, asker, providers))
    except CallFailedError as error:
        return error
    except ModelUnavailableError as error:
        return CallFailedError("denied", error.message)
    except TimeoutError:
        return faults.too_slow(host_of(ask.url) or "Bedrock")


async def _list(ask: Ask, asker: Asker, providers: Providers) -> list[Listed]:
    """Raises `CallFailedError`, `ModelUnavailableError`."""
    key = read_key(ask.variable) if ask.variable else ""
    if not (key.isascii() and key.isprintable()):
        raise CallFailedError("denied", f"{ask.variable} holds characters that are in no key: set it again")
    match ask.kind:
        case "ollama":
            return await asker.ollama(ask.url)
        case "openai":
            return await asker.openai(ask.url, key, ask.variable, local=is_local(ask.url))
        case "anthropic":
            return await asker.anthropic(ask.url, key, ask.variable)
        case "bedrock":
            spec = Served(name="Bedrock", provider="bedrock", region=ask.region, aws_profile=ask.aws_profile)
            # The protocol of providers knows nothing of lists: not every one has one.
            return [Listed(name) for name in await providers.get("bedrock").models(spec)]  # type: ignore[attr-defined]


def _variable(spec: Served) -> str:
    """That has to hold the key; "" if none is needed."""
    if spec.api_key_env:
        return spec.api_key_env
    if spec.base_url or spec.provider not in _USUAL_KEYS:
        return ""
    variable = _USUAL_KEYS[spec.provider]
    # Whoever has named a server in the place of the provider's own may need none.
    elsewhere = os.environ.get(_USUAL_ADDRESSES[spec.provider][0], "").strip()
    return "" if elsewhere and not os.environ.get(variable) else variable
