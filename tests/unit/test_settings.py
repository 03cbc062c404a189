"""`config.toml`: what is wrong in it is named, what is not ours is left alone, and no key is ever kept in it."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.config import Judging, config_folder
from core.errors import UsageError
from core.models import Budget
from core.settings import MemberTable, Settings, read_settings, remember, settings_path

WHOLE = """
# Mine.
default_team = "quartet"
theme = "jagstorm-light"
embedder = "large"
lost_terminal = "stop"

[models.luna]
provider = "openai"
model = "gpt-6-luna"
effort = "low"

[models.cluster]
provider = "openai"
model = "Qwen/Qwen3-32B"
base_url = "http://gpu07:8000/v1"
temperature = 1
context = 8192

[models.router]
provider = "openrouter"
model = "z-ai/glm-5.3"

[embedders.large]
provider = "openai"
model = "text-embedding-3-large"
threshold = 0.2

[teams.quartet]
about = "Four of us"
judges = ["luna"]
members = ["luna", { model = "cluster", weight = 0.5, persona = "You are a skyrmion-lattice-defects specialist." },
           "ollama/qwen3:8b", "cluster"]

[judging]
judges = ["luna", "anthropic/claude-haiku-5-5"]
mode = "nearest"
nearest = 5
controls = 0.05

