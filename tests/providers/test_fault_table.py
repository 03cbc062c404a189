"""One table of faults, and every provider held to it: a real SDK, a real server that goes wrong, the call layer.

Time stands still and goes on when somebody waits for it, so that no test waits for a retry.
"""

import asyncio
import math
from collections.abc import AsyncGenerator

import pytest
from aiohttp import web

from core.models import EmbedderSpec, Message, ModelSpec, Prompt
from core.providers.calls import Call, Caller, Persistence
from tests.clocks import HeldClock, finished
from tests.faults.anthropic_wire import AnthropicWire
from tests.faults.bedrock_wire import BedrockWire
from tests.faults.ollama_wire import OllamaWire, loaded
from tests.faults.openai_wire import AzureWire, ChatWire, ResponsesWire, embeddings
from tests.faults.server import FaultServer, Handler, Recorded, html, reset, status
from tests.faults.wire import Wire

WIRES: tuple[Wire, ...] = (
    ChatWire(),
    ResponsesWire(),
    AzureWire(),
    AnthropicWire(),
    BedrockWire(),
    OllamaWire(),
)

PROMPT = Prompt(messages=(Message("system", "You are a scientist."), Message("user", "How would one hear ice crack?")))

SECRET = "sk-planted-31415926535897932384"


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Wire:
    """One provider, with keys in the environment for those that need one."""
    for name in ("AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "THE_KEY"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAPLANTED123456789")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    wire: Wire = request.param
    return wire


@pytest.fixture
async def server() -> AsyncGenerator[FaultServer, None]:
    async with FaultServer() as server:
        server.route("/api/ps", loaded(8192))
        yield server


class Asked:
    """A call that was made to its end, and the requests that it took."""

    def __init__(self, call: Call, outcome: str, requests: list[Recorded], told: list[tuple[str, float]]) -> None:
        self.call = call
        self.outcome = outcome
        self.requests = requests
        self.retries = [why for why, _ in told]
        self.waits = [seconds for _, seconds in told]


async def ask(wire: Wire, server: FaultServer, *handlers: Handler, **settings: object) -> Asked:
    """Let the server answer so, request by request; what comes after the last is answered as the last was."""
    server.say(*handlers)
    if handlers:
        server.otherwise = handlers[-1]
    return await asked(wire, server, wire.spec(server, **settings))


async def asked(wire: Wire, server: FaultServer, spec: ModelSpec) -> Asked:
    provider = wire.provider()
    clock = HeldClock()
    retries: list[tuple[str, float]] = []
    caller = Caller(lambda _: provider, clock, Persistence(first_token=20.0, next_token=0.2))
    call = Call(caller, spec, PROMPT, on_retry=lambda *retry: retries.append(retry))
    try:
        running = asyncio.create_task(call.run())
        await finished(running, clock)
        return Asked(call, running.result(), chats(server), retries)
    finally:
        await provider.close()


def chats(server: FaultServer) -> list[Recorded]:
    """Requests for an answer, without those that only look."""
    return [request for request in server.requests if request.method == "POST"]


def fine(wire: Wire) -> Handler:
    return wire.answer("Listen to the ice.")


# ── as it should be ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_answer_comes_whole_with_its_usage_and_what_was_sent(wire: Wire, server: FaultServer) -> None:
    told = await ask(wire, server, wire.answer("Listen — to the ice.", thoughts="Shall I?"), temperature=0.5)
    assert (told.outcome, told.call.text) == ("ok", "Listen — to the ice.")
    assert told.call.thoughts == "Shall I?"
    assert (told.call.usage.input_tokens, told.call.usage.output_tokens) == (11, 7)
    assert not told.call.usage.estimated
    assert any("temperature" in name and value == 0.5 for name, value in told.call.parameters.items())
    assert len(told.requests) == 1


# ── what may be gone at the next try ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_a_server_that_fails_is_asked_four_times(wire: Wire, server: FaultServer, status: int) -> None:
    told = await ask(wire, server, wire.error(status, "try again later"))
    assert (told.outcome, told.call.kind) == ("failed", "server")
    assert len(told.requests) == 4, "three retries are exactly four requests: no SDK adds its own"
    assert_one_line(told, server)


async def test_a_connection_that_is_reset_is_tried_again(wire: Wire, server: FaultServer) -> None:
    told = await ask(wire, server, reset(), fine(wire))
    assert (told.outcome, told.call.text) == ("ok", "Listen to the ice.")
    assert len(told.requests) == 2


async def test_a_server_that_is_not_there_is_said_with_its_name(wire: Wire, server: FaultServer) -> None:
    spec = wire.spec(server)
    await server.stop()
    told = await asked(wire, server, spec)
    assert (told.outcome, told.call.kind) == ("failed", "connection")
    assert len(told.retries) == 3
    assert_one_line(told, server)


