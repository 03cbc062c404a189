"""Rules of the house that hold for every file, and what is in the package that people install."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]

LONGEST = 400
"""Lines of a file."""

VAGUE = {"utils", "helpers", "common", "manager"}


def tracked(pattern: str) -> list[Path]:
    done = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.splitlines() if (path := ROOT / name).exists()]


def test_files_are_short_and_their_names_say_what_is_in_them() -> None:
    files = tracked("*.py")
    assert len(files) > 50
    assert [path for path in files if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST] == []
    assert [path for path in files if VAGUE & {path.stem, *path.relative_to(ROOT).parts}] == []


def test_a_wheel_holds_all_that_runs_and_no_tests(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    [wheel] = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    needed = [*tracked("core/*.py"), *tracked("tui/*.py"), *tracked("tui/*.tcss"), *tracked("data/*")]
    assert {str(path.relative_to(ROOT)) for path in needed} <= names
    assert {"data/example/session.toml", "data/example/events.jsonl"} <= names
    assert [name for name in names if name.startswith("data/questions/") and name.endswith(".toml")]
    assert [name for name in names if name.startswith("tui/styles/") and name.endswith(".tcss")]
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"core", "tui", "data"}
