"""Commands that open the app, typed where there is no terminal: they get so far, and say so."""

import shlex
import shutil
from pathlib import Path

import pytest

from core.store.library import example_folder
from tests.command.conftest import Jagstorm
from tui.hints import resume_command


@pytest.fixture
def interrupted(sessions: Path) -> Path:
    """A session that can be gone on with."""
    folder = Path(shutil.copytree(example_folder(), sessions / "20260101-000000-own-0001"))
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join(lines[:30]))
    return folder


@pytest.mark.parametrize("command", ["", "resume last", "replay last", "watch last", "replay example"])
def test_it_opens_the_app(jagstorm: Jagstorm, interrupted: Path, command: str) -> None:
    code, _, err = jagstorm(*command.split())
    assert (code, "The app needs a terminal" in err) == (2, True)


def test_the_command_that_goes_on_can_be_typed_as_it_is_printed(jagstorm: Jagstorm, interrupted: Path) -> None:
    words = shlex.split(resume_command(interrupted))
    assert words[0] == "jagstorm"
    assert "The app needs a terminal" in jagstorm(*words[1:]).err


@pytest.mark.parametrize("name", ["/", "..", "new/folder", "example/../.."])
def test_nothing_is_written_into_what_is_no_session(
    jagstorm: Jagstorm, sessions: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.mkdir(exist_ok=True)
    monkeypatch.chdir(sessions)
    before = sorted(tmp_path.rglob("*"))
    code, _, err = jagstorm("send", name, "pin", "1")
    assert code == 2
    assert err.startswith("jagstorm: ")
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/.lock").exists()


def test_the_example_stays_as_it_is(jagstorm: Jagstorm) -> None:
    before = (example_folder() / "events.jsonl").read_bytes()
    code, _, err = jagstorm("send", "example", "pin", "1")
    assert (code, "The example stays as it is" in err) == (2, True)
    assert (example_folder() / "events.jsonl").read_bytes() == before


def test_hiding_ones_own_ideas_needs_some(jagstorm: Jagstorm) -> None:
    code, _, err = jagstorm("run", "--question-id", "shape-memory-ten-uses", "--own-hidden")
    assert (code, err) == (2, "jagstorm: --own-hidden goes with --own FILE\n")


def test_an_own_idea_that_is_too_long_is_refused_before_anything_begins(
    jagstorm: Jagstorm, sessions: Path, tmp_path: Path
) -> None:
    path = tmp_path / "own.txt"
    path.write_text("One.\n" + "long " * 5000 + "\n")
    code, _, err = jagstorm("run", "--question-id", "shape-memory-ten-uses", "--own", str(path))
    assert (code, "line 2: an idea can have 20,000 characters" in err) == (2, True)
    assert not list(sessions.glob("*/session.toml"))