[budget]
max_cost = 2.5
max_minutes = 30
"""


@pytest.fixture
def path() -> Path:
    config_folder().mkdir(parents=True)
    return config_folder() / "config.toml"


def read(path: Path, text: str) -> Settings:
    path.write_text(text, encoding="utf-8")
    return read_settings()


def complaint(path: Path, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        read(path, text)
    return caught.value.message


def test_a_whole_file(path: Path) -> None:
    found = read(path, WHOLE)
    assert found.problems == ()
    assert (found.default_team, found.theme, found.embedder) == ("quartet", "jagstorm-light", "large")
    assert found.lost_terminal == "stop"
    luna, cluster, router = found.models["luna"], found.models["cluster"], found.models["router"]
    assert (luna.name, luna.provider, luna.effort, luna.max_tokens) == ("luna", "openai", "low", 16_384)
    assert "temperature" in luna.refuses, "completed as suits its family"
    assert (cluster.temperature, cluster.context) == (1.0, 8192), "what is set stays, even if it is the default"
    assert (router.provider, router.base_url) == ("openai", "https://openrouter.ai/api/v1")
    assert router.api_key_env == "OPENROUTER_API_KEY"
    assert (found.embedders["large"].threshold, found.embedders["large"].longest) == (0.2, 8191)
    assert found.teams["quartet"].judges == ("luna",)
    assert found.teams["quartet"].members[1] == MemberTable(
        model="cluster", weight=0.5, persona="You are a skyrmion-lattice-defects specialist."
    )
    assert found.judges == ("luna", "anthropic/claude-haiku-5-5")
    assert found.judging == Judging(mode="nearest", nearest=5, controls=0.05)
    assert found.budget == Budget(max_cost=2.5, max_minutes=30)


def test_no_file_and_an_empty_file_are_no_settings(path: Path) -> None:
    assert read_settings() == Settings(path=path)
    assert read(path, "") == Settings(path=path)
    assert read(path, "\ufeff# nothing yet\r\n") == Settings(path=path)


def test_where_it_is(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_path() == path
    monkeypatch.setenv("JAGSTORM_CONFIG", "~/mine.toml")
    assert settings_path() == tmp_path / "home" / "mine.toml"
    assert settings_path("given.toml") == Path("given.toml")
    with pytest.raises(UsageError, match=r"There is no config file .*/home/mine\.toml"):
        read_settings()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[models.a]\ntemperature = 'hot'", "[models.a] temperature: expected `float`, got `str`"),
        ("[models.a]\ntemperature = 9", "[models.a] temperature: expected `float` <= 2.0"),
        ("[models.a]\ntemperature = nan", "[models.a] temperature: expected a number, got nan"),
        ("[models.a]\nmax_tokens = 1.5", "[models.a] max_tokens: expected `int`, got `float`"),
        ("[models.a]\nmax_tokens = 0", "[models.a] max_tokens: expected `int` >= 1"),
        ("[models.a]\nmodel = 2026-01-01", "[models.a] model: expected `str`, got `date`"),
        ("[models.a]\nrefuses = 'seed'", "[models.a] refuses: expected `list`, got `str`"),
        (
            "[models.a]\neffort = 'hard'",
            "[models.a] effort: expected one of none, minimal, low, medium, high, xhigh, max, got 'hard'",
        ),
        (
            "[models.a]\nprovider = 'opnai'",
            "[models.a] provider: expected one of embedded, openai, azure, anthropic, bedrock, ollama, ",
        ),
        (
            "[models.a]\nprovider = 'openai'\nbase_url = 'gpu07:8000'",
            "[models.a] base_url: expected an address that begins with http:// or https://",
        ),
        ("[models]\na = 'gpt-5'", "[models.a] expected a table of keys and values, got a text"),
        ("models = 3", "models: expected `table`, got `int`"),
        ("theme = true", "theme: expected `str`, got `bool`"),
        ("lost_terminal = 'ask'", "lost_terminal: expected one of detach, stop, got 'ask'"),
        (
            "[embedders.e]\nprovider = 'bedrock'\nmodel = 'amazon.titan-embed-text-v2:0'",
            "[embedders.e] provider: expected one that embeds (openai, azure, ollama or a server that speaks OpenAI's ",
        ),
        ("[embedders.e]\nmodel = 'x'", "[embedders.e] provider: expected one that embeds (openai, azure, "),
        ("[embedders.e]\nthreshold = -1", "[embedders.e] threshold: expected `float` >= 0.0"),
        ("[embedders.e]\nlongest = '8k'", "[embedders.e] longest: expected `int`, got `str`"),
        ("[teams.t]\nabout = ''", "[teams.t] table missing required field `members`"),
        ("[teams.t]\nmembers = []", "[teams.t] members: expected `list` of length >= 1"),
        ("[teams.t]\nmembers = [3]", "[teams.t] members[0]: expected `str | table`, got `int`"),
        (
            "[teams.t]\nmembers = [{model='a', weight=0}]",
            "[teams.t] members[0].weight: expected `float` > 0.0",
        ),
        (
            "[teams.t]\nmembers = [{model='a', style='song'}]",
            "[teams.t] members[0].style: expected one of list, chat, ",
        ),
        ("[teams.t]\nmembers = [{name='a'}]", "[teams.t] members[0]: table missing required field `model`"),
        ("[teams.t]\nmembers = ['a']\nstrategy = 'vote'", "[teams.t] strategy: expected one of solo, router, "),
        ("[judging]\nmode = 'some'", "[judging] mode: expected one of every, nearest, got 'some'"),
        ("[judging]\njudges = 'luna'", "[judging] judges: expected `list`, got `str`"),
        ("[judging]\ncontrols = 2", "[judging] controls: expected `float` <= 1.0"),
        ("[budget]\nmax_cost = '2 dollars'", "[budget] max_cost: expected `float`, got `str`"),
        ("[budget]\nmax_cost = inf", "[budget] max_cost: expected a number, got inf"),
    ],
)
def test_what_is_wrong_is_named_by_table_key_and_what_was_expected(path: Path, text: str, why: str) -> None:
    assert complaint(path, text).startswith(f"{path}: {why}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = 1\nb = \n", "is not TOML: Invalid value (at line 2, column 5)"),
        ("a = 1\na = 2\n", "is not TOML: Cannot overwrite a value (at line 2, column 6)"),
        ("[models.a\n", "is not TOML: "),
        ("a = " + "[" * 5000, "is not TOML: "),
    ],
)
def test_what_is_no_toml_is_said_with_its_line(path: Path, text: str, why: str) -> None:
    assert complaint(path, text).startswith(f"{path} {why}")


def test_what_is_no_file_or_no_text(path: Path) -> None:
    path.write_bytes(b"a = 1\nb = '\xe9'\n")
    with pytest.raises(UsageError, match="is not UTF-8 text \\(line 2\\)"):
        read_settings()
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="can't be read: Is a directory"):
        read_settings()
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(UsageError, match="can't be read: it is not a regular file"):
        read_settings()


def test_keys_that_are_not_ours_are_said_and_do_no_harm(path: Path) -> None:
    found = read(
        path,
        "defualt_team = 'x'\n[models.a]\ntemprature = 1\nname = 'b'\n[editor]\nvim = true\n"
        "[judging]\njudge = ['a']\n[teams.t]\nmembers = [{model = 'a', wieght = 2}]\n",
    )
    assert sorted(problem.removeprefix(f"{path}: ") for problem in found.problems) == [
        "[judging] judge: no key of ours; did you mean judges?",
        "[models.a] name: it is called a already",
        "[models.a] temprature: no key of ours; did you mean temperature?",
        "[teams.t.members[0]] wieght: no key of ours; did you mean weight?",
        "defualt_team: no key of ours; did you mean default_team?",
        "editor: no key of ours",
    ]
    assert found.models["a"].name == "a"


SECRET = "sk-proj-4hT9xQ2mLp7Rw1Zs"


@pytest.mark.parametrize(
    "text",
    [
        f"[models.a]\napi_key = '{SECRET}'",
        f"[models.a]\nApi-Key = '{SECRET}'",
        f"[models.a]\napikey = ['{SECRET}']",
        f"[models.a]\napi_key_env = '{SECRET}'",
        "[models.a]\napi_key_env = '0a1b2c3d4e5f60718293a4b5c6d7e8f9'",
        "[models.a]\napi_key_env = 'a0b1c2d3e4f5061728394a5b6c7d8e9f'",
        f"[models.a]\nmodel = '{SECRET}'",
        f"[models.a]\nheaders = {{Authorization = 'Bearer {SECRET}'}}",
        f"[models.a]\nbase_url = 'https://me:{SECRET}@host/v1'",
        "[models.a]\nbase_url = 'https://me:short@host/v1'",
        "[models.a]\nbase_url = 'https://host/v1?api_key=short'",
        "[models.a]\naws_secret_access_key = 'short'",
        f"[[other]]\npassword = '{SECRET}'",
        f"note = 'my key is {SECRET} '",
        f"[teams.t]\nmembers = ['openai/x@https://{SECRET}@host/v1']",
        f"[models.a]\ntemperature = '{SECRET}'",
        f"[models.{SECRET}]\ntemperature = 'x'",
    ],
)
def test_a_key_in_the_file_is_refused_and_never_repeated(path: Path, text: str) -> None:
    said = complaint(path, text)
    assert "key" in said
    for secret in (SECRET, "short", "0a1b2c3d", "a0b1c2d3", "4hT9"):
        assert secret not in said


def test_a_key_that_is_known_is_found_in_any_value(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.keys import read_key

    monkeypatch.setenv("LAB_KEY", "correct-horse-battery")
    read_key("LAB_KEY")
    assert "correct-horse" not in complaint(path, "note = 'correct-horse-battery'")


def test_names_that_only_sound_like_keys_are_fine(path: Path) -> None:
    found = read(
        path, "[models.a]\napi_key_env = 'MY_LAB_KEY'\nmax_tokens = 9\nthinking_tokens = 3\nkeep_alive = '1h'\n"
    )
    assert found.models["a"].api_key_env == "MY_LAB_KEY"


def test_texts_come_out_clean(path: Path) -> None:
    found = read(path, "theme = 'a\\u001b[2Jb'\n".replace("'", '"') + '[models."x\\u0007y"]\nmodel = "m\\u202e"\n')
    assert found.theme == "a[2Jb"
    assert found.models["xy"].model == "m"


MESSY = """# My own file, do not touch!
zebra   =  [ 1,2,   3 ]   # not ours
theme = 'old'   # my favourite

  [models.a]   # a
  provider = "openai"
  model="x"

