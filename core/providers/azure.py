"""OpenAI's models at Azure: an endpoint and a deployment in place of a server and a model."""

import asyncio
import importlib
import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.keys import remember
from core.models import CallFailedError, Served
from core.providers import faults
from core.providers.access import AZURE_KEY, AZURE_TOKEN, SIGN_IN, Access, key_in
from core.providers.openai import OpenAIProvider

if TYPE_CHECKING:
    from openai import AsyncOpenAI

VERSION = "OPENAI_API_VERSION"

API_VERSION = "2025-04-01-preview"
"""The last that is a date, and the first that knows all parameters that we send."""

SCOPE = "https://cognitiveservices.azure.com/.default"


class AzureProvider(OpenAIProvider):
    """As OpenAI, but for keys and versions."""

    def __init__(self) -> None:
        super().__init__()
        self._signing_in = asyncio.Lock()
        self._credential: Any = None
        self._token: Callable[[], str] | None = None

    async def close(self) -> None:
        await super().close()
        if self._credential is not None:
            await asyncio.to_thread(self._credential.close)
        self._credential = self._token = None

    async def _keys(self, access: Access) -> dict[str, str]:
        if not access.variable:
            return {}
        if access.variable == SIGN_IN:
            return {"Authorization": f"Bearer {await self._signed_in(access)}"}
        key = key_in(access.variable, access.name)
        return {"Authorization": f"Bearer {key}"} if access.variable == AZURE_TOKEN else {"api-key": key}

    def _open(self, access: Access, spec: Served) -> "AsyncOpenAI":
        from core.providers.wire.openai_client import open_azure_client

        return open_azure_client(access, spec.api_version or os.environ.get(VERSION, "").strip() or API_VERSION)

    async def _signed_in(self, access: Access) -> str:
        """A token, kept until it expires. Raises `CallFailedError`."""
        async with self._signing_in:
            token = await asyncio.to_thread(self._sign_in, access)
        remember(token)
        return token

    def _sign_in(self, access: Access) -> str:
        """Blocks: it may ask the network, or run `az`."""
        try:
            identity = importlib.import_module("azure.identity")
            failures = importlib.import_module("azure.core.exceptions").AzureError
        except ImportError:
            todo = f"set {AZURE_KEY}, or install the extra `entra` and run `az login`"
            raise CallFailedError("denied", f"There is no key for {access.name}: {todo}") from None
        # Else its warnings, with nobody to take them, end up on the screen.
        logging.getLogger("azure").addHandler(logging.NullHandler())
        try:
            if self._token is None:
                self._credential = identity.DefaultAzureCredential()
                self._token = identity.get_bearer_token_provider(self._credential, SCOPE)
            return self._token()
        except failures as error:
            todo = f"run `az login`, or set {AZURE_KEY}"
            raise CallFailedError("denied", f"Signing in to Azure failed: {todo} ({faults.quoted(error)})") from None
