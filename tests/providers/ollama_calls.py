"""What the tests of Ollama's provider share: a server, a provider, and what came of a call."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from core.models import CallFailedError, Chunk, Finish, Message, ModelSpec, Prompt, TextDelta
from core.providers.ollama import OllamaProvider
from tests.faults.ollama_wire import OllamaWire
from tests.faults.server import FaultServer

WIRE = OllamaWire()

PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "Name a colour.")))

LONG = Prompt(messages=(Message("system", "Be brief."), Message("user", "a word " * 1000)))
"""2,006 tokens as we estimate, rather fewer in truth."""


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FaultServer]:
    """With no settings of the person's own for Ollama."""
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.delenv("OLLAMA_API_KEY", raising=False)
    async with FaultServer() as server:
        yield server


@pytest.fixture
async def provider() -> AsyncIterator[OllamaProvider]:
    provider = OllamaProvider()
    yield provider
    await provider.close()


async def chunks_of(provider: OllamaProvider, spec: ModelSpec, prompt: Prompt = PROMPT) -> list[Chunk]:
    async with aclosing(provider.stream(spec, prompt, 7)) as stream:
        return [chunk async for chunk in stream]


async def failure_of(provider: OllamaProvider, spec: ModelSpec, prompt: Prompt = PROMPT) -> CallFailedError:
    with pytest.raises(CallFailedError) as failed:
        await chunks_of(provider, spec, prompt)
    assert "\n" not in str(failed.value)
    return failed.value


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def finish_of(chunks: list[Chunk]) -> Finish:
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]


def asked(server: FaultServer) -> Any:
    return server.sent_to("/api/chat")[-1].json