@pytest.mark.parametrize("address", ["http://no-such-host.invalid", "https://127.0.0.1:{port}"], ids=["DNS", "TLS"])
async def test_no_name_and_no_tls_are_said_too(wire: Wire, server: FaultServer, address: str) -> None:
    spec = wire.spec(server)
    base_url = spec.base_url.replace(server.url, address.format(port=server.port))
    told = await asked(wire, server, wire.spec(server, base_url=base_url))
    assert (told.outcome, told.call.kind) == ("failed", "connection")
    assert len(told.retries) == 3
    assert "\n" not in told.call.message


async def test_429_holds_everybody_for_as_long_as_it_says(wire: Wire, server: FaultServer) -> None:
    """Fifty calls under way, all told to come again in seven seconds."""
    clock = HeldClock()
    provider = wire.provider()
    caller = Caller(lambda _: provider, clock, Persistence(first_token=20.0))
    spec = wire.spec(server, concurrency=50)
    server.say(*[wire.error(429, "slow down", code="rate_limit_exceeded", headers={"Retry-After": "7"})] * 50)
    server.otherwise = fine(wire)
    try:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(Call(caller, spec, PROMPT).run()) for _ in range(50)]
            await clock.asleep(50)
            assert caller.endpoint(spec).limit == 25, "cut once"
            await clock.advance(6.9)
            await asyncio.sleep(0.1)
            assert len(chats(server)) == 50, "nobody asks before its time"
            await clock.advance(30)
    finally:
        await provider.close()
    assert {call.result() for call in calls} == {"ok"}
    assert caller.endpoint(spec).limit > 25, "and it climbs back"


async def test_429_that_says_when_in_words_alone_is_a_limit_and_no_empty_account(
    wire: Wire, server: FaultServer
) -> None:
    words = "You exceeded your current quota, please check your plan and billing details. Please retry in 27.6s."
    told = await ask(wire, server, wire.error(429, words), fine(wire))
    assert told.outcome == "ok"
    assert told.waits == [27.6]


async def test_429_that_says_when_beside_its_words(server: FaultServer) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "27s"}]
    error = {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": details}
    told = await ask(ChatWire(), server, status(429, {"error": error}), fine(ChatWire()))
    assert told.outcome == "ok"
    assert told.waits == [27.0]


@pytest.mark.parametrize("then", ["cut", "end", "stall", "garbage"])
async def test_a_stream_that_breaks_off_is_forgotten_counted_and_asked_for_again(
    wire: Wire, server: FaultServer, then: str
) -> None:
    told = await ask(wire, server, wire.broken("Twenty tokens of nothing in particular, " * 4, then), fine(wire))
    assert (told.outcome, told.call.text) == ("ok", "Listen to the ice.")
    assert len(told.requests) == 2
    assert told.call.usage.output_tokens > 7
    assert told.call.usage.estimated


async def test_a_chunk_cut_inside_a_character_is_no_fault(wire: Wire, server: FaultServer) -> None:
    told = await ask(wire, server, wire.split_inside_a_character("Höre dem Eis zu — 氷を聞く."))
    assert (told.outcome, told.call.text) == ("ok", "Höre dem Eis zu — 氷を聞く.")


# ── what stays until somebody does something ──────────────────────────────────────────────────────────────────────────


async def test_no_key_no_right_no_model_and_a_wrong_address_are_four_different_messages(
    wire: Wire, server: FaultServer
) -> None:
    messages = {}
    for name, handler in {
        "401": wire.error(401, "invalid key"),
        "403": wire.error(403, "not yours"),
        "404": wire.error(404, "model not found", code="model_not_found"),
        "html": html(),
    }.items():
        server.requests.clear()
        told = await ask(wire, server, handler)
        assert told.outcome == "failed"
        assert len(told.requests) == 1, f"{name} is not tried again"
        assert_one_line(told, server)
        messages[name] = (told.call.kind, told.call.message)
        server._script.clear()
    assert [kind for kind, _ in messages.values()] == ["denied", "denied", "missing", "address"]
    assert len({message for _, message in messages.values()}) == 4


# ── refusals ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_content_filter_is_a_refusal_after_one_call(wire: Wire, server: FaultServer) -> None:
    told = await ask(wire, server, wire.filtered())
    assert told.outcome == "refused"
    assert len(told.requests) == 1


async def test_so_is_an_answer_that_ends_as_refused(wire: Wire, server: FaultServer) -> None:
    if wire.name == "ollama":
        pytest.skip("Ollama has no word for it")
    told = await ask(wire, server, wire.answer("I can", reason="refused"))
    assert told.outcome == "refused"
    assert len(told.requests) == 1


# ── room and thoughts ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_empty_answer_at_its_length_gets_one_more_try_with_a_larger_cap(
    wire: Wire, server: FaultServer
) -> None:
    told = await ask(wire, server, wire.answer("", thoughts="hm " * 30, reason="length"), max_tokens=100, context=9999)
    assert told.outcome == "truncated"
    assert [limit_in(request.json) for request in told.requests] == [100, 400]


