"""`jagstorm teams`: the list, one team in full, and what is wrong in a file."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.config import config_folder
from core.providers.discovery import found
from core.providers.known import catalogue
from core.store import library
from core.teams.published import published_models
from tests.command.conftest import Jagstorm
from tests.scripted import ScriptedProvider

NOBODY = "http://127.0.0.1:9"

MODELS = """
[models.mini]
provider = "openai"
model = "o3-mini"
[models.high]
provider = "openai"
model = "o3-mini"
effort = "high"
[models.o1]
provider = "openai"
model = "o1"
[models.sonnet]
provider = "anthropic"
model = "claude-3-7-sonnet-20250219"
[models.gem]
provider = "openrouter"
model = "google/gemini-2.5-pro"
"""

TEAMS = """
[teams.mine]
about = "Mixed"
members = ["sonnet", { team = "pair", weight = 2 }]
[teams.pair]
strategy = "parallel"
drafts = 2
selector = "o1"
members = ["gem", { model = "mini", name = "[red]" }]
[teams.byhand]
strategy = "router"
members = ["gem", "mini"]
routes = { "Physics / Synchrotron" = "gem", "*" = "mini" }
[teams.broken]
members = ["lunar"]
[teams.keyless]
members = ["deepseek/deepseek-v4-pro"]
[teams.unjudged]
members = ["mini"]
judges = ["nobody"]
"""


@pytest.fixture(autouse=True)
def _nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in {name for host in catalogue().hosts for name in host.keys} | {"AWS_PROFILE", "JAGSTORM_CONFIG"}:
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.setenv(name, NOBODY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Whatever runs on this machine, and whoever could be asked on the net, is no part of the test.
    here = replace(catalogue(), ports=(), hosts=())
    monkeypatch.setattr(found, "catalogue", lambda: here)
    monkeypatch.chdir(tmp_path)


def config(text: str) -> Path:
    config_folder().mkdir(parents=True, exist_ok=True)
    path = config_folder() / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "OPENROUTER"):
        monkeypatch.setenv(f"{name}_API_KEY", f"sk-planted-{name.lower()}-9f8e7d6c")


def fits(out: str) -> bool:
    return all(len(line) <= 80 for line in out.splitlines())


def test_with_nothing_here_the_built_in_teams_are_ready_and_the_others_say_what_they_lack(jagstorm: Jagstorm) -> None:
    code, out, err = jagstorm("teams")
    assert (code, err) == (0, "")
    assert fits(out)
    assert "  embedded             sample     careful, bold, analogist" in out
    assert (
        "× top-5                sample     not there yet\n    needs five models; none that can be used was found" in out
    )
    assert "config.toml" not in out.partition("×")[0]


@pytest.mark.usefixtures("keys")
def test_the_list(jagstorm: Jagstorm) -> None:
    config(MODELS + TEAMS)
    code, out, err = jagstorm("teams")
    assert code == 0
    assert err == "", "what is wrong with a team is said once, where it stands"
    assert "[teams.broken] members[0]: There is no model 'lunar'" in " ".join(out.split())
    assert fits(out)
    lines = out.splitlines()
    assert lines[0] == "config.toml"
    assert "  mine                 sample     sonnet, pair" in lines
    assert "  pair                 parallel   gem, [red]" in lines
    assert "× broken                          can't be put together" in lines
    assert "    deepseek-v4-pro: set DEEPSEEK_API_KEY" in lines
    assert "× unjudged             solo       mini" in lines
    assert "config.toml: [teams.unjudged] judges: There is no model 'nobody'" in " ".join(out.split())
    assert "  top-5                sample     mini, gem, o1, high, sonnet" in lines
    assert "  router               router     mini, gem, high, o1" in lines
    assert "needs models of five makers; three were found: OpenAI, Google, Anthropic" in " ".join(out.split())


@pytest.mark.usefixtures("keys")
def test_json_is_one_object_a_line(jagstorm: Jagstorm) -> None:
    config(MODELS + TEAMS)
    rows = {row["name"]: row for row in map(json.loads, jagstorm("teams", "--json").out.splitlines())}
    assert rows["mine"] == {
        "name": "mine",
        "strategy": "sample",
        "origin": "config.toml",
        "about": "Mixed",
        "members": ["sonnet", "pair"],
        "state": "ready",
        "todo": "",
    }
    assert rows["top-5"]["members"] == ["mini", "gem", "o1", "high", "sonnet"]
    assert rows["vendors"]["origin"] == "comes with Jagstorm"
    assert rows["keyless"]["todo"] == "deepseek-v4-pro: set DEEPSEEK_API_KEY"
    states = {name: rows[name]["state"] for name in ("keyless", "broken", "top-5-vendors", "top-5")}
    assert states == {"keyless": "not ready", "broken": "broken", "top-5-vendors": "incomplete", "top-5": "ready"}
    assert "lunar" in rows["broken"]["todo"]


@pytest.mark.usefixtures("keys")
def test_a_team_with_its_weights_and_who_says_them(jagstorm: Jagstorm) -> None:
    config(MODELS)
    code, out, err = jagstorm("teams", "top-5")
    assert (code, err) == (0, "")
    assert fits(out)
    assert "  mini                        4726    22%  published: o3-mini-medium" in out.splitlines()
    assert "  sonnet                      3047    14%  published: claude-3.7" in out.splitlines()
    assert "    high: openai/o3-mini, is asked for one idea, thinks high" in out.splitlines()
    assert "Published: The public release of SciAidanBench" in out
    inverted = jagstorm("teams", "top-5-inverted").out
    assert "  sonnet                      3047    27%  published: claude-3.7" in inverted.splitlines()


@pytest.mark.usefixtures("keys")
def test_a_router_with_its_table(jagstorm: Jagstorm) -> None:
    config(MODELS)
    code, out, _ = jagstorm("teams", "router")
    assert code == 0
    assert fits(out)
    rows = {line[2:28].strip(): line[28:].split() for line in out.splitlines() if line.endswith(("32", "5", "155"))}
    assert rows["Nanoscience"][0] == "high"
    assert rows["Nanoscience"][4] == "32"
    assert rows["everywhere else"][0] == "mini"
    assert 25 < int(rows["Neuroscience"][3].rstrip("%")) < 40, "five questions make nobody sure"
    assert "From the published figures." in out
    table = json.loads(jagstorm("teams", "router", "--json").out)
    assert table["routes_from"] == "published"
    assert [route["leaf"] for route in table["routes"]][-1] == "*"
    assert table["team"]["routes"]["*"] == "mini"


@pytest.mark.usefixtures("keys")
def test_a_router_written_by_hand_and_a_team_within_a_team(jagstorm: Jagstorm) -> None:
    config(MODELS + TEAMS.partition("[teams.broken]")[0])
    lines = jagstorm("teams", "byhand").out.splitlines()
    assert "  Synchrotron                gem" in lines
    assert "  everywhere else            mini" in lines
    out = jagstorm("teams", "mine").out
    assert "    pair / [red]: openai/o3-mini, is asked for one idea" in out.splitlines()
    assert "  pair                           2    67%  as written" in out.splitlines()
    pair = jagstorm("teams", "pair").out
    assert "2 proposals each; picked is what o1 finds most promising" in pair


def test_members_are_named_as_a_command_takes_them(jagstorm: Jagstorm) -> None:
    names = (
        "gemini/gemini-2.5-pro",
        "openai/Qwen/Qwen3-32B@http://gpu07:8000/v1",
        "ollama/qwen3:8b",
        "anthropic/claude",
    )
    config(f"[teams.t]\nmembers = {list(names)}\n")
    out = jagstorm("teams", "t").out
    assert [name for name in names if f": {name}," not in out] == []


@pytest.mark.usefixtures("keys")
def test_specialists_of_like_names_are_told_apart(jagstorm: Jagstorm) -> None:
    like = "a-model-with-a-long-name-of-the"
    models = f'[models.{like}-first]\nprovider = "openai"\nmodel = "o3-mini"\n'
    models += f'[models.{like}-second]\nprovider = "openrouter"\nmodel = "google/gemini-2.5-pro"\n'
    config(f'{models}[teams.t]\nstrategy = "router"\nmembers = ["{like}-first", "{like}-second"]\n')
    out = jagstorm("teams", "t").out
    assert fits(out)
    assert {line[29:49].strip() for line in out.splitlines() if "%" in line} == {
        "a-model-wit…he-first",
        "a-model-wit…e-second",
    }


def test_results_of_ones_own_make_the_weights(jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path) -> None:
    config(
        '[teams.duo]\nmembers = [{ model = "embedded", name = "a" }, '
        '{ model = "embedded", name = "b", style = "chat" }]\n'
    )
    before = jagstorm("teams", "duo").out
    assert before.count("nothing is known: all alike") == 2
    code, _, _ = jagstorm("run", "--question", "Propose a way.", "--team", "duo", "--max-ideas", "6", "-q")
    assert code == 0
    after = jagstorm("teams", "duo").out
    assert after.count("yours: ") == 2
    assert "alike" not in after


@pytest.mark.usefixtures("keys")
def test_a_session_of_the_papers_team(jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path) -> None:
    config(MODELS)
    code, _, err = jagstorm("run", "--question", "Propose a way.", "--team", "top-5", "--max-ideas", "3", "-q")
    assert code == 0, err
    team = library.load(library.find(sessions, "last")).plan.team
    assert (team.name, team.strategy) == ("top-5", "sample")
    weights = {member.name: member.weight for member in team.members}
    assert weights == {"mini": 4726.0, "gem": 4613.0, "o1": 4485.0, "high": 4452.0, "sonnet": 3047.0}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("teams", "top-5"), 3, "top-5 needs five models; none that can be used was found (see `jagstorm models`)"),
        (("run", "--question", "x", "--team", "top-5"), 3, "top-5 needs five models; none that can be used was found"),
        (("teams", "topp"), 2, "There is no team 'topp'"),
        (("teams", "--config", "none.toml"), 2, "There is no config file none.toml"),
        (("teams", "--check", "none.toml"), 2, "There is no file none.toml"),
    ],
)
def test_what_goes_wrong_is_one_line_on_standard_error(
    jagstorm: Jagstorm, words: tuple[str, ...], code: int, said: str
) -> None:
    result = jagstorm(*words)
    assert (result.code, result.out) == (code, "")
    assert said in result.err
    assert result.err.count("\n") == 1


def test_a_file_is_checked(jagstorm: Jagstorm) -> None:
    Path("bad.toml").write_text('[teams.t]\nmembers = ["lunar", 3]\ndrafts = "x"\n[teams.u]\nmembers = ["embedded"]\n')
    code, out, err = jagstorm("teams", "--check", "bad.toml")
    assert (code, err) == (2, "")
    assert fits(out)
    assert out.splitlines()[0].startswith("× bad.toml: [teams.t] members[1]: expected `str | table`, got `int`")
    assert out.splitlines()[-1] == "bad.toml: 2 teams, 2 faults."
    rows = list(map(json.loads, jagstorm("teams", "--check", "bad.toml", "--json").out.splitlines()))
    assert [row["harmless"] for row in rows] == [False, False]


def test_a_file_with_nothing_but_an_oddity_is_fine(jagstorm: Jagstorm) -> None:
    Path("odd.toml").write_text('[teams.t]\nmembers = ["embedded"]\ndraft = 2\n')
    code, out, _ = jagstorm("teams", "--check", "odd.toml")
    assert code == 0
    assert out == (
        "  odd.toml: [teams.t] draft: no key of ours; did you mean drafts?\nodd.toml: 1 team, no faults, 1 oddity.\n"
    )


def test_help_and_completion(jagstorm: Jagstorm) -> None:
    assert jagstorm("teams", "--help").out.startswith("Usage: ")
    from tui.options import team_names

    assert team_names(None, None, "top") == ["top-5", "top-5-inverted", "top-5-vendors", "top-5-parallel"]  # type: ignore[arg-type]


def test_a_long_name_bends_no_line(jagstorm: Jagstorm) -> None:
    long = "a-team-with-a-name-of-considerable-length"
    config(f'[teams.{long}]\nabout = "{"very " * 40}"\nmembers = ["embedded", "embedded", "embedded", "embedded"]\n')
    assert fits(jagstorm("teams").out)
    assert fits(jagstorm("teams", long).out)
    assert len(published_models()) > 20
