"""The bedrock provider: the real boto3 against a server that answers as it is told."""

import asyncio
import logging
import threading
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
from core.providers.bedrock import BedrockProvider
from tests.faults.bedrock_wire import BedrockWire, answering, block, event, exception, failed, metadata
from tests.faults.server import FaultServer, Handler, html, reset, status

WIRE = BedrockWire()
PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "Name a colour.")))
SCHEMA = '{"type": "object", "properties": {"score": {"type": "integer", "minimum": 0}}, "required": ["score"]}'
SECRET = "planted-secret-0123456789-abcdefghij"
TOKEN = "planted-session-token-0123456789"

CALMLY = {"type": "adaptive", "display": "summarized"}

CONFIG = """\
[profile lab]
aws_access_key_id = AKIAPLANTEDACCESSKEY
aws_secret_access_key = planted-secret-0123456789-abcdefghij
aws_session_token = planted-session-token-0123456789
region = eu-west-3
[profile empty]
region = us-east-1
[profile nowhere]
aws_access_key_id = AKIAPLANTEDACCESSKEY
aws_secret_access_key = planted-secret-0123456789-abcdefghij
[profile sso]
sso_start_url = https://example.invalid
sso_region = us-east-1
sso_account_id = 123456789012
sso_role_name = Reader
region = us-east-1
"""


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as running:
        yield running


@pytest.fixture
async def provider() -> AsyncIterator[BedrockProvider]:
    provider = BedrockProvider()
    yield provider
    await provider.close()


@pytest.fixture
def spec(server: FaultServer) -> ModelSpec:
    return WIRE.spec(server)


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Settings of AWS's own with profiles, and nothing from the machine that the tests run on."""
    for name in ("PROFILE", "REGION", "DEFAULT_REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "config").write_text(CONFIG)


async def ask(provider: BedrockProvider, spec: ModelSpec, prompt: Prompt = PROMPT) -> list[Chunk]:
    async with aclosing(provider.stream(spec, prompt, 1)) as chunks:
        return [chunk async for chunk in chunks]


async def fail(provider: BedrockProvider, spec: ModelSpec) -> CallFailedError:
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


def call_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "Bedrock call"]


async def test_an_answer_streams_after_its_parameters_and_before_its_usage(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Blue, mostly.", thoughts="Which one?"))
    chunks = await ask(
        provider, replace(spec, temperature=0.7, top_p=0.9, max_tokens=99), replace(PROMPT, stop=("\n", "END"))
    )
    assert sent(chunks) == {"maxTokens": 99, "temperature": 0.7, "topP": 0.9, "stopSequences": '["END"]'}
    assert text_of(chunks) == "Blue, mostly."
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, ThoughtDelta)) == "Which one?"
    assert sum(isinstance(chunk, TextDelta) for chunk in chunks) > 1
    finish = finish_of(chunks)
    assert finish.reason == "stop"
    assert (finish.usage.input_tokens, finish.usage.output_tokens) == (11, 7)
    assert 0 < finish.usage.reasoning_tokens <= 7
    assert not finish.usage.estimated
    assert server.requests[0].json == {
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": "Name a colour."}]}],
        "inferenceConfig": {"maxTokens": 99, "temperature": 0.7, "topP": 0.9, "stopSequences": ["END"]},
    }


@pytest.mark.parametrize(
    "model",
    [
        "anthropic.claude-test-v1:0",
        "us.anthropic.claude-test-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-test-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3",
    ],
)
async def test_a_models_name_goes_through_untouched(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, model: str
) -> None:
    server.say(WIRE.answer("Red"))
    await ask(provider, replace(spec, model=model))
    assert server.requests[0].path == f"/model/{model}/converse-stream"


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "refused"),
        ("content_filtered", "refused"),
    ],
)
async def test_each_way_to_stop_is_known(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, stop_reason: str, reason: str
) -> None:
    server.say(answering([*block(0, "Red", 1), event("messageStop", stopReason=stop_reason), metadata()]))
    assert finish_of(await ask(provider, spec)).reason == reason


