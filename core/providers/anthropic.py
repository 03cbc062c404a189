"""Anthropic's models, and servers that speak its messages API."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from core.errors import ModelUnavailableError
from core.models import CallFailedError, Chunk, ModelSpec, Prompt, Sent, Served, Usage
from core.providers.access import CONNECT_SECONDS, Access, access_to, key_in, server_name
from core.providers.addresses import goes_direct
from core.providers.faults import FilteredError
from core.providers.prices import cost_of
from core.providers.tokens import estimate_tokens
from core.providers.wire.anthropic_answers import MessageAnswer, events
from core.providers.wire.claude import conversation, effort, stops, strict_schema, takes, thinking, thinking_rule
from core.providers.wire.parameters import Json, flat
from core.text import clean_line

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

MOST_CONNECTIONS = 1000

KEPT, KEPT_PLAIN = 100, 0
"""Idle connections that are kept, with TLS and without. To open a plain one costs nothing, and llama.cpp closes those
that have answered without a word, so that the next call on one would fail."""


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
            await self._client(access_to(spec))
        except CallFailedError as error:
            raise ModelUnavailableError(str(error)) from None

    def endpoint(self, spec: Served) -> str:
        return server_name(spec)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Anthropic takes no seed. Raises `CallFailedError`."""
        if rule := thinking_rule(spec):
            raise CallFailedError("request", rule)
        access = access_to(spec)
        client = await self._client(access)
        request = _request(spec, prompt)
        yield Sent(flat(request))
        answer = MessageAnswer(prompt)
        try:
            async with aclosing(events(client, request, access, clean_line(spec.model, 200))) as streamed:
                async for event in streamed:
                    for chunk in answer.take(event):
                        yield chunk
        except FilteredError:
            answer.reason = "refused"
        yield answer.finish()

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        """Estimated: to be told, every text would have to be sent."""
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return cost_of(spec, usage)

    async def close(self) -> None:
        """The provider can be used again."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def _client(self, access: Access) -> "AsyncAnthropic":
        """Raises `CallFailedError` if there is no key."""
        async with self._connecting:
            if access not in self._clients:
                key = key_in(access.variable, access.name) if access.variable else ""
                self._clients[access] = await asyncio.to_thread(_connect, access, key)
            return self._clients[access]


def _connect(access: Access, key: str) -> "AsyncAnthropic":
    """Blocks: the SDK takes a second to import.

    What the SDK is not given it looks for in the environment, and sends it to whatever server.
    """
    import httpx2
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Omit

    headers: dict[str, Any] = {}
    if not access.trusted:
        lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
        headers = {line.partition(":")[0].strip(): Omit() for line in lines if ":" in line}
    headers |= {"X-Api-Key": key} if key else {"X-Api-Key": Omit(), "Authorization": Omit()}
    # How long an answer may take is for the layer above to say.
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    kept = KEPT if access.url.startswith("https://") else KEPT_PLAIN
    limits = httpx2.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=kept)
    # In place of the environment's proxies, which the SDK looks up by itself.
    mounts = dict.fromkeys(("http://", "https://", "all://")) if goes_direct(access.url) else {}
    return AsyncAnthropic(
        api_key=key,
        base_url=access.url,
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,
        default_headers=headers,
        # A key was not meant for whoever a server sends us on to.
        http_client=DefaultAsyncHttpxClient(timeout=timeout, limits=limits, follow_redirects=False, mounts=mounts),
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
