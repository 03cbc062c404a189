"""The table of faults for embeddings: a real SDK, a real server that goes wrong, the call layer."""

import asyncio
import json
from typing import Any

import pytest
from msgspec import Struct

from core.models import CallFailedError, EmbedderSpec, EmbeddingProvider, Vectors
from core.providers.azure import AzureProvider
from core.providers.calls import Caller, Persistence
from core.providers.ollama import OllamaProvider
from core.providers.openai import OpenAIProvider
from tests.clocks import HeldClock, finished
from tests.faults import ollama_wire, openai_wire
from tests.faults.ollama_wire import OllamaWire
from tests.faults.openai_wire import AzureWire, ChatWire
from tests.faults.server import FaultServer, Handler, html, reset, status, stream

TEXTS = ["Listen to the ice.", "Count the bubbles."]
ROWS = [[1.0, 0.0], [0.0, 1.0]]

SECRET = "sk-planted-31415926535897932384"


class Kind(Struct):
    """One provider's way to embed."""

    name: str
    provider: type[OpenAIProvider | OllamaProvider]
    wire: ChatWire | OllamaWire

    def spec(self, server: FaultServer, **settings: Any) -> EmbedderSpec:
        base_url = f"{server.url}/v1" if self.name == "openai" else server.url
        fields = {"name": "e", "provider": self.name, "model": "test-embedder", "base_url": base_url}
        return EmbedderSpec(**{**fields, **settings})

    def fine(self) -> Handler:
        return ollama_wire.embedded(ROWS) if self.name == "ollama" else openai_wire.embeddings(ROWS)

    def broken(self, then: str) -> Handler:
        """The beginning of an answer, and then its early `end`, a `cut`, a `stall`, or `garbage`."""
        name = "embeddings" if self.name == "ollama" else "data"
        begin = json.dumps({name: ROWS}).encode()[:20]
        if then == "garbage":
            return stream([begin, b"\xff\xfe]]]"], content_type="application/json")
        return stream([begin], content_type="application/json", then=then)


