"""A server whose machine does not answer at all: nobody is there, and a session waits for it."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, aclosing

import pytest

from core.models import CallFailedError, EmbedderSpec, Message, ModelSpec, Prompt, Provider
from core.providers import anthropic, bedrock
from core.providers.access import CONNECT_SECONDS
from core.providers.anthropic import AnthropicProvider
from core.providers.azure import AzureProvider
from core.providers.bedrock import BedrockProvider
from core.providers.ollama import OllamaProvider
from core.providers.openai import OpenAIProvider
from core.providers.wire import ollama_client, openai_client

PROMPT = Prompt(messages=(Message("user", "Name a colour."),))


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a machine that lets every attempt at a connection wait: its queue is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (openai_client, anthropic, bedrock, ollama_client):
        assert module.CONNECT_SECONDS == CONNECT_SECONDS
        monkeypatch.setattr(module, "CONNECT_SECONDS", 0.1)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAPLANTED123456789")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted")


async def drain(provider: Provider, spec: ModelSpec) -> None:
    async with aclosing(provider.stream(spec, PROMPT, 1)) as chunks:
        async for _ in chunks:
            pass


@pytest.mark.parametrize("make", [OpenAIProvider, AzureProvider, AnthropicProvider, BedrockProvider, OllamaProvider])
async def test_a_connection_that_does_not_come_about_is_no_connection(
    make: Callable[[], Provider], silent: str
) -> None:
    name = make.__name__.removesuffix("Provider").casefold()
    spec = ModelSpec(name="lab", provider=name, model="m", base_url=silent, region="us-east-1")
    provider = make()
    with pytest.raises(CallFailedError, match="can't be reached") as failed:
        await drain(provider, spec)
    assert failed.value.kind == "connection"
    await provider.close()


@pytest.mark.parametrize("make", [OpenAIProvider, OllamaProvider])
async def test_nor_for_texts_to_be_embedded(make: type[OpenAIProvider | OllamaProvider], silent: str) -> None:
    name = make.__name__.removesuffix("Provider").casefold()
    provider = make()
    with pytest.raises(CallFailedError, match="can't be reached") as failed:
        await provider.embed(EmbedderSpec(name="e", provider=name, model="m", base_url=silent), ["x"])
    assert failed.value.kind == "connection"
    await provider.close()
