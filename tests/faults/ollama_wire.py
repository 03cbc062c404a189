"""Ollama's API: JSON lines, and what the server says of itself and its models."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from core.models import ModelSpec
from core.providers.ollama import OllamaProvider
from tests.faults.server import FaultServer, Handler, stream
from tests.faults.server import status as respond

MODEL = "tiny"

NDJSON = "application/x-ndjson"

VERSION = "0.40.2"


class OllamaWire:
    name = "ollama"

    def provider(self) -> OllamaProvider:
        return OllamaProvider()

    def spec(self, server: FaultServer, **settings: object) -> ModelSpec:
        """Routes of `server` answer what is asked besides the chat, so that a script holds nothing but answers."""
        spec = replace(ModelSpec(name="tiny", provider="ollama", model=MODEL, base_url=server.url), **settings)
        server.route("/api/version", respond(200, {"version": VERSION}))
        server.route("/api/ps", loaded(spec.context))
        server.route("/api/show", shown())
        server.route("/api/tags", tags(MODEL))
        return spec

    def answer(
        self,
        text: str,
        *,
        thoughts: str = "",
        reason: str = "stop",
        usage: bool = True,
        pieces: int = 4,
        prompt_tokens: int = 11,
        output_tokens: int = 7,
        load_seconds: float = 0.03,
    ) -> Handler:
        counts = {"prompt_eval_count": prompt_tokens, "eval_count": output_tokens, "eval_duration": 250_000_000}
        counts["load_duration"] = round(load_seconds * 1e9)
        end = {"done": True, "done_reason": reason, **(counts if usage else {})}
        return stream([*_parts(text, thoughts, pieces), line(end)], content_type=NDJSON)

    def broken(self, text: str, then: str) -> Handler:
        if then == "garbage":
            return stream([*_parts(text, "", 4), b'{"message": {"content": \xff\xfe]]\n'], content_type=NDJSON)
        return stream(_parts(text, "", 4), content_type=NDJSON, then=then)

    def split_inside_a_character(self, text: str) -> Handler:
        whole = b"".join([*_parts(text, "", 1), line({"done": True, "done_reason": "stop"})])
        place = next(place for place, byte in enumerate(whole) if byte >= 0x80) + 1
        return stream([whole[:place], whole[place:]], content_type=NDJSON, pause=0.01)

    def error(self, status: int, message: str, *, code: str = "", headers: dict[str, str] | None = None) -> Handler:
        return respond(status, {"error": message}, headers)

    def filtered(self) -> Handler:
        return respond(400, {"error": "blocked: content_filter"})

    def unsupported(self, parameter: str) -> Handler:
        if parameter == "think":
            return respond(400, {"error": f'"{MODEL}" does not support thinking'})
        return respond(400, {"error": f'option "{parameter}" must be of another type'})


def line(part: Mapping[str, Any]) -> bytes:
    return json.dumps({"model": MODEL, **part}, ensure_ascii=False).encode() + b"\n"


def _parts(text: str, thoughts: str, pieces: int) -> list[bytes]:
    said = [line({"message": {"role": "assistant", "content": "", "thinking": thoughts}, "done": False})]
    size = max(1, -(-len(text) // pieces))
    cut = [text[place : place + size] for place in range(0, len(text), size)]
    return [
        *(said if thoughts else []),
        *(line({"message": {"role": "assistant", "content": piece}, "done": False}) for piece in cut),
    ]


def loaded(context: int | None, model: str = f"{MODEL}:latest") -> Handler:
    """For `/api/ps`."""
    return respond(200, {"models": [{"name": model, "model": model, "context_length": context}]})


def tags(*models: str) -> Handler:
    """For `/api/tags`."""
    return respond(200, {"models": [{"name": name, "model": name, "size": 1_000_000} for name in models]})


def shown(
    context: int = 32768, capabilities: Sequence[str] = ("completion", "thinking"), architecture: str = "qwen3"
) -> Handler:
    """For `/api/show`."""
    return respond(
        200,
        {
            "capabilities": list(capabilities),
            "details": {"parameter_size": "4.0B", "quantization_level": "Q4_K_M"},
            "model_info": {"general.architecture": architecture, f"{architecture}.context_length": context},
        },
    )


def missing(model: str = MODEL) -> Handler:
    return respond(404, {"error": f"model '{model}' not found"})


def pulled(*parts: Mapping[str, Any], then: str = "end") -> Handler:
    """For `/api/pull`."""
    return stream([json.dumps(part).encode() + b"\n" for part in parts], content_type=NDJSON, then=then)


def embedded(rows: Sequence[Sequence[float]], tokens: int | None = 5) -> Handler:
    """For `/api/embed`."""
    counts = {} if tokens is None else {"prompt_eval_count": tokens}
    return respond(200, {"model": MODEL, "embeddings": [list(row) for row in rows], **counts})
