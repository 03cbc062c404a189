"""What the engine pulls in, seen from a fresh interpreter."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

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


FOUNDATIONS = {
    "Events, commands": {
        "commands",
        "errors",
        "events",
        "files",
        "leaf_files",
        "levers",
        "models",
        "questions",
        "text",
    },
    "State knows": {"chain", "errors", "events", "levers", "models", "state", "text"},
}
"""What the lowest parts may know of; of everything else in `core` they may not."""


@pytest.mark.parametrize("name", FOUNDATIONS)
def test_the_contracts_of_the_lowest_parts_name_every_other_part(name: str) -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    [forbidden] = [each["forbidden_modules"] for each in contracts if each["name"].startswith(name)]
    parts = {path.stem for path in (ROOT / "core").iterdir() if not path.name.startswith("_")}
    assert {f"core.{part}" for part in parts - FOUNDATIONS[name]} == set(forbidden)
