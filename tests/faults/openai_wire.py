"""OpenAI's chat completions, its Responses API, and Azure, byte by byte as the services send them."""

import json
from collections.abc import Sequence
from typing import Any

from core.models import ModelSpec
from core.providers.azure import AzureProvider
from core.providers.openai import OpenAIProvider
from tests.faults.server import FaultServer, Handler, stream
from tests.faults.server import status as whole

Json = dict[str, Any]

GARBAGE = b'data: {"choi\xff\xfe\x00ces": [[[\n\n'

INPUT_TOKENS, OUTPUT_TOKENS = 11, 7

SAFE = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")}


def sse(data: Json, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def slices(text: str, pieces: int) -> list[str]:
    """`text` in about so many pieces, none empty."""
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[at : at + size] for at in range(0, len(text), size)]


def split_in_a_character(parts: list[bytes]) -> list[bytes]:
    whole = b"".join(parts)
    at = next(index for index, byte in enumerate(whole) if byte >= 0xC0) + 1
    return [whole[:at], whole[at:]]


def ending(parts: list[bytes], then: str) -> Handler:
    if then == "garbage":
        return stream([*parts, GARBAGE])
    return stream(parts, then=then)


def embeddings(vectors: Sequence[Sequence[float]], *, usage: bool = True) -> Handler:
    """One vector a text, in OpenAI's shape."""
    rows = [{"object": "embedding", "index": index, "embedding": list(row)} for index, row in enumerate(vectors)]
    counts = {"usage": {"prompt_tokens": INPUT_TOKENS, "total_tokens": INPUT_TOKENS}} if usage else {}
    return whole(200, {"object": "list", "data": rows, "model": "test-embedder", **counts})


class ChatWire:
    """A compatible server: no key, no Authorization header."""

    name = "openai-chat"

    def provider(self) -> OpenAIProvider:
        return OpenAIProvider()

    def spec(self, server: FaultServer, **settings: Any) -> ModelSpec:
        fields = {"name": "tested", "provider": "openai", "model": "test-model", "base_url": f"{server.url}/v1"}
        return ModelSpec(**{**fields, "api": "chat", **settings})

    def answer(
        self, text: str, *, thoughts: str = "", reason: str = "stop", usage: bool = True, pieces: int = 4
    ) -> Handler:
        word = {"refused": "content_filter"}.get(reason, reason)
        return stream([*self._begin(text, thoughts, pieces), *self._end(word, usage)])

    def broken(self, text: str, then: str) -> Handler:
        return ending(self._begin(text), then)

    def split_inside_a_character(self, text: str) -> Handler:
        return stream(split_in_a_character([*self._begin(text), *self._end("stop", True)]), pause=0.01)

    def error(self, status: int, message: str, *, code: str = "", headers: dict[str, str] | None = None) -> Handler:
        return whole(status, {"error": self._error(message, code)}, headers)

    def filtered(self) -> Handler:
        message = "Your request was rejected as a result of our safety system."
        return self.error(400, message, code="content_policy_violation")

    def unsupported(self, parameter: str) -> Handler:
        if parameter == "temperature":
            message = (
                "Unsupported value: 'temperature' does not support 0.9 with this model. "
                "Only the default (1) value is supported."
            )
            return whole(400, {"error": self._error(message, "unsupported_value", parameter)})
        message = f"Unsupported parameter: '{parameter}' is not supported with this model."
        return whole(400, {"error": self._error(message, "unsupported_parameter", parameter)})

    def error_in_the_stream(self, text: str, code: str | int, message: str) -> Handler:
        """An answer that begins with `text`, then an error as OpenRouter sends it."""
        chunk = {**self._chunk({"content": ""}, "error"), "error": {"code": code, "message": message}}
        return stream([*self._begin(text), sse(chunk)])

    def _error(self, message: str, code: str, parameter: str | None = None) -> Json:
        return {"message": message, "type": "invalid_request_error", "param": parameter, "code": code or None}

    def _begin(self, text: str, thoughts: str = "", pieces: int = 4) -> list[bytes]:
        deltas: list[Json] = [{"role": "assistant", "content": "", "refusal": None}]
        deltas += [{"reasoning_content": piece} for piece in slices(thoughts, pieces)]
        deltas += [{"content": piece} for piece in slices(text, pieces)]
        return [sse(self._chunk(delta)) for delta in deltas]

    def _end(self, word: str, usage: bool) -> list[bytes]:
        parts = [sse(self._chunk({}, word))]
        if usage:
            parts.append(sse({**self._chunk({}), "choices": [], "usage": self._usage()}))
        return [*parts, b"data: [DONE]\n\n"]

    def _usage(self) -> Json:
        return {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 2, "audio_tokens": 0, "accepted_prediction_tokens": 0},
        }

    def _chunk(self, delta: Json, finish_reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {
            "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
            "object": "chat.completion.chunk",
            "created": 1741570283,
            "model": "test-model-2025-04-14",
            "service_tier": "default",
            "system_fingerprint": "fp_fc9f1d7035",
            "choices": [choice],
            "usage": None,
        }


class AzureWire(ChatWire):
    """Azure's: what its content filters found stands in every chunk."""

    name = "azure"

    def provider(self) -> AzureProvider:
        return AzureProvider()

    def spec(self, server: FaultServer, **settings: Any) -> ModelSpec:
        fields = {"name": "tested", "provider": "azure", "model": "our-deployment", "base_url": server.url}
        return ModelSpec(**{**fields, **settings})

    def filtered(self) -> Handler:
        found = {**SAFE, "violence": {"filtered": True, "severity": "medium"}}
        error = {
            "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management "
            "policy. Please modify your prompt and retry.",
            "type": None,
            "param": "prompt",
            "code": "content_filter",
            "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": found},
        }
        return whole(400, {"error": error})

    def unsupported(self, parameter: str) -> Handler:
        message = f"Unrecognized request argument supplied: {parameter}"
        return whole(400, {"error": self._error(message, "")})

    def _begin(self, text: str, thoughts: str = "", pieces: int = 4) -> list[bytes]:
        first = {**self._chunk({}), "id": "", "model": "", "created": 0, "choices": []}
        first["prompt_filter_results"] = [{"prompt_index": 0, "content_filter_results": SAFE}]
        return [sse(first), *super()._begin(text, thoughts, pieces)]

    def _chunk(self, delta: Json, finish_reason: str | None = None) -> Json:
        chunk = super()._chunk(delta, finish_reason)
        chunk["choices"][0]["content_filter_results"] = SAFE if delta.get("content") else {}
        return chunk


