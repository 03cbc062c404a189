"""Teams as a person writes them, and the ones that come with Jagstorm in the same form."""

from importlib.resources import files
from pathlib import Path

import pytest

from core.config import checked, config_folder, read_plan, write_plan
from core.errors import UsageError
from core.models import Member, ModelSpec, TeamSpec
from core.naming import broken_teams, solo_team, team_named, team_tables
from core.settings import Settings, read_settings
from core.settings_reader import checked_settings
from core.teams.checking import check_file
from core.teams.presets import BUILT_IN, default_team, presets, shipped
from tests.conftest import make_plan

MODELS = """
[models.luna]
provider = "openai"
model = "gpt-6-luna"
[models.sol]
provider = "openai"
model = "gpt-6.1-sol"
"""

WHOLE = """
[teams.all]
strategy = "hierarchy"
lead = "anna"
directions = 3
members = [
  { model = "luna", name = "anna" },
  { team = "proposers", weight = 2 },
  { team = "proposers", name = "again" },
]
[teams.proposers]
strategy = "parallel"
drafts = 2
selector = "sol"
selector_orders = 2
members = ["luna", { model = "sol", effort = "high", temperature = 0.4, persona = "A sceptic" }]
[teams.inverted]
inverted = true
members = [{ model = "luna", weight = 3 }, "sol"]
[teams.experts]
strategy = "router"
members = ["luna", "sol"]
routes = { "Physics / Synchrotron" = "sol", Chemistry = "luna", "*" = "sol" }
[teams.learners]
strategy = "bandit"
per = "cost"
members = ["luna", "sol"]
"""


@pytest.fixture
def path() -> Path:
    config_folder().mkdir(parents=True)
    return config_folder() / "config.toml"


def read(path: Path, text: str) -> Settings:
    path.write_text(MODELS + text, encoding="utf-8")
    return read_settings()


def complaint(path: Path, text: str) -> str:
    """What is said of the team `t`, without the file's name."""
    try:
        settings = read(path, text)
        team_named("t", settings)
    except UsageError as error:
        return error.message.removeprefix(f"{path}: ")
    return ""


def test_every_setting_of_a_team_can_be_written(path: Path) -> None:
    settings = read(path, WHOLE)
    assert settings.problems == ()
    assert broken_teams(settings) == {}
    whole = team_named("all", settings)
    assert (whole.strategy, whole.lead, whole.directions) == ("hierarchy", "anna", 3)
    assert [place.name for place in whole.places] == ["anna", "proposers", "again"]
    assert [group.weight for group in whole.groups] == [2.0, 1.0]
    assert [member.name for member in whole.everybody][1:3] == ["proposers/luna", "proposers/sol"]
    proposers = whole.groups[0].team
    assert (proposers.drafts, proposers.selector_orders) == (2, 2)
    assert isinstance(proposers.selector, ModelSpec)
    assert proposers.selector.model == "gpt-6.1-sol"
    sceptic = proposers.members[1]
    assert (sceptic.model.effort, sceptic.model.temperature, sceptic.persona) == ("high", 0.4, "A sceptic")
    inverted = team_named("inverted", settings)
    assert (inverted.strategy, inverted.inverted) == ("sample", True)
    assert [member.weight for member in inverted.members] == [3.0, 1.0], "what is given stands, and the others are 1"
    assert team_named("experts", settings).routes == {"Synchrotron": "sol", "Chemistry": "luna", "*": "sol"}
    assert team_named("learners", settings).per == "cost"


def test_such_a_team_survives_being_written_into_a_plan(path: Path, tmp_path: Path) -> None:
    settings = read(path, WHOLE)
    for name in settings.teams:
        plan = make_plan(team=team_named(name, settings))
        write_plan(tmp_path, plan)
        assert read_plan(tmp_path) == plan == checked(plan)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [("novel", "novel"), ("random", "random"), ("anna", "gpt-6-luna"), ("sol", "gpt-6.1-sol"), ("best", "o1")],
)
def test_who_selects(path: Path, selector: str, expected: str) -> None:
    members = '[{ model = "luna", name = "anna" }, { model = "openai/o1", name = "bert" }]'
    found = team_named(
        "t", read(path, f'[teams.t]\nstrategy = "parallel"\nselector = "{selector}"\nmembers = {members}\n')
    ).selector
    assert (found if isinstance(found, str) else found.model) == expected


def test_the_person_may_select_and_another_for_them_when_they_take_too_long(path: Path) -> None:
    text = """
    [teams.t]
    strategy = "parallel"
    selector = "me"
    selector_seconds = 90
    instead = "best"
    members = ["luna", "openai/o1"]
    """
    team = team_named("t", read(path, text))
    assert (team.selector, team.selector_seconds) == ("me", 90)
    assert isinstance(team.instead, ModelSpec)
    assert team.instead.model == "o1"


