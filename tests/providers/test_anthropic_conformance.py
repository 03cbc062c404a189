"""The anthropic provider against a real server of its API: the embedded llama.cpp."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from time import monotonic

import pytest
import pytest_asyncio
from msgspec.structs import replace

from core.models import CallFailedError, Chunk, Finish, Message, ModelSpec, Prompt, Sent, TextDelta
from core.providers.anthropic import AnthropicProvider
from core.providers.discovery.lists import ListClient
from tests.providers.llamacpp import LlamaCpp

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "LLAMACPP_KEY"
PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "Name three colours.")))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[AnthropicProvider]:
    provider = AnthropicProvider()
    yield provider
    await provider.close()


@pytest.fixture
def spec(llamacpp_server: LlamaCpp, monkeypatch: pytest.MonkeyPatch) -> ModelSpec:
    monkeypatch.setenv(KEY, llamacpp_server.key)
    return ModelSpec(
        name="tiny",
        provider="anthropic",
        model="tiny",
        base_url=llamacpp_server.url,
        api_key_env=KEY,
        temperature=0.0,
        max_tokens=12,
    )


async def ask(provider: AnthropicProvider, spec: ModelSpec, prompt: Prompt = PROMPT) -> list[Chunk]:
    async with aclosing(provider.stream(spec, prompt, 1)) as chunks:
        return [chunk async for chunk in chunks]


async def test_an_answer_streams_and_is_counted(provider: AnthropicProvider, spec: ModelSpec) -> None:
    await provider.prepare(spec)
    first, *pieces, finish = await ask(provider, spec)
    assert first == Sent({"max_tokens": 12, "temperature": 0.0})
    assert len(pieces) > 3
    assert all(isinstance(piece, TextDelta) for piece in pieces)
    assert isinstance(finish, Finish)
    assert finish.reason == "length"
    usage = finish.usage
    assert not usage.estimated
    assert usage.output_tokens == 12
    assert usage.input_tokens > 10
    assert 0 < usage.seconds < 60


async def test_the_temperature_is_obeyed(provider: AnthropicProvider, spec: ModelSpec) -> None:
    answers = [(await ask(provider, spec))[1:-1] for _ in range(2)]
    assert answers[0] == answers[1]


async def test_a_stop_sequence_ends_an_answer_properly(provider: AnthropicProvider, spec: ModelSpec) -> None:
    words = [chunk.text for chunk in await ask(provider, spec) if isinstance(chunk, TextDelta)]
    *pieces, finish = await ask(provider, spec, replace(PROMPT, stop=(words[3].strip(),)))
    assert isinstance(finish, Finish)
    assert finish.reason == "stop"
    assert len(pieces) <= len(words)


async def test_an_answer_that_was_begun_is_gone_on_with(provider: AnthropicProvider, spec: ModelSpec) -> None:
    begun = Prompt(messages=(Message("user", "Count to nine."), Message("assistant", "1, 2, 3, 4, 5,")))
    chunks = await ask(provider, spec, begun)
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta)).strip().startswith("6")


async def test_a_schema_does_no_harm_where_it_is_not_understood(provider: AnthropicProvider, spec: ModelSpec) -> None:
    schema = '{"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}'
    first, *_, finish = await ask(provider, spec, replace(PROMPT, json_schema=schema))
    assert isinstance(first, Sent)
    assert first.parameters["output_config.format"] == "json_schema"
    assert isinstance(finish, Finish)


async def test_closing_an_answer_ends_its_generation(provider: AnthropicProvider, spec: ModelSpec) -> None:
    # Both of the server's slots would be taken for half a minute if it went on.
    endless = Prompt(messages=(Message("user", "Count for ever."), Message("assistant", "1, 2, 3, 4, 5,")))
    for _ in range(2):
        async with aclosing(provider.stream(replace(spec, max_tokens=900), endless, 1)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextDelta):
                    break
    began = monotonic()
    await ask(provider, replace(spec, max_tokens=2))
    assert monotonic() - began < 3


async def test_without_its_key_it_answers_nobody(
    provider: AnthropicProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CallFailedError, match="name the variable that holds its key with api_key_env") as failed:
        await ask(provider, replace(spec, api_key_env=""))
    assert failed.value.kind == "denied"
    monkeypatch.setenv("WRONG_KEY", "not-the-key-of-this-server")
    with pytest.raises(CallFailedError, match="check WRONG_KEY") as failed:
        await ask(provider, replace(spec, api_key_env="WRONG_KEY"))
    assert failed.value.kind == "denied"


async def test_a_prompt_that_does_not_fit_is_said_to_be_too_long(provider: AnthropicProvider, spec: ModelSpec) -> None:
    with pytest.raises(CallFailedError) as failed:
        await ask(provider, spec, Prompt(messages=(Message("user", "word " * 3000),)))
    assert failed.value.kind == "context"


async def test_it_says_what_it_has(llamacpp_server: LlamaCpp) -> None:
    async with ListClient() as client:
        (listed,) = await client.anthropic(llamacpp_server.url, llamacpp_server.key)
    assert listed.name.endswith(".gguf")
