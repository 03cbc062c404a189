"""Files that are none: a pipe or a device is refused at once, never waited for or read for ever."""

import os
from pathlib import Path

import pytest

from core.config import read_plan
from core.errors import SessionUnreadableError
from core.files import read_file, write_private
from core.questions import read_question_file
from core.store import listing
from core.store.log import read_log


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session's folder in which both files are pipes that nobody writes."""
    folder = tmp_path / "20260101-000000-odd-0000"
    folder.mkdir()
    for name in ("session.toml", "events.jsonl"):
        os.mkfifo(folder / name)
    return folder


def test_a_session_of_pipes_is_damaged_and_holds_up_nobody(session: Path) -> None:
    for read in (read_plan, read_log):
        with pytest.raises(SessionUnreadableError, match="not a regular file"):
            read(session)
    [row] = listing.summaries(session.parent)
    assert row.status == "damaged"


def test_a_device_is_no_file(tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    endless.symlink_to("/dev/zero")
    with pytest.raises(OSError, match="not a regular file"):
        read_file(endless)
    [(_, said)] = read_question_file(endless)
    assert "not a regular file" in str(said)


def test_a_file_is_written_for_its_owner_alone_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "copied.txt"
    write_private(path, "first")
    write_private(path, "second")
    assert path.read_text() == "second"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
