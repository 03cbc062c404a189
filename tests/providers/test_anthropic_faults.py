"""What Anthropic's errors mean, in a response and inside a stream."""

import pytest
from msgspec.structs import replace

from core.models import (
    CallFailedError,
    Finish,
    ModelSpec,
    Usage,
)
from core.providers.anthropic import AnthropicProvider
from tests.faults.anthropic_wire import block, sse, started
from tests.faults.server import FaultServer, html, reset, status, stream
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
)

__all__ = ["_nothing_set", "provider", "spec"]


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
