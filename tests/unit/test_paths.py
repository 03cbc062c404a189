"""Paths as people give them, and folders as they are found: what can't be used is said in one clean line."""

import json
import os
from pathlib import Path

import pytest

from core.config import own_question_files, path_of, read_plan, sessions_folder
from core.errors import JagstormError, SessionUnreadableError, UsageError
from core.questions import read_question_file
from core.store import library, listing
from core.store.log import read_log
from tests.conftest import make_plan

UNUSABLE = ["~nouser-at-all/x", "a\ud8ffb", "a\x00b", "a\nb", "a\x1b[2Jb", "a\u202eb", "", "   "]

TOO_LONG = "x" * 300

NASTY = "2026\x1b[2J\n\u202e-ice-\udcff"
"""A folder's name as a file system may hold it: controls, an override, and a byte that is no UTF-8."""


def told(error: pytest.ExceptionInfo[JagstormError]) -> str:
    """The message, which is one line that a terminal shows and obeys nothing of."""
    message = error.value.message
    assert message.isprintable(), message
    message.encode()
    return message


@pytest.mark.parametrize("text", UNUSABLE)
def test_a_path_that_can_not_be_used(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        path_of(text)
    assert told(caught).startswith("Not a path that can be used: ")
    with pytest.raises(UsageError):
        library.move(library.create(tmp_path / "here", make_plan()), make_plan(), text)


@pytest.mark.parametrize("text", ["two  blanks", "tab\there", "日本語", " a ", "[/x]", "100%"])
def test_a_path_is_taken_as_it_is(text: str) -> None:
    assert path_of(text) == Path(text)


def test_a_home_folder_that_nobody_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        sessions_folder("~nouser-at-all/x")
    monkeypatch.setenv("JAGSTORM_SESSIONS", "~nouser-at-all/x")
    with pytest.raises(UsageError):
        sessions_folder(None)
    with pytest.raises(UsageError):
        library.find(tmp_path, "~nouser-at-all/x")


def test_names_that_are_too_long_for_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        library.session_folders(tmp_path / TOO_LONG)
    assert "can't be read: File name too long" in told(caught)
    with pytest.raises(UsageError) as caught:
        library.find(tmp_path, TOO_LONG)
    assert told(caught).startswith("No session 'xxx")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / TOO_LONG))
    with pytest.raises(UsageError) as caught:
        own_question_files()
    assert "can't be searched for questions: File name too long" in told(caught)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_in_one_that_is_closed_to_us(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    with pytest.raises(UsageError, match="can't be read: Permission denied"):
        library.session_folders(closed / "sessions")


@pytest.mark.parametrize("what", ["a session", "no log", "no plan"])
def test_a_folder_of_any_name_is_listed_and_its_row_can_be_printed(sessions: Path, what: str) -> None:
    log = library.create(sessions, make_plan())
    log.close()
    folder = sessions / NASTY
    log.folder.rename(folder)
    if what != "a session":
        (folder / ("events.jsonl" if what == "no log" else "session.toml")).unlink()
    [row] = listing.summaries(sessions)
    assert row.folder == folder, "the app opens it by this"
    told_of = json.loads(listing.to_json(row))
    assert told_of["id"] == "2026[2J -ice-\ufffd"
    assert told_of["folder"] == f"{sessions}/2026[2J -ice-\ufffd"
    assert all(text.isprintable() for text in told_of.values() if isinstance(text, str))
    assert (row.status == "damaged") is (what != "a session")


def test_what_is_wrong_in_a_folder_of_any_name_is_said_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / NASTY
    for read in (read_plan, read_log):
        with pytest.raises(SessionUnreadableError) as caught:
            read(folder)
        told(caught)
    folder.mkdir()
    (folder / "session.toml").write_bytes(b"\xff")
    with pytest.raises(SessionUnreadableError) as caught:
        read_plan(folder)
    assert "is not UTF-8 text" in told(caught)


@pytest.mark.parametrize("content", [None, b"\xff", b"patience", b"a = 1", b"\n[[questions]]\n"])
@pytest.mark.parametrize("suffix", [".toml", ".txt"])
def test_the_place_of_what_is_wrong_in_a_question_file_is_clean(
    tmp_path: Path, content: bytes | None, suffix: str
) -> None:
    path = tmp_path / f"{NASTY}{suffix}"
    if content is not None:
        path.write_bytes(content)
    for place, _ in read_question_file(path):
        assert place.isprintable()
        place.encode()
