"""One call to Bedrock: boto3 blocks, so each has a thread of its own."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from msgspec import Struct

from core.keys import remember
from core.models import Chunk, FinishReason
from core.providers import faults
from core.providers.threads import on_loop
from core.providers.wire.answer import Answer, Tokens
from core.providers.wire.bedrock_faults import Place, failure
from core.providers.wire.parameters import Json

EVENTS = "application/vnd.amazon.eventstream"

STOP_SECONDS = 5.0
"""How long closing a call waits for its thread, once there is an answer to hang up on; this only bounds a fault."""

_REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
    "refusal": "refused",
}
"""All other reasons are a proper end."""


class Runtime(Struct, frozen=True):
    """A way to reach Bedrock: boto3's client, and whoever it signs for."""

    client: Any
    credentials: Any
    """boto3's; None where nothing is signed with them."""
    place: Place

    def remember_secrets(self) -> None:
        """Let no server's answer show them. Blocks, where they have to be fetched anew."""
        if self.credentials is not None:
            for secret in self.credentials.get_frozen_credentials():
                remember(secret or "")


class _Thought(Struct):
    text: str | None = None


class _Delta(Struct, rename="camel"):
    text: str | None = None
    reasoning_content: _Thought | None = None


class _BlockDelta(Struct):
    delta: _Delta


class _Stop(Struct, rename="camel"):
    stop_reason: str


class _Counts(Struct, rename="camel"):
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int = 0
    cache_write_input_tokens: int = 0


class _Metadata(Struct):
    usage: _Counts


class Event(Struct, rename="camel"):
    content_block_delta: _BlockDelta | None = None
    message_stop: _Stop | None = None
    metadata: _Metadata | None = None


class ConverseAnswer(Answer):
    """An answer of `converse_stream`."""

    def take(self, event: Event) -> list[Chunk]:
        """What an event adds. Encrypted thoughts and what tools would do add nothing."""
        if event.message_stop:
            self.reason = _REASONS.get(event.message_stop.stop_reason, "stop")
        if event.metadata:
            counts = event.metadata.usage
            cached, into_cache = counts.cache_read_input_tokens, counts.cache_write_input_tokens
            self.tokens = Tokens(counts.input_tokens + cached + into_cache, counts.output_tokens, cached)
        if event.content_block_delta is None:
            return []
        delta = event.content_block_delta.delta
        return self.add(delta.text, delta.reasoning_content.text if delta.reasoning_content else None)


class Exchange:
    """A request that runs, and the queue through which what comes back leaves its thread."""

    def __init__(self, runtime: Runtime, request: Json, asked: Place) -> None:
        self._runtime = runtime
        self._request = request
        self._asked = asked
        self._stopping = threading.Event()
        self._raw: Any = None
        """urllib3's response, from when there is one."""
        self._loop = asyncio.get_running_loop()
        self._received: asyncio.Queue[Json | Exception | None] = asyncio.Queue()
        self._ended = asyncio.Event()
        # Before there is an answer nobody can hang up, and a program that ends must not wait for one.
        threading.Thread(target=self._run, name="Bedrock call", daemon=True).start()

    async def events(self) -> AsyncGenerator[Event, None]:
        """To the end of the stream. Raises `CallFailedError`."""
        while (received := await self._received.get()) is not None:
            if isinstance(received, Exception):
                raise failure(received, self._asked, self._request) from None
            try:
                event = msgspec.convert(received, Event)
            except msgspec.ValidationError as error:
                raise faults.broke_off(self._asked.server, error) from None
            yield event

    async def stop(self) -> None:
        """Hang up, so that no more is generated. Returns when the thread has ended, if there is an answer already."""
        self._stopping.set()
        if self._raw is None:
            return
        # It may have been read to its end, or closed, by now.
        with contextlib.suppress(ValueError, RuntimeError, OSError):
            self._raw.shutdown()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), STOP_SECONDS)

    def _run(self) -> None:
        try:
            self._runtime.remember_secrets()
            self._read(self._runtime.client.converse_stream(**self._request))
        except Exception as error:  # whatever it is, somebody waits to hear of it
            on_loop(self._loop, self._received.put_nowait, error)
        finally:
            on_loop(self._loop, self._end)

    def _read(self, response: Json) -> None:
        stream = response["stream"]
        try:
            # boto3 has no way to interrupt a read; urllib3 below it has.
            self._raw = stream._raw_stream  # noqa: SLF001
            if not response["ResponseMetadata"]["HTTPHeaders"].get("content-type", "").startswith(EVENTS):
                raise faults.wrong_address(self._asked.server)
            if self._stopping.is_set():
                return
            for event in stream:
                if self._stopping.is_set() or not on_loop(self._loop, self._received.put_nowait, event):
                    return
        except (AttributeError, KeyError, TypeError) as error:
            # boto3 takes it on trust that an event has the shape that it should have.
            raise faults.broke_off(self._asked.server, error) from None
        finally:
            stream.close()

    def _end(self) -> None:
        self._received.put_nowait(None)
        self._ended.set()
