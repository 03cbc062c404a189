"""Where Ollama's servers are, and who gets which key."""

import pytest

from core.errors import ModelUnavailableError
from core.models import (
    ModelSpec,
)
from core.providers.ollama import OllamaProvider
from core.providers.ollama_host import server_url
from tests.faults.server import FaultServer
from tests.providers.ollama_calls import WIRE, chunks_of, failure_of, provider, server, text_of

__all__ = ["provider", "server"]

KEY = "olk-7f3a9c1e5b2d4806"


async def test_ollamas_own_key_goes_to_nobody_else(
    server: FaultServer, provider: OllamaProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    server.say(WIRE.answer("blue"))
    await chunks_of(provider, WIRE.spec(server))
    assert server.requests
    assert all("authorization" not in request.headers for request in server.requests)


async def test_a_key_that_is_named_goes_to_its_server_and_into_no_message(
    server: FaultServer, provider: OllamaProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_KEY", f" {KEY}\n")
    server.say(WIRE.answer("blue"), WIRE.error(401, f"unknown key {KEY}"))
    spec = WIRE.spec(server, api_key_env="GPU_KEY")
    await chunks_of(provider, spec)
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    error = await failure_of(provider, spec)
    assert KEY not in str(error)
    assert "GPU_KEY" in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


async def test_a_key_that_is_not_set_is_asked_for_and_nothing_is_sent(
    server: FaultServer, provider: OllamaProvider
) -> None:
    error = await failure_of(provider, WIRE.spec(server, api_key_env="GPU_KEY"))
    assert error.kind == "denied"
    assert "GPU_KEY" in str(error)
    assert not server.requests


async def test_ollamas_own_servers_need_their_key(provider: OllamaProvider) -> None:
    spec = ModelSpec(name="cloud", provider="ollama", model="gpt-oss:120b", base_url="https://ollama.com")
    with pytest.raises(ModelUnavailableError, match="OLLAMA_API_KEY"):
        await provider.prepare(spec)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("gpu07", "http://gpu07:11434"),
        ("gpu07:8080", "http://gpu07:8080"),
        ("GPU07/", "http://gpu07:11434"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://gpu07/", "http://gpu07:80"),
        ("https://gpu07", "https://gpu07:443"),
        ("http://gpu07:11434/v1", "http://gpu07:11434"),
        ("http://gpu07:11434/v1/", "http://gpu07:11434"),
        ("http://gpu07:11434/api", "http://gpu07:11434"),
        ("gpu07:11434/v1/chat/completions", "http://gpu07:11434"),
        ("https://lab.example/ollama/v1", "https://lab.example:443/ollama"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("[::]", "http://[::1]:11434"),
        ("http://[fd00::7]", "http://[fd00::7]:80"),
        (' "gpu07" ', "http://gpu07:11434"),
        ("http://anna:secret@gpu07:11434", "http://gpu07:11434"),
        ("ollama.com", "https://ollama.com:443"),
    ],
)
def test_an_address_in_all_the_ways_that_people_write_it(
    monkeypatch: pytest.MonkeyPatch, written: str, url: str
) -> None:
    assert server_url(written) == url
    monkeypatch.setenv("OLLAMA_HOST", written)
    assert server_url() == url
    assert server_url(url) == url


@pytest.mark.parametrize("written", ["ftp://gpu07", "gpu07:many", "gpu07:0", "http://a b"])
def test_an_address_that_is_none_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"it must|a port|no host"):
        server_url(written)


async def test_v1_given_by_mistake_simply_works(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("blue"))
    spec = WIRE.spec(server, base_url=f"{server.url}/v1")
    assert text_of(await chunks_of(provider, spec)) == "blue"
    assert provider.endpoint(spec) == f"Ollama on 127.0.0.1:{server.port}"


async def test_several_hosts_at_once(provider: OllamaProvider) -> None:
    async with FaultServer() as one, FaultServer() as other:
        one.say(WIRE.answer("one"))
        other.say(WIRE.answer("other"))
        texts = [text_of(await chunks_of(provider, WIRE.spec(server))) for server in (one, other)]
    assert texts == ["one", "other"]
