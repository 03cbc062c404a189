"""A key is planted wherever an SDK or a server could echo it; then everything written and printed is searched."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.models import CallFailedError, Message, ModelSpec, Prompt, Provider
from core.providers.calls import Call, Caller, Persistence
from tests.faults.anthropic_wire import AnthropicWire
from tests.faults.bedrock_wire import BedrockWire
from tests.faults.ollama_wire import OllamaWire
from tests.faults.openai_wire import AzureWire, ChatWire, ResponsesWire
from tests.faults.server import FaultServer, Handler, status
from tests.faults.wire import Wire

KEY = "sk-planted-27182818284590452353602874"
TELLTALE = "2718281828"
"""A stretch of the key, should somebody cut it."""

WIRES: tuple[Wire, ...] = (ChatWire(), ResponsesWire(), AzureWire(), AnthropicWire(), BedrockWire(), OllamaWire())

PROMPT = Prompt(messages=(Message("user", "How would one hear ice crack?"),))


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wire:
    monkeypatch.setenv("PLANTED_KEY", KEY)
    profile = f"[profile lab]\naws_access_key_id = AKIAIOSFODNN7PLANTED\naws_secret_access_key = {KEY}\n"
    (tmp_path / "aws").write_text(profile, encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws"))
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    wire: Wire = request.param
    return wire


def echoes(wire: Wire) -> Iterator[Handler]:
    """Every way in which a server can say the key."""
    said = f"Incorrect API key provided: {KEY}. You sent Authorization: Bearer {KEY}"
    for code in (400, 401, 403, 404, 418, 429, 500):
        yield wire.error(code, said, headers={"x-echo": KEY})
    yield status(401, said)
    yield status(500, f"<html><body>{said}</body></html>")
    yield status(307, said, {"Location": f"https://elsewhere.invalid/?key={KEY}"})
    yield wire.broken(said, "garbage")
    yield wire.answer(f"Your key is {KEY}.", thoughts=f"the key is {KEY}", reason="length")
    yield wire.answer(f"Your key is {KEY}.", thoughts=f"the key is {KEY}", pieces=1)


def keyed(wire: Wire, server: FaultServer) -> ModelSpec:
    settings = {"aws_profile": "lab"} if wire.name == "bedrock" else {"api_key_env": "PLANTED_KEY"}
    return wire.spec(server, **settings)


async def test_no_call_tells_the_key_to_anybody(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with FaultServer() as server:
        provider = wire.provider()
        caller = Caller(lambda _: provider, persistence=Persistence(tries=2, first_wait=0.001, next_token=0.5))
        for handler in echoes(wire):
            server.otherwise = handler
            told: list[str] = []

            def hear(*words: object, told: list[str] = told) -> None:
                told.append(repr(words))

            call = Call(caller, keyed(wire, server), PROMPT, on_delta=hear, on_retry=hear)
            await call.run()
            said = (*told, call.text, call.thoughts, call.message, repr(call.parameters))
            assert [words for words in said if TELLTALE in words] == []
        assert any(KEY in repr(request.headers) for request in server.requests) or wire.name == "bedrock"
        await provider.close()
    ours = [record.getMessage() for record in caplog.records if record.name.split(".")[0] in ("core", "tui")]
    assert [message for message in ours if TELLTALE in message] == []


async def test_no_exception_holds_the_key_nor_the_one_before_it(wire: Wire) -> None:
    async with FaultServer() as server:
        provider = wire.provider()
        for handler in echoes(wire):
            server.otherwise = handler
            fault = await fault_of(provider, keyed(wire, server))
            assert [text for text in chain_of(fault) if TELLTALE in text] == []
        await provider.close()


async def fault_of(provider: Provider, spec: ModelSpec) -> CallFailedError | None:
    try:
        async for _ in provider.stream(spec, PROMPT, 1):
            pass
    except CallFailedError as error:
        return error
    return None


async def printed(*words: str) -> str:
    """What the command prints, on standard output and on standard error."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tui", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    return out.decode()


def chain_of(error: BaseException | None) -> Iterator[str]:
    """The texts of an exception and of all that are shown with it."""
    while error is not None:
        yield str(error)
        yield repr(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "words"])
async def test_no_session_writes_the_key_and_nothing_prints_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY)
    wire = ChatWire()
    async with FaultServer() as server:
        server.say(*echoes(wire), wire.answer(f"<idea>Listen: {KEY}.</idea>"))
        server.otherwise = wire.error(401, f"no such key: {KEY}")
        config = tmp_path / "config.toml"
        table = {"provider": "openai", "base_url": f"{server.url}/v1", "model": "m", "api_key_env": "PLANTED_KEY"}
        lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in table.items())
        config.write_text(f"[models.loose]\n{lines}\n", encoding="utf-8")
        words = ["run", "--question", "How?", "--model", "loose", "--judge", "loose", "--max-ideas", "3", "-v"]
        words += ["--config", str(config), *(["--json"] if as_json else [])]
        words += ["--sessions", str(tmp_path / "sessions")]
        told = (("models",), ("models", "test", "loose"), ("doctor",))
        said = [await printed(*words), *[await printed(*more, "--config", str(config)) for more in told]]
    assert any(KEY in repr(request.headers) for request in server.requests), "the key did go where it belongs"
    assert [words for words in said if TELLTALE in words] == []
    assert all(said)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != config]
    assert any(path.name == "events.jsonl" for path in written)
    assert [path for path in written if TELLTALE.encode() in path.read_bytes()] == []
