"""What the openai provider sends, and what it embeds."""

import json
import math

import pytest

from core.models import (
    CallFailedError,
    ModelSpec,
    Prompt,
    Usage,
)
from core.providers.openai import OpenAIProvider
from tests.faults.openai_wire import ChatWire, embeddings
from tests.faults.server import FaultServer, status, stream
from tests.providers.openai_calls import CHAT, PROMPT, RESPONSES, SCHEMA, WIRES, all_set, collect, embedder, end, sent


async def test_a_compatible_server_gets_the_chat_dialect_that_all_speak(
    server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(CHAT.answer("Salt."))
    spec = CHAT.spec(server, api="", temperature=0.7, top_p=0.9, max_tokens=300, effort="low")
    chunks = await collect(openai, spec, Prompt(messages=PROMPT.messages, stop=("\n\n",)), seed=2**40 + 5)
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.json == {
        "model": "test-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "One idea?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 300,
        "temperature": 0.7,
        "top_p": 0.9,
        "stop": ["\n\n"],
        "seed": 5,
        "reasoning_effort": "low",
    }
    assert sent(chunks) == {
        "stream_options.include_usage": True,
        "max_tokens": 300,
        "temperature": 0.7,
        "top_p": 0.9,
        "stop": '["\\n\\n"]',
        "seed": 5,
        "reasoning_effort": "low",
    }


async def test_what_is_not_set_is_left_to_the_server(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(CHAT.answer("Salt."))
    await collect(openai, CHAT.spec(server))
    assert set(server.requests[0].json) == {"model", "messages", "stream", "stream_options", "max_tokens", "seed"}


async def test_a_response_is_asked_for_without_storage(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(RESPONSES.answer("Salt."))
    chunks = await collect(openai, RESPONSES.spec(server, temperature=0.7, effort="high", max_tokens=400))
    [request] = server.requests
    assert request.path == "/v1/responses"
    assert request.json == {
        "model": "test-model",
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "One idea?"}],
        "stream": True,
        "max_output_tokens": 400,
        "temperature": 0.7,
        "store": False,
        "reasoning": {"effort": "high", "summary": "auto"},
    }
    assert sent(chunks) == {
        "max_output_tokens": 400,
        "temperature": 0.7,
        "store": False,
        "reasoning.effort": "high",
        "reasoning.summary": "auto",
    }


async def test_an_answer_is_held_to_a_schema(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(CHAT.answer('{"score":7}'), RESPONSES.answer('{"score":7}'))
    asked = Prompt(messages=PROMPT.messages, json_schema=SCHEMA)
    chat = await collect(openai, CHAT.spec(server), asked)
    responses = await collect(openai, RESPONSES.spec(server), asked)
    named = {"name": "answer", "strict": True, "schema": json.loads(SCHEMA)}
    assert server.requests[0].json["response_format"] == {"type": "json_schema", "json_schema": named}
    assert server.requests[1].json["text"] == {"format": {"type": "json_schema", **named}}
    assert sent(chat)["response_format"] == sent(responses)["text.format"] == "json_schema"


@pytest.mark.parametrize("refused", ["temperature", "top_p", "seed", "stop", "reasoning_effort", "response_format"])
async def test_what_a_model_refuses_is_left_out(refused: str, server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(CHAT.answer("Salt."))
    prompt = Prompt(messages=PROMPT.messages, stop=("\n",), json_schema=SCHEMA)
    chunks = await collect(openai, CHAT.spec(server, **all_set(refused)), prompt)
    assert refused not in server.requests[0].json
    assert refused not in sent(chunks)
    assert {"temperature", "seed"} - {refused} <= set(server.requests[0].json)


@pytest.mark.parametrize(
    ("refuses", "name"),
    [
        ((), "max_tokens"),
        (("max_tokens",), "max_completion_tokens"),
        (("max_completion_tokens",), "max_tokens"),
        (("max_tokens", "max_completion_tokens"), ""),
    ],
)
async def test_a_refused_name_of_the_cap_is_changed_for_the_other(
    refuses: tuple[str, ...], name: str, server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(CHAT.answer("Salt."))
    await collect(openai, CHAT.spec(server, refuses=refuses))
    caps = {"max_tokens", "max_completion_tokens"} & set(server.requests[0].json)
    assert caps == ({name} if name else set())


async def test_refused_options_of_a_response_are_left_out_one_by_one(
    server: FaultServer, openai: OpenAIProvider
) -> None:
    server.otherwise = RESPONSES.answer("Salt.")
    prompt = Prompt(messages=PROMPT.messages, json_schema=SCHEMA)
    refused = ("reasoning.summary", "reasoning.effort", "text.format", "store", "max_output_tokens", "temperature")
    for name in refused:
        assert name not in sent(await collect(openai, RESPONSES.spec(server, **all_set(name)), prompt))
    assert server.requests[0].json["reasoning"] == {"effort": "low"}
    assert "reasoning" not in server.requests[1].json
    assert "text" not in server.requests[2].json


@WIRES
async def test_a_model_without_a_system_role_is_told_in_the_first_message(
    wire: ChatWire, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(wire.answer("Salt."))
    await collect(wired, wire.spec(server, refuses=("system",)))
    body = server.requests[0].json
    assert (body.get("messages") or body["input"]) == [{"role": "user", "content": "Be brief.\n\nOne idea?"}]


async def test_without_usage_in_the_stream_it_is_left_out_and_estimated(
    server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(CHAT.answer("Salt.", usage=False))
    chunks = await collect(openai, CHAT.spec(server, refuses=("stream_options.include_usage",)))
    assert "stream_options" not in server.requests[0].json
    assert end(chunks).usage.estimated


async def test_texts_become_vectors_in_their_order(server: FaultServer, openai: OpenAIProvider) -> None:
    rows = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1.5, 0.0]}]
    server.say(status(200, {"data": rows, "usage": {"prompt_tokens": 9}}))
    vectors = await openai.embed(embedder(server, dims=2), ["first", "second"])
    assert vectors.rows == [[1.5, 0.0], [0.0, 1.0]]
    assert vectors.usage == Usage(input_tokens=9)
    [request] = server.requests
    assert request.path == "/v1/embeddings"
    assert request.json == {"model": "test-embedder", "input": ["first", "second"], "encoding_format": "float"}


async def test_only_models_that_shorten_vectors_are_asked_to(server: FaultServer, openai: OpenAIProvider) -> None:
    server.otherwise = embeddings([[1.0]], usage=False)
    vectors = await openai.embed(embedder(server, model="text-embedding-3-large", dims=256), ["x"])
    await openai.embed(embedder(server, model="text-embedding-3-large"), ["x"])
    assert server.requests[0].json["dimensions"] == 256
    assert "dimensions" not in server.requests[1].json
    assert vectors.usage.estimated


async def test_what_is_no_number_comes_as_nan(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(stream([b'{"data": [{"embedding": [NaN, null, Infinity, 1]}]}'], content_type="application/json"))
    [row] = (await openai.embed(embedder(server), ["x"])).rows
    assert math.isnan(row[0])
    assert math.isnan(row[1])
    assert row[2:] == [math.inf, 1.0]


async def test_a_failure_that_comes_as_success_is_one(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(status(200, {"error": {"message": "down", "code": 503}}))
    with pytest.raises(CallFailedError) as failed:
        await openai.embed(embedder(server), ["x"])
    assert failed.value.kind == "server"


async def test_what_runs_on_machines_of_ones_own_costs_nothing(openai: OpenAIProvider) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    price = {
        url: openai.cost(ModelSpec(name="x", provider="openai", model=model, base_url=url), usage)
        for url, model in (("http://127.0.0.1:8000/v1", "m"), ("", "gpt-4o"), ("https://some.where.net/v1", "no-such"))
    }
    assert price["http://127.0.0.1:8000/v1"] == 0.0
    assert price[""] == pytest.approx(12.5, rel=0.5)
    assert price["https://some.where.net/v1"] is None
