"""The openai SDK as we use it. Importing this imports the SDK, which takes most of a second: do it in a thread."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
import msgspec
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncAzureOpenAI,
    AsyncOpenAI,
    AsyncStream,
    DefaultAsyncHttpxClient,
    Omit,
    OpenAIError,
)

from core.models import CallFailedError
from core.providers import faults, openai_faults
from core.providers.addresses import is_loopback
from core.providers.openai_answer import ServerSaidError
from core.providers.openai_faults import Said, Server

if TYPE_CHECKING:
    from openai._streaming import ServerSentEvent

CONNECT_SECONDS = 10.0

DRAIN_SECONDS = 0.5
"""How long the connection of an answer that is all there may take to come to rest."""

FAILURES = (OpenAIError, httpx.HTTPError, httpx.StreamError, ValueError, RecursionError, ServerSaidError)
"""All that the SDK, its HTTP client and the readers of events raise for a call that fails."""

Kind = TypeVar("Kind")
Client = TypeVar("Client", bound=AsyncOpenAI)


def open_client(server: Server) -> AsyncOpenAI:
    """A client without a key: that goes with each request."""
    headers = _own_headers() if server.trusted else _no_headers()
    return _warm(AsyncOpenAI(base_url=server.url, default_headers=headers, **_options(server.url)))


def open_azure_client(server: Server, api_version: str) -> AsyncOpenAI:
    return _warm(
        AsyncAzureOpenAI(
            azure_endpoint=server.url,
            api_version=api_version,
            azure_ad_token="",
            default_headers=_no_headers(),
            **_options(server.url),
        )
    )


def _options(url: str) -> dict[str, Any]:
    # No limit on reading: the call layer has its own.
    timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
    # A key must not follow to another address, and a proxy can't reach this machine.
    http_client = DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False, trust_env=not is_loopback(url))
    # Keys are empty, not None: for None the SDK looks into the environment.
    return {
        "api_key": "",
        "admin_api_key": "",
        "webhook_secret": "",
        "max_retries": 0,
        "timeout": timeout,
        "http_client": http_client,
    }


def _own_headers() -> dict[str, Any]:
    """The person's organization and project, where there are any; the SDK adds OPENAI_CUSTOM_HEADERS by itself."""
    names = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
    return {header: os.environ.get(name) or Omit() for header, name in names.items()}


def _no_headers() -> dict[str, Any]:
    """Nothing of what the SDK would add from the environment."""
    custom = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [line.partition(":")[0].strip() for line in custom if ":" in line]
    return {name: Omit() for name in (*names, "OpenAI-Organization", "OpenAI-Project")}


def _warm(client: Client) -> Client:
    """Imports the rest of the SDK, which it puts off until a client is first used."""
    for _ in (client.chat.completions, client.responses, client.embeddings, client.models):
        pass
    return client


def key_headers(keys: dict[str, str]) -> dict[str, Any]:
    """Headers of a request: `keys` and no others."""
    return {"Authorization": Omit(), "api-key": Omit(), **keys}


class WholeStream(AsyncStream[object]):
    """Events as decoded JSON, read to the last byte.

    The SDK's own stream hangs up at `[DONE]`, so that each call has to connect anew.
    """

    async def _iter_events(self) -> "AsyncIterator[ServerSentEvent]":
        events = super()._iter_events()
        async for event in events:
            if event.data.startswith("[DONE]"):
                with suppress(TimeoutError, httpx.HTTPError):
                    async with asyncio.timeout(DRAIN_SECONDS):
                        async for _ in events:
                            pass
            yield event


async def events(raw: Any, server: Server) -> AsyncGenerator[object, None]:
    """The events of the SDK's raw response to a request for a stream. Raises `CallFailedError` and `FAILURES`."""
    response: httpx.Response = raw.http_response
    kind = response.headers.get("content-type", "").casefold()
    nothing_yet = True
    try:
        if "html" in kind or "json" in kind:
            _decode(await response.aread(), server)
            raise faults.wrong_address(server.name)
        async for event in raw.parse(to=WholeStream):
            nothing_yet = False
            yield event
    finally:
        await response.aclose()
    if nothing_yet and "event-stream" not in kind:
        raise faults.wrong_address(server.name)


def content(raw: Any, kind: type[Kind], server: Server) -> Kind:
    """What the SDK's raw response to any other request holds."""
    try:
        return msgspec.convert(_decode(raw.http_response.content, server), kind)
    except msgspec.ValidationError:
        raise faults.wrong_address(server.name) from None


def _decode(body: bytes, server: Server) -> object:
    """JSON, NaN included. Some servers report a failure with status 200: that is raised as `ServerSaidError`."""
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError):
        raise faults.wrong_address(server.name) from None
    if isinstance(decoded, dict) and isinstance(decoded.get("error"), dict):
        said = openai_faults.said_by(decoded)
        raise ServerSaidError(said.message, said.code)
    return decoded


def failure(error: Exception, *, server: Server, model: str, sent: Collection[str]) -> CallFailedError | None:
    """What one of `FAILURES` means; None for a content filter's refusal. `sent`: names of the parameters sent."""
    match error:
        case APIStatusError():
            said = openai_faults.said_by(error.body)
            response = error.response
            return openai_faults.from_response(
                response.status_code, response.text, said, response.headers, server=server, model=model, sent=sent
            )
        case APITimeoutError():
            return faults.too_slow(server.name, f"no connection within {CONNECT_SECONDS:.0f} s")
        case APIConnectionError():
            return faults.no_connection(server.name, error.__cause__ or "", server.todo)
        case APIError():
            return openai_faults.from_stream(openai_faults.said_by(error.body), server=server, model=model, sent=sent)
        case ServerSaidError():
            said = Said(str(error), "" if error.code is None else str(error.code))
            return openai_faults.from_stream(said, server=server, model=model, sent=sent)
        case ValueError() | RecursionError():
            return faults.broke_off(server.name, "garbage came")
        case _:
            return faults.broke_off(server.name, error)
