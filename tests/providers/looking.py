"""Looking for models, with nothing here but what a test puts there."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.models import ModelSpec
from core.providers.catalog import Providers
from core.providers.discovery.found import FoundModel, find_models, with_prices
from core.providers.known import Port, catalogue
from core.settings import Settings
from tests.faults.server import FaultServer, Handler

KEY = "sk-planted-9f8e7d6c5b4a"

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {name for host in catalogue().hosts for name in host.keys}
    names |= {"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT", "OLLAMA_HOST", "HTTPS_PROXY"}
    names |= {"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_CONFIG_FILE"}
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)


async def look(
    settings: Settings | None = None, *, everything: bool = False, ports: tuple[Port, ...] = (), seconds: float = 1.0
) -> dict[str, FoundModel]:
    """By name."""
    providers = Providers()
    settings = settings or Settings(path=Path("config.toml"))
    found = with_prices(await find_models(settings, providers, seconds, everything=everything, ports=ports))
    await providers.close()
    assert len({model.name for model in found}) == len(found)
    return {model.name: model for model in found}


def with_models(**models: ModelSpec) -> Settings:
    named = {name: replace(spec, name=name) for name, spec in models.items()}
    return Settings(path=Path("config.toml"), models=named)


def at_openai(monkeypatch: pytest.MonkeyPatch, server: FaultServer, answer: Handler) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.route("/v1/models", answer)