@pytest.mark.parametrize("strategy", ["sample", "router", "bandit", "solo", "hierarchy"])
@pytest.mark.parametrize("selector", ["best", "me", "nobody"])
def test_a_selector_that_nobody_asks_is_an_oddity_and_no_more(path: Path, strategy: str, selector: str) -> None:
    text = f'[teams.t]\nstrategy = "{strategy}"\nselector = "{selector}"\nmembers = ["luna", "sol"]\n'
    settings = read(path, text)
    assert [problem.endswith("only the strategy parallel looks at it") for problem in settings.problems] == [True]
    assert team_named("t", settings).selector == "novel"


@pytest.mark.parametrize(
    ("members", "names"),
    [
        ('["lab/luna·2", "lab-luna-2"]', ["lab-luna-2", "lab-luna-2-2"]),
        ('["you", { model = "luna", name = " a  b " }]', ["you-2", "a b"]),
        ('[{ team = "a/b" }, { model = "luna", name = " " }]', ["luna", "a-b"]),
    ],
)
def test_what_a_model_or_a_team_is_called_can_be_no_members_name_as_it_is(
    path: Path, members: str, names: list[str]
) -> None:
    text = f"""
    [models."lab/luna·2"]
    provider = "openai"
    model = "a"
    [models.lab-luna-2]
    provider = "openai"
    model = "b"
    [models.you]
    provider = "openai"
    model = "c"
    [teams."a/b"]
    members = ["luna"]
    [teams.t]
    members = {members}
    """
    assert [place.name for place in team_named("t", read(path, text)).places] == names
    assert solo_team(ModelSpec(name="lab/luna")).members[0].name == "lab-luna"


