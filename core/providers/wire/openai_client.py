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
from core.providers import faults
from core.providers.access import CONNECT_SECONDS, TOO_LATE, Access
from core.providers.addresses import goes_direct
from core.providers.wire import openai_faults
from core.providers.wire.openai_answer import ServerSaidError
from core.providers.wire.openai_faults import Said

if TYPE_CHECKING:
    from openai._streaming import ServerSentEvent

DRAIN_SECONDS = 0.5
"""How long the connection of an answer that is all there may take to come to rest."""

FAILURES = (OpenAIError, httpx.HTTPError, httpx.StreamError, ValueError, RecursionError, ServerSaidError)
"""All that the SDK, its HTTP client and the readers of events raise for a call that fails."""

Kind = TypeVar("Kind")
Client = TypeVar("Client", bound=AsyncOpenAI)


def open_client(access: Access) -> AsyncOpenAI:
    """A client without a key: that goes with each request."""
    headers = _own_headers() if access.trusted else _no_headers()
    return _warm(AsyncOpenAI(base_url=access.url, default_headers=headers, **_options(access.url)))


def open_azure_client(access: Access, api_version: str) -> AsyncOpenAI:
    return _warm(
        AsyncAzureOpenAI(
            azure_endpoint=access.url,
            api_version=api_version,
            azure_ad_token="",
            default_headers=_no_headers(),
            **_options(access.url),
        )
    )


def _options(url: str) -> dict[str, Any]:
    # No limit on reading: the call layer has its own.
    timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
    # A key must not follow to another address.
    http_client = DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False, trust_env=not goes_direct(url))
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


async def events(raw: Any, access: Access) -> AsyncGenerator[object, None]:
    """The events of the SDK's raw response to a request for a stream. Raises `CallFailedError` and `FAILURES`."""
    response: httpx.Response = raw.http_response
    kind = response.headers.get("content-type", "").casefold()
    nothing_yet = True
    try:
        if "html" in kind or "json" in kind:
            await response.aread()
            _decode(response, access)
            raise faults.wrong_address(access.name)
        async for event in raw.parse(to=WholeStream):
            nothing_yet = False
            yield event
    finally:
        await response.aclose()
    if nothing_yet and "event-stream" not in kind:
        raise faults.wrong_address(access.name)


def content(raw: Any, kind: type[Kind], access: Access) -> Kind:
    """What the SDK's raw response to any other request holds."""
    try:
        return msgspec.convert(_decode(raw.http_response, access), kind)
    except msgspec.ValidationError:
        raise faults.wrong_address(access.name) from None


def _decode(response: httpx.Response, access: Access) -> object:
    """JSON, NaN included. Some servers report a failure with status 200: that is raised as `ServerSaidError`."""
    try:
        decoded = json.loads(response.content)
    except (ValueError, RecursionError):
        if "json" in response.headers.get("content-type", "").casefold():
            raise faults.broke_off(access.name, "what came is no JSON") from None
        raise faults.wrong_address(access.name) from None
    if isinstance(decoded, dict) and isinstance(decoded.get("error"), dict):
        said = openai_faults.said_by(decoded)
        raise ServerSaidError(said.message, said.code)
    return decoded


def failure(error: Exception, *, access: Access, model: str, sent: Collection[str]) -> CallFailedError:
    """What one of `FAILURES` means. `sent`: names of the parameters sent."""
    match error:
        case APIStatusError():
            said = openai_faults.said_by(error.body)
            response = error.response
            return openai_faults.from_response(
                response.status_code, response.text, said, response.headers, access=access, model=model, sent=sent
            )
        case APITimeoutError():
            return faults.no_connection(access.name, TOO_LATE, access.todo)
        case APIConnectionError():
            return faults.no_connection(access.name, error.__cause__ or "", access.todo)
        case APIError():
            return openai_faults.from_stream(openai_faults.said_by(error.body), access=access, model=model, sent=sent)
        case ServerSaidError():
            said = Said(str(error), "" if error.code is None else str(error.code))
            return openai_faults.from_stream(said, access=access, model=model, sent=sent)
        case ValueError() | RecursionError():
            return faults.broke_off(access.name, "garbage came")
        case _:
            return faults.broke_off(access.name, error)
