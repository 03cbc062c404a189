"""What the engine pulls in, seen from a fresh interpreter."""

import subprocess
import sys

import pytest

EVERYTHING = [
    "core.session",
    "core.opening",
    "core.config",
    "core.asking",
    "core.events",
    "core.state",
    "core.rules",
    "core.commands",
    "core.questions",
    "core.store.log",
    "core.store.library",
    "core.store.replay",
    "core.scoring.scorer",
    "core.scoring.embeddings",
    "core.providers.catalog",
    "core.providers.calls",
    "core.teams.presets",
    "core.teams.strategy",
]


def loaded(modules: list[str], unwanted: list[str]) -> list[str]:
    """Which of `unwanted` are there after importing `modules`."""
    code = f"import sys, {', '.join(modules)}\nprint(*(name for name in {unwanted} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_engine_knows_no_screen_and_loads_no_model() -> None:
    assert loaded(EVERYTHING, ["textual", "rich", "click", "plotext", "tui", "xllamacpp", "wordllama"]) == []


@pytest.mark.parametrize("module", ["core.events", "core.state", "core.questions", "core.commands", "core.rules"])
def test_the_ground_floor_needs_no_numpy(module: str) -> None:
    assert loaded([module], ["numpy", "rapidfuzz", "asyncio", "filelock"]) == []


def test_the_check_itself_sees_what_is_loaded() -> None:
    assert loaded(["core.session"], ["numpy", "asyncio"]) == ["numpy", "asyncio"]
