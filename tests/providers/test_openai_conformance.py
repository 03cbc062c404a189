"""The openai provider against a real server: llama.cpp speaks both of OpenAI's APIs, and embeddings, over loopback."""

import asyncio
import json
from contextlib import aclosing
from time import monotonic

import pytest

from core.models import (
    CallFailedError,
    EmbedderSpec,
    Message,
    ModelSpec,
    Prompt,
    Sent,
    TextDelta,
)
from core.providers.discovery.lists import ListClient
from core.providers.openai import OpenAIProvider
from tests.providers.llamacpp import LlamaCpp
from tests.providers.openai_calls import collect, end, text

BOTH = pytest.mark.parametrize("api", ["chat", "responses"])

PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "Name a colour.")))
ENDLESS = Prompt(messages=(Message("user", "Write the numbers from one to a thousand, in words, with commas."),))
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 100}},
    "required": ["score"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _key(llamacpp_server: LlamaCpp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMACPP_KEY", llamacpp_server.key)


def spec(server: LlamaCpp, api: str, *, max_tokens: int = 12, key: str = "LLAMACPP_KEY") -> ModelSpec:
    return ModelSpec(
        name="tiny",
        provider="openai",
        model="smollm2",
        base_url=f"{server.url}/v1",
        api_key_env=key,
        api=api,  # type: ignore[arg-type]
        temperature=0.0,
        max_tokens=max_tokens,
    )


@BOTH
async def test_an_answer_streams_and_says_what_it_used(
    api: str, llamacpp_server: LlamaCpp, openai: OpenAIProvider
) -> None:
    chunks = await collect(openai, spec(llamacpp_server, api), PROMPT)
    assert isinstance(chunks[0], Sent)
    assert len([chunk for chunk in chunks if isinstance(chunk, TextDelta)]) > 3
    assert text(chunks).strip()
    usage = end(chunks).usage
    assert not usage.estimated
    assert 15 < usage.input_tokens < 60
    assert 3 < usage.output_tokens <= 12
    assert 0 < usage.seconds < 10
    assert usage.tokens_per_second > 1


@BOTH
async def test_an_answer_that_reaches_its_cap_ends_by_length(
    api: str, llamacpp_server: LlamaCpp, openai: OpenAIProvider
) -> None:
    finish = end(await collect(openai, spec(llamacpp_server, api, max_tokens=4), ENDLESS))
    assert finish.reason == "length"
    assert finish.usage.output_tokens == 4


async def test_an_answer_follows_its_schema(llamacpp_server: LlamaCpp, openai: OpenAIProvider) -> None:
    """In chat: llama.cpp's responses know no schema."""
    asked = Prompt(messages=(Message("user", "Rate the sea from 0 to 100."),), json_schema=json.dumps(SCHEMA))
    chunks = await collect(openai, spec(llamacpp_server, "chat", max_tokens=40), asked)
    assert end(chunks).reason == "stop"
    answer = json.loads(text(chunks))
    assert list(answer) == ["score"]
    assert 0 <= answer["score"] <= 100


@BOTH
async def test_closing_a_stream_stops_the_generation(
    api: str, llamacpp_server: LlamaCpp, openai: OpenAIProvider
) -> None:
    """With as many left as there are places, a next one would wait for minutes."""
    endless = spec(llamacpp_server, api, max_tokens=2000)
    for _ in range(3):
        async with aclosing(openai.stream(endless, ENDLESS, 1)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextDelta):
                    break
    began = monotonic()
    assert text(await collect(openai, spec(llamacpp_server, api, max_tokens=3), PROMPT)).strip()
    assert monotonic() - began < 2


@BOTH
async def test_cancelling_a_call_stops_it(api: str, llamacpp_server: LlamaCpp, openai: OpenAIProvider) -> None:
    calls = [
        asyncio.create_task(collect(openai, spec(llamacpp_server, api, max_tokens=2000), ENDLESS)) for _ in range(3)
    ]
    await asyncio.sleep(0.2)
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    assert all(call.cancelled() for call in calls)
    began = monotonic()
    assert text(await collect(openai, spec(llamacpp_server, api, max_tokens=3), PROMPT)).strip()
    assert monotonic() - began < 2


@BOTH
async def test_a_prompt_that_does_not_fit_is_said_to_be_too_long(
    api: str, llamacpp_server: LlamaCpp, openai: OpenAIProvider
) -> None:
    long = Prompt(messages=(Message("user", "word " * 5000),))
    with pytest.raises(CallFailedError) as failed:
        await collect(openai, spec(llamacpp_server, api), long)
    assert failed.value.kind == "context"


@BOTH
async def test_without_the_key_nothing_is_answered(
    api: str, llamacpp_server: LlamaCpp, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", llamacpp_server.key)
    with pytest.raises(CallFailedError, match="api_key_env") as failed:
        await collect(openai, spec(llamacpp_server, api, key=""), PROMPT)
    assert failed.value.kind == "denied"


async def test_a_wrong_path_is_a_wrong_address(llamacpp_server: LlamaCpp, openai: OpenAIProvider) -> None:
    wrong = ModelSpec(name="x", provider="openai", base_url=f"{llamacpp_server.url}/v2", api_key_env="LLAMACPP_KEY")
    with pytest.raises(CallFailedError, match="base_url") as failed:
        await collect(openai, wrong, PROMPT)
    assert failed.value.kind == "address"


async def test_the_server_lists_its_model(llamacpp_server: LlamaCpp) -> None:
    async with ListClient() as client:
        [listed] = await client.openai(f"{llamacpp_server.url}/v1", llamacpp_server.key)
    assert "SmolLM2" in listed.name
    assert listed.context


async def test_texts_become_vectors(
    llamacpp_embedding_server: LlamaCpp, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDER_KEY", llamacpp_embedding_server.key)
    embedder = EmbedderSpec(
        name="e",
        provider="openai",
        model="smollm2",
        base_url=f"{llamacpp_embedding_server.url}/v1",
        api_key_env="EMBEDDER_KEY",
    )
    vectors = await openai.embed(embedder, ["the sea", "the sea", "a bright red house"])
    first, second, third = vectors.rows
    assert len(first) == 576
    assert first == pytest.approx(second, abs=1e-4)
    assert first != pytest.approx(third, abs=1e-2)
    assert vectors.usage.input_tokens > 5


async def test_a_server_that_does_not_embed_says_so(llamacpp_server: LlamaCpp, openai: OpenAIProvider) -> None:
    embedder = EmbedderSpec(
        name="e",
        provider="openai",
        model="smollm2",
        base_url=f"{llamacpp_server.url}/v1",
        api_key_env="LLAMACPP_KEY",
    )
    with pytest.raises(CallFailedError, match="embeddings"):
        await openai.embed(embedder, ["the sea"])
