"""Proxies of the environment: none is between this machine and itself, where a key would be read on the way."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest

from core.models import CallFailedError, EmbedderSpec, Message, ModelSpec, Prompt, Provider
from core.providers.anthropic import AnthropicProvider
from core.providers.azure import AzureProvider
from core.providers.bedrock import BedrockProvider
from core.providers.catalog import Providers
from core.providers.discovery.listing import ask_for, listings
from core.providers.ollama import OllamaProvider
from core.providers.openai import OpenAIProvider
from tests.faults.server import FaultServer, status

KEY = "planted-key-0123456789"

PROMPT = Prompt(messages=(Message("user", "Name a colour."),))

NEAR = "http://127.0.0.1:9"
"""Nobody is there: whoever goes there finds nobody, and whoever goes to the proxy finds it."""

FAR = "http://192.0.2.7:9"


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FaultServer]:
    """For everything, and it lets nothing through."""
    async with FaultServer(status(502, "no")) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, server.url)
            monkeypatch.setenv(name.lower(), server.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("LAB_KEY", KEY)
        for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAPLANTED123456789")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
        yield server


def spec(provider: str, base_url: str) -> ModelSpec:
    region = "us-east-1" if provider == "bedrock" else ""
    key = "" if provider == "bedrock" else "LAB_KEY"
    return ModelSpec(name="lab", provider=provider, model="m", base_url=base_url, api_key_env=key, region=region)


ALL = pytest.mark.parametrize(
    "make", [OpenAIProvider, AzureProvider, AnthropicProvider, BedrockProvider, OllamaProvider]
)


async def drain(provider: Provider, spec: ModelSpec) -> None:
    async with aclosing(provider.stream(spec, PROMPT, 1)) as chunks:
        async for _ in chunks:
            pass


async def fail(provider: Provider, spec: ModelSpec) -> str:
    with pytest.raises(CallFailedError) as failed:
        await drain(provider, spec)
    await provider.close()
    return str(failed.value)


@ALL
async def test_no_call_to_this_machine_goes_by_way_of_a_proxy(make: Callable[[], Provider], proxy: FaultServer) -> None:
    name = make.__name__.removesuffix("Provider").casefold()
    assert "can't be reached" in await fail(make(), spec(name, NEAR))
    assert proxy.requests == []


@ALL
async def test_who_else_is_reached_without_one_is_for_the_person_to_say(
    make: Callable[[], Provider], proxy: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = make.__name__.removesuffix("Provider").casefold()
    await fail(make(), spec(name, FAR))
    assert proxy.requests


async def test_a_bedrock_that_awss_own_settings_put_on_this_machine_is_on_it_too(
    proxy: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", NEAR)
    assert "can't be reached" in await fail(BedrockProvider(), spec("bedrock", ""))
    assert proxy.requests == []


@pytest.mark.parametrize("name", ["openai", "anthropic", "ollama"])
async def test_lists_are_asked_for_as_calls_are_made(name: str, proxy: FaultServer) -> None:
    asks = {url: ask_for(spec(name, url)) for url in (NEAR, FAR)}
    providers = Providers()
    answers = await listings([ask for ask in asks.values() if ask], providers, 2.0)
    await providers.close()
    kinds = {
        url: answer.kind for url, ask in asks.items() if ask and isinstance(answer := answers[ask], CallFailedError)
    }
    assert kinds == {NEAR: "connection", FAR: "server"}
    assert ["192.0.2.7" in str(request.headers["host"]) for request in proxy.requests] == [True]


@pytest.mark.parametrize("provider", [OpenAIProvider(), OllamaProvider()])
async def test_texts_to_be_embedded_go_no_other_way(
    provider: OpenAIProvider | OllamaProvider, proxy: FaultServer
) -> None:
    name = "openai" if isinstance(provider, OpenAIProvider) else "ollama"
    embedder = EmbedderSpec(name="e", provider=name, model="m", base_url=NEAR, api_key_env="LAB_KEY")
    with pytest.raises(CallFailedError, match="can't be reached"):
        await provider.embed(embedder, ["x"])
    await provider.close()
    assert proxy.requests == []
