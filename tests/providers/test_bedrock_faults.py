"""What Bedrock's errors mean, in a response and inside a stream."""

import pytest
from msgspec.structs import replace

from core.models import (
    CallFailedError,
    Finish,
    ModelSpec,
    Usage,
)
from core.providers.bedrock import BedrockProvider
from tests.faults.bedrock_wire import answering, block, event, exception, failed
from tests.faults.server import FaultServer, html, reset, status
from tests.providers.bedrock_calls import (
    PROMPT,
    SCHEMA,
    SECRET,
    TOKEN,
    WIRE,
    _aws,
    ask,
    fail,
    finish_of,
    provider,
    spec,
)

__all__ = ["_aws", "provider", "spec"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("throttlingException", "limited"),
        ("modelStreamErrorException", "server"),
        ("internalServerException", "server"),
        ("serviceUnavailableException", "server"),
        ("validationException", "request"),
        ("neverHeardOfException", "server"),
    ],
)
async def test_an_error_inside_the_stream_is_what_it_would_be_as_a_status(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, kind: str, expected: str
) -> None:
    server.say(answering([*block(0, "Red", 1), exception(kind, "Alas")]))
    error = await fail(provider, spec)
    assert error.kind == expected
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("code", "name", "message", "kind", "words"),
    [
        (400, "ValidationException", "Input is too long for requested model.", "context", "too long"),
        (400, "ValidationException", "The provided model identifier is invalid.", "missing", "jagstorm models"),
        (400, "ValidationException", "Something else is wrong.", "request", "Something else"),
        (402, "ServiceQuotaExceededException", "Too much", "quota", "paid"),
        (404, "ResourceNotFoundException", "Model not found.", "missing", "jagstorm models"),
        (408, "ModelTimeoutException", "It took too long", "timeout", "too long"),
        (424, "ModelErrorException", "The model failed", "server", "failed"),
        (429, "ThrottlingException", "Too many tokens, please wait.", "limited", "too often"),
        (429, "ModelNotReadyException", "Not ready", "server", "Not ready"),
        (500, "InternalServerException", "Oops", "server", "status 500"),
        (503, "ServiceUnavailableException", "Busy", "server", "overloaded"),
        (502, "", "Bad gateway", "server", "status 502"),
    ],
)
async def test_an_error_says_what_and_is_asked_once(
    server: FaultServer,
    provider: BedrockProvider,
    spec: ModelSpec,
    code: int,
    name: str,
    message: str,
    kind: str,
    words: str,
) -> None:
    server.say(failed(code, name, message, {"retry-after": "7"}))
    error = await fail(provider, spec)
    assert error.kind == kind
    assert words in str(error)
    assert error.retry_after == (7 if kind in ("limited", "server") else None)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("AccessDeniedException", "Bedrock console"),
        ("UnrecognizedClientException", "aws configure"),
        ("InvalidSignatureException", "aws configure"),
        ("ExpiredTokenException", "aws sso login"),
    ],
)
async def test_credentials_that_are_refused_come_with_what_to_do(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, name: str, words: str
) -> None:
    server.say(failed(403, name, f"The token {TOKEN} and {SECRET} are no good"))
    error = await fail(provider, replace(spec, aws_profile="lab"))
    assert error.kind == "denied"
    assert words in str(error)
    assert "are no good" in str(error)
    assert TOKEN not in str(error)
    assert SECRET not in str(error)


@pytest.mark.parametrize("apostrophe", ["'", "\N{RIGHT SINGLE QUOTATION MARK}"])
async def test_a_model_without_on_demand_throughput_comes_with_advice(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, apostrophe: str
) -> None:
    bare = replace(spec, model="anthropic.claude-test-v1:0", region="eu-central-1")
    words = (
        f"Invocation of model ID {bare.model} with on-demand throughput isn{apostrophe}t supported. "
        "Retry your request with the ID or ARN of an inference profile that contains this model."
    )
    server.say(WIRE.error(400, words))
    error = await fail(provider, bare)
    assert error.kind == "missing"
    assert "name `eu.anthropic.claude-test-v1:0`" in str(error)


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("This model doesn't support the stopSequences field. Remove stopSequences and try again.", "stopSequences"),
        ("The model returned the following errors: `temperature` is deprecated for this model.", "temperature"),
        ("The model returned the following errors: `temperature` and `top_p` cannot both be specified", "topP"),
        ("This model doesn\N{RIGHT SINGLE QUOTATION MARK}t support system messages.", "system"),
        ("This model doesn't support structured outputs", "outputConfig"),
        ("max_tokens: 90000 > 64000", ""),
    ],
)
async def test_a_parameter_that_is_refused_is_named(
    server: FaultServer, provider: BedrockProvider, message: str, parameter: str
) -> None:
    server.say(WIRE.error(400, message))
    spec = WIRE.spec(server, temperature=1.0, top_p=1.0)
    with pytest.raises(CallFailedError) as failure:
        await ask(provider, spec, replace(PROMPT, stop=("END",), json_schema=SCHEMA))
    assert failure.value.parameter == parameter
    assert failure.value.kind == ("parameter" if parameter else "request")


async def test_thinking_that_a_model_does_not_know_is_named(server: FaultServer, provider: BedrockProvider) -> None:
    server.say(WIRE.error(400, "Malformed input request: #: extraneous key [thinking] is not permitted"))
    assert (await fail(provider, WIRE.spec(server, effort="low"))).parameter == "thinking"


async def test_a_content_filter_is_a_refusal_wherever_it_speaks(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    words = "Output blocked by content filtering policy"
    server.say(WIRE.filtered(), answering([*block(0, "Red", 1), exception("validationException", words)]))
    assert finish_of(await ask(provider, spec)) == Finish("refused", Usage())
    assert finish_of(await ask(provider, spec)).reason == "refused"


async def test_a_web_page_is_a_wrong_address(server: FaultServer, provider: BedrockProvider, spec: ModelSpec) -> None:
    server.say(html(), status(404, "<html>Not here</html>"), status(403, "<html>Not here</html>"))
    for _ in range(3):
        error = await fail(provider, spec)
        assert (error.kind, "base_url" in str(error)) == ("address", True)


async def test_nobody_there(server: FaultServer, provider: BedrockProvider, spec: ModelSpec) -> None:
    server.say(reset())
    assert (await fail(provider, spec)).kind == "connection"
    for url in ("http://127.0.0.1:9", "http://no-such-host.invalid", server.url.replace("http:", "https:")):
        error = await fail(provider, replace(spec, base_url=url))
        assert error.kind == "connection"
        assert "can't be reached" in str(error)
    assert (await fail(provider, replace(spec, base_url="no address"))).kind == "address"


@pytest.mark.parametrize("then", ["end", "cut", "garbage"])
async def test_an_answer_that_breaks_off_is_no_answer(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, then: str
) -> None:
    server.say(WIRE.broken("Red and blue", then))
    assert (await fail(provider, spec)).kind == "unreadable"


async def test_events_of_another_shape_are_unreadable(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    odd = [event("contentBlockDelta", delta=3), event("contentBlockDelta"), event("messageStop", stopReason=[1])]
    server.say(*(answering([each]) for each in odd))
    for _ in odd:
        assert (await fail(provider, spec)).kind == "unreadable"
