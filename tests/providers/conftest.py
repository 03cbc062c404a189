"""Real servers for the providers to talk to, and no keys of the person's own."""

import os
from collections.abc import AsyncIterator

import pytest

from core.providers.openai import OpenAIProvider
from tests.faults.openai_wire import ChatWire
from tests.faults.server import FaultServer
from tests.providers.llamacpp import llamacpp_embedding_server, llamacpp_server

__all__ = ["llamacpp_embedding_server", "llamacpp_server"]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "AZURE_", "ANTHROPIC_")):
            monkeypatch.delenv(name)


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server


@pytest.fixture
async def openai() -> AsyncIterator[OpenAIProvider]:
    provider = OpenAIProvider()
    yield provider
    await provider.close()


@pytest.fixture
async def wired(wire: ChatWire) -> AsyncIterator[OpenAIProvider]:
    """The provider that speaks a test's wire format."""
    provider = wire.provider()
    yield provider
    await provider.close()
