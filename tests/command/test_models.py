"""`models` and `models test`, on real servers; the command line around them in processes of its own."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest

from core.config import config_folder
from core.errors import ModelUnavailableError, UsageError
from core.providers.known import catalogue
from tests.command.conftest import Jagstorm
from tests.faults.openai_wire import ChatWire
from tests.faults.server import FaultServer, status
from tui.models import list_models, try_model
from tui.words import bill_words

KEY = "sk-planted-9f8e7d6c5b4a"

NOBODY = "http://127.0.0.1:9"

WIRE = ChatWire()


@pytest.fixture(autouse=True)
def _nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {name for host in catalogue().hosts for name in host.keys}
    for name in names | {
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
        "AZURE_OPENAI_ENDPOINT",
        "AWS_PROFILE",
        "JAGSTORM_CONFIG",
    }:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)
    monkeypatch.setattr(sys.modules["core.providers.discovery.found"], "catalogue", _without_ports)
    monkeypatch.chdir(tmp_path)


def _without_ports() -> object:
    """Whatever runs on this machine, it is no part of the test."""
    from msgspec.structs import replace

    return replace(catalogue(), ports=())


def config(text: str) -> None:
    config_folder().mkdir(parents=True, exist_ok=True)
    (config_folder() / "config.toml").write_text(text, encoding="utf-8")


def lab(server: FaultServer, more: str = "") -> None:
    """A model called `lab` at the server."""
    config(f'[models.lab]\nprovider = "openai"\nmodel = "test-model"\nbase_url = "{server.url}/v1"\n{more}')
    server.route("/v1/models", status(200, {"data": [{"id": "test-model"}]}))


async def listed(*, everything: bool = False, as_json: bool = False) -> int:
    return await asyncio.to_thread(list_models, everything=everything, as_json=as_json, config=None)


async def tried(name: str, *, as_json: bool = False) -> int:
    return await asyncio.to_thread(try_model, name=name, as_json=as_json, config=None)


async def test_the_list_says_what_there_is_and_what_to_do(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab(server, '[models.gone]\nprovider = "ollama"\nmodel = "x"\n')
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://llm.example.org/own")
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, server.url)
    server.route(
        "/own/models", status(200, {"data": [{"id": "gpt-6-luna"}, {"id": "gpt-4o"}, {"id": "x\x1b[2J[/red]"}]})
    )
    assert await listed() == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "* lab" in out
    assert "× gone" in out
    assert "server down: 127.0.0.1:9 can't be reached" in " ".join(out.split())
    assert re.search(r"^\* openai/gpt-6-luna +400k  \$[\d.]+\+? / \$[\d.]+\+?$", out, re.MULTILINE)
    assert "embedded" in out
    assert "  anthropic   set ANTHROPIC_API_KEY" in out
    assert "gpt-4o" not in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert await listed(everything=True) == 0
    out, _ = capsys.readouterr()
    assert "openai/gpt-4o" in out
    assert "\x1b" not in out
    assert KEY not in out + err


async def test_json_is_one_object_a_line(server: FaultServer, capsys: pytest.CaptureFixture[str]) -> None:
    lab(server)
    assert await listed(as_json=True) == 0
    rows = {row["name"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert (rows["lab"]["state"], rows["lab"]["model"], rows["lab"]["price"]) == ("ready", "test-model", "free")
    assert rows["openai/gpt-6.1-sol"]["todo"] == "set OPENAI_API_KEY"


async def test_keys_come_from_a_file_too(server: FaultServer, capsys: pytest.CaptureFixture[str]) -> None:
    lab(server, 'api_key_env = "LAB_KEY"\n')
    Path(".env").write_text(f"LAB_KEY={KEY}\n", encoding="utf-8")
    try:
        await listed(as_json=True)
        assert KEY not in "".join(capsys.readouterr())
        assert server.sent_to("/v1/models")[0].headers["authorization"] == f"Bearer {KEY}"
    finally:
        os.environ.pop("LAB_KEY", None)


async def test_what_is_odd_in_the_config_is_said_beside(capsys: pytest.CaptureFixture[str]) -> None:
    config("temperture = 1\n")
    assert await listed() == 0
    assert "temperture: no key of ours" in capsys.readouterr().err


async def test_a_broken_config_is_an_error() -> None:
    config("models = 3\n")
    with pytest.raises(UsageError, match=r"config\.toml: models: expected `table`, got `int`"):
        await listed()


async def test_a_model_is_tried_with_one_call(server: FaultServer, capsys: pytest.CaptureFixture[str]) -> None:
    lab(server)
    server.say(WIRE.answer("Hello from \x1b[31mhere", thoughts="Hm."))
    assert await tried("lab") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"lab, 127.0.0.1:{server.port}" in out
    assert "first token  0.0" in out
    assert "tokens a second" in out
    assert "tokens       11 in, 7 out" in out
    assert "cost         free" in out
    assert "text         Hello from [31mhere" in out
    assert len(server.sent_to("/v1/chat/completions")) == 1
    assert len(server.requests) == 1, "nothing else is asked"


async def test_a_try_as_json(server: FaultServer, capsys: pytest.CaptureFixture[str]) -> None:
    lab(server)
    server.say(WIRE.answer("Hello"))
    await tried("lab", as_json=True)
    row = json.loads(capsys.readouterr().out)
    assert (row["text"], row["usage"]["output_tokens"], row["cost"]) == ("Hello", 7, 0.0)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (WIRE.error(401, f"Incorrect API key provided: {KEY}"), "does not accept the key"),
        (WIRE.error(404, "no such model"), "has no model test-model"),
        (WIRE.error(503, "busy"), "is overloaded"),
        (WIRE.error(429, "slow down"), "asked too often"),
        (WIRE.answer("", reason="refused"), "its answer was refused"),
        (WIRE.answer(""), "its answer was empty"),
    ],
)
async def test_a_failure_is_one_line(
    server: FaultServer, capsys: pytest.CaptureFixture[str], answer: object, said: str
) -> None:
    lab(server, 'api_key_env = "LAB_KEY"\n')
    os.environ["LAB_KEY"] = KEY
    server.say(answer)  # type: ignore[arg-type]
    try:
        with pytest.raises(ModelUnavailableError) as caught:
            await tried("lab")
    finally:
        del os.environ["LAB_KEY"]
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 3
    assert KEY not in caught.value.message + "".join(capsys.readouterr())
    assert len(server.requests) == 1, "tried once"


async def test_a_model_without_its_key() -> None:
    with pytest.raises(ModelUnavailableError, match="ANTHROPIC_API_KEY"):
        await tried("anthropic/claude-opus-5-5")


def test_the_embedded_model_is_tried_from_the_command_line(jagstorm: Jagstorm) -> None:
    code, out, _ = jagstorm("models", "test", "embedded")
    assert code == 0
    assert "cost         free" in out


def test_the_list_from_the_command_line(jagstorm: Jagstorm) -> None:
    code, out, err = jagstorm("models")
    assert (code, err) == (0, "")
    assert "embedded" in out
    assert {json.loads(line)["name"] for line in jagstorm("models", "--json").out.splitlines()} >= {"embedded"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("models", "test", "nothing"), 2, "There is no model 'nothing'"),
        (("models", "test", "openai/gpt-6-luna"), 3, "OPENAI_API_KEY"),
        (("models", "--config", "none.toml"), 2, "There is no config file none.toml"),
        (("--config", "none.toml", "models"), 2, "There is no config file none.toml"),
        (("models", "--config", "none.toml", "test", "embedded"), 2, "There is no config file none.toml"),
    ],
)
def test_what_goes_wrong_is_one_line_on_standard_error(
    jagstorm: Jagstorm, words: tuple[str, ...], code: int, said: str
) -> None:
    result = jagstorm(*words)
    assert (result.code, result.out) == (code, "")
    assert said in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("words", [("models",), ("models", "test"), ("models", "pull"), ("doctor",)])
def test_every_command_has_help(jagstorm: Jagstorm, words: tuple[str, ...]) -> None:
    code, out, _ = jagstorm(*words, "--help")
    assert code == 0
    assert out.startswith("Usage: ")


@pytest.mark.parametrize(
    ("cost", "words"),
    [(None, "unknown"), (0.0, "free"), (2.5, "$2.50"), (0.000123, "$0.000123"), (1e-9, "less than $0.000001")],
)
def test_costs_in_words(cost: float | None, words: str) -> None:
    assert bill_words(cost) == words
