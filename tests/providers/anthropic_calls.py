"""What the tests of Anthropic's provider share: a server, a provider, and what came of a call."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from core.models import (
    CallFailedError,
    Chunk,
    Finish,
    Message,
    ModelSpec,
    Prompt,
    TextDelta,
)
from core.providers.anthropic import AnthropicProvider
from tests.faults.anthropic_wire import AnthropicWire
from tests.faults.server import FaultServer

WIRE = AnthropicWire()

PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "Name a colour.")))

SCHEMA = '{"type": "object", "properties": {"score": {"type": "integer", "minimum": 0}}, "required": ["score"]}'


@pytest.fixture
async def provider() -> AsyncIterator[AnthropicProvider]:
    provider = AnthropicProvider()
    yield provider
    await provider.close()


@pytest.fixture
def spec(server: FaultServer) -> ModelSpec:
    return WIRE.spec(server)


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))


async def ask(provider: AnthropicProvider, spec: ModelSpec, prompt: Prompt = PROMPT) -> list[Chunk]:
    async with aclosing(provider.stream(spec, prompt, 1)) as chunks:
        return [chunk async for chunk in chunks]


async def fail(provider: AnthropicProvider, spec: ModelSpec) -> CallFailedError:
    with pytest.raises(CallFailedError) as failed:
        await ask(provider, spec)
    assert "\n" not in str(failed.value)
    return failed.value


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def finish_of(chunks: list[Chunk]) -> Finish:
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]
