"""Statistics that take a second to import wait until they are asked for, and nobody else asks for them."""

import re
from pathlib import Path

from tests.unit.test_imports import loaded

ROOT = Path(__file__).parents[2]

AT_ONCE = [
    "core.analysis.ribbons",
    "core.analysis.jaggedness",
    "core.analysis.winners",
    "core.analysis.spending",
    "core.analysis.differences",
    "core.analysis.fits",
    "core.analysis.densities",
    "core.analysis.diversity",
    "core.store.tables",
    "core.store.vectors",
    "tui.profiling",
]


def test_a_profile_needs_no_scipy_until_a_chart_does() -> None:
    assert loaded(AT_ONCE, ["scipy", "textual", "wordllama"]) == []


def test_the_command_is_known_before_anything_is_loaded() -> None:
    assert loaded(["tui.profile_command"], ["numpy", "msgspec", "core.analysis", "plotext", "rich"]) == []


def test_only_numbers_use_scipy() -> None:
    uses = re.compile(r"^\s*(from|import) scipy\b", re.MULTILINE)
    files = [path for folder in ("core", "tui", "data") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).parent for path in files if uses.search(path.read_text(encoding="utf-8"))}
    assert found == {Path("core/analysis")}
