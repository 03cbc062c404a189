"""OpenAI's models at Azure: an endpoint and a deployment in place of a server and a model."""

import asyncio
import importlib
import logging
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.keys import read_key, remember
from core.models import CallFailedError, Served, Usage
from core.providers import faults
from core.providers.addresses import host_of
from core.providers.openai import OpenAIProvider, checked, key_in, name_of
from core.providers.openai_faults import Server

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ENDPOINT, KEY, TOKEN, VERSION = (
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
    "OPENAI_API_VERSION",
)

API_VERSION = "2025-04-01-preview"
"""The last that is a date, and the first that knows all parameters that we send."""

SCOPE = "https://cognitiveservices.azure.com/.default"

SIGN_IN = "the sign-in to Entra"
"""In place of a variable's name, where there is no key."""

_MICROSOFT = tuple(
    f".{service}.{cloud}"
    for service in ("openai", "cognitiveservices", "services.ai")
    for cloud in ("azure.com", "azure.us", "azure.cn")
)


class AzureProvider(OpenAIProvider):
    """As OpenAI, but for addresses, keys and prices."""

    def __init__(self) -> None:
        super().__init__()
        self._signing_in = asyncio.Lock()
        self._credential: Any = None
        self._token: Callable[[], str] | None = None

    def endpoint(self, spec: Served) -> str:
        return name_of(_endpoint(spec)) or "Azure"

    def cost(self, spec: Served, usage: Usage) -> float | None:
        """By the model behind the deployment: the deployment's own name may be anything."""
        from core.providers.prices import cost_of

        return cost_of("azure", spec.base_model, usage) if spec.base_model else None

    async def models(self, spec: Served) -> list[str]:
        """None: Azure lists what could be deployed, not what is. Raises `CallFailedError` if it does not answer."""
        await super().models(spec)
        return []

    async def close(self) -> None:
        await super().close()
        if self._credential is not None:
            await asyncio.to_thread(self._credential.close)
        self._credential = self._token = None

    def _server(self, spec: Served) -> Server:
        url = _endpoint(spec)
        if not url:
            raise CallFailedError("address", f"No endpoint for Azure: set base_url or {ENDPOINT}")
        hint = "check the endpoint (as in https://NAME.openai.azure.com) and api_version"
        return Server(checked(url), name_of(url), _key(spec, url), own=True, hint=hint)

    async def _keys(self, server: Server) -> dict[str, str]:
        if not server.key:
            return {}
        if server.key == SIGN_IN:
            return {"Authorization": f"Bearer {await self._signed_in(server)}"}
        key = key_in(server.key, server.name)
        return {"Authorization": f"Bearer {key}"} if server.key == TOKEN else {"api-key": key}

    def _open(self, server: Server, spec: Served) -> "AsyncOpenAI":
        from core.providers.openai_client import open_azure_client

        return open_azure_client(server, spec.api_version or os.environ.get(VERSION, "").strip() or API_VERSION)

    async def _signed_in(self, server: Server) -> str:
        """A token, kept until it expires. Raises `CallFailedError`."""
        async with self._signing_in:
            token = await asyncio.to_thread(self._sign_in, server)
        remember(token)
        return token

    def _sign_in(self, server: Server) -> str:
        """Blocks: it may ask the network, or run `az`."""
        try:
            identity = importlib.import_module("azure.identity")
            failures = importlib.import_module("azure.core.exceptions").AzureError
        except ImportError:
            todo = f"set {KEY}, or install the extra `entra` and run `az login`"
            raise CallFailedError("denied", f"There is no key for {server.name}: {todo}") from None
        # Else its warnings, with nobody to take them, end up on the screen.
        logging.getLogger("azure").addHandler(logging.NullHandler())
        try:
            if self._token is None:
                self._credential = identity.DefaultAzureCredential()
                self._token = identity.get_bearer_token_provider(self._credential, SCOPE)
            return self._token()
        except failures as error:
            todo = f"run `az login`, or set {KEY}"
            raise CallFailedError("denied", f"Signing in to Azure failed: {todo} ({faults.quoted(error)})") from None


def _endpoint(spec: Served) -> str:
    """Whatever of a longer address people copy from Azure's pages, up to its path."""
    url = spec.base_url.strip() or os.environ.get(ENDPOINT, "").strip()
    return re.sub(r"(?<=[^/])/openai(?:/.*)?$", "", url).rstrip("/")


def _key(spec: Served, url: str) -> str:
    """The name of the variable that holds the key for `url`, or `SIGN_IN`; "" for somebody else's server."""
    if spec.api_key_env:
        return spec.api_key_env
    known = host_of(url) == host_of(os.environ.get(ENDPOINT, "")) or (
        url.startswith("https://") and host_of(url).endswith(_MICROSOFT)
    )
    if not known:
        return ""
    return next((name for name in (KEY, TOKEN) if read_key(name)), SIGN_IN)
