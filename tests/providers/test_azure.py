"""The azure provider: endpoint, deployment, version, key or sign-in. What it shares with OpenAI is tested there."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import ModelUnavailableError
from core.models import EmbedderSpec, ModelSpec, Usage
from core.providers.access import access_to
from core.providers.azure import API_VERSION, AzureProvider
from tests.faults.openai_wire import AzureWire, ResponsesWire, embeddings
from tests.faults.server import FaultServer, Handler, status
from tests.providers.openai_calls import collect, failure, sent, text

WIRE = AzureWire()
KEY = "azure-planted-0123456789"

IDENTITY = """
from azure.core.exceptions import ClientAuthenticationError

class DefaultAzureCredential:
    asked = 0
    closed = False
    def close(self):
        DefaultAzureCredential.closed = True

def get_bearer_token_provider(credential, scope):
    assert scope == "https://cognitiveservices.azure.com/.default"
    def token():
        DefaultAzureCredential.asked += 1
        if DefaultAzureCredential.asked > 3:
            raise ClientAuthenticationError("DefaultAzureCredential failed.\\nAttempted:\\n\\tEnvironmentCredential")
        return "entra-token-0123456789"
    return token
"""

EXCEPTIONS = """
class AzureError(Exception): ...
class ClientAuthenticationError(AzureError): ...
"""


@pytest.fixture
async def azure() -> AsyncIterator[AzureProvider]:
    provider = AzureProvider()
    yield provider
    await provider.close()


@pytest.fixture
def _azure_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the optional package, which asks for tokens of an account that tests don't have."""
    for name, code in (("core/exceptions", EXCEPTIONS), ("identity/__init__", IDENTITY), ("core/__init__", "")):
        path = tmp_path / "azure" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name == "azure" or name.startswith("azure.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture(autouse=True)
def _forget_azure() -> Any:
    yield
    for name in [name for name in sys.modules if name == "azure" or name.startswith("azure.")]:
        del sys.modules[name]


def noted(queries: list[str], handler: Handler) -> Handler:
    async def handle(request: Any) -> Any:
        queries.append(request.query_string)
        return await handler(request)

    return handle


@pytest.mark.parametrize(
    ("api", "path", "reply"),
    [
        ("", "/openai/deployments/our-deployment/chat/completions", WIRE.answer("Salt.")),
        ("responses", "/openai/responses", ResponsesWire().answer("Salt.")),
    ],
)
async def test_a_deployment_is_asked_at_its_endpoint(
    api: str, path: str, reply: Handler, server: FaultServer, azure: AzureProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{server.url}/")
    queries: list[str] = []
    server.say(noted(queries, reply))
    spec = ModelSpec(name="ours", provider="azure", model="our-deployment", api=api)  # type: ignore[arg-type]
    await azure.prepare(spec)
    chunks = await collect(azure, spec)
    assert text(chunks) == "Salt."
    assert {"max_completion_tokens", "max_output_tokens"} & set(sent(chunks))
    [request] = server.requests
    assert request.path == path
    assert request.json["model"] == "our-deployment"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers
    assert queries == [f"api-version={API_VERSION}"]
    assert azure.endpoint(spec) == f"127.0.0.1:{server.port}"


async def test_the_version_is_the_specs_or_the_environments(
    server: FaultServer, azure: AzureProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []
    server.otherwise = noted(queries, WIRE.answer("Salt."))
    monkeypatch.setenv("OPENAI_API_VERSION", "2025-01-01")
    await collect(azure, WIRE.spec(server))
    await collect(azure, WIRE.spec(server, api_version="2025-02-02"))
    assert queries == ["api-version=2025-01-01", "api-version=2025-02-02"]


async def test_an_address_copied_from_azures_pages_will_do(server: FaultServer, azure: AzureProvider) -> None:
    server.say(WIRE.answer("Salt."))
    pasted = f"{server.url}/openai/deployments/other/chat/completions?api-version=2024-10-21"
    await collect(azure, WIRE.spec(server, base_url=pasted))
    assert server.requests[0].path == "/openai/deployments/our-deployment/chat/completions"
    named = ModelSpec(name="x", provider="azure", model="m", base_url="https://openai.openai.azure.com/openai/v1")
    assert azure.endpoint(named) == "openai.openai.azure.com"


async def test_a_key_stays_away_from_an_endpoint_that_is_not_the_persons_own(
    server: FaultServer, azure: AzureProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "token-planted-0123456789")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-planted-0123456789")
    server.otherwise = WIRE.answer("Salt.")
    await collect(azure, WIRE.spec(server))
    assert not {"authorization", "api-key", "openai-organization"} & set(server.requests[0].headers)
    assert "0123456789" not in str(server.requests[0])
    monkeypatch.setenv("THEIR_KEY", "their-key-0123456789")
    await collect(azure, WIRE.spec(server, api_key_env="THEIR_KEY"))
    assert server.requests[1].headers["api-key"] == "their-key-0123456789"
    assert "authorization" not in server.requests[1].headers


@pytest.mark.parametrize(
    "host", ["evil.net/mine.openai.azure.com", "openai.azure.com.evil.net", "x.cloudapp.azure.com"]
)
async def test_what_only_looks_like_azure_gets_no_key(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    for url, named in (
        (f"https://{host}", ""),
        ("https://mine.openai.azure.com", "AZURE_OPENAI_API_KEY"),
        ("http://mine.openai.azure.com", ""),
    ):
        assert access_to(ModelSpec(name="x", provider="azure", model="m", base_url=url)).variable == named


async def test_a_token_goes_as_a_token(
    server: FaultServer, azure: AzureProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "token-planted-0123456789")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
    server.say(WIRE.answer("Salt."))
    await collect(azure, WIRE.spec(server))
    assert server.requests[0].headers["authorization"] == "Bearer token-planted-0123456789"
    assert "api-key" not in server.requests[0].headers


@pytest.mark.usefixtures("_azure_identity")
async def test_without_a_key_the_person_signs_in(
    server: FaultServer, azure: AzureProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
    server.otherwise = WIRE.answer("Salt.")
    await asyncio.gather(*(collect(azure, WIRE.spec(server)) for _ in range(3)))
    tokens = [request.headers["authorization"] for request in server.requests]
    assert tokens == ["Bearer entra-token-0123456789"] * 3
    with pytest.raises(ModelUnavailableError, match="az login") as refused:
        await azure.prepare(WIRE.spec(server))
    assert "\n" not in refused.value.message
    assert (await failure(azure, WIRE.spec(server))).kind == "denied"
    await azure.close()
    assert sys.modules["azure.identity"].DefaultAzureCredential.closed


async def test_without_the_package_it_says_how_to_sign_in(
    azure: AzureProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    spec = ModelSpec(name="x", provider="azure", model="m", base_url="https://mine.openai.azure.com")
    with pytest.raises(ModelUnavailableError, match="set AZURE_OPENAI_API_KEY, or install the extra `entra`"):
        await azure.prepare(spec)


async def test_without_an_endpoint_it_says_where_to_name_one(azure: AzureProvider) -> None:
    spec = ModelSpec(name="x", provider="azure", model="m")
    with pytest.raises(ModelUnavailableError, match="AZURE_OPENAI_ENDPOINT"):
        await azure.prepare(spec)
    assert azure.endpoint(spec) == "Azure"


async def test_a_deployment_has_to_be_named(azure: AzureProvider, server: FaultServer) -> None:
    with pytest.raises(ModelUnavailableError, match="model"):
        await azure.prepare(WIRE.spec(server, model=""))


@pytest.mark.parametrize(
    ("code", "message", "kind", "words"),
    [
        ("DeploymentNotFound", "The API deployment for this resource does not exist.", "missing", "our-deployment"),
        ("404", "Resource not found", "address", "api_version"),
    ],
)
async def test_a_missing_deployment_is_told_from_a_wrong_endpoint(
    code: str, message: str, kind: str, words: str, server: FaultServer, azure: AzureProvider
) -> None:
    server.say(status(404, {"error": {"code": code, "message": message}}))
    failed = await failure(azure, WIRE.spec(server))
    assert failed.kind == kind
    assert words in str(failed)


async def test_a_deployment_that_embeds(server: FaultServer, azure: AzureProvider) -> None:
    server.say(embeddings([[1.0, 0.0]]))
    spec = EmbedderSpec(
        name="e",
        provider="azure",
        model="our-vectors",
        base_url=server.url,
        base_model="text-embedding-3-large",
        dims=2,
    )
    assert (await azure.embed(spec, ["x"])).rows == [[1.0, 0.0]]
    assert server.requests[0].path == "/openai/deployments/our-vectors/embeddings"
    assert server.requests[0].json["dimensions"] == 2


async def test_the_price_is_the_base_models_never_the_deployments(azure: AzureProvider) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000)
    named_so = ModelSpec(name="x", provider="azure", model="gpt-4o", base_url="http://127.0.0.1:1")
    assert azure.cost(named_so, usage) is None
    known = ModelSpec(name="x", provider="azure", model="gpt-4o-mini", base_model="gpt-4o")
    assert azure.cost(known, usage) == pytest.approx(3.5, rel=0.5)
