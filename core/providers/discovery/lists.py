"""Servers' lists of models, asked for without the SDKs, which would take longer to load than there is time."""

import asyncio
import os
import socket
import threading
from collections.abc import Mapping
from typing import Any, Self

import msgspec
from msgspec import Struct

from core.models import CallFailedError
from core.providers import faults
from core.providers.addresses import goes_direct, host_of, server_of
from core.providers.threads import on_loop
from core.text import clean_line

MOST_BYTES = 16 * 2**20
"""Of a list: the longest known has 2 MB."""

ANTHROPIC_VERSION = "2023-06-01"


class Listed(Struct, frozen=True):
    """A model as a server lists it."""

    name: str
    context: int | None = None
    """In tokens; None if the server doesn't say."""
    newness: str | float = 0
    """Greater for newer ones, within one list."""


class _OpenAIRow(Struct):
    id: str
    created: float | None = None
    max_model_len: int | None = None  # vLLM, SGLang
    context_length: int | None = None  # OpenRouter, Together
    context_window: int | None = None  # Groq
    meta: dict[str, Any] | None = None  # llama.cpp

    @property
    def context(self) -> int | None:
        return (
            self.max_model_len or self.context_length or self.context_window or _whole((self.meta or {}).get("n_ctx"))
        )


class _AnthropicRow(Struct):
    id: str
    created_at: str = ""
    max_input_tokens: int | None = None


class _OllamaRow(Struct):
    name: str
    modified_at: str = ""


class _OpenAIList(Struct):
    data: list[_OpenAIRow]


class _AnthropicList(Struct):
    data: list[_AnthropicRow]


class _OllamaList(Struct):
    models: list[_OllamaRow]


class ListClient:
    """Asks servers for their lists, with the key that is given and no other. Use as a context manager."""

    def __init__(self) -> None:
        import httpx

        timeout = httpx.Timeout(None)  # whoever asks says how long
        self._by_proxy = httpx.AsyncClient(timeout=timeout)
        self._direct = httpx.AsyncClient(timeout=timeout, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._by_proxy.aclose()
        await self._direct.aclose()

    async def openai(self, url: str, key: str = "", variable: str = "") -> list[Listed]:
        """The list of a server that speaks OpenAI's API; `url` is its base_url. Raises `CallFailedError`."""
        content = await self._get(f"{url}/models", _bearer(key), variable)
        rows = _read(content, _OpenAIList, url).data
        return [Listed(clean_line(row.id.removeprefix("models/"), 400), row.context, row.created or 0) for row in rows]

    async def anthropic(self, url: str, key: str = "", variable: str = "") -> list[Listed]:
        """Raises `CallFailedError`."""
        headers = {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})
        content = await self._get(f"{url}/v1/models?limit=1000", headers, variable)
        rows = _read(content, _AnthropicList, url).data
        return [Listed(clean_line(row.id, 400), row.max_input_tokens, row.created_at) for row in rows]

    async def ollama(self, url: str, key: str = "", variable: str = "") -> list[Listed]:
        """Raises `CallFailedError`."""
        rows = _read(await self._get(f"{url}/api/tags", _bearer(key), variable), _OllamaList, url).models
        return [Listed(clean_line(row.name, 400), None, row.modified_at) for row in rows]

    async def _get(self, url: str, headers: Mapping[str, str], variable: str) -> bytes:
        import httpx

        server, direct = server_of(url), goes_direct(url)
        client = self._direct if direct else self._by_proxy
        if direct or not _behind_proxy():
            await _resolve(host_of(url), server)
        content = bytearray()
        try:
            async with client.stream("GET", url, headers=headers) as response:
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > MOST_BYTES:
                        raise faults.wrong_address(server)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise faults.no_connection(server, error) from None
        if response.status_code == httpx.codes.NOT_FOUND:
            raise CallFailedError("missing", f"{server} has no list of models: check base_url (it often ends in /v1)")
        if response.is_redirect:
            raise faults.wrong_address(server)
        if response.status_code != httpx.codes.OK:
            said = content.decode("utf-8", errors="replace")
            raise faults.from_status(response.status_code, said, server=server, model="models", key=variable)
        return bytes(content)


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _read(content: bytes, shape: type[Any], url: str) -> Any:
    """Raises `CallFailedError` for what is no list of models."""
    try:
        return msgspec.json.decode(content, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise faults.wrong_address(server_of(url)) from None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _behind_proxy() -> bool:
    """Where perhaps only the proxy knows any addresses."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return any(os.environ.get(name) or os.environ.get(name.lower()) for name in names)


async def _resolve(host: str, server: str) -> None:
    """Look up a host's address, in a thread that nobody waits for at the end: a lookup can hang for half a minute.

    Raises `CallFailedError` if there is no such host.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[OSError | None] = loop.create_future()

    def tell(error: OSError | None) -> None:
        if not found.done():
            found.set_result(error)

    def look() -> None:
        error: OSError | None = None
        try:
            socket.getaddrinfo(host, None)
        except (OSError, UnicodeError) as raised:
            error = OSError(getattr(raised, "strerror", None) or str(raised))
        on_loop(loop, tell, error)

    threading.Thread(target=look, name="address lookup", daemon=True).start()
    if error := await found:
        raise faults.no_connection(server, error, "check the address and the network")
