"""What can be used here and now, looked for on real servers that answer, refuse, hang, or are gone."""

import socket
import time
from pathlib import Path

import pytest

from core.models import ModelSpec
from core.providers.known import Port
from tests.faults.server import FaultServer, Handler, html, reset, status, stream
from tests.providers.looking import KEY, NOBODY, _nothing_here, at_openai, look, with_models

__all__ = ["_nothing_here"]

OPENAI = {
    "object": "list",
    "data": [
        {"id": "gpt-6.1-sol", "created": 60},
        {"id": "gpt-6-luna", "created": 50},
        {"id": "gpt-6-luna-2026-09-22", "created": 50},
        {"id": "gpt-5.4-mini-2026-03-17", "created": 40},
        {"id": "gpt-9", "created": 90},
        {"id": "gpt-3.5-turbo", "created": 1},
        {"id": "text-embedding-3-large", "created": 2},
        {"id": "whisper-1", "created": 3},
        {"id": "something-new", "created": 99},
    ],
}


def at_bedrock(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    settings = {"ACCESS_KEY_ID": "AKIAPLANTED", "SECRET_ACCESS_KEY": KEY, "REGION": "eu-central-1"}
    for name, value in (settings | {"ENDPOINT_URL_BEDROCK": server.url}).items():
        monkeypatch.setenv(f"AWS_{name}", value)


async def test_without_anything_there_is_the_embedded_model_and_what_to_do_for_more() -> None:
    found = await look()
    assert (found["embedded"].state, found["embedded"].price) == ("ready", "free")
    assert [model.name for model in found.values() if model.state == "ready"] == ["embedded"]
    assert found["openai/gpt-6.1-sol"].todo == "set OPENAI_API_KEY"
    assert found["openai/gpt-6.1-sol"].state == "needs a key"
    assert "GEMINI_API_KEY or GOOGLE_API_KEY" in found["gemini/gemini-4-argon"].todo
    assert not any(model.recommended for model in found.values() if model.state != "ready")


async def test_a_key_brings_what_its_owner_lists(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    at_openai(monkeypatch, server, status(200, OPENAI))
    found = await look()
    names = [name for name in found if name.startswith("openai/")]
    assert names == ["openai/gpt-6.1-sol", "openai/gpt-6-luna", "openai/gpt-9", "openai/gpt-5.4-mini-2026-03-17"]
    assert [name for name in names if found[name].recommended] == names[:2]
    assert found["openai/gpt-6-luna"].judge
    sol = found["openai/gpt-6.1-sol"]
    assert (sol.where, sol.state, sol.price, sol.spec.context) == ("OPENAI_API_KEY", "ready", sol.price, 400_000)
    assert sol.price == "free", "for in truth it is a machine of one's own"
    [request] = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(found)


async def test_all_of_them_are_there_when_asked_for(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    at_openai(monkeypatch, server, status(200, OPENAI))
    found = await look(everything=True)
    assert {"openai/something-new", "openai/gpt-3.5-turbo", "openai/whisper-1"} <= found.keys()


async def test_where_none_of_ours_is_listed_the_newest_are_recommended(
    monkeypatch: pytest.MonkeyPatch, server: FaultServer
) -> None:
    rows = [{"id": f"gpt-{number}", "created": number} for number in (12, 15, 13, 14)]
    at_openai(monkeypatch, server, status(200, {"data": rows}))
    found = await look()
    assert [name for name in found if found[name].recommended] == ["openai/gpt-15", "openai/gpt-14", "openai/gpt-13"]


async def test_anthropic_is_asked_in_its_own_way(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    rows = [
        {"type": "model", "id": "claude-sonnet-5-5", "created_at": "2026-10-01T00:00:00Z", "max_input_tokens": 1000000},
        {"type": "model", "id": "claude-3-haiku-20240307", "created_at": "2024-03-07T00:00:00Z"},
    ]
    server.route("/v1/models", status(200, {"data": rows, "has_more": False}))
    found = await look()
    assert [name for name in found if name.startswith("anthropic/")] == ["anthropic/claude-sonnet-5-5"]
    assert found["anthropic/claude-sonnet-5-5"].spec.context == 1_000_000
    [request] = server.requests
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"]


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        (status(401, {"error": {"message": f"Incorrect key: {KEY}"}}), "needs a key", "check OPENAI_API_KEY"),
        (status(403, "no"), "needs a key", "check OPENAI_API_KEY"),
        (html(), "server down", "check base_url"),
        (status(404, "not found"), "server down", "check base_url"),
        (status(200, "{"), "server down", "check base_url"),
        (status(200, {"data": "none"}), "server down", "check base_url"),
        (reset(), "server down", "can't be reached"),
        (status(503, "busy"), "ready", "did not list its models just now"),
        (status(429, "slow down"), "ready", "did not list its models just now"),
        (stream([b"{"], then="stall"), "ready", "did not list its models just now"),
    ],
    ids=["401", "403", "HTML", "404", "cut", "odd", "reset", "503", "429", "hangs"],
)
async def test_what_a_server_does_wrong_is_said(
    monkeypatch: pytest.MonkeyPatch, server: FaultServer, answer: Handler, state: str, words: str
) -> None:
    at_openai(monkeypatch, server, answer)
    found = await look(seconds=0.3)
    sol = found["openai/gpt-6.1-sol"]
    assert sol.state == state
    assert words in sol.todo
    assert KEY not in repr(found)
    assert found["embedded"].state == "ready", "and the rest is there"


async def test_a_key_that_cannot_be_one_is_not_sent(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    at_openai(monkeypatch, server, status(200, OPENAI))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-schlüssel\nX: y")
    assert (await look())["openai/gpt-6.1-sol"].state == "needs a key"
    assert server.requests == []


async def test_ollama(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    models = [{"name": "qwen3:8b"}, {"name": "nomic-embed-text:latest"}, {"name": "gemma3:27b\x1b[2J"}]
    server.route("/api/tags", status(200, {"models": models}))
    found = await look()
    assert [name for name in found if name.startswith("ollama/")] == ["ollama/qwen3:8b", "ollama/gemma3:27b[2J"]
    qwen = found["ollama/qwen3:8b"]
    assert (qwen.state, qwen.price, qwen.spec.base_url, qwen.spec.context) == ("ready", "free", "", 16_384)


async def test_an_ollama_that_was_named_and_is_gone_is_said() -> None:
    found = await look()
    assert found["ollama/MODEL"].state == "server down"
    assert "127.0.0.1" in found["ollama/MODEL"].todo


async def test_servers_on_the_usual_ports_get_no_key(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{NOBODY}/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    row = {"id": "Qwen/Qwen3-32B", "object": "model", "max_model_len": 20_000}
    server.route("/v1/models", status(200, {"data": [row, {"id": "BAAI/bge-m3-embed"}]}))
    found = await look(ports=(Port(port=server.port, title="vLLM"),))
    [model] = [model for name, model in found.items() if "@" in name]
    assert model.name == f"openai/Qwen/Qwen3-32B@{server.url}/v1"
    assert (model.state, model.price, model.spec.context, model.spec.api_key_env) == ("ready", "free", 20_000, "")
    assert model.spec.max_tokens <= 10_000
    assert model.where == f"127.0.0.1:{server.port} (vLLM?)"
    assert [set(request.headers) & {"authorization", "x-api-key"} for request in server.requests] == [set()]


@pytest.mark.parametrize("answer", [html(), status(404, ""), status(200, "hello"), reset(), status(401, "who?")])
async def test_something_else_on_a_usual_port_is_left_alone(server: FaultServer, answer: Handler) -> None:
    server.route("/v1/models", answer)
    found = await look(ports=(Port(port=server.port, title="vLLM"),))
    assert not [name for name in found if "@" in name]


async def test_fetched_files(tmp_path: Path) -> None:
    from core.providers.hub.files import models_folder

    models_folder().mkdir(parents=True)
    (models_folder() / "Qwen3-4B-Q4_K_M.gguf").write_bytes(b"GGUF")
    found = await look()
    assert (found["Qwen3-4B-Q4_K_M"].where, found["Qwen3-4B-Q4_K_M"].price) == ("fetched", "free")


@pytest.mark.parametrize(
    ("file", "content", "state"),
    [
        ("credentials", "[default]\naws_access_key_id = AKIA\n", "there"),
        ("config", "[profile lab]\nsso_session = lab\n", "there"),
        ("config", "[default]\nregion = eu-central-1\n", "not there"),
        ("config", "not an ini file %(x)s\n=\n", "not there"),
    ],
)
async def test_aws_is_noticed_by_its_files(file: str, content: str, state: str) -> None:
    from core.providers.discovery.aws import aws_settings

    folder = Path.home() / ".aws"
    folder.mkdir(parents=True)
    (folder / file).write_text(content)
    assert aws_settings() == (f"~/.aws/{file}" if state == "there" else "")


async def test_bedrock_lists_what_the_account_may_use(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    at_bedrock(monkeypatch, server)
    nova, sonnet, old = "global.amazon.nova-2-lite-v1:0", "eu.anthropic.claude-sonnet-5-5", "meta.llama2-13b-chat-v1"
    profiles = [{"inferenceProfileId": name} for name in (nova, sonnet)]
    server.route("/inference-profiles", status(200, {"inferenceProfileSummaries": profiles}))
    server.route("/foundation-models", status(200, {"modelSummaries": [{"modelId": old}]}))
    found = await look(seconds=5)
    assert [name for name in found if name.startswith("bedrock/")] == [f"bedrock/{nova}"]
    assert found[f"bedrock/{nova}"].where == "AWS_ACCESS_KEY_ID"
    found = await look(seconds=5, everything=True)
    assert {f"bedrock/{sonnet}", f"bedrock/{old}"} <= found.keys()
    assert KEY not in repr(found)


async def test_bedrock_that_refuses(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    at_bedrock(monkeypatch, server)
    server.otherwise = status(403, {"message": "The security token included in the request is invalid."})
    [model] = [model for name, model in (await look(seconds=5)).items() if name.startswith("bedrock/")]
    assert model.state == "needs a key"


async def test_azure_says_how_to_name_a_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://lab.openai.azure.com")
    found = await look()
    assert found["azure/DEPLOYMENT"].state == "not set up"
    assert "base_model" in found["azure/DEPLOYMENT"].todo


async def test_it_takes_no_longer_than_it_may_however_many_hang(
    monkeypatch: pytest.MonkeyPatch, server: FaultServer
) -> None:
    hang = stream([b"{"], then="stall")
    server.otherwise = hang
    at_openai(monkeypatch, server, hang)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    lab = {f"lab{n}": ModelSpec(name="", provider="ollama", model="m", base_url=f"{server.url}/{n}") for n in range(9)}
    began = time.monotonic()
    found = await look(with_models(**lab), ports=(Port(port=server.port, title="vLLM"),), seconds=0.3)
    assert time.monotonic() - began < 1.0
    assert found["lab8"].state == "server down"
    assert found["embedded"].state == "ready"


async def test_a_name_that_takes_for_ever_to_look_up_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(5))
    began = time.monotonic()
    found = await look(seconds=0.2)
    assert time.monotonic() - began < 1.5
    assert found["mistral/mistral-large-latest"].state == "ready"
