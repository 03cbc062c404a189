"""The anthropic provider: the real SDK against a server that answers as it is told."""

import asyncio
from contextlib import aclosing

import pytest
from aiohttp import web
from msgspec.structs import replace

from core.errors import ModelUnavailableError
from core.models import (
    Chunk,
    Message,
    ModelSpec,
    Parameter,
    Prompt,
    Sent,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.providers import anthropic
from core.providers.anthropic import AnthropicProvider
from core.providers.wire import anthropic_answers
from tests.faults.anthropic_wire import block, ended, sse, started
from tests.faults.server import FaultServer, Watched, stream
from tests.providers.anthropic_calls import (
    PROMPT,
    SCHEMA,
    WIRE,
    _nothing_set,
    ask,
    fail,
    finish_of,
    provider,
    spec,
    text_of,
)

__all__ = ["_nothing_set", "provider", "spec"]


def sent(chunks: list[Chunk]) -> dict[str, Parameter]:
    assert isinstance(chunks[0], Sent)
    return chunks[0].parameters


async def test_an_answer_streams_after_its_parameters_and_before_its_usage(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Blue, mostly.", thoughts="Which one?"))
    chunks = await ask(provider, replace(spec, temperature=0.7, max_tokens=99))
    assert sent(chunks) == {"max_tokens": 99, "temperature": 0.7}
    assert text_of(chunks) == "Blue, mostly."
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, ThoughtDelta)) == "Which one?"
    assert sum(isinstance(chunk, TextDelta) for chunk in chunks) > 1
    finish = finish_of(chunks)
    assert finish.reason == "stop"
    assert (finish.usage.input_tokens, finish.usage.output_tokens) == (11, 7)
    assert 0 < finish.usage.reasoning_tokens <= 7
    assert not finish.usage.estimated
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.json == {
        "model": "claude-test",
        "max_tokens": 99,
        "temperature": 0.7,
        "stream": True,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Name a colour."}],
    }


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
    ],
)
async def test_each_way_to_stop_is_known(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, stop_reason: str, reason: str
) -> None:
    server.say(stream([started(), *block(0, "text", "Red", 1), *ended(stop_reason)]))
    assert finish_of(await ask(provider, spec)).reason == reason


