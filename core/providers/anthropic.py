"""Anthropic's models, and servers that speak its messages API."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from core.errors import ModelUnavailableError
from core.keys import read_key
from core.models import CallFailedError, Chunk, ModelSpec, Prompt, Sent, Served, Usage
from core.providers import faults
from core.providers.addresses import host_of, server_of
from core.providers.anthropic_answers import FilteredError, MessageAnswer, Place, events, failure, sdk_faults
from core.providers.claude import (
    Json,
    conversation,
    effort,
    flat,
    stops,
    strict_schema,
    takes,
    thinking,
    thinking_rule,
)
from core.providers.prices import cost_of
from core.providers.tokens import estimate_tokens
from core.text import clean_line

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

HOME = "https://api.anthropic.com"
KEY = "ANTHROPIC_API_KEY"

CONNECT_SECONDS = 10.0

MOST_CONNECTIONS = 1000

KEPT, KEPT_PLAIN = 100, 0
"""Idle connections that are kept, with TLS and without. To open a plain one costs nothing, and llama.cpp closes those
that have answered without a word, so that the next call on one would fail."""

MOST_PAGES = 10
"""Of a list of models, 1,000 a page."""


class Access(Struct, frozen=True):
    """How a server is reached."""

    url: str
    variable: str
    """That holds the key; "" for none."""
    foreign: bool
    """Named by the spec, and so not to be told anything that was meant for another."""


class AnthropicProvider:
    """One client of the SDK for each server and key. Belongs to one event loop."""

    def __init__(self) -> None:
        self._clients: dict[Access, AsyncAnthropic] = {}
        self._connecting = asyncio.Lock()

    async def prepare(self, spec: ModelSpec) -> None:
        """Raises `ModelUnavailableError` with what to do."""
        if not spec.model:
            raise ModelUnavailableError(f"{spec.name} names no model: `jagstorm models` lists what there is")
        if rule := thinking_rule(spec):
            raise ModelUnavailableError(rule)
        try:
            await self._client(spec)
        except CallFailedError as error:
            raise ModelUnavailableError(str(error)) from None

    def endpoint(self, spec: Served) -> str:
        url = access_to(spec).url
        return "Anthropic" if url == HOME else server_of(url)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Anthropic takes no seed. Raises `CallFailedError`."""
        if rule := thinking_rule(spec):
            raise CallFailedError("request", rule)
        client = await self._client(spec)
        request = _request(spec, prompt)
        yield Sent(flat(request))
        answer = MessageAnswer(prompt)
        try:
            async with aclosing(events(client, request, self._place(spec))) as streamed:
                async for event in streamed:
                    for chunk in answer.take(event):
                        yield chunk
        except FilteredError:
            answer.reason = "refused"
        yield answer.finish()

    async def models(self, spec: Served) -> list[str]:
        """What the server of `spec` has, by the names that requests use. Raises `CallFailedError`."""
        client = await self._client(spec)
        names: list[str] = []
        query: Json = {"limit": 1000}
        for _ in range(MOST_PAGES):
            try:
                page = msgspec.convert(await client.get("/v1/models", cast_to=object, options={"params": query}), _Page)
            except msgspec.ValidationError:
                raise faults.wrong_address(self.endpoint(spec)) from None
            except sdk_faults() as error:
                raise failure(error, self._place(spec)) from None
            names += [clean_line(model.id) for model in page.data]
            if not page.has_more or not page.last_id:
                break
            query["after_id"] = page.last_id
        return names

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        """Estimated: to be told, every text would have to be sent."""
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return cost_of("anthropic", spec.base_model or spec.model, usage, spec.base_url)

    async def close(self) -> None:
        """The provider can be used again."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def _client(self, spec: Served) -> "AsyncAnthropic":
        """Raises `CallFailedError` if there is no key, or no address."""
        access = access_to(spec)
        async with self._connecting:
            if access not in self._clients:
                if not (host_of(access.url) and access.url.startswith(("http://", "https://"))):
                    shown = clean_line(access.url, 200)
                    raise CallFailedError("address", f"{shown} is no address: base_url begins with https://")
                key = _key(access.variable, self.endpoint(spec)) if access.variable else ""
                self._clients[access] = await asyncio.to_thread(_connect, access, key)
            return self._clients[access]

    def _place(self, spec: Served) -> Place:
        return Place(self.endpoint(spec), clean_line(spec.model, 200), access_to(spec).variable)


def access_to(spec: Served) -> Access:
    url = spec.base_url or os.environ.get("ANTHROPIC_BASE_URL", "").strip() or HOME
    variable = spec.api_key_env or ("" if spec.base_url else KEY)
    # The SDK puts the version into the path itself.
    return Access(url.rstrip("/").removesuffix("/v1"), variable, bool(spec.base_url))


def _key(variable: str, server: str) -> str:
    """Raises `CallFailedError`."""
    key = read_key(variable)
    if not key:
        raise CallFailedError("denied", f"{server} needs a key: set {variable}, in the environment or in a .env file")
    if not (key.isascii() and key.isprintable()):
        raise CallFailedError("denied", f"{variable} holds characters that are in no key: set it again")
    return key


def _connect(access: Access, key: str) -> "AsyncAnthropic":
    """Blocks: the SDK takes a second to import.

    What the SDK is not given it looks for in the environment, and sends it to whatever server.
    """
    import httpx2
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Omit

    headers: dict[str, Any] = {}
    if access.foreign:
        lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
        headers = {line.partition(":")[0].strip(): Omit() for line in lines if ":" in line}
    headers |= {"X-Api-Key": key} if key else {"X-Api-Key": Omit(), "Authorization": Omit()}
    # How long an answer may take is for the layer above to say.
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    kept = KEPT if access.url.startswith("https://") else KEPT_PLAIN
    limits = httpx2.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=kept)
    return AsyncAnthropic(
        api_key=key,
        base_url=access.url,
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,
        default_headers=headers,
        # A key was not meant for whoever a server sends us on to.
        http_client=DefaultAsyncHttpxClient(timeout=timeout, limits=limits, follow_redirects=False),
    )


def _request(spec: ModelSpec, prompt: Prompt) -> Json:
    system, turns = conversation(spec, prompt)
    how, stop, hard = thinking(spec), stops(prompt), effort(spec)
    request: Json = {
        "model": spec.model,
        "max_tokens": spec.max_tokens,
        "messages": [{"role": role, "content": text} for role, text in turns],
        "stream": True,
    }
    if system:
        request["system"] = system
    if how:
        request["thinking"] = how
    # Whoever thinks takes neither.
    if how is None or how["type"] == "disabled":
        if spec.temperature is not None and takes(spec, "temperature"):
            request["temperature"] = spec.temperature
        if spec.top_p is not None and takes(spec, "top_p"):
            request["top_p"] = spec.top_p
    if stop and takes(spec, "stop", "stop_sequences"):
        request["stop_sequences"] = stop
    config: Json = {"effort": hard} if hard else {}
    if prompt.json_schema and takes(spec, "response_format", "json_schema"):
        config["format"] = {"type": "json_schema", "schema": strict_schema(prompt)}
    if config and takes(spec, "output_config"):
        request["output_config"] = config
    return request


class _Model(Struct):
    id: str


class _Page(Struct):
    data: list[_Model]
    has_more: bool = False
    last_id: str | None = None