@pytest.mark.parametrize(
    ("said", "outcome", "text"),
    [
        ("<think>draft</think>Listen.", "ok", "Listen."),
        ("<think><answer>draft</answer></think>Listen.", "ok", "Listen."),
        ("a draft</think>Listen.", "ok", "Listen."),
        ("<think>a draft without an end <answer>draft</answer>", "truncated", ""),
    ],
)
async def test_a_draft_is_never_an_answer(wire: Wire, server: FaultServer, said: str, outcome: str, text: str) -> None:
    told = await ask(wire, server, wire.answer(said, pieces=9))
    assert (told.outcome, told.call.text) == (outcome, text)
    assert "draft" in told.call.thoughts


# ── parameters ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_parameter_that_is_not_taken_is_left_out_once_and_for_all(wire: Wire, server: FaultServer) -> None:
    name = {"ollama": "think"}.get(wire.name, "temperature")
    settings: dict[str, object] = {"temperature": 0.5, "effort": "high" if name == "think" else ""}
    told = await ask(wire, server, wire.unsupported(name), fine(wire), **settings)
    assert told.outcome == "ok"
    assert [holds(request.json, name) for request in told.requests] == [True, False]
    assert not any(name in sent for sent in told.call.parameters)
    assert name in told.retries[0]


async def test_calls_at_once_all_leave_it_out(wire: Wire, server: FaultServer) -> None:
    name = {"ollama": "think"}.get(wire.name, "temperature")
    settings: dict[str, object] = {"temperature": 0.5, "effort": "high" if name == "think" else ""}
    refused, taken = wire.unsupported(name), fine(wire)

    async def handle(request: web.Request) -> web.StreamResponse:
        return await (refused if holds(await request.json(), name) else taken)(request)

    server.otherwise = handle
    provider = wire.provider()
    caller = Caller(lambda _: provider, persistence=Persistence(tries=1))
    try:
        calls = [Call(caller, wire.spec(server, **settings), PROMPT) for _ in range(6)]
        assert await asyncio.gather(*(call.run() for call in calls)) == ["ok"] * 6
    finally:
        await provider.close()
    assert len(chats(server)) <= 12


async def test_dimensions_that_an_embedding_model_does_not_take_are_left_out_too(server: FaultServer) -> None:
    server.say(ChatWire().unsupported("dimensions"), embeddings([[1.0, 0.0]]))
    provider = ChatWire().provider()
    spec = EmbedderSpec(
        name="tested", provider="openai", model="text-embedding-3-odd", base_url=f"{server.url}/v1", dims=2
    )
    try:
        vectors = await Caller(lambda _: provider).embed(spec, ["ice"])
    finally:
        await provider.close()
    assert vectors.rows == [[1.0, 0.0]]
    assert [holds(request.json, "dimensions") for request in server.requests] == [True, False]


# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
async def test_a_key_that_a_server_echoes_is_hidden(wire: Wire, server: FaultServer, status: int) -> None:
    told = await ask(wire, server, wire.error(status, f"Incorrect API key provided: {SECRET}."))
    for said in (told.call.message, *told.retries):
        assert SECRET not in said
        assert "31415926" not in said


async def test_a_key_in_an_answer_is_hidden(wire: Wire, server: FaultServer) -> None:
    from core.keys import read_key

    read_key("THE_KEY")
    told = await ask(wire, server, wire.answer(f"Your key is {SECRET}."))
    assert told.call.text == "Your key is •••."


async def test_a_key_never_travels_to_a_server_that_it_is_not_meant_for(wire: Wire, server: FaultServer) -> None:
    if wire.name in ("azure", "bedrock"):
        pytest.skip("there the address is that of the person's own account")
    told = await ask(wire, server, fine(wire))
    assert told.outcome == "ok"
    for request in server.requests:
        assert SECRET not in repr(request.headers)
        assert "authorization" not in request.headers
        assert "x-api-key" not in request.headers


def assert_one_line(told: Asked, server: FaultServer) -> None:
    """It says which server, on one line, and what to do."""
    assert "\n" not in told.call.message
    assert len(told.call.message) > 30
    assert str(server.port) in told.call.message or "Bedrock" in told.call.message


def limit_in(body: dict[str, object]) -> object:
    """The longest answer that a request asks for, under whatever name."""
    flat = [body, *(inner for inner in body.values() if isinstance(inner, dict))]
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens", "num_predict")
    return next((part[name] for part in flat for name in names if name in part), math.nan)


def holds(body: dict[str, object], name: str) -> bool:
    return any(name in part for part in (body, *(inner for inner in body.values() if isinstance(inner, dict))))
