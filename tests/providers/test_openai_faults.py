"""What goes wrong at OpenAI and at those that follow it, each in its own words."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from core.errors import ModelUnavailableError
from core.models import (
    ModelSpec,
    TextDelta,
)
from core.providers.access import access_to
from core.providers.openai import OpenAIProvider
from tests.faults.openai_wire import ChatWire, sse
from tests.faults.server import FaultServer, Handler, html, reset, status, stream
from tests.providers.openai_calls import (
    CHAT,
    PROMPT,
    RESPONSES,
    WIRES,
    collect,
    end,
    failure,
    text,
)


@pytest.mark.parametrize(
    ("code", "body", "kind", "words"),
    [
        (401, {"error": {"message": "Incorrect API key provided"}}, "denied", "does not accept the key"),
        (400, [{"error": {"code": 400, "message": "API key not valid."}}], "denied", "does not accept the key"),
        (403, {"error": {"message": "Project has no access"}}, "denied", "does not let this key use test-model"),
        (
            404,
            {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}},
            "missing",
            "has no model",
        ),
        (404, {"error": {"message": "No endpoints found for test-model.", "code": 404}}, "missing", "has no model"),
        (400, {"error": {"message": "test-model is not a valid model ID"}}, "missing", "has no model"),
        (501, {"error": {"message": "Start it with `--embeddings`"}}, "request", "can't do this"),
        (404, {"detail": "Not Found"}, "address", "no such path (Not Found): check base_url"),
        (404, {"error": {"message": "Invalid URL (POST /v1/models/x)"}}, "address", "no such path"),
        (405, {"detail": "Method Not Allowed"}, "address", "no such path"),
        (404, "<html><head><title>404</title></head></html>", "address", "check base_url"),
        (402, {"error": {"message": "Insufficient credits", "code": 402}}, "quota", "paid"),
        (
            429,
            {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
            "quota",
            "nothing left",
        ),
        (502, "<html><body>502 Bad Gateway</body></html>", "server", "failed (status 502)"),
        (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}, "address", "check base_url"),
        (200, {"status": "ok"}, "address", "check base_url"),
        (200, "pong", "address", "check base_url"),
        (200, {"error": {"message": "Overloaded", "code": 529}}, "server", "overloaded"),
    ],
)
async def test_an_answer_that_is_none_says_what_to_do(
    code: int, body: Any, kind: str, words: str, server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(status(code, body))
    failed = await failure(openai, CHAT.spec(server))
    assert failed.kind == kind
    assert words in str(failed)
    assert f"127.0.0.1:{server.port}" in str(failed)
    assert "<html" not in str(failed)
    assert len(server.requests) == 1


@WIRES
async def test_html_in_place_of_a_stream_is_a_wrong_address(
    wire: ChatWire, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(html())
    assert (await failure(wired, wire.spec(server))).kind == "address"


async def test_a_server_that_sends_elsewhere_is_not_followed(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(status(307, "", {"Location": "https://elsewhere.invalid/v1/chat/completions"}))
    failed = await failure(openai, CHAT.spec(server))
    assert failed.kind == "address"
    assert "https://elsewhere.invalid" in str(failed)


async def test_asked_too_often_tells_when_to_come_again(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(CHAT.error(429, "Rate limit reached", code="rate_limit_exceeded", headers={"Retry-After": "7"}))
    failed = await failure(openai, CHAT.spec(server))
    assert (failed.kind, failed.retry_after) == ("limited", 7)


@WIRES
@pytest.mark.parametrize("then", ["end", "cut", "garbage"])
async def test_a_stream_that_breaks_off_is_unreadable(
    wire: ChatWire, then: str, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(wire.broken("half an idea", then))
    assert (await failure(wired, wire.spec(server))).kind == "unreadable"


@pytest.mark.parametrize("odd", [b"data: 5\n\n", b'data: {"choices": 7}\n\n', b"data: " + b"[" * 200_000 + b"\n\n"])
async def test_a_stream_of_something_else_is_unreadable(
    odd: bytes, server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(stream([odd]), stream([odd]))
    assert (await failure(openai, CHAT.spec(server))).kind == "unreadable"
    assert (await failure(openai, RESPONSES.spec(server))).kind == "unreadable"


@WIRES
async def test_a_character_in_two_pieces_arrives_whole(
    wire: ChatWire, server: FaultServer, wired: OpenAIProvider
) -> None:
    server.say(wire.split_inside_a_character("žluťoučký 🧪"))
    assert text(await collect(wired, wire.spec(server))) == "žluťoučký 🧪"


async def test_a_line_separator_inside_a_text_ends_no_line(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(CHAT.answer("one\u2028two\x85three", pieces=1))
    assert text(await collect(openai, CHAT.spec(server))) == "one\ntwo\nthree"


async def test_a_stream_cut_after_its_end_is_whole(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(stream([*CHAT._begin("Salt."), sse(CHAT._chunk({}, "stop"))], then="cut"))
    chunks = await collect(openai, CHAT.spec(server))
    assert text(chunks) == "Salt."
    assert end(chunks).usage.estimated


async def test_a_connection_left_open_after_the_end_is_not_waited_for(
    server: FaultServer, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.say(stream([*CHAT._begin("Salt."), *CHAT._end("stop", True)], then="stall"))
    async with asyncio.timeout(5):
        spec = CHAT.spec(server)
        await openai._client(access_to(spec), spec)
        monkeypatch.setattr("core.providers.wire.openai_client.DRAIN_SECONDS", 0.05)
        assert text(await collect(openai, spec)) == "Salt."


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        ("rate_limit_exceeded", "slow down", "limited"),
        (429, "slow down", "limited"),
        ("server_error", "provider disconnected", "server"),
        (502, "provider disconnected", "server"),
        ("insufficient_quota", "nothing left", "quota"),
        ("context_length_exceeded", "too long", "context"),
    ],
)
@pytest.mark.parametrize("wire", [CHAT, RESPONSES], ids=lambda wire: wire.name)
async def test_an_error_in_the_midst_of_a_stream_is_what_its_code_says(
    wire: ChatWire, code: str | int, message: str, kind: str, server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(wire.error_in_the_stream("half", code, message))
    failed = await failure(openai, wire.spec(server))
    assert failed.kind == kind


@pytest.mark.parametrize("event", [{"code": "server_error", "message": "oops"}, {"error": {"message": "oops"}}])
async def test_an_error_event_is_a_failure(event: dict[str, Any], server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(stream([sse({"type": "error", **event}, "error")]))
    failed = await failure(openai, RESPONSES.spec(server))
    assert failed.kind == "server"
    assert "oops" in str(failed)


async def test_a_prompt_refused_in_the_midst_of_a_stream_is_refused(
    server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(RESPONSES.error_in_the_stream("", "invalid_prompt", "against the rules"))
    assert end(await collect(openai, RESPONSES.spec(server))).reason == "refused"


@pytest.mark.parametrize("word", ["error", "insufficient_system_resource"])
async def test_an_answer_that_ended_in_an_error_is_none(word: str, server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(stream([*CHAT._begin("half"), *CHAT._end(word, True)]))
    assert (await failure(openai, CHAT.spec(server))).kind == "server"


async def test_nobody_there_is_told_from_something_wrong_there(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(reset())
    spec = CHAT.spec(server)
    assert (await failure(openai, spec)).kind == "connection"
    tls = CHAT.spec(server, base_url=server.url.replace("http", "https") + "/v1")
    failed = await failure(openai, tls)
    assert failed.kind == "connection"
    assert "SSL" in str(failed)
    await server.stop()
    assert (await failure(openai, spec)).kind == "connection"
    nowhere = CHAT.spec(server, base_url="http://no-such-host.invalid/v1")
    failed = await failure(openai, nowhere)
    assert failed.kind == "connection"
    assert "no-such-host.invalid" in str(failed)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "http://", "ftp://x/v1", "http://[::1/v1", "http://x:abc/v1"])
async def test_an_address_that_is_none_is_told_before_anything_is_sent(url: str, openai: OpenAIProvider) -> None:
    spec = ModelSpec(name="x", provider="openai", model="m", base_url=url)
    with pytest.raises(ModelUnavailableError, match="http"):
        await openai.prepare(spec)
    assert (await failure(openai, spec)).kind == "address"
    assert openai.endpoint(spec)


async def test_closing_a_stream_hangs_up(server: FaultServer, openai: OpenAIProvider) -> None:
    server.say(CHAT.broken("endless", "stall"))
    async with aclosing(openai.stream(CHAT.spec(server), PROMPT, 1)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                break
    for _ in range(100):
        if not server.under_way:
            break
        await asyncio.sleep(0.01)
    assert server.under_way == 0


async def test_calls_one_after_the_other_use_one_connection(server: FaultServer, openai: OpenAIProvider) -> None:
    ports: set[int] = set()

    def noted(handler: Handler) -> Handler:
        async def handle(request: Any) -> Any:
            ports.add(request.transport.get_extra_info("peername")[1])
            return await handler(request)

        return handle

    wires = (CHAT, RESPONSES, CHAT)
    server.say(*(noted(wire.answer("Salt.")) for wire in wires))
    for wire in wires:
        await collect(openai, wire.spec(server))
    assert len(ports) == 1
