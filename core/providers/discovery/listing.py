"""Whom to ask for a list of models, and asking all of them at once."""

import asyncio
from collections.abc import Collection
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from core.errors import ModelUnavailableError
from core.models import CallFailedError, Served
from core.providers import faults
from core.providers.access import access_to, key_in, missing_key
from core.providers.addresses import server_of
from core.providers.catalog import Providers
from core.providers.discovery.aws import aws_settings
from core.providers.discovery.lists import ListClient, Listed

Listing = tuple[Listed, ...] | CallFailedError
"""What a server lists, or why it lists nothing."""


class Ask(Struct, frozen=True):
    """A server, and how to ask it. Equal ones are asked once."""

    kind: Literal["openai", "anthropic", "ollama", "bedrock"]
    url: str = ""
    variable: str = ""
    """That holds the key; "" for none."""
    region: str = ""
    aws_profile: str = ""


@runtime_checkable
class Lister(Protocol):
    """A provider whose SDK alone can list models."""

    async def models(self, spec: Served) -> list[str]:
        """By the names that requests use. Raises `CallFailedError`."""


def ask_for(spec: Served) -> Ask | None:
    """Whom to ask what there is beside `spec`; None if there is nobody, no address, or no key."""
    match spec.provider:
        case "openai" | "anthropic" | "ollama" as kind if not missing_key(spec):
            try:
                access = access_to(spec)
            except CallFailedError:
                return None
            return Ask(kind, access.url, access.variable)
        case "bedrock" if spec.aws_profile or aws_settings():
            return Ask("bedrock", region=spec.region, aws_profile=spec.aws_profile)
    return None


async def listings(asks: Collection[Ask], providers: Providers, seconds: float) -> dict[Ask, Listing]:
    """Everybody's list within `seconds`. Whoever fails or hangs keeps nobody else from it."""
    async with ListClient() as client, asyncio.TaskGroup() as group:
        tasks = {ask: group.create_task(_listing(ask, client, providers, seconds)) for ask in asks}
    return {ask: task.result() for ask, task in tasks.items()}


async def _listing(ask: Ask, client: ListClient, providers: Providers, seconds: float) -> Listing:
    try:
        async with asyncio.timeout(seconds):
            return tuple(await _list(ask, client, providers))
    except CallFailedError as error:
        return error
    except ModelUnavailableError as error:
        return CallFailedError("denied", error.message)
    except TimeoutError:
        return faults.too_slow(server_of(ask.url) or "Bedrock")


async def _list(ask: Ask, client: ListClient, providers: Providers) -> list[Listed]:
    """Raises `CallFailedError`, `ModelUnavailableError`."""
    key = key_in(ask.variable, server_of(ask.url)) if ask.variable else ""
    match ask.kind:
        case "ollama":
            return await client.ollama(ask.url, key, ask.variable)
        case "openai":
            return await client.openai(ask.url, key, ask.variable)
        case "anthropic":
            return await client.anthropic(ask.url, key, ask.variable)
        case "bedrock":
            spec = Served(name="Bedrock", provider="bedrock", region=ask.region, aws_profile=ask.aws_profile)
            lister = providers.get("bedrock")
            return [Listed(name) for name in await lister.models(spec)] if isinstance(lister, Lister) else []
