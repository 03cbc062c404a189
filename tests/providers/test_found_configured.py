"""Models that the config names: whether they can be used, by what their own servers say."""

import pytest

from core.models import ModelSpec
from tests.faults.server import FaultServer, Handler, html, reset, status, stream
from tests.providers.looking import KEY, NOBODY, _nothing_here, at_openai, look, with_models

__all__ = ["_nothing_here"]


async def test_what_the_config_names(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    server.route("/api/tags", status(200, {"models": [{"name": "qwen3:latest"}]}))
    server.route("/lab/v1/models", status(200, {"data": []}))
    found = await look(
        with_models(
            ready=ModelSpec(
                name="", provider="openai", model="m", base_url=f"{server.url}/lab/v1", api_key_env="LAB_KEY"
            ),
            keyless=ModelSpec(name="", provider="openai", model="gpt-5"),
            other_key=ModelSpec(name="", provider="anthropic", model="c", api_key_env="NO_SUCH_KEY"),
            down=ModelSpec(name="", provider="openai", model="m", base_url=f"{NOBODY}/v1"),
            pulled=ModelSpec(name="", provider="ollama", model="qwen3"),
            unpulled=ModelSpec(name="", provider="ollama", model="llama9"),
            gone=ModelSpec(name="", provider="ollama", model="x", base_url=NOBODY),
            file=ModelSpec(name="", model="/no/such.gguf"),
            azure=ModelSpec(name="", provider="azure", model="chem"),
            cloud=ModelSpec(name="", provider="bedrock", model="b"),
        )
    )
    states = {name: model.state for name, model in found.items() if model.where == "config.toml"}
    assert states == {
        "ready": "ready",
        "keyless": "needs a key",
        "other_key": "needs a key",
        "down": "server down",
        "pulled": "ready",
        "unpulled": "not set up",
        "gone": "server down",
        "file": "not set up",
        "azure": "not set up",
        "cloud": "needs a key",
    }
    assert found["keyless"].todo == "set OPENAI_API_KEY"
    assert found["other_key"].todo == "set NO_SUCH_KEY"
    assert found["unpulled"].todo == "`jagstorm models pull ollama/llama9`"
    assert "/no/such.gguf" in found["file"].todo
    [asked] = server.sent_to("/lab/v1/models")
    assert asked.headers["authorization"] == f"Bearer {KEY}", "its own key, to its own server"
    assert all("authorization" not in each.headers for each in server.sent_to("/api/tags"))


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        (status(200, {"data": [{"id": "m"}]}), "ready", ""),
        (status(401, {"error": {"message": f"No such key: {KEY}"}}), "needs a key", "check LAB_KEY"),
        (status(429, "slow down"), "ready", "did not list its models"),
        (status(503, "busy"), "ready", "did not list its models"),
        (html(), "server down", "check base_url"),
        (reset(), "server down", "can't be reached"),
        (stream([b"{"], then="stall"), "server down", "did not answer in time"),
    ],
    ids=["fine", "401", "429", "503", "HTML", "reset", "hangs"],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_server_that_nobody_knows_is_asked_before_its_model_is_called_ready(
    monkeypatch: pytest.MonkeyPatch,
    server: FaultServer,
    provider: str,
    answer: Handler,
    state: str,
    words: str,
) -> None:
    """`vllm.cluster.example` is somewhere else, and none of those whose lists we look at."""
    monkeypatch.setenv("LAB_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{NOBODY}/v1")
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("http_proxy", server.url)
    server.otherwise = answer
    lab = ModelSpec(
        name="", provider=provider, model="m", base_url="http://vllm.cluster.example:8000/v1", api_key_env="LAB_KEY"
    )
    found = await look(with_models(lab=lab), seconds=0.3 if "in time" in words else 5.0)
    assert (found["lab"].state, words in found["lab"].todo) == (state, True)
    [asked] = server.requests
    assert asked.path == "/v1/models"
    assert KEY in (asked.headers.get("authorization", "") + asked.headers.get("x-api-key", ""))
    assert "sk-own" not in str(asked)
    assert KEY not in repr(found)


async def test_not_every_server_elsewhere_has_a_list(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("http_proxy", server.url)
    server.otherwise = status(404, {"error": "not found"})
    away = ModelSpec(name="", provider="openai", model="m", base_url="http://llm.example.org/v1")
    near = ModelSpec(name="", provider="openai", model="m", base_url=f"{server.url}/v1")
    found = await look(with_models(away=away, near=near))
    assert (found["away"].state, found["near"].state) == ("ready", "server down")
    assert "jagstorm models test" in found["away"].todo
    assert "check base_url" in found["near"].todo
    assert not [request for request in server.requests if "authorization" in request.headers]


async def test_what_the_list_of_a_known_server_says_of_a_key_holds_for_the_config_too(
    monkeypatch: pytest.MonkeyPatch, server: FaultServer
) -> None:
    at_openai(monkeypatch, server, status(401, {"error": {"message": "Incorrect key"}}))
    found = await look(with_models(mine=ModelSpec(name="", provider="openai", model="gpt-5")))
    assert (found["mine"].state, "OPENAI_API_KEY" in found["mine"].todo) == ("needs a key", True)
    assert len(server.requests) == 1


async def test_an_address_that_is_none_is_said_and_nobody_is_asked_in_its_place(
    monkeypatch: pytest.MonkeyPatch, server: FaultServer
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    server.route("/api/tags", status(200, {"models": [{"name": "qwen3:8b"}]}))
    odd = ModelSpec(name="", provider="ollama", model="qwen3:8b", base_url="http://gpu07:many")
    found = await look(with_models(odd=odd))
    assert (found["odd"].state, "a port is a number" in found["odd"].todo) == ("not set up", True)


async def test_what_the_config_names_is_not_listed_twice(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    server.route("/api/tags", status(200, {"models": [{"name": "qwen3:8b"}, {"name": "llama3.3:70b"}]}))
    found = await look(with_models(mine=ModelSpec(name="", provider="ollama", model="qwen3:8b")))
    assert [model.name for model in found.values() if model.spec.provider == "ollama"] == [
        "mine",
        "ollama/llama3.3:70b",
    ]
    assert len(server.requests) == 1, "one server is asked once"
