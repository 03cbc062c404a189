"""Calls to the openai provider, and what came of them."""

from contextlib import aclosing
from typing import Any

import pytest

from core.models import (
    CallFailedError,
    Chunk,
    EmbedderSpec,
    Finish,
    Message,
    ModelSpec,
    Prompt,
    Sent,
    TextDelta,
    ThoughtDelta,
)
from core.providers.openai import OpenAIProvider
from tests.faults.openai_wire import AzureWire, ChatWire, ResponsesWire
from tests.faults.server import FaultServer

PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "One idea?")))
SCHEMA = '{"type":"object","properties":{"score":{"type":"integer"}},"required":["score"],"additionalProperties":false}'

CHAT, RESPONSES, AZURE = ChatWire(), ResponsesWire(), AzureWire()
WIRES = pytest.mark.parametrize("wire", [CHAT, RESPONSES, AZURE], ids=lambda wire: wire.name)


async def collect(provider: OpenAIProvider, spec: ModelSpec, prompt: Prompt = PROMPT, seed: int = 7) -> list[Chunk]:
    async with aclosing(provider.stream(spec, prompt, seed)) as chunks:
        return [chunk async for chunk in chunks]


def text(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def thoughts(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ThoughtDelta))


def sent(chunks: list[Chunk]) -> dict[str, Any]:
    assert isinstance(chunks[0], Sent)
    return dict(chunks[0].parameters)


def end(chunks: list[Chunk]) -> Finish:
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]


async def failure(provider: OpenAIProvider, spec: ModelSpec) -> CallFailedError:
    with pytest.raises(CallFailedError) as failed:
        await collect(provider, spec)
    assert "\n" not in str(failed.value)
    return failed.value


def all_set(*refuses: str) -> dict[str, Any]:
    return {"temperature": 0.7, "top_p": 0.9, "effort": "low", "refuses": refuses}


def embedder(server: FaultServer, **settings: Any) -> EmbedderSpec:
    fields = {"name": "e", "provider": "openai", "model": "test-embedder", "base_url": f"{server.url}/v1"}
    return EmbedderSpec(**{**fields, **settings})