async def test_tokens_from_and_into_the_cache_are_input_tokens_too(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    begin = started(cache_read_input_tokens=100, cache_creation_input_tokens=20)
    end = ended("end_turn", output_tokens_details={"thinking_tokens": 3})
    server.say(stream([begin, *block(0, "text", "Red", 1), *end]))
    usage = finish_of(await ask(provider, spec)).usage
    assert usage == Usage(
        input_tokens=131, cached_tokens=100, output_tokens=7, reasoning_tokens=3, seconds=usage.seconds
    )


async def test_without_counts_usage_is_estimated(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Red and blue and green.", usage=False))
    usage = finish_of(await ask(provider, spec)).usage
    assert usage.estimated
    assert usage.input_tokens > 3
    assert usage.output_tokens > 3


async def test_encrypted_thoughts_and_unknown_events_are_passed_over(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    hidden = sse("content_block_start", index=0, content_block={"type": "redacted_thinking", "data": "Zm9v"})
    signed = sse("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "Zm9v"})
    news = sse("something_new", detail={"text": 5})
    server.say(stream([started(), hidden, signed, news, *block(1, "text", "Red", 1), *ended("end_turn")]))
    assert text_of(await ask(provider, spec)) == "Red"


@pytest.mark.parametrize("budget", [1, 1023, 4096, 9000])
async def test_a_thinking_budget_that_breaks_the_rule_is_refused_before_any_request(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, budget: int
) -> None:
    wrong = replace(spec, thinking_tokens=budget, max_tokens=4096)
    error = await fail(provider, wrong)
    assert error.kind == "request"
    assert "at least 1,024 and less than max_tokens, which is 4,096" in str(error)
    with pytest.raises(ModelUnavailableError, match="at least 1,024"):
        await provider.prepare(wrong)
    assert server.requests == []


async def test_thinking_with_a_budget_goes_without_temperature(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Red"))
    chunks = await ask(provider, replace(spec, thinking_tokens=1024, max_tokens=4096, temperature=0.5, top_p=0.9))
    body = server.requests[0].json
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 1024, "display": "summarized"}
    assert not {"temperature", "top_p"} & body.keys()
    assert sent(chunks)["thinking.budget_tokens"] == 1024
    assert "temperature" not in sent(chunks)


@pytest.mark.parametrize(
    ("settings", "thinking", "effort"),
    [
        ({"effort": "high"}, "adaptive", "high"),
        ({"effort": "minimal"}, "adaptive", "low"),
        ({"effort": "none"}, "disabled", None),
        ({"effort": "low", "refuses": ("thinking",)}, None, "low"),
        ({"effort": "low", "refuses": ("effort",)}, "adaptive", None),
        ({"thinking_tokens": 2000, "max_tokens": 4000, "refuses": ("budget_tokens",)}, "adaptive", None),
        ({"thinking_tokens": 9, "max_tokens": 10, "refuses": ("thinking_tokens",)}, "adaptive", None),
    ],
)
async def test_effort_is_sent_as_the_model_takes_it(
    server: FaultServer,
    provider: AnthropicProvider,
    spec: ModelSpec,
    settings: dict[str, object],
    thinking: str | None,
    effort: str | None,
) -> None:
    server.say(WIRE.answer("Red"))
    await ask(provider, WIRE.spec(server, **settings))
    body = server.requests[0].json
    assert body.get("thinking", {}).get("type") == thinking
    assert body.get("output_config", {}).get("effort") == effort


async def test_what_a_model_refuses_is_left_out(server: FaultServer, provider: AnthropicProvider) -> None:
    server.say(WIRE.answer("Red"))
    refuses = ("temperature", "top_p", "stop", "response_format", "system")
    spec = WIRE.spec(server, temperature=0.5, top_p=0.5, refuses=refuses)
    await ask(provider, spec, replace(PROMPT, stop=("END",), json_schema=SCHEMA))
    body = server.requests[0].json
    assert body.keys() == {"model", "max_tokens", "messages", "stream"}
    assert body["messages"] == [{"role": "user", "content": "Be brief.\n\nName a colour."}]


async def test_a_schema_is_sent_in_the_form_that_the_api_takes(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer('{"score": 5}'))
    chunks = await ask(provider, spec, replace(PROMPT, json_schema=SCHEMA))
    form = server.requests[0].json["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert form["schema"]["additionalProperties"] is False
    assert "minimum" not in form["schema"]["properties"]["score"]
    assert sent(chunks)["output_config.format"] == "json_schema"


async def test_an_answer_that_is_begun_is_sent_as_it_is_and_blank_stops_are_not(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer(" 6"))
    turns = (Message("user", "Count."), Message("assistant", "1. 2. 3."))
    await ask(provider, spec, Prompt(messages=turns, stop=("\n", "END")))
    body = server.requests[0].json
    assert body["messages"][-1] == {"role": "assistant", "content": "1. 2. 3."}
    assert body["stop_sequences"] == ["END"]


async def test_a_character_in_two_chunks_arrives_whole(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.split_inside_a_character("Größe 漢字"))
    assert text_of(await ask(provider, spec)) == "Größe 漢字"


async def test_closing_an_answer_hangs_up(server: FaultServer, provider: AnthropicProvider, spec: ModelSpec) -> None:
    stalled = Watched(WIRE.broken("Red and blue", "stall"))
    server.say(stalled, WIRE.answer("Green"))
    async with aclosing(provider.stream(spec, PROMPT, 1)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                break
    await asyncio.wait_for(stalled.ended.wait(), 5)
    assert text_of(await ask(provider, spec)) == "Green"


async def test_cancelling_before_the_first_word_hangs_up(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    stalled = Watched(stream([], then="stall"))
    server.say(stalled)
    call = asyncio.create_task(ask(provider, spec))
    await asyncio.wait_for(stalled.began.wait(), 5)
    call.cancel()
    await asyncio.wait_for(stalled.ended.wait(), 5)
    assert call.cancelled()


@pytest.mark.parametrize(("kept", "connections"), [(10, 1), (0, 3)])
async def test_calls_share_a_connection_where_it_costs_something_to_open_one(
    server: FaultServer, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch, kept: int, connections: int
) -> None:
    monkeypatch.setattr(anthropic, "KEPT_PLAIN", kept)
    answer, seen = WIRE.answer("Red"), set()

    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.transport
        seen.add(request.transport.get_extra_info("peername"))
        return await answer(request)

    server.say(handle, handle, handle)
    provider = AnthropicProvider()
    for _ in range(3):
        await ask(provider, spec)
    await provider.close()
    assert len(seen) == connections


async def test_a_server_that_does_not_hang_up_after_the_answer_has_answered(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anthropic_answers, "END_SECONDS", 0.05)
    server.say(stream([started(), *block(0, "text", "Red", 1), *ended("end_turn")], then="stall"))
    assert finish_of(await ask(provider, spec)).reason == "stop"


async def test_prices_are_known_for_its_models_and_nothing_is_paid_on_ones_own_machine(
    provider: AnthropicProvider, spec: ModelSpec
) -> None:
    usage = Usage(input_tokens=1000, output_tokens=1000)
    assert provider.cost(spec, usage) == 0.0
    own = ModelSpec(name="claude", provider="anthropic", model="claude-sonnet-4-5")
    assert provider.cost(own, usage) == pytest.approx(0.018)
    assert provider.cost(replace(own, model="claude-unheard-of"), usage) is None
    assert provider.endpoint(own) == "Anthropic"
    assert await provider.count_tokens(own, "Name a colour.") >= 4