def test_an_effort_of_a_members_own_leaves_room_for_the_thoughts_it_asks_for(path: Path) -> None:
    team = team_named(
        "t", read(path, '[teams.t]\nmembers = [{ model = "anthropic/claude-3-7-sonnet", effort = "high" }]')
    )
    model = team.members[0].model
    assert model.thinking_tokens == 16_384
    assert model.max_tokens > model.thinking_tokens


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("members = [{ name = 'x' }]", "[teams.t] members[0]: table missing required field `model` (or `team`)"),
        (
            "members = [{ team = 't2', persona = 'x' }]",
            "[teams.t] members[0].persona: expected no such key beside `team`",
        ),
        ("strategy = 'sample'", "[teams.t] table missing required field `members` (or `found`)"),
        ("members = ['luna']\nfound = 'best'", "[teams.t] found: expected no members beside it"),
        ("members = ['luna']\nsize = 3", "[teams.t] size: expected only beside found"),
        ("found = 'worst'", "[teams.t] found: expected one of best, vendors, got 'worst'"),
        ("found = 'best'\nsize = 0", "[teams.t] size: expected `int` >= 1"),
        ("members = ['luna']\ndrafts = 0", "[teams.t] drafts: expected `int` >= 1"),
        ("members = ['luna']\ninverted = 'yes'", "[teams.t] inverted: expected `bool`, got `str`"),
        ("members = ['luna']\nselector_orders = 3", "[teams.t] selector_orders: expected one of 1, 2, got 3"),
        ("members = ['luna']\nper = 'day'", "[teams.t] per: expected one of idea, cost, time, got 'day'"),
        ("members = ['luna']\nroutes = ['luna']", "[teams.t] routes: expected `table`, got `list`"),
        (
            "members = [{ model = 'luna', effort = 'hard' }]",
            "[teams.t] members[0].effort: expected one of none, minimal, ",
        ),
        ("members = [{ model = 'luna', temperature = 3 }]", "[teams.t] members[0].temperature: expected `float` <= 2"),
        (
            "members = ['luna', 'lunar']",
            "[teams.t] members[1]: There is no model 'lunar'; the nearest: luna",
        ),
        (
            "members = [{ team = 'embeded' }]",
            "[teams.t] members[0].team: expected one of embedded, embedded-solo, ",
        ),
        (
            "members = ['luna', 'sol']\nstrategy = 'hierarchy'\nlead = 'luno'",
            "[teams.t] lead: expected one of luna, sol, got 'luno'; did you mean luna?",
        ),
        (
            "members = ['luna', 'sol']\nstrategy = 'router'\nroutes = { Biology = 'lun' }",
            "[teams.t] routes.Biology: expected one of luna, sol, got 'lun'; did you mean luna?",
        ),
        (
            "members = ['luna']\nstrategy = 'parallel'\nselector = 'lunatic'",
            "[teams.t] selector: expected novel, random, best, me, a member or a model. There is no model 'lunatic'",
        ),
        (
            "members = ['luna']\nstrategy = 'parallel'\nselector = 'me'\ninstead = 'me'",
            "[teams.t] instead: expected novel, random, best, a member or a model. There is no model 'me'",
        ),
        ("members = ['luna']\nselector_seconds = 0", "[teams.t] selector_seconds: expected `float` > 0"),
        (
            "members = [{ model = 'luna', name = 'a/b' }]",
            "[teams.t] members[0].name: expected a name without /, got 'a/b'",
        ),
        (
            "members = ['luna', { team = 'embedded', name = 'a·2' }]",
            "[teams.t] members[1].name: expected a name without ·, got 'a·2'",
        ),
        (
            "strategy = 'hierarchy'\nmembers = [{ team = 'embedded' }]",
            "[teams.t] members: A team of teams has nobody to lead it",
        ),
        (
            "members = [{ model = 'luna', name = 'a' }, { model = 'sol', name = 'a' }]",
            "[teams.t] members: Two members are called 'a'",
        ),
        ("members = [{ model = 'luna', name = 'you' }]", "[teams.t] members: No member can be called 'you'"),
        (
            "strategy = 'hierarchy'\nlead = 'group'\nmembers = ['luna', { team = 'embedded', name = 'group' }]",
            "[teams.t] lead: expected one of luna, got 'group'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_table_key_and_what_was_expected(path: Path, text: str, why: str) -> None:
    assert complaint(path, f"[teams.t]\n{text}\n").startswith(why)


def test_a_nearest_team_is_named(path: Path) -> None:
    assert complaint(path, "[teams.t]\nmembers = [{ team = 'embeded' }]").endswith("did you mean embedded?")


def test_a_team_cannot_be_its_own_member_by_whatever_way(path: Path) -> None:
    assert complaint(path, "[teams.t]\nmembers = ['luna', { team = 't' }]") == (
        "[teams.t] members[1].team: a team can't be a member of itself: t → t"
    )
    ring = """
    [teams.t]
    members = [{ team = "b" }]
    [teams.b]
    members = ["luna", { team = "c", name = "x" }]
    [teams.c]
    members = [{ team = "b" }]
    """
    assert complaint(path, ring).endswith("a team can't be a member of itself: b → c → b")
    assert broken_teams(read_settings()).keys() == {"t", "b", "c"}


def test_two_ways_to_one_team_are_no_cycle(path: Path) -> None:
    text = """
    [teams.t]
    members = [{ team = "b" }, { team = "c" }]
    [teams.b]
    members = [{ team = "c" }]
    [teams.c]
    members = ["luna"]
    """
    assert complaint(path, text) == ""


def test_what_does_no_harm_is_said_and_no_more(path: Path) -> None:
    settings = read(
        path,
        """
        [teams.t]
        strategy = "router"
        inverted = true
        members = [{ model = "luna", wieght = 1 }]
        routes = { Chemstry = "luna", Alchemy = "luna" }
        """,
    )
    assert sorted(problem.removeprefix(f"{path}: ") for problem in settings.problems) == [
        "[teams.t.members[0]] wieght: no key of ours; did you mean weight?",
        "[teams.t.routes] Chemstry: no domain of the bank; did you mean Chemistry?",
        "[teams.t] inverted: only the strategy sample looks at it",
    ]
    assert team_named("t", settings).routes == {"Chemstry": "luna", "Alchemy": "luna"}


# ── the shipped ones ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_shipped_file_is_one_that_a_person_could_have_written() -> None:
    path = Path(str(files("data") / "teams.toml"))
    found = check_file(path)
    assert (found.wrong, found.odd) == ((), ())
    assert found.teams == tuple(shipped())
    import tomllib

    content = tomllib.loads(path.read_text(encoding="utf-8"))
    assert checked_settings(path, content).teams == shipped()


def test_the_default_team_asks_the_built_in_model_in_three_ways() -> None:
    team = default_team()
    assert (team.name, team.strategy, next(iter(presets()))) == ("embedded", "sample", "embedded")
    careful, bold, analogist = team.members
    assert careful == Member(
        name="careful",
        style="list",
        model=ModelSpec(name="SmolLM2-135M-Instruct", temperature=0.65, top_p=0.95, repeat_penalty=1.07, max_tokens=96),
    )
    assert bold == Member(name="bold", style="list", model=BUILT_IN)
    assert (analogist.style, analogist.model) == ("concept", careful.model)


def test_every_strategy_that_a_small_model_can_play_has_a_team_without_set_up() -> None:
    found = {name: team.strategy for name, team in presets().items()}
    assert found == {
        "embedded": "sample",
        "embedded-solo": "solo",
        "embedded-parallel": "parallel",
        "embedded-bandit": "bandit",
    }
    assert all(team.about for team in presets().values())
    for team in presets().values():
        assert {member.model.provider for member in team.everybody} == {"embedded"}


def test_a_person_may_take_a_shipped_teams_place_and_name_it_as_a_member(path: Path) -> None:
    settings = read(path, '[teams.embedded]\nmembers = ["luna"]\n[teams.t]\nmembers = [{ team = "embedded-solo" }]\n')
    assert list(team_tables(settings))[:3] == ["embedded", "t", "embedded-solo"]
    assert team_named("embedded", settings).members[0].name == "luna"
    assert team_named("t", settings).groups[0].team == presets()["embedded-solo"]


def test_a_team_of_one_is_solo_and_of_several_a_draw(path: Path) -> None:
    def strategy(members: str) -> str:
        team: TeamSpec = team_named("t", read(path, f"[teams.t]\nmembers = {members}\n"))
        return team.strategy

    assert strategy("['luna']") == "solo"
    assert strategy("['luna', 'sol']") == "sample"
    assert strategy("[{ team = 'embedded' }]") == "solo"