async def test_tokens_from_and_into_the_cache_are_input_tokens_too(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    end = metadata(cacheReadInputTokens=100, cacheWriteInputTokens=20)
    server.say(answering([*block(0, "Red", 1), event("messageStop", stopReason="end_turn"), end]))
    usage = finish_of(await ask(provider, spec)).usage
    assert usage == Usage(input_tokens=131, cached_tokens=100, output_tokens=7, seconds=usage.seconds)


async def test_without_counts_usage_is_estimated(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Red and blue and green.", usage=False))
    usage = finish_of(await ask(provider, spec)).usage
    assert usage.estimated
    assert usage.input_tokens > 3
    assert usage.output_tokens > 3


async def test_encrypted_thoughts_and_unknown_events_are_passed_over(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    hidden = event("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {"redactedContent": "Zm9v"}})
    events = [hidden, event("somethingNew", text=5), *block(1, "Red", 1), event("messageStop", stopReason="end_turn")]
    server.say(answering(events))
    assert text_of(await ask(provider, spec)) == "Red"


@pytest.mark.parametrize("budget", [1, 1023, 4096])
async def test_a_thinking_budget_that_breaks_the_rule_is_refused_before_any_request(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, budget: int
) -> None:
    wrong = replace(spec, thinking_tokens=budget, max_tokens=4096)
    error = await fail(provider, wrong)
    assert error.kind == "request"
    assert "at least 1,024 and less than max_tokens, which is 4,096" in str(error)
    with pytest.raises(ModelUnavailableError, match="at least 1,024"):
        await provider.prepare(wrong)
    assert server.requests == []


async def test_claude_thinks_with_a_budget_and_without_temperature(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Red"))
    chunks = await ask(provider, replace(spec, thinking_tokens=1024, max_tokens=4096, temperature=0.5, top_p=0.9))
    body = server.requests[0].json
    assert body["additionalModelRequestFields"]["thinking"]["budget_tokens"] == 1024
    assert body["inferenceConfig"] == {"maxTokens": 4096}
    assert sent(chunks)["thinking.budget_tokens"] == 1024


async def test_effort_and_a_schema_are_sent(server: FaultServer, provider: BedrockProvider, spec: ModelSpec) -> None:
    server.say(WIRE.answer("{}"))
    chunks = await ask(provider, replace(spec, effort="high"), replace(PROMPT, json_schema=SCHEMA))
    form = server.requests[0].json["outputConfig"]
    assert form["effort"] == "high"
    assert '"additionalProperties":false' in form["textFormat"]["structure"]["jsonSchema"]["schema"]
    assert sent(chunks)["outputConfig.textFormat.type"] == "json_schema"
    assert not any("additionalProperties" in str(value) for value in sent(chunks).values())


@pytest.mark.parametrize(
    ("model", "base_model", "own", "form"),
    [
        ("us.anthropic.claude-test-v1:0", "", {"thinking": CALMLY}, {"effort": "low"}),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/a1", "claude-test", {"thinking": CALMLY}, {"effort": "low"}),
        ("us.amazon.nova-test-v1:0", "", None, {"effort": "low"}),
        ("openai.gpt-oss-120b-1:0", "", {"reasoning_effort": "low"}, None),
    ],
)
async def test_each_maker_is_told_the_effort_in_its_own_way(
    server: FaultServer, provider: BedrockProvider, model: str, base_model: str, own: object, form: object
) -> None:
    server.say(WIRE.answer("Red"))
    await ask(provider, WIRE.spec(server, model=model, base_model=base_model, effort="low"))
    body = server.requests[0].json
    assert body.get("additionalModelRequestFields") == own
    assert body.get("outputConfig") == form


async def test_what_a_model_refuses_is_left_out(server: FaultServer, provider: BedrockProvider) -> None:
    server.say(WIRE.answer("Red"))
    refuses = ("temperature", "topP", "stopSequences", "outputConfig", "system", "thinking", "maxTokens")
    spec = WIRE.spec(server, temperature=0.5, top_p=0.5, effort="low", refuses=refuses)
    await ask(provider, spec, replace(PROMPT, stop=("END",), json_schema=SCHEMA))
    assert server.requests[0].json == {
        "messages": [{"role": "user", "content": [{"text": "Be brief.\n\nName a colour."}]}],
        "inferenceConfig": {},
    }


async def test_turns_of_one_speaker_become_one(server: FaultServer, provider: BedrockProvider, spec: ModelSpec) -> None:
    server.say(WIRE.answer("Red"))
    turns = (Message("user", "One."), Message("user", "Two."), Message("assistant", "Three"))
    await ask(provider, spec, Prompt(messages=turns))
    assert server.requests[0].json["messages"] == [
        {"role": "user", "content": [{"text": "One."}, {"text": "Two."}]},
        {"role": "assistant", "content": [{"text": "Three"}]},
    ]


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


async def test_a_profile_signs_and_says_the_region(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", SECRET)
    server.say(WIRE.answer("Red"), WIRE.answer("Red"))
    await ask(provider, replace(spec, aws_profile="lab", region=""))
    await ask(provider, replace(spec, aws_profile="lab", region="us-west-2"))
    first, second = (request.headers for request in server.requests)
    assert first["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIAPLANTEDACCESSKEY/")
    assert "/eu-west-3/bedrock/" in first["authorization"]
    assert "/us-west-2/bedrock/" in second["authorization"]
    assert first["x-amz-security-token"] == TOKEN


async def test_nobodys_credentials_travel_to_another_server(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", SECRET)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAPLANTEDACCESSKEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    server.say(WIRE.answer("Red"), WIRE.error(403, "Who are you?"))
    await ask(provider, replace(spec, region=""))
    headers = server.requests[0].headers
    assert not {"authorization", "x-amz-security-token"} & headers.keys()
    assert not any(SECRET in value or TOKEN in value or "AKIA" in value for value in headers.values())
    error = await fail(provider, spec)
    assert (error.kind, "aws_profile" in str(error)) == ("denied", True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"region": "us-east-1"}, "needs AWS credentials"),
        ({"aws_profile": "empty"}, "aws configure"),
        ({"aws_profile": "never-made"}, "aws configure list-profiles"),
        ({"aws_profile": "nowhere"}, "needs a region: set region"),
        ({"aws_profile": "sso"}, "aws sso login"),
    ],
)
async def test_what_is_missing_from_awss_settings_is_said_with_what_to_do(
    provider: BedrockProvider, settings: dict[str, str], words: str
) -> None:
    own = ModelSpec(name="claude", provider="bedrock", model="us.anthropic.claude-test-v1:0", **settings)  # type: ignore[arg-type]
    error = await fail(provider, own)
    assert words in str(error)
    assert error.kind == ("request" if "region" in words else "denied")
    if settings.get("aws_profile") != "sso":
        with pytest.raises(ModelUnavailableError, match=words):
            await provider.prepare(own)


async def test_a_bedrock_key_in_the_environment_is_enough(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
    own = replace(spec, base_url="")
    await provider.prepare(own)
    # boto3 would have sent it, had the connection been a safe one.
    assert "requires an HTTPS endpoint" in str(await fail(provider, own))
    assert server.requests == []


async def test_settings_of_awss_own_may_name_another_server(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
    monkeypatch.setenv("AWS_PROFILE", "lab")
    server.say(WIRE.answer("Red"))
    await ask(provider, replace(spec, base_url="", region=""))
    assert server.requests[0].headers["authorization"].startswith("AWS4-HMAC-SHA256")


async def test_nothing_secret_is_logged_however_much_is(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.say(WIRE.answer("Red"))
    await ask(provider, replace(spec, aws_profile="lab"))
    assert SECRET not in caplog.text
    assert TOKEN not in caplog.text


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


async def test_a_character_in_two_chunks_arrives_whole(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
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


async def test_closing_an_answer_hangs_up_and_ends_its_thread(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    stalled = Watched(WIRE.broken("Red and blue", "stall"))
    server.say(stalled, WIRE.answer("Green"))
    async with aclosing(provider.stream(spec, PROMPT, 1)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                break
    await asyncio.wait_for(stalled.ended.wait(), 5)
    for thread in call_threads():
        thread.join(5)
    assert call_threads() == []
    assert text_of(await ask(provider, spec)) == "Green"


async def test_cancelling_before_the_first_word_does_not_wait_for_it(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    let_go = asyncio.Event()
    answer = WIRE.broken("Red and blue", "stall")

    async def slow(request: web.Request) -> web.StreamResponse:
        await let_go.wait()
        return await answer(request)

    stalled = Watched(slow)
    server.say(stalled)
    call = asyncio.create_task(ask(provider, spec))
    await asyncio.wait_for(stalled.began.wait(), 5)
    call.cancel()
    await asyncio.wait({call}, timeout=1)
    assert call.cancelled()
    let_go.set()
    # The answer that comes at last is hung up on.
    await asyncio.wait_for(stalled.ended.wait(), 5)


async def test_many_answers_stream_at_once_and_leave_no_threads(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.otherwise = WIRE.answer("Red and blue and green")
    answers = await asyncio.gather(*(ask(provider, spec) for _ in range(50)))
    assert {text_of(answer) for answer in answers} == {"Red and blue and green"}
    for thread in call_threads():
        thread.join(5)
    assert call_threads() == []


async def test_closing_the_provider_ends_what_runs(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.broken("Red and blue", "stall"), WIRE.answer("Green"))
    running = asyncio.create_task(fail(provider, spec))
    while not server.under_way:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    await provider.close()
    assert (await running).kind == "unreadable"
    assert text_of(await ask(provider, spec)) == "Green"


async def test_profiles_and_models_are_listed(server: FaultServer, provider: BedrockProvider, spec: ModelSpec) -> None:
    profile = {
        "inferenceProfileId": "us.anthropic.claude\x1b-test-v1:0",
        "inferenceProfileName": "Claude",
        "inferenceProfileArn": "arn:aws:bedrock:us-east-1::inference-profile/us.anthropic.claude-test-v1:0",
        "models": [],
        "status": "ACTIVE",
        "type": "SYSTEM_DEFINED",
    }
    server.route("/inference-profiles", status(200, {"inferenceProfileSummaries": [profile]}))
    model = {"modelArn": "arn:aws:bedrock:us-east-1::foundation-model/a.b-v1:0", "modelId": "a.b-v1:0"}
    server.route("/foundation-models", status(200, {"modelSummaries": [model]}))
    assert await provider.models(spec) == ["us.anthropic.claude-test-v1:0", "a.b-v1:0"]
    for handler, kind in ((html(), "address"), (failed(403, "AccessDeniedException", "No"), "denied")):
        server.route("/inference-profiles", handler)
        with pytest.raises(CallFailedError) as failure:
            await provider.models(spec)
        assert failure.value.kind == kind


async def test_the_model_behind_a_profile_says_the_price(provider: BedrockProvider, spec: ModelSpec) -> None:
    usage = Usage(input_tokens=1000, output_tokens=1000)
    arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3"
    hidden = replace(spec, model=arn)
    assert provider.cost(hidden, usage) is None
    assert provider.cost(replace(hidden, base_model="anthropic.claude-sonnet-4-5-20250929-v1:0"), usage)
    assert await provider.count_tokens(spec, "Name a colour.") >= 4


async def test_what_shares_a_limit_is_named(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    own = replace(spec, base_url="", region="")
    assert provider.endpoint(own) == "Bedrock in us-west-2"
    assert provider.endpoint(replace(own, region="eu-west-3", aws_profile="lab")) == "Bedrock in eu-west-3 as lab"
    assert provider.endpoint(spec) == f"127.0.0.1:{server.port}"
