"""What the openai provider makes of answers: the real SDK against a server on loopback."""

import asyncio
from typing import Any

import pytest

from core.models import (
    Finish,
    Sent,
    TextDelta,
    Usage,
)
from core.providers.openai import OpenAIProvider
from tests.faults.openai_wire import ChatWire, sse
from tests.faults.server import FaultServer, Handler, status, stream
from tests.providers.openai_calls import (
    CHAT,
    RESPONSES,
    WIRES,
    collect,
    end,
    text,
    thoughts,
)


@WIRES
async def test_an_answer_streams_with_its_thoughts_and_what_it_used(
    wire: ChatWire, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(wire.answer("Cool it with salt.", thoughts="Salt melts."))
    chunks = await collect(wired, wire.spec(server))
    assert text(chunks) == "Cool it with salt."
    assert thoughts(chunks) == "Salt melts."
    assert len([chunk for chunk in chunks if isinstance(chunk, TextDelta)]) > 2
    finish = end(chunks)
    assert finish.reason == "stop"
    usage = finish.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens) == (11, 7, 4, 2)
    assert not usage.estimated
    assert 0 <= usage.seconds < 5


@WIRES
@pytest.mark.parametrize("reason", ["length", "refused"])
async def test_why_an_answer_ended_is_told(
    wire: ChatWire, reason: str, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(wire.answer("Cool it", reason=reason))
    assert end(await collect(wired, wire.spec(server))).reason == reason


@WIRES
async def test_usage_is_estimated_where_the_server_gives_none(
    wire: ChatWire, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(wire.answer("word " * 40, thoughts="thought " * 20, usage=False))
    usage = end(await collect(wired, wire.spec(server))).usage
    assert usage.estimated
    assert 70 < usage.output_tokens < 130
    assert 30 < usage.reasoning_tokens < usage.output_tokens
    assert 3 < usage.input_tokens < 12


async def test_thoughts_that_were_not_shown_count_as_time_of_generation(
    server: FaultServer, openai: OpenAIProvider
) -> None:
    parts = [sse(CHAT._chunk({"content": "Salt."})), *CHAT._end("stop", True)]
    server.say(slow(stream(parts), 0.08), slow(stream([sse(CHAT._chunk({"reasoning": "Hm."})), *parts]), 0.08))
    hidden = end(await collect(openai, CHAT.spec(server))).usage
    shown = end(await collect(openai, CHAT.spec(server))).usage
    assert hidden.reasoning_tokens == shown.reasoning_tokens == 2
    assert hidden.seconds > 0.08 > shown.seconds


def slow(handler: Handler, seconds: float) -> Handler:
    async def handle(request: Any) -> Any:
        await asyncio.sleep(seconds)
        return await handler(request)

    return handle


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_thoughts_are_found_by_either_name(field: str, server: FaultServer, openai: OpenAIProvider) -> None:
    parts = [sse(CHAT._chunk({field: "Hm.", "content": None})), sse(CHAT._chunk({"content": "Salt."}))]
    server.say(stream([b": OPENROUTER PROCESSING\n\n", *parts, *CHAT._end("stop", False)]))
    chunks = await collect(openai, CHAT.spec(server))
    assert (thoughts(chunks), text(chunks)) == ("Hm.", "Salt.")


async def test_thoughts_and_text_of_one_piece_are_told_apart(server: FaultServer, openai: OpenAIProvider) -> None:
    """As Mistral's reasoning models send them."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    parts = [sse(CHAT._chunk({"content": content})) for content in ([thought], [{"type": "text", "text": "Salt"}], ".")]
    server.say(stream([*parts, *CHAT._end("stop", False)]))
    chunks = await collect(openai, CHAT.spec(server))
    assert (thoughts(chunks), text(chunks)) == ("Hm.", "Salt.")


async def test_the_parts_of_a_summary_stand_apart(server: FaultServer, openai: OpenAIProvider) -> None:
    events: list[dict[str, Any]] = []
    for number, words in enumerate(("First.", "Second.")):
        events.append({"type": "response.reasoning_summary_part.added", "summary_index": number})
        events.append({"type": "response.reasoning_summary_text.delta", "delta": words})
    server.say(stream([*(sse(event, event["type"]) for event in events), *_completed("Salt.")]))
    assert thoughts(await collect(openai, RESPONSES.spec(server))) == "First.\n\nSecond."


def _completed(words: str) -> list[bytes]:
    return [sse(event, event["type"]) for event in RESPONSES._last(words, "stop", True)]


async def test_thoughts_left_out_of_the_output_are_counted_in(server: FaultServer, openai: OpenAIProvider) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 315}
    usage_chunk = {"choices": [], "usage": {**usage, "completion_tokens_details": {"reasoning_tokens": 300}}}
    server.say(stream([sse(CHAT._chunk({"content": "Salt."}, "stop")), sse(usage_chunk), b"data: [DONE]\n\n"]))
    used = end(await collect(openai, CHAT.spec(server))).usage
    assert (used.output_tokens, used.reasoning_tokens) == (305, 300)


async def test_an_odd_count_loses_no_answer(server: FaultServer, openai: OpenAIProvider) -> None:
    usage_chunk = {"choices": [], "usage": {"prompt_tokens": "many", "completion_tokens": None}}
    server.say(stream([sse(CHAT._chunk({"content": "Salt."}, "stop")), sse(usage_chunk), b"data: [DONE]\n\n"]))
    chunks = await collect(openai, CHAT.spec(server))
    assert text(chunks) == "Salt."
    assert end(chunks).usage.estimated


async def test_an_answer_cut_by_its_cap_is_truncated_though_the_server_calls_it_complete(
    server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(RESPONSES.answer("one two three"))
    assert end(await collect(openai, RESPONSES.spec(server, max_tokens=7))).reason == "length"


async def test_text_from_the_server_is_clean(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(CHAT.answer("\x1b[2Jred\u202e", thoughts="\x07hm", pieces=1))
    chunks = await collect(openai, CHAT.spec(server))
    assert (text(chunks), thoughts(chunks)) == ("[2Jred", "hm")


async def test_a_refusal_of_the_models_own_is_refused_in_its_words(server: FaultServer, openai: OpenAIProvider) -> None:
    parts = [sse(CHAT._chunk({"refusal": "I can't "})), sse(CHAT._chunk({"refusal": "help."}))]
    server.say(stream([*parts, *CHAT._end("stop", True)]), RESPONSES.refusal("I can't help."))
    for spec in (CHAT.spec(server), RESPONSES.spec(server)):
        chunks = await collect(openai, spec)
        assert text(chunks) == "I can't help."
        assert end(chunks).reason == "refused"
        assert end(chunks).usage.output_tokens == 7


@WIRES
async def test_a_filters_400_is_a_refusal_after_one_call(
    wire: ChatWire, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(wire.filtered())
    chunks = await collect(wired, wire.spec(server))
    assert isinstance(chunks[0], Sent)
    assert chunks[1:] == [Finish("refused", Usage())]
    assert len(server.requests) == 1


FLAGGED = {"error": {"code": 403, "message": "Your input was flagged for violence", "metadata": {"reasons": ["x"]}}}
INVALID = {"error": {"message": "Your prompt was flagged as violating our usage policy.", "code": "invalid_prompt"}}


@pytest.mark.parametrize(("code", "body"), [(403, FLAGGED), (400, INVALID)])
async def test_other_houses_filters_are_known(
    code: int, body: dict[str, Any], server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(status(code, body))
    assert end(await collect(openai, CHAT.spec(server))).reason == "refused"
