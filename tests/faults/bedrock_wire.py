"""Bedrock's `converse_stream`: Amazon's event stream, a binary framing of JSON."""

import json
import struct
import zlib
from typing import Any

from core.models import ModelSpec, Provider
from core.providers.bedrock import BedrockProvider
from tests.faults.server import FaultServer, Handler, status, stream

CONTENT_TYPE = "application/vnd.amazon.eventstream"

_REASONS = {"stop": "end_turn", "length": "max_tokens", "refused": "content_filtered"}

_CODES = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}


class BedrockWire:
    name = "bedrock"

    def provider(self) -> Provider:
        return BedrockProvider()

    def spec(self, server: FaultServer, **settings: object) -> ModelSpec:
        own = {"name": "claude", "provider": "bedrock", "model": "us.anthropic.claude-test-v1:0", "region": "us-east-1"}
        return ModelSpec(**{**own, "base_url": server.url, **settings})  # type: ignore[arg-type]

    def answer(
        self, text: str, *, thoughts: str = "", reason: str = "stop", usage: bool = True, pieces: int = 4
    ) -> Handler:
        events = [event("messageStart", role="assistant")]
        if thoughts:
            events += block(0, thoughts, pieces, thoughts=True)
        if text:
            events += block(int(bool(thoughts)), text, pieces)
        events.append(event("messageStop", stopReason=_REASONS[reason]))
        if usage:
            events.append(metadata())
        return answering(events)

    def broken(self, text: str, then: str) -> Handler:
        events = [event("messageStart", role="assistant"), *block(0, text, 4)[:-1]]
        if then == "garbage":
            return answering([*events, b"\x00\x00\x00\x40 this is no event, whatever it says of itself"])
        return answering(events, then=then)

    def split_inside_a_character(self, text: str) -> Handler:
        events = [*block(0, text, 1), event("messageStop", stopReason="end_turn"), metadata()]
        whole = b"".join(events)
        middle = whole.index(next(character for character in text if not character.isascii()).encode()) + 1
        return answering([whole[:middle], whole[middle:]], pause=0.02)

    def error(self, status: int, message: str, *, code: str = "", headers: dict[str, str] | None = None) -> Handler:
        return failed(status, code or _CODES.get(status, ""), message, headers)

    def filtered(self) -> Handler:
        return self.error(400, "The model returned the following errors: Output blocked by content filtering policy")

    def unsupported(self, parameter: str) -> Handler:
        words = f"This model doesn't support the {parameter} field. Remove {parameter} and try again."
        return self.error(400, words)


def answering(pieces: list[bytes], *, then: str = "end", pause: float = 0.0) -> Handler:
    return stream(pieces, content_type=CONTENT_TYPE, then=then, pause=pause)


def failed(code: int, kind: str, message: str, headers: dict[str, str] | None = None) -> Handler:
    named = {"x-amzn-ErrorType": kind} if kind else {}
    return status(code, {"message": message}, {**named, **(headers or {})})


def event(kind: str, **payload: Any) -> bytes:
    return message({":message-type": "event", ":event-type": kind, ":content-type": "application/json"}, payload)


def exception(kind: str, words: str) -> bytes:
    """An error inside a stream, as in `throttlingException`."""
    headers = {":message-type": "exception", ":exception-type": kind, ":content-type": "application/json"}
    return message(headers, {"message": words})


def block(index: int, text: str, pieces: int, *, thoughts: bool = False) -> list[bytes]:
    """A content block, its text in so many deltas."""
    size = max(1, -(-len(text) // pieces))
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    deltas = [{"reasoningContent": {"text": part}} if thoughts else {"text": part} for part in parts]
    return [
        *(event("contentBlockDelta", contentBlockIndex=index, delta=delta, p="abcd") for delta in deltas),
        event("contentBlockStop", contentBlockIndex=index),
    ]


def metadata(**counts: int) -> bytes:
    usage = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18, **counts}
    return event("metadata", usage=usage, metrics={"latencyMs": 12})


def message(headers: dict[str, str], payload: dict[str, Any]) -> bytes:
    """One frame: lengths, their checksum, headers, payload, a checksum of it all."""
    named = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    body = json.dumps(payload, ensure_ascii=False).encode()
    lengths = struct.pack("!II", 12 + len(named) + len(body) + 4, len(named))
    frame = lengths + struct.pack("!I", zlib.crc32(lengths)) + named + body
    return frame + struct.pack("!I", zlib.crc32(frame))
