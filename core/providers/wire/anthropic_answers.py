"""What Anthropic's messages API sends back: the events of an answer, and errors, in a response or inside a stream."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from core.models import CallFailedError, Chunk, FinishReason, Prompt
from core.providers import faults
from core.providers.access import TOO_LATE, Access
from core.providers.wire.answer import Answer, Tokens
from core.providers.wire.claude import THINKING_WORDS, refused_parameter
from core.providers.wire.parameters import Json

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic

END_SECONDS = 0.5
"""How long a server may take to end its response after the answer has ended."""

_REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
"""All other reasons are a proper end."""

# An error inside a stream has a type where a response has a status.
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "timeout_error": 408,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}

# What answers call a parameter, and what requests call it.
_WORDS = THINKING_WORDS | {
    "temperature": "temperature",
    "top_p": "top_p",
    "stop_sequences": "stop_sequences",
    "effort parameter": "effort",
    "output_config": "output_config",
    "output_format": "output_config",
    "output format": "output_config",
    "structured output": "output_config",
}


class _Details(Struct):
    thinking_tokens: int | None = None


class _Counts(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _Details | None = None


class _Message(Struct):
    usage: _Counts | None = None


class _Piece(Struct):
    """A content block as it begins, or what is added to it, or to the answer as a whole."""

    text: str | None = None
    thinking: str | None = None
    stop_reason: str | None = None


class Event(Struct):
    type: str
    message: _Message | None = None
    content_block: _Piece | None = None
    delta: _Piece | None = None
    usage: _Counts | None = None


class MessageAnswer(Answer):
    """An answer of the messages API."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(prompt)
        self._counts = _Counts()

    def take(self, event: Event) -> list[Chunk]:
        """What an event adds. Encrypted thoughts and what tools would do add nothing."""
        if event.message and event.message.usage:
            self._count(event.message.usage)
        if event.usage:
            self._count(event.usage)
        chunks: list[Chunk] = []
        for piece in filter(None, (event.content_block, event.delta)):
            if piece.stop_reason:
                self.reason = _REASONS.get(piece.stop_reason, "stop")
            chunks += self.add(piece.text, piece.thinking)
        if event.type == "message_stop" and self.reason is None:
            self.reason = "stop"
        return chunks

    def _count(self, newer: _Counts) -> None:
        """Each count is of all there is so far; one that is left out has not changed."""
        counts = self._counts
        for name in _Counts.__struct_fields__:
            if (value := getattr(newer, name)) is not None:
                setattr(counts, name, value)
        if counts.input_tokens is None or counts.output_tokens is None:
            return
        cached, into_cache = counts.cache_read_input_tokens or 0, counts.cache_creation_input_tokens or 0
        details = counts.output_tokens_details or _Details()
        self.tokens = Tokens(
            counts.input_tokens + cached + into_cache, counts.output_tokens, cached, details.thinking_tokens
        )


async def events(client: "AsyncAnthropic", request: Json, access: Access, model: str) -> AsyncGenerator[Event, None]:
    """What the server streams, to its proper end. Raises `CallFailedError`."""
    from anthropic import AsyncStream

    failures = _sdk_failures()
    try:
        # Not `messages.create`, which knows no temperature any more, and warns on stderr about some models.
        streamed = await client.post(
            "/v1/messages", cast_to=object, body=request, stream=True, stream_cls=AsyncStream[object]
        )
        async with streamed:
            if not streamed.response.headers.get("content-type", "").startswith("text/event-stream"):
                raise faults.wrong_address(access.name)
            async for raw in streamed:
                event = msgspec.convert(raw, Event)
                yield event
                if event.type == "message_stop":
                    # A connection whose answer has been read to its end is used again.
                    with contextlib.suppress(TimeoutError, *failures):
                        async with asyncio.timeout(END_SECONDS):
                            await anext(streamed, None)
                    return
    except failures as error:
        raise _failure(error, request, access, model) from None
    raise faults.broke_off(access.name)


def _sdk_failures() -> tuple[type[Exception], ...]:
    """What the SDK raises, and what comes through it unchanged while it streams."""
    import anthropic
    import httpx2

    return anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError, msgspec.ValidationError, ValueError


def _failure(error: Exception, request: Json, access: Access, model: str) -> CallFailedError:
    """What one of the SDK's failures means."""
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        return _refusal(error, request, access, model)
    if isinstance(error, anthropic.APITimeoutError):
        return faults.no_connection(access.name, TOO_LATE, access.todo)
    if isinstance(error, anthropic.APIConnectionError):
        return faults.no_connection(access.name, faults.root_cause(error), access.todo)
    return faults.broke_off(access.name, error)


def _refusal(error: "APIStatusError", request: Json, access: Access, model: str) -> CallFailedError:
    kind, said = _said(error.body)
    # An error inside a stream comes in a response of status 200.
    status = error.status_code if error.status_code >= 300 else _STATUSES.get(kind, 500)
    if status < 400:
        return faults.wrong_address(access.name)
    if faults.is_filtered(status, said):
        return faults.FilteredError(access.name)
    if "credit balance" in said:
        status = 402
    return faults.from_status(
        status,
        said,
        server=access.name,
        model=model,
        key=access.variable,
        headers=error.response.headers,
        parameter=refused_parameter(said, _WORDS, request) if status in (400, 422) else "",
    )


def _said(body: object) -> tuple[str, str]:
    """An error's type and text, from whatever a server sends as one."""
    if not isinstance(body, dict):
        return "", str(body or "")
    error = body.get("error")
    if isinstance(error, dict):
        return str(error.get("type", "")), str(error.get("message", ""))
    return "", str(error or body.get("message") or body.get("detail") or "")