class ResponsesWire(ChatWire):
    """OpenAI's own newer API; the errors before a stream are the same as of the older one."""

    name = "openai-responses"

    def spec(self, server: FaultServer, **settings: Any) -> ModelSpec:
        return super().spec(server, **{"api": "responses", **settings})

    def answer(
        self, text: str, *, thoughts: str = "", reason: str = "stop", usage: bool = True, pieces: int = 4
    ) -> Handler:
        return _numbered([*self._events(text, thoughts, pieces), *self._last(text, reason, usage)])

    def broken(self, text: str, then: str) -> Handler:
        return ending(_encoded(self._events(text)), then)

    def split_inside_a_character(self, text: str) -> Handler:
        events = [*self._events(text), *self._last(text, "stop", True)]
        return stream(split_in_a_character(_encoded(events)), pause=0.01)

    def error_in_the_stream(self, text: str, code: str | int, message: str) -> Handler:
        """As `response.failed`, which is how OpenAI says it."""
        failed = {**self._response("failed", ""), "error": {"code": code, "message": message}}
        return _numbered([*self._events(text), {"type": "response.failed", "response": failed}])

    def refusal(self, text: str) -> Handler:
        """The model itself says no."""
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        deltas = [{"type": "response.refusal.delta", **place, "delta": piece} for piece in slices(text, 3)]
        response = self._response("completed", "")
        part = {"type": "refusal", "refusal": text}
        response["output"] = [{"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}]
        return _numbered([*deltas, {"type": "response.completed", "response": response}])

    def _events(self, text: str, thoughts: str = "", pieces: int = 4) -> list[Json]:
        response = self._response("in_progress", "")
        response["usage"] = None
        events: list[Json] = [{"type": f"response.{word}", "response": response} for word in ("created", "in_progress")]
        if thoughts:
            item = {"id": "rs_1", "type": "reasoning", "summary": []}
            place = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
            part = {"type": "summary_text", "text": ""}
            events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
            events.append({"type": "response.reasoning_summary_part.added", **place, "part": part})
            for piece in slices(thoughts, pieces):
                events.append({"type": "response.reasoning_summary_text.delta", **place, "delta": piece})  # noqa: PERF401
            events.append({"type": "response.reasoning_summary_text.done", **place, "text": thoughts})
            events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        item = {"id": "msg_1", "type": "message", "status": "in_progress", "content": [], "role": "assistant"}
        place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
        empty: Json = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
        events.append({"type": "response.output_item.added", "output_index": 1, "item": item})
        events.append({"type": "response.content_part.added", **place, "part": empty})
        deltas = [{"type": "response.output_text.delta", **place, "delta": piece} for piece in slices(text, pieces)]
        return [*events, *deltas]

    def _last(self, text: str, reason: str, usage: bool) -> list[Json]:
        response = self._response("completed" if reason == "stop" else "incomplete", text)
        if not usage:
            response["usage"] = None
        if reason != "stop":
            why = {"length": "max_output_tokens", "refused": "content_filter"}[reason]
            response["incomplete_details"] = {"reason": why}
        place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
        done = {"type": "response.output_text.done", **place, "text": text}
        return [done, {"type": f"response.{response['status']}", "response": response}]

    def _response(self, state: str, text: str) -> Json:
        part = {"type": "output_text", "annotations": [], "text": text}
        message = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
        return {
            "id": "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
            "object": "response",
            "created_at": 1741476542,
            "status": state,
            "error": None,
            "incomplete_details": None,
            "model": "test-model-2025-04-14",
            "output": [message] if text else [],
            "store": False,
            "usage": {
                "input_tokens": INPUT_TOKENS,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": OUTPUT_TOKENS,
                "output_tokens_details": {"reasoning_tokens": 2},
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            },
        }


def _encoded(events: list[Json]) -> list[bytes]:
    return [sse({**event, "sequence_number": number}, event["type"]) for number, event in enumerate(events)]


def _numbered(events: list[Json]) -> Handler:
    return stream(_encoded(events))
