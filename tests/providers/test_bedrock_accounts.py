"""Who asks Bedrock, where, and what there is for them."""

import logging

import pytest
from msgspec.structs import replace

from core.errors import ModelUnavailableError
from core.models import (
    CallFailedError,
    ModelSpec,
    Usage,
)
from core.providers.bedrock import BedrockProvider
from tests.faults.bedrock_wire import failed
from tests.faults.server import FaultServer, html, status
from tests.providers.bedrock_calls import SECRET, TOKEN, WIRE, _aws, ask, fail, provider, spec

__all__ = ["_aws", "provider", "spec"]


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
