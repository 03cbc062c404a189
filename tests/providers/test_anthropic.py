"""The anthropic provider: the real SDK against a server that answers as it is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace

from core.errors import ModelUnavailableError
from core.models import (
    CallFailedError,
    Chunk,
    Finish,
    Message,
    ModelSpec,
    Parameter,
    Prompt,
    Sent,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.providers import anthropic, anthropic_answers
from core.providers.anthropic import AnthropicProvider
from tests.faults.anthropic_wire import AnthropicWire, block, ended, failed, sse, started
from tests.faults.server import FaultServer, Handler, html, reset, status, stream

WIRE = AnthropicWire()
PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "Name a colour.")))
SCHEMA = '{"type": "object", "properties": {"score": {"type": "integer", "minimum": 0}}, "required": ["score"]}'
SECRET = "sk-ant-planted-0123456789"


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as running:
        yield running


@pytest.fixture
async def provider() -> AsyncIterator[AnthropicProvider]:
    provider = AnthropicProvider()
    yield provider
    await provider.close()


@pytest.fixture
def spec(server: FaultServer) -> ModelSpec:
    return WIRE.spec(server)


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))


async def ask(provider: AnthropicProvider, spec: ModelSpec, prompt: Prompt = PROMPT) -> list[Chunk]:
    async with aclosing(provider.stream(spec, prompt, 1)) as chunks:
        return [chunk async for chunk in chunks]


async def fail(provider: AnthropicProvider, spec: ModelSpec) -> CallFailedError:
    with pytest.raises(CallFailedError) as failed:
        await ask(provider, spec)
    assert "\n" not in str(failed.value)
    return failed.value


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def finish_of(chunks: list[Chunk]) -> Finish:
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]


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
    assert sent(chunks)["output_config.format.type"] == "json_schema"


async def test_an_answer_that_is_begun_is_sent_as_it_is_and_blank_stops_are_not(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer(" 6"))
    turns = (Message("user", "Count."), Message("assistant", "1. 2. 3."))
    await ask(provider, spec, Prompt(messages=turns, stop=("\n", "END")))
    body = server.requests[0].json
    assert body["messages"][-1] == {"role": "assistant", "content": "1. 2. 3."}
    assert body["stop_sequences"] == ["END"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", "server"),
        ("api_error", "server"),
        ("rate_limit_error", "limited"),
        ("timeout_error", "timeout"),
        ("authentication_error", "denied"),
        ("never_heard_of", "server"),
    ],
)
async def test_an_error_inside_the_stream_is_what_it_would_be_as_a_status(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, kind: str, expected: str
) -> None:
    error = sse("error", error={"type": kind, "message": "Alas"})
    server.say(stream([started(), *block(0, "text", "Red", 1), error]))
    assert (await fail(provider, spec)).kind == expected


@pytest.mark.parametrize(
    ("code", "message", "kind", "words"),
    [
        (400, "Your credit balance is too low to access the API.", "quota", "paid"),
        (400, "prompt is too long: 209000 tokens > 200000 maximum", "context", "too long"),
        (400, "max_tokens: 90000 > 64000, which is the maximum", "request", "max_tokens"),
        (401, "invalid x-api-key", "denied", "api_key_env"),
        (403, "Your key can't do that", "denied", "does not let"),
        (404, "model: claude-test", "missing", "no model claude-test"),
        (429, "Number of requests has exceeded your limit", "limited", "too often"),
        (500, "Internal server error", "server", "status 500"),
        (529, "Overloaded", "server", "overloaded"),
    ],
)
async def test_an_error_says_which_server_and_what_and_is_asked_once(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, code: int, message: str, kind: str, words: str
) -> None:
    server.say(WIRE.error(code, message, headers={"retry-after": "7", "x-should-retry": "true"}))
    error = await fail(provider, spec)
    assert error.kind == kind
    assert words in str(error)
    assert f"127.0.0.1:{server.port}" in str(error) or kind == "context"
    assert error.retry_after == (7 if code in (429, 500, 529) else None)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("`temperature` is deprecated for this model.", "temperature"),
        ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "top_p"),
        ("stop_sequences: Extra inputs are not permitted", "stop_sequences"),
        ("output_config: Extra inputs are not permitted", "output_config"),
        ("'claude-test' does not support output format.", "output_config"),
        ("This model does not support the effort parameter.", "effort"),
        ("adaptive thinking is not supported on this model", "thinking"),
        ("thinking.display: Extra inputs are not permitted", "thinking.display"),
        ("thinking.adaptive.display: Extra inputs are not permitted", "thinking.display"),
        ("This model does not support assistant message prefill.", ""),
    ],
)
async def test_a_parameter_that_is_refused_is_named(
    server: FaultServer, provider: AnthropicProvider, message: str, parameter: str
) -> None:
    spec = WIRE.spec(server, effort="low", temperature=1.0, top_p=1.0)
    if parameter in ("temperature", "top_p"):
        spec = replace(spec, effort="")
    server.say(WIRE.error(400, message))
    with pytest.raises(CallFailedError) as failed:
        await ask(provider, spec, replace(PROMPT, stop=("END",), json_schema=SCHEMA))
    assert failed.value.parameter == parameter
    assert failed.value.kind == ("parameter" if parameter else "request")


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ('"thinking.type.enabled" is not supported for this model. Use "output_config.effort".', "budget_tokens"),
        ("thinking.enabled.display: Extra inputs are not permitted", "thinking.display"),
        ("This model does not support thinking.", "thinking"),
    ],
)
async def test_as_little_of_its_thinking_as_can_be_is_taken_from_a_model(
    server: FaultServer, provider: AnthropicProvider, message: str, parameter: str
) -> None:
    server.say(WIRE.error(400, message))
    error = await fail(provider, WIRE.spec(server, thinking_tokens=2000, max_tokens=4000, effort="low"))
    assert error.parameter == parameter


async def test_a_parameter_that_was_not_sent_is_not_to_blame(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.unsupported("temperature"))
    assert (await fail(provider, spec)).kind == "request"


async def test_a_content_filter_is_a_refusal_wherever_it_speaks(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    words = {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}
    server.say(WIRE.filtered(), stream([started(), *block(0, "text", "Red", 1), sse("error", error=words)]))
    assert finish_of(await ask(provider, spec)) == Finish("refused", Usage())
    assert finish_of(await ask(provider, spec)).reason == "refused"


async def test_no_key_of_the_environment_travels_to_another_server(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", SECRET)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"Authorization: Bearer {SECRET}\nX-Gateway: {SECRET}")
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "default.json").write_text('{"base_url": "http://127.0.0.1:1"}')
    server.say(WIRE.answer("Red"))
    await ask(provider, spec)
    (request,) = server.requests
    assert not {"authorization", "x-api-key", "x-gateway"} & request.headers.keys()
    assert not any(SECRET in value for value in request.headers.values())


async def test_another_server_gets_the_key_that_was_named_for_it_and_no_other(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-api-key: {SECRET}")
    monkeypatch.setenv("GATEWAY_KEY", " the-gateways-key\n")
    server.say(WIRE.answer("Red"))
    await ask(provider, replace(spec, api_key_env="GATEWAY_KEY"))
    headers = server.requests[0].headers
    assert headers["x-api-key"] == "the-gateways-key"
    assert "authorization" not in headers
    assert not any(SECRET in value for value in headers.values())


async def test_a_base_url_in_the_environment_goes_with_the_key_beside_it(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.url}/")
    server.say(WIRE.answer("Red"))
    own = replace(spec, base_url="")
    assert text_of(await ask(provider, own)) == "Red"
    assert server.requests[0].headers["x-api-key"] == SECRET
    assert provider.endpoint(own) == f"127.0.0.1:{server.port}"


async def test_a_base_url_may_end_in_the_version(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Red"))
    await ask(provider, replace(spec, base_url=f"{server.url}/v1/"))
    assert server.requests[0].path == "/v1/messages"


async def test_a_missing_or_damaged_key_is_said_before_any_request(
    provider: AnthropicProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ModelSpec(name="claude", provider="anthropic", model="claude-test")
    with pytest.raises(ModelUnavailableError, match="set ANTHROPIC_API_KEY"):
        await provider.prepare(own)
    assert (await fail(provider, own)).kind == "denied"
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"{SECRET}\n{SECRET}")
    with pytest.raises(ModelUnavailableError, match="ANTHROPIC_API_KEY holds") as failed:
        await provider.prepare(own)
    assert SECRET not in str(failed.value)
    with pytest.raises(ModelUnavailableError, match="names no model"):
        await provider.prepare(replace(own, model=""))


@pytest.mark.parametrize("url", ["localhost:8080", "http://", "ftp://example.org"])
async def test_what_is_no_address_is_said_to_be_none(provider: AnthropicProvider, spec: ModelSpec, url: str) -> None:
    assert (await fail(provider, replace(spec, base_url=url))).kind == "address"


async def test_a_key_that_a_server_echoes_is_not_shown(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "a-plain-looking-word")
    keyed = replace(spec, api_key_env="GATEWAY_KEY")
    echo = "The key a-plain-looking-word is wrong"
    in_the_stream = sse("error", error={"type": "api_error", "message": echo})
    server.say(WIRE.error(401, echo), status(400, echo), stream([started(), in_the_stream]))
    for _ in range(3):
        error = await fail(provider, keyed)
        assert "is wrong" in str(error)
        assert "a-plain-looking-word" not in str(error)


async def test_a_server_that_sends_us_elsewhere_is_not_followed_with_the_key(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", SECRET)
    async with FaultServer() as other:
        server.say(status(307, "", {"Location": f"{other.url}/v1/messages"}))
        assert (await fail(provider, replace(spec, api_key_env="GATEWAY_KEY"))).kind == "address"
        assert other.requests == []


async def test_a_web_page_is_a_wrong_address(server: FaultServer, provider: AnthropicProvider, spec: ModelSpec) -> None:
    server.say(html(), status(404, "<html>Not here</html>"), status(200, {"detail": "Not here"}))
    for _ in range(3):
        error = await fail(provider, spec)
        assert (error.kind, "base_url" in str(error)) == ("address", True)


async def test_nobody_there(server: FaultServer, provider: AnthropicProvider, spec: ModelSpec) -> None:
    server.say(reset())
    assert (await fail(provider, spec)).kind == "connection"
    for url in ("http://127.0.0.1:9", "http://no-such-host.invalid", server.url.replace("http:", "https:")):
        error = await fail(provider, replace(spec, base_url=url))
        assert error.kind == "connection"
        assert "can't be reached" in str(error)


@pytest.mark.parametrize("then", ["end", "cut", "garbage"])
async def test_an_answer_that_breaks_off_is_no_answer(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec, then: str
) -> None:
    server.say(WIRE.broken("Red and blue", then))
    assert (await fail(provider, spec)).kind == "unreadable"


async def test_events_of_another_shape_are_unreadable(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    odd = [
        b"event: message_start\ndata: [1]\n\n",
        sse("content_block_delta", delta={"text": 5}),
        sse("message_delta", delta=3),
    ]
    server.say(*(stream([started(), event]) for event in odd))
    for _ in odd:
        assert (await fail(provider, spec)).kind == "unreadable"


async def test_a_character_in_two_chunks_arrives_whole(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.split_inside_a_character("Größe 漢字"))
    assert text_of(await ask(provider, spec)) == "Größe 漢字"


class Watched:
    """A handler that tells when it begins and when it ends."""

    def __init__(self, handler: Handler) -> None:
        self.began, self.ended = asyncio.Event(), asyncio.Event()
        self._handler = handler

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.began.set()
        try:
            return await self._handler(request)
        finally:
            self.ended.set()


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


async def test_models_are_listed_page_by_page(
    server: FaultServer, provider: AnthropicProvider, spec: ModelSpec
) -> None:
    server.say(
        status(
            200, {"data": [{"id": "claude-one"}, {"id": "claude\x1b-two"}], "has_more": True, "last_id": "claude-two"}
        ),
        status(200, {"data": [{"id": "claude-three"}], "has_more": False}),
        html(),
        failed(401, "authentication_error", "No"),
    )
    assert await provider.models(spec) == ["claude-one", "claude-two", "claude-three"]
    for kind in ("address", "denied"):
        with pytest.raises(CallFailedError) as failure:
            await provider.models(spec)
        assert failure.value.kind == kind


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