KINDS = (
    Kind("openai", OpenAIProvider, ChatWire()),
    Kind("azure", AzureProvider, AzureWire()),
    Kind("ollama", OllamaProvider, OllamaWire()),
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kind:
    for name in ("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY", "THE_KEY"):
        monkeypatch.setenv(name, SECRET)
    kind: Kind = request.param
    return kind


async def embed(kind: Kind, server: FaultServer, *handlers: Handler, patience: float = 5.0, **settings: Any) -> Vectors:
    """Let the server answer so, request by request; what comes after the last is answered as the last was."""
    server.say(*handlers)
    if handlers:
        server.otherwise = handlers[-1]
    return await embedded(kind, kind.spec(server, **settings), patience)


async def embedded(kind: Kind, spec: EmbedderSpec, patience: float) -> Vectors:
    """`patience` in seconds, for the whole of an answer."""
    provider = kind.provider()
    clock = HeldClock()
    caller = Caller(lambda _: provider, clock, Persistence(first_token=patience))
    try:
        running = asyncio.create_task(caller.embed(spec, TEXTS))
        await finished(running, clock)
        return running.result()
    finally:
        await provider.close()


async def failure(kind: Kind, server: FaultServer, *handlers: Handler, **settings: Any) -> CallFailedError:
    with pytest.raises(CallFailedError) as failed:
        await embed(kind, server, *handlers, **settings)
    assert "\n" not in str(failed.value)
    assert str(server.port) in str(failed.value)
    assert len(str(failed.value)) > 30
    return failed.value


async def test_texts_become_vectors_in_one_request(kind: Kind, server: FaultServer) -> None:
    vectors = await embed(kind, server, kind.fine())
    assert vectors.rows == ROWS
    assert vectors.usage.input_tokens > 0
    assert not vectors.usage.estimated
    assert [request.json["input"] for request in server.requests] == [TEXTS]


# ── what may be gone at the next try ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("code", [500, 502, 503, 529])
async def test_a_server_that_fails_is_asked_four_times(kind: Kind, server: FaultServer, code: int) -> None:
    failed = await failure(kind, server, kind.wire.error(code, "try again later"))
    assert failed.kind == "server"
    assert len(server.requests) == 4, "three retries are exactly four requests: no SDK adds its own"


async def test_a_connection_that_is_reset_is_tried_again(kind: Kind, server: FaultServer) -> None:
    assert (await embed(kind, server, reset(), kind.fine())).rows == ROWS
    assert len(server.requests) == 2


@pytest.mark.parametrize("then", ["cut", "end", "stall", "garbage"])
async def test_an_answer_that_breaks_off_is_asked_for_again(kind: Kind, server: FaultServer, then: str) -> None:
    patience = 0.3 if then == "stall" else 5.0
    assert (await embed(kind, server, kind.broken(then), kind.fine(), patience=patience)).rows == ROWS
    assert len(server.requests) == 2


async def test_429_is_waited_for(kind: Kind, server: FaultServer) -> None:
    slow = kind.wire.error(429, "slow down", code="rate_limit_exceeded", headers={"Retry-After": "7"})
    assert (await embed(kind, server, slow, kind.fine())).rows == ROWS
    server.requests.clear()
    failed = await failure(kind, server, slow)
    assert (failed.kind, failed.retry_after) == ("limited", 7)


async def test_a_server_that_is_not_there_is_said_with_its_name(kind: Kind, server: FaultServer) -> None:
    await server.stop()
    assert (await failure(kind, server)).kind == "connection"


# ── what stays until somebody does something ──────────────────────────────────────────────────────────────────────────


async def test_no_key_no_right_no_model_and_a_wrong_address_are_four_different_messages(
    kind: Kind, server: FaultServer
) -> None:
    failures = []
    for handler in (
        kind.wire.error(401, "invalid key"),
        kind.wire.error(403, "not yours"),
        kind.wire.error(404, "model not found", code="model_not_found"),
        html(),
    ):
        server.requests.clear()
        failures.append(await failure(kind, server, handler))
        assert len(server.requests) == 1, "it is not tried again"
        server._script.clear()
    assert [failed.kind for failed in failures] == ["denied", "denied", "missing", "address"]
    assert len({str(failed) for failed in failures}) == 4


async def test_a_text_that_is_too_long_is_said_to_be_so(kind: Kind, server: FaultServer) -> None:
    said = kind.wire.error(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded")
    assert (await failure(kind, server, said)).kind == "context"
    assert len(server.requests) == 1


async def test_a_filter_that_is_against_a_text_is_asked_once(kind: Kind, server: FaultServer) -> None:
    failed = await failure(kind, server, kind.wire.filtered())
    assert (failed.kind, "filter" in str(failed)) == ("request", True)
    assert len(server.requests) == 1


# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 500])
async def test_a_key_that_a_server_echoes_is_hidden(kind: Kind, server: FaultServer, code: int) -> None:
    said = kind.wire.error(code, f"Incorrect API key provided: {SECRET}.")
    failed = await failure(kind, server, said, api_key_env="THE_KEY")
    assert server.requests
    assert "31415926" not in str(failed)


async def test_a_key_never_travels_to_a_server_that_it_is_not_meant_for(kind: Kind, server: FaultServer) -> None:
    await embed(kind, server, kind.fine())
    assert "31415926" not in str(server.requests)
    await embed(kind, server, kind.fine(), api_key_env="THE_KEY")
    assert "31415926" in str(server.requests[-1].headers)


def test_every_provider_that_embeds_is_in_the_table() -> None:
    from core.providers.known import EMBEDDING

    assert [kind.name for kind in KINDS] == list(EMBEDDING)
    _: tuple[EmbeddingProvider, ...] = tuple(kind.provider() for kind in KINDS)


async def test_an_answer_of_another_shape_is_no_answer(kind: Kind, server: FaultServer) -> None:
    for odd in (status(200, {"object": "list"}), status(200, {"data": "none", "embeddings": "none"})):
        assert (await failure(kind, server, odd)).kind in ("address", "unreadable")
        server._script.clear()
