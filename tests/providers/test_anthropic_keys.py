"""Where keys and requests for Anthropic's models go, and where they don't."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.errors import ModelUnavailableError
from core.models import (
    ModelSpec,
)
from core.providers.anthropic import AnthropicProvider
from tests.faults.anthropic_wire import sse, started
from tests.faults.server import FaultServer, status, stream
from tests.providers.anthropic_calls import WIRE, _nothing_set, ask, fail, provider, spec, text_of

__all__ = ["_nothing_set", "provider", "spec"]

SECRET = "sk-ant-planted-0123456789"


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
