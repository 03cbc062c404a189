"""A file of teams, and all that is wrong in it."""

from pathlib import Path

import pytest

from core.config import config_folder
from core.errors import UsageError
from core.naming import fault_line
from core.teams.checking import check_file
from core.teams.written import Fault
from tests.unit.test_team_files import MODELS, read


@pytest.fixture
def path() -> Path:
    config_folder().mkdir(parents=True)
    return config_folder() / "config.toml"


def test_all_that_is_wrong_is_said_at_once(path: Path) -> None:
    path.write_text(
        """
        theme = 3
        [models.luna]
        temperature = "warm"
        context = -1
        [judging]
        mode = "some"
        [teams.t]
        strategy = "vote"
        drafts = 99
        members = ["luna", { model = "luna", weight = 0 }, 3]
        [teams.fine]
        members = ["luna"]
        """,
        encoding="utf-8",
    )
    found = check_file(path)
    assert [line.removeprefix(f"{path}: ").partition(": expected")[0] for line in found.wrong] == [
        "theme",
        "[models.luna] temperature",
        "[models.luna] context",
        "[judging] mode",
        "[teams.t] strategy",
        "[teams.t] drafts",
        "[teams.t] members[1].weight",
        "[teams.t] members[2]",
    ]
    assert found.teams == ("t", "fine")


def test_then_all_names_that_mean_nothing(path: Path) -> None:
    path.write_text(
        MODELS
        + """
        [teams.t]
        strategy = "router"
        members = ["lunar", "sol", "soll"]
        judges = ["nobody"]
        embedder = "nothing"
        [teams.u]
        strategy = "router"
        members = ["sol"]
        routes = { Biology = "luna", "*" = "moon" }
        """,
        encoding="utf-8",
    )
    places = [line.removeprefix(f"{path}: ").partition(": ")[0] for line in check_file(path).wrong]
    assert places == [
        "[teams.t] members[0]",
        "[teams.t] members[2]",
        "[teams.t] judges",
        "[teams.t] embedder",
        "[teams.u] routes.Biology",
        "[teams.u] routes.*",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[teams.t\n", "is not TOML: "),
        (b"a = '\xff'\n", "is not UTF-8 text (line 1)"),
        (b"teams = 3\n", "teams: expected `table`, got `int`"),
        (b"[teams]\nt = 3\n", "[teams.t] expected a table of keys and values, got a number"),
        (b"[teams.t]\nmembers = []\n", "[teams.t] members: expected `list` of length >= 1"),
        (b"[teams.t]\n", "[teams.t] table missing required field `members`"),
        (b"default_team = 'x'\n", "default_team: expected one of embedded, "),
        (b"[teams.t]\nmembers = ['embedded']\napi_key = 'abcdefgh12345678'\n", "[teams.t] api_key: keys have no place"),
    ],
)
def test_whatever_a_file_holds_is_said(path: Path, content: bytes, said: str) -> None:
    path.write_bytes(content)
    try:
        lines = check_file(path).wrong
    except UsageError as error:
        lines = (error.message,)
    assert any(said in line for line in lines)
    assert not any("abcdefgh" in line for line in lines)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no file .*none\.toml"):
        check_file(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="can't be read: Is a directory"):
        check_file(tmp_path)


def test_a_line_of_a_fault_is_clean(path: Path) -> None:
    settings = read(path, "")
    line = fault_line("a\x1b[2Jb\nc", Fault("members[0]", "wrong"), settings)
    assert line == f"{path}: [teams.a[2Jb c] members[0]: wrong"
