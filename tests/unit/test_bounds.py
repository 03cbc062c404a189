"""What numbers and names a plan may hold: what is out of bounds is refused with file and key, however it comes."""

import math
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from core import events as ev
from core.config import Plan, checked, read_plan, write_plan
from core.errors import SessionUnreadableError, UsageError
from core.lines import decode
from core.models import YOU, Member, ModelSpec, TeamSpec
from core.opening import begin
from core.providers.catalog import Providers
from core.rules import Rules
from tests.conftest import make_plan

FRACTION = [math.nan, math.inf, -math.inf, 1e300, -0.001, 1.001]
COUNT = [0, -1, 10**9, 10**23]

OUT_OF_BOUNDS = [
    *(("rules.coherence", value) for value in (math.nan, math.inf, -1.0, 100.5)),
    *(("rules.embedding_novelty", value) for value in FRACTION),
    *(("rules.judged_novelty", value) for value in FRACTION),
    *(("rules.patience", value) for value in COUNT),
    *(("rules.max_ideas", value) for value in COUNT),
    *(("team.members[0].weight", value) for value in (math.nan, math.inf, 0.0, -1.0)),
    *(("team.members[0].model.temperature", value) for value in (math.nan, math.inf, -0.1, 3.0)),
    *(("team.members[0].model.top_p", value) for value in FRACTION),
    *(("team.members[0].model.repeat_penalty", value) for value in (math.nan, math.inf, 0.0)),
    *(("team.members[0].model.max_tokens", value) for value in COUNT),
    *(("team.members[0].model.context", value) for value in COUNT),
    *(("random_seed", value) for value in (-1, 2**63, 10**23)),
]


def plan_with(key: str, value: float) -> Plan:
    plan = make_plan()
    member = plan.team.members[0]
    match key.split("."):
        case ["rules", name]:
            return replace(plan, rules=replace(plan.rules, **{name: value}))
        case [name]:
            return replace(plan, **{name: value})
        case ["team", _, "model", name]:
            member = replace(member, model=replace(member.model, **{name: value}))
        case ["team", _, name]:
            member = replace(member, **{name: value})
    return replace(plan, team=replace(plan.team, members=(member, *plan.team.members[1:])))


@pytest.mark.parametrize(("key", "value"), OUT_OF_BOUNDS)
def test_a_number_out_of_bounds_is_refused_with_file_and_key(tmp_path: Path, key: str, value: float) -> None:
    plan = plan_with(key, value)
    write_plan(tmp_path, plan)
    with pytest.raises(SessionUnreadableError) as caught:
        read_plan(tmp_path)
    assert caught.value.message.startswith(f"{tmp_path}/session.toml: {key}: ")
    with pytest.raises(UsageError) as refused:
        checked(plan)
    assert refused.value.message.startswith(f"The plan can't be run. {key}: ")


def test_a_session_is_never_begun_that_could_not_be_read_again(sessions: Path) -> None:
    with pytest.raises(UsageError):
        begin(sessions, plan_with("rules.max_ideas", 10**23), Providers())
    assert not sessions.exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rules.coherence", 0.0),
        ("rules.coherence", 100.0),
        ("rules.embedding_novelty", 0.0),
        ("rules.embedding_novelty", 1.0),
        ("rules.max_ideas", 100_000),
        ("team.members[0].model.temperature", 0.0),
        ("random_seed", 2**63 - 1),
    ],
)
def test_the_bounds_themselves_are_within(tmp_path: Path, key: str, value: float) -> None:
    plan = plan_with(key, value)
    write_plan(tmp_path, plan)
    assert read_plan(tmp_path) == plan == checked(plan)


@pytest.mark.parametrize("cap", [0, 100_001, 2**53])
def test_a_cap_given_anew_has_the_same_bounds(cap: int) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(b'{"type":"resumed","by":"you","max_ideas":%d}' % cap)
    assert decode(b'{"type":"resumed","by":"you","max_ideas":100000}') == ev.Resumed(by="you", max_ideas=100_000)


def test_every_rule_says_what_it_is() -> None:
    """The settings form is made of this."""
    info = msgspec.inspect.type_info(Rules)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        assert isinstance(field.type, msgspec.inspect.Metadata), field.name
        assert field.type.extra_json_schema
        assert field.type.extra_json_schema["description"]


# ── the names of a team ───────────────────────────────────────────────────────────────────────────────────────────────


def member(name: str) -> Member:
    return Member(name=name, model=ModelSpec(name="m"))


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ([], "needs a member"),
        (["anna", "bert", "anna"], "Two members are called 'anna'"),
        (["anna", YOU], "No member can be called 'you'"),
    ],
)
def test_a_team_of_unfit_names_can_not_be_made(names: list[str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        TeamSpec(name="t", members=tuple(member(name) for name in names))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bert", "team: two members are called 'bert'"),
        ("you", "team: no member can be called 'you': that is the person"),
        ("", "team.members[0].name: expected `str` of length >= 1"),
        # Names are compared as they are shown.
        ("\\u202eyou", "team: no member can be called 'you': that is the person"),
    ],
)
def test_a_plan_with_unfit_names_says_where(tmp_path: Path, name: str, why: str) -> None:
    write_plan(tmp_path, make_plan())
    path = tmp_path / "session.toml"
    path.write_text(path.read_text().replace('name = "anna"', f'name = "{name}"'))
    with pytest.raises(SessionUnreadableError) as caught:
        read_plan(tmp_path)
    assert caught.value.message == f"{path}: {why}"
