"""Situations that screens are tested in."""

from pathlib import Path

import pytest

from core.providers.catalog import Providers
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp


@pytest.fixture(autouse=True)
def _steady_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("COLORFGBG", raising=False)


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(varied, delay=0.02)


@pytest.fixture
def app(sessions: Path, provider: ScriptedProvider) -> JagstormApp:
    """The app on its first screen, with a scripted model in the place of the embedded one."""
    return JagstormApp(str(sessions), providers=Providers({"embedded": provider}))
