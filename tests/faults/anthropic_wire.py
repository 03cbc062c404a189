"""Anthropic's messages API: server-sent events."""

import json
from collections.abc import Mapping
from typing import Any

from core.models import ModelSpec, Provider
from core.providers.anthropic import AnthropicProvider
from tests.faults.server import FaultServer, Handler, status, stream

_REASONS = {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicWire:
    name = "anthropic"

    def provider(self) -> Provider:
        return AnthropicProvider()

    def spec(self, server: FaultServer, **settings: object) -> ModelSpec:
        own = {"name": "claude", "provider": "anthropic", "model": "claude-test", "base_url": server.url}
        return ModelSpec(**{**own, **settings})  # type: ignore[arg-type]

    def answer(
        self, text: str, *, thoughts: str = "", reason: str = "stop", usage: bool = True, pieces: int = 4
    ) -> Handler:
        events = [started(usage), *block(0, "thinking", thoughts, pieces)] if thoughts else [started(usage)]
        if text:
            events += block(int(bool(thoughts)), "text", text, pieces)
        return stream([*events, *ended(_REASONS[reason], usage)])

    def broken(self, text: str, then: str) -> Handler:
        events = [started(), *block(0, "text", text, 4)[:-1]]
        if then == "garbage":
            return stream([*events, b'event: content_block_delta\ndata: {"type": "content_\xff\xfe<<\n\n'])
        return stream(events, then=then)

    def split_inside_a_character(self, text: str) -> Handler:
        whole = b"".join([started(), *block(0, "text", text, 1), *ended("end_turn")])
        middle = next(place for place, byte in enumerate(whole) if byte >= 0xC0) + 1
        return stream([whole[:middle], whole[middle:]], pause=0.02)

    def error(self, status: int, message: str, *, code: str = "", headers: dict[str, str] | None = None) -> Handler:
        return failed(status, code or _TYPES.get(status, "api_error"), message, headers)

    def filtered(self) -> Handler:
        return self.error(400, "Output blocked by content filtering policy")

    def unsupported(self, parameter: str) -> Handler:
        if parameter in ("temperature", "top_p"):
            return self.error(400, f"`{parameter}` is deprecated for this model.")
        return self.error(400, f"{parameter}: Extra inputs are not permitted")


def failed(code: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> Handler:
    return status(code, {"type": "error", "error": {"type": kind, "message": message}}, headers)


def sse(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def started(usage: bool = True, **counts: int) -> bytes:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
    }
    if usage:
        message["usage"] = {"input_tokens": 11, "output_tokens": 1, **counts}
    return sse("message_start", message=message)


def block(index: int, kind: str, text: str, pieces: int) -> list[bytes]:
    """A content block of `text` or `thinking`, its text in so many deltas."""
    size = max(1, -(-len(text) // pieces))
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    return [
        sse("content_block_start", index=index, content_block={"type": kind, kind: ""}),
        sse("ping"),
        *(sse("content_block_delta", index=index, delta={"type": f"{kind}_delta", kind: part}) for part in parts),
        sse("content_block_stop", index=index),
    ]


def ended(stop_reason: str, usage: bool = True, **counts: Any) -> list[bytes]:
    counted = {"usage": {"output_tokens": 7, **counts}} if usage else {}
    return [
        sse("message_delta", delta={"stop_reason": stop_reason, "stop_sequence": None}, **counted),
        sse("message_stop"),
    ]
