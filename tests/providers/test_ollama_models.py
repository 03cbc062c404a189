"""What Ollama's servers have, beside answers: models, vectors, pulling."""

from typing import Any

import pytest

from core.errors import ModelUnavailableError
from core.models import (
    CallFailedError,
    EmbedderSpec,
    ModelSpec,
    Usage,
)
from core.providers.ollama import OllamaProvider
from tests.faults.ollama_wire import embedded, missing, pulled, shown
from tests.faults.server import FaultServer, status
from tests.providers.ollama_calls import WIRE, provider, server

__all__ = ["provider", "server"]


async def test_a_model_that_is_there_is_ready(server: FaultServer, provider: OllamaProvider) -> None:
    await provider.prepare(WIRE.spec(server))
    assert not server.sent_to("/api/chat")
    found = await provider.details(WIRE.spec(server))
    assert (found.context, found.size, found.quantization) == (32768, "4.0B", "Q4_K_M")
    assert "thinking" in found.capabilities


async def test_an_embedding_model_is_one_that_makes_vectors(server: FaultServer, provider: OllamaProvider) -> None:
    server.route("/api/show", shown(capabilities=("embedding",)))
    await provider.prepare(embedder(server))
    server.route("/api/show", shown(capabilities=("completion",)))
    with pytest.raises(ModelUnavailableError, match="makes no vectors: it is for completion"):
        await provider.prepare(embedder(server))


async def test_what_a_person_must_do_before_a_model_is_ready(server: FaultServer, provider: OllamaProvider) -> None:
    spec = WIRE.spec(server)
    server.route("/api/show", missing())
    with pytest.raises(ModelUnavailableError, match="jagstorm models pull ollama/tiny"):
        await provider.prepare(spec)
    server.route("/api/show", shown(capabilities=("embedding",)))
    with pytest.raises(ModelUnavailableError, match="writes no text: it is for embedding"):
        await provider.prepare(spec)
    await server.stop()
    with pytest.raises(ModelUnavailableError, match="ollama serve"):
        await OllamaProvider().prepare(spec)


def test_what_runs_here_costs_nothing_and_what_ollama_serves_itself_is_unknown() -> None:
    provider, usage = OllamaProvider(), Usage(input_tokens=10, output_tokens=10)
    assert provider.cost(ModelSpec(name="a", provider="ollama", model="qwen3:4b"), usage) == 0.0
    cloud = ModelSpec(name="a", provider="ollama", model="gpt-oss:120b", base_url="ollama.com")
    assert provider.cost(cloud, usage) is None


def embedder(server: FaultServer, **settings: Any) -> EmbedderSpec:
    return EmbedderSpec(name="e", provider="ollama", model="nomic-embed-text", base_url=server.url, **settings)


async def test_texts_become_vectors_in_one_request(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(embedded([[1.0, 0.0], [0.0, 1.0]]))
    vectors = await provider.embed(embedder(server, longest=2048, dims=2), ["one", "two"])
    assert vectors.rows == [[1.0, 0.0], [0.0, 1.0]]
    assert vectors.usage.input_tokens == 5
    assert not vectors.usage.estimated
    request = server.sent_to("/api/embed")[0].json
    assert request["input"] == ["one", "two"]
    assert request["truncate"] is False
    assert request["dimensions"] == 2
    assert request["options"] == {"num_ctx": 2048}


async def test_vectors_come_as_they_are(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(embedded([[float("nan"), 0.0], [0.0]], tokens=None))
    vectors = await provider.embed(embedder(server), ["one", "two"])
    assert [len(row) for row in vectors.rows] == [2, 1]
    assert vectors.usage.estimated


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (status(500, {"error": "the input length exceeds the context length"}), "context"),
        (status(501, {"error": "this model does not support embeddings"}), "missing"),
        (status(200, "oh no"), "unreadable"),
        (status(200, {"embeddings": "no"}), "unreadable"),
    ],
)
async def test_embedding_that_goes_wrong(server: FaultServer, provider: OllamaProvider, answer: Any, kind: str) -> None:
    server.say(answer)
    with pytest.raises(CallFailedError) as failed:
        await provider.embed(embedder(server), ["one"])
    assert failed.value.kind == kind


async def test_pulling_tells_how_far_it_is_over_all_layers(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(
        pulled(
            {"status": "pulling manifest"},
            {"status": "pulling aa", "digest": "sha256:aa", "total": 100},
            {"status": "pulling aa", "digest": "sha256:aa", "total": 100, "completed": 60},
            {"status": "pulling aa", "digest": "sha256:aa", "total": 100, "completed": 100},
            {"status": "pulling bb", "digest": "sha256:bb", "total": 20, "completed": 10},
            {"status": "verifying sha256 digest"},
            {"status": "success"},
        )
    )
    steps = [step async for step in provider.pull(server.url, "tiny")]
    assert [(step.done, step.total) for step in steps] == [
        (0, 0), (0, 100), (60, 100), (100, 100), (110, 120), (110, 120), (110, 120)
    ]  # fmt: skip
    assert [step.words for step in steps][-2:] == ["verifying sha256 digest", "success"]
    assert server.sent_to("/api/pull")[0].json["model"] == "tiny"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (pulled({"status": "pulling manifest"}, {"error": "pull model manifest: file does not exist"}), "missing"),
        (pulled({"status": "pulling manifest"}, {"error": "max retries exceeded"}), "server"),
        (pulled({"status": "pulling manifest"}), "unreadable"),
        (pulled({"status": "pulling manifest"}, then="cut"), "unreadable"),
    ],
)
async def test_pulling_that_goes_wrong(server: FaultServer, provider: OllamaProvider, answer: Any, kind: str) -> None:
    server.say(answer)
    with pytest.raises(CallFailedError) as failed:
        _ = [step async for step in provider.pull(server.url, "tiny")]
    assert failed.value.kind == kind
