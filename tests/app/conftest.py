"""Situations that screens are tested in."""

from pathlib import Path

import pytest

from core.providers.catalog import Providers
from core.providers.discovery import found
from core.providers.discovery.found import FoundModel
from core.settings import Settings
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp


@pytest.fixture(autouse=True)
def _steady_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("COLORFGBG", raising=False)


@pytest.fixture(autouse=True)
def _nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server of this machine, and no key of whoever runs the tests."""

    async def find_models(settings: Settings, providers: Providers) -> list[FoundModel]:
        return []

    monkeypatch.setattr(found, "find_models", find_models)


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(varied, delay=0.02)


@pytest.fixture
def app(sessions: Path, provider: ScriptedProvider) -> JagstormApp:
    """The app on its first screen, with a scripted model in the place of the embedded one."""
    return JagstormApp(str(sessions), providers=Providers({"embedded": provider}))
