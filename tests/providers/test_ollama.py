"""Ollama's SDK against a server on loopback that speaks Ollama's API: what comes of each answer."""

import asyncio
import socket
from contextlib import aclosing
from typing import Any

import pytest

from core.models import (
    Finish,
    ModelSpec,
    Sent,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.providers.ollama import OllamaProvider
from tests.faults.ollama_wire import MODEL, line, missing
from tests.faults.server import FaultServer, html, reset, status, stream
from tests.providers.ollama_calls import (
    PROMPT,
    WIRE,
    chunks_of,
    failure_of,
    finish_of,
    provider,
    server,
    text_of,
)

__all__ = ["provider", "server"]


async def test_text_and_thoughts_come_as_they_are_written_and_then_what_was_used(
    server: FaultServer, provider: OllamaProvider
) -> None:
    server.say(WIRE.answer("a shade of blue", thoughts="hm"))
    chunks = await chunks_of(provider, WIRE.spec(server))
    assert isinstance(chunks[0], Sent)
    assert chunks[1] == ThoughtDelta("hm")
    assert len([chunk for chunk in chunks if isinstance(chunk, TextDelta)]) == 4
    assert text_of(chunks) == "a shade of blue"
    assert finish_of(chunks) == Finish(
        "stop", Usage(input_tokens=11, output_tokens=7, reasoning_tokens=1, seconds=0.25)
    )


async def test_an_answer_that_reaches_its_longest_ends_by_length(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("a shade", reason="length"))
    assert finish_of(await chunks_of(provider, WIRE.spec(server))).reason == "length"


async def test_without_counts_the_usage_is_estimated_and_says_so(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("a shade of blue!", usage=False))
    usage = finish_of(await chunks_of(provider, WIRE.spec(server))).usage
    assert usage.estimated
    assert usage.output_tokens in (4, 5)
    assert usage.input_tokens > 0


@pytest.mark.parametrize("reason", ["load", "unload"])
async def test_a_model_that_was_only_loaded_has_not_answered(
    server: FaultServer, provider: OllamaProvider, reason: str
) -> None:
    server.say(stream([line({"message": {"content": ""}, "done": True, "done_reason": reason})]))
    assert (await failure_of(provider, WIRE.spec(server))).kind == "unreadable"


@pytest.mark.parametrize("then", ["end", "cut", "garbage"])
async def test_a_stream_without_its_end_is_no_answer(server: FaultServer, provider: OllamaProvider, then: str) -> None:
    server.say(WIRE.broken("a shade of blue", then))
    error = await failure_of(provider, WIRE.spec(server))
    assert error.kind == "unreadable"
    assert "127.0.0.1" in str(error)


@pytest.mark.parametrize("odd", ["é–🙂", "a\u2028b\x85c"])
async def test_characters_arrive_whole_wherever_the_bytes_are_cut(
    server: FaultServer, provider: OllamaProvider, odd: str
) -> None:
    server.say(WIRE.split_inside_a_character(f"sign {odd}"))
    text = text_of(await chunks_of(provider, WIRE.spec(server)))
    assert text == f"sign {odd}".replace("\u2028", "\n").replace("\x85", "\n")


async def test_bytes_that_are_no_text_are_not_mended_in_silence(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(stream([b'{"message": {"content": "bl\xffe"}, "done": false}\n', line({"done": True})]))
    assert (await failure_of(provider, WIRE.spec(server))).kind == "unreadable"


async def test_an_error_inside_the_stream_ends_it(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(stream([line({"message": {"content": "a"}, "done": False}), line({"error": "CUDA error: no memory"})]))
    error = await failure_of(provider, WIRE.spec(server))
    assert error.kind == "server"
    assert "CUDA error: no memory" in str(error)


async def test_control_characters_go(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("red\x1b]52;c;eA==\x07\u202e", pieces=1))
    assert text_of(await chunks_of(provider, WIRE.spec(server))) == "red]52;c;eA=="


async def test_closing_the_stream_hangs_up(server: FaultServer, provider: OllamaProvider) -> None:
    endless = [line({"message": {"content": "la "}, "done": False})] * 3000
    server.say(stream(endless, pause=0.005))
    async with aclosing(provider.stream(WIRE.spec(server), PROMPT, 7)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                break
    for _ in range(200):
        if server.under_way:
            await asyncio.sleep(0.01)
    assert not server.under_way


async def test_a_model_that_was_not_pulled(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(missing())
    error = await failure_of(provider, WIRE.spec(server))
    assert error.kind == "missing"
    assert f"jagstorm models pull ollama/{MODEL}" in str(error)


@pytest.mark.parametrize(
    "answer", [html(), status(404, "404 page not found"), status(405, "no"), status(404, "<html>")]
)
async def test_something_else_at_that_address(server: FaultServer, provider: OllamaProvider, answer: Any) -> None:
    server.say(answer)
    error = await failure_of(provider, WIRE.spec(server))
    assert error.kind == "address"
    assert "11434" in str(error)


@pytest.mark.parametrize(
    ("said", "parameter"),
    [
        ('"tiny" does not support thinking', "think"),
        ('invalid think value: "x" (must be "high", "medium", "low", true, or false)', "think"),
        ("json: cannot unmarshal object into Go struct field ChatRequest.format of type string", "format"),
        ('option "repeat_penalty" must be of type float32', "repeat_penalty"),
    ],
)
async def test_a_parameter_that_is_not_taken_is_named(
    server: FaultServer, provider: OllamaProvider, said: str, parameter: str
) -> None:
    server.say(WIRE.error(400, said))
    error = await failure_of(provider, WIRE.spec(server))
    assert (error.kind, error.parameter) == ("parameter", parameter)


@pytest.mark.parametrize(
    ("code", "kind"), [(401, "denied"), (403, "denied"), (429, "limited"), (500, "server"), (503, "server")]
)
async def test_an_error_status(server: FaultServer, provider: OllamaProvider, code: int, kind: str) -> None:
    server.say(WIRE.error(code, "server busy", headers={"Retry-After": "7"}))
    error = await failure_of(provider, WIRE.spec(server))
    assert error.kind == kind
    assert error.retry_after == (7 if code in (429, 500, 503) else None)


async def test_a_content_filter_in_front_of_it_refuses(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.filtered())
    chunks = await chunks_of(provider, WIRE.spec(server))
    assert isinstance(chunks[0], Sent)
    assert finish_of(chunks).reason == "refused"


async def test_a_connection_that_is_reset(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(reset())
    assert (await failure_of(provider, WIRE.spec(server))).kind == "connection"


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}", "http://no-such-host.invalid:{port}"])
async def test_nobody_there(provider: OllamaProvider, address: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        spec = ModelSpec(
            name="tiny", provider="ollama", model=MODEL, base_url=address.format(port=taken.getsockname()[1])
        )
        error = await failure_of(provider, spec)
    assert error.kind == "connection"
    assert "ollama serve" in str(error)


async def test_no_tls_there(server: FaultServer, provider: OllamaProvider) -> None:
    spec = ModelSpec(name="tiny", provider="ollama", model=MODEL, base_url=server.url.replace("http", "https"))
    assert (await failure_of(provider, spec)).kind == "connection"


async def test_an_address_that_is_none(provider: OllamaProvider) -> None:
    error = await failure_of(
        provider, ModelSpec(name="tiny", provider="ollama", model=MODEL, base_url="http://gpu07:many")
    )
    assert error.kind == "address"
    assert "port" in str(error)