[teams.t]
members = [
  "a",  # me
]
"""


def test_one_value_changes_and_all_else_stays(path: Path) -> None:
    path.write_text(MESSY, encoding="utf-8")
    remember(path, "theme", "new")
    assert path.read_text(encoding="utf-8") == MESSY.replace("'old'", '"new"')
    remember(path, "default_team", "t")
    text = path.read_text(encoding="utf-8")
    assert text.replace('default_team = "t"\n', "").replace("\n\n\n", "\n\n") == MESSY.replace("'old'", '"new"')
    assert (read_settings().theme, read_settings().default_team) == ("new", "t")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["config.toml"], "no half-written file is left"


def test_line_ends_and_a_byte_order_mark_do_not_stand_in_the_way(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf[models.a]\r\nmodel = 'x'\r\n")
    remember(path, "theme", "new")
    assert read_settings().theme == "new"
    assert b"model = 'x'\r\n" in path.read_bytes()


def test_a_file_is_made_where_there_is_none() -> None:
    remember(settings_path(), "theme", "new")
    assert settings_path().read_text(encoding="utf-8") == 'theme = "new"\n'
    assert stat.S_IMODE(settings_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(settings_path().parent.stat().st_mode) == 0o700


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles.toml"
    elsewhere.write_text("# mine\n", encoding="utf-8")
    path.symlink_to(elsewhere)
    remember(path, "theme", "new")
    assert path.is_symlink()
    assert elsewhere.read_text(encoding="utf-8") == '# mine\ntheme = "new"\n'


@pytest.mark.parametrize("content", [b"theme = \n", b"theme = '\xff'\n", b"[theme]\nx = 1\n[[theme]]\n"])
def test_a_broken_file_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UsageError):
        remember(path, "theme", "new")
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_said(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    path.parent.chmod(0o500)
    with pytest.raises(UsageError, match="can't be written: Permission denied"):
        remember(path, "theme", "new")


VALUES = st.one_of(st.booleans(), st.integers(-9, 9), st.text("ab#\"'\\ é", max_size=5), st.floats(-1, 1))
TABLES = st.dictionaries(
    st.text("abcθ -", min_size=1, max_size=4),
    st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner)),
    max_size=5,
)


@given(TABLES, st.text(max_size=8).filter(lambda text: text.isprintable()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_whatever_else_is_in_the_file_survives(tmp_path: Path, table: dict[str, object], value: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(tomlkit.dumps(table), encoding="utf-8")
    remember(path, "theme", value)
    assert tomlkit.parse(path.read_text(encoding="utf-8")).unwrap() == {**table, "theme": value}


def test_reading_is_quick(path: Path) -> None:
    read(path, WHOLE)
    began = time.perf_counter()
    read_settings()
    assert time.perf_counter() - began < 0.05


def test_nothing_heavy_is_loaded_to_read_them() -> None:
    modules = "core.surroundings, core.settings_reader, core.naming, core.providers.discovery.found, core.doctor"
    heavy = "{'httpx', 'genai_prices', 'tomlkit', 'rapidfuzz', 'dotenv', 'openai', 'numpy', 'platformdirs', 'textual'}"
    code = f"import sys, {modules}\nprint(*sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
