"""Where keys go, and where they don't."""

import pytest

from core.errors import ModelUnavailableError
from core.models import CallFailedError, ModelSpec
from core.providers.openai import OpenAIProvider
from tests.faults.openai_wire import ChatWire, embeddings
from tests.faults.server import FaultServer
from tests.providers.openai_calls import CHAT, PROMPT, RESPONSES, collect, embedder, failure, sent, text

PLANTED = {
    "OPENAI_API_KEY": "sk-planted-0123456789",
    "OPENAI_ADMIN_KEY": "sk-admin-0123456789",
    "OPENAI_ORG_ID": "org-planted",
    "OPENAI_PROJECT_ID": "proj-planted",
    "OPENAI_CUSTOM_HEADERS": "X-Planted: sk-custom-0123456789\nAuthorization: Bearer sk-custom-0123456789",
}


@pytest.mark.parametrize("wire", [CHAT, RESPONSES], ids=lambda wire: wire.name)
async def test_nothing_of_the_persons_own_travels_to_another_server(
    wire: ChatWire, server: FaultServer, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    server.say(wire.answer("Salt."), embeddings([[1.0]]))
    spec = wire.spec(server)
    await openai.prepare(spec)
    await collect(openai, spec)
    await openai.embed(embedder(server), ["x"])
    assert len(server.requests) == 2
    for request in server.requests:
        assert not {"authorization", "api-key", "openai-organization", "openai-project", "x-planted"} & set(
            request.headers
        )
        assert "0123456789" not in str(request)


async def test_a_key_named_for_a_server_goes_there(
    server: FaultServer, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_KEY", " their-key-0123456789\n")
    server.say(CHAT.answer("Salt."), CHAT.error(401, "no such key: their-key-0123456789"))
    spec = CHAT.spec(server, api_key_env="THEIR_KEY")
    await collect(openai, spec)
    assert server.requests[0].headers["authorization"] == "Bearer their-key-0123456789"
    failed = await failure(openai, spec)
    assert "check THEIR_KEY" in str(failed)
    assert "0123456789" not in str(failed)


async def test_the_persons_own_base_url_is_honoured_with_their_key(
    server: FaultServer, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.say(CHAT.answer("Salt."))
    spec = ModelSpec(name="mine", provider="openai", model="m")
    await collect(openai, spec)
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-planted-0123456789"
    assert request.headers["openai-organization"] == "org-planted"
    assert openai.endpoint(spec) == f"127.0.0.1:{server.port}"


async def test_the_persons_own_base_url_needs_no_key(
    server: FaultServer, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.say(CHAT.answer("Salt."))
    await collect(openai, ModelSpec(name="mine", provider="openai", model="m"))
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("value", ["", "   ", "sk-two words-123", "sk-broken\nin two", "sk-…"])
async def test_a_key_that_is_none_is_told_before_anything_is_sent(
    value: str, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", value)
    spec = ModelSpec(name="gpt", provider="openai", model="gpt-5")
    with pytest.raises(ModelUnavailableError, match="OPENAI_API_KEY") as refused:
        await openai.prepare(spec)
    failed = await failure(openai, spec)
    assert failed.kind == "denied"
    for words in (refused.value.message, str(failed)):
        assert not value.strip() or value not in words


async def test_a_model_at_openai_has_to_be_named(openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    with pytest.raises(ModelUnavailableError, match="model"):
        await openai.prepare(ModelSpec(name="gpt", provider="openai"))


async def test_openai_itself_is_asked_for_responses_and_by_name(
    openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent: the proxy that is named refuses all."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    for url in ("", "https://eu.api.openai.com/v1"):
        spec = ModelSpec(name="gpt", provider="openai", model="gpt-5", base_url=url)
        assert openai.endpoint(spec) == "OpenAI"
        chunks = openai.stream(spec, PROMPT, 1)
        assert sent([await anext(chunks)]) == {"max_output_tokens": 2048, "store": False}
        with pytest.raises(CallFailedError, match="OpenAI can't be reached"):
            await anext(chunks)
    chat = ModelSpec(name="gpt", provider="openai", model="gpt-5", api="chat")
    chunks = openai.stream(chat, PROMPT, 1)
    assert "max_completion_tokens" in sent([await anext(chunks)])
    await chunks.aclose()


async def test_a_proxy_is_not_asked_for_this_machine(
    server: FaultServer, openai: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.say(CHAT.answer("Salt."))
    assert text(await collect(openai, CHAT.spec(server))) == "Salt."
