"""`session.toml`, written once, read for ever, and edited by hand in between."""

import stat
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.config import FORMAT, Plan, read_plan, sessions_folder, write_plan
from core.errors import SessionUnreadableError
from core.models import Member, ModelSpec, TeamSpec
from core.questions import Question
from core.rules import Rules
from core.text import clean
from tests.conftest import make_plan

PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(clean)


def plan_with(text: str, persona: str, novelty: float, cap: int | None, subdomain: str | None) -> Plan:
    member = Member(name="anna", model=ModelSpec(name="m", temperature=0.7), weight=2.5, style="turns", persona=persona)
    return Plan(
        id="20260301-100000-ice-ab12",
        created="2026-03-01T10:00:00+01:00",
        random_seed=2**31,
        questions=(Question("ice", text, "Physics", subdomain),),
        team=TeamSpec(name="t", strategy="sample", members=(member,), about="two words"),
        rules=Rules(embedding_novelty=novelty, max_ideas=cap),
    )


@given(PLAIN, PLAIN, st.floats(0, 1), st.none() | st.integers(1, 100_000), st.none() | st.just("Fundamental"))
def test_a_plan_is_read_back_as_it_was(
    text: str, persona: str, novelty: float, cap: int | None, subdomain: str | None
) -> None:
    plan = plan_with(text, persona, novelty, cap, subdomain)
    with TemporaryDirectory() as name:
        write_plan(Path(name), plan)
        assert read_plan(Path(name)) == plan
        assert [path.name for path in Path(name).iterdir()] == ["session.toml"], "no half-written file is left"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session's folder with its plan."""
    write_plan(tmp_path, make_plan(max_ideas=5))
    return tmp_path


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "session.toml"
    content = path.read_text(encoding="utf-8")
    assert content.count(old) >= 1
    path.write_text(content.replace(old, new, 1), encoding="utf-8")


def complaint(folder: Path) -> str:
    with pytest.raises(SessionUnreadableError) as caught:
        read_plan(folder)
    return caught.value.message


def test_it_is_readable_by_a_person_and_by_nobody_else(folder: Path) -> None:
    content = (folder / "session.toml").read_text(encoding="utf-8")
    assert 'text = "Propose a way to see a single vortex in a superconducting film."' in content
    assert "[rules]" in content
    assert "max_ideas = 5" in content
    assert "None" not in content
    assert stat.S_IMODE((folder / "session.toml").stat().st_mode) == 0o600


def test_an_edit_by_hand_is_believed(folder: Path) -> None:
    edit(folder, "patience = 3", "patience = 9  # more of it")
    assert read_plan(folder).rules.patience == 9
    edit(folder, "format = 1", 'format = 1\nnote = "a key of a newer version"')
    assert read_plan(folder).rules.patience == 9


def test_a_plan_with_a_byte_order_mark_and_another_systems_line_ends(folder: Path) -> None:
    path = folder / "session.toml"
    plan = read_plan(folder)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_plan(folder) == plan


def test_escapes_in_an_edited_plan_come_out_clean(folder: Path) -> None:
    edit(folder, "Propose a way", "Propose\\u001b[2J \\u202ea\\u009b way")
    edit(folder, 'name = "anna"', 'name = "an\\u0007na"')
    plan = read_plan(folder)
    assert plan.questions[0].text.startswith("Propose[2J a way to see")
    assert plan.team.members[0].name == "anna"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("patience = 3", 'patience = "many"', "rules.patience: expected `int`, got `str`"),
        ("patience = 3", "patience = 0", "rules.patience: expected `int` >= 1"),
        ("max_ideas = 5", "max_ideas = 0", "rules.max_ideas: expected `int` >= 1"),
        ("mechanical = true", 'mechanical = "yes"', "rules.mechanical: expected `bool`, got `str`"),
        ("weight = 1.0", "weight = 0.0", "team.members[0].weight: expected `float` > 0.0"),
        ("weight = 1.0", "weight = -1", "team.members[0].weight: expected `float` > 0.0"),
        ('style = "list"', 'style = "song"', "team.members[0].style: invalid enum value 'song'"),
        ('strategy = "sample"', 'strategy = "vote"', "team.strategy: invalid enum value 'vote'"),
        ('name = "anna"', "", "team.members[0]: object missing required field `name`"),
        ('id = "vortex-in-a-film"', "", "questions[0]: object missing required field `id`"),
        ("random_seed = 7", "", "Object missing required field `random_seed`"),
        ("random_seed = 7", "random_seed = -7", "random_seed: expected `int` >= 0"),
        ("context = 8192", "context = 0", "team.members[0].model.context: expected `int` >= 1"),
        ('created = "', "created = 2026-03-01\n# ", "created: expected `str`, got `date`"),
        ("format = 1", 'format = "one"', "format: expected `int`, got `str`"),
    ],
)
def test_what_is_wrong_is_named_by_file_key_and_what_was_expected(folder: Path, old: str, new: str, why: str) -> None:
    edit(folder, old, new)
    assert complaint(folder) == f"{folder}/session.toml: {why}"


@pytest.mark.parametrize("table", ["questions", "members"])
def test_a_plan_needs_a_question_and_a_member(folder: Path, table: str) -> None:
    path = folder / "session.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    (content if table == "questions" else content["team"])[table] = []
    path.write_text(tomli_w.dumps(content), encoding="utf-8")
    wanted = "questions: expected `array` of length >= 1" if table == "questions" else "team: a team needs a member"
    assert complaint(folder) == f"{path}: {wanted}"


def test_a_newer_format_says_to_update(folder: Path) -> None:
    edit(folder, "format = 1", f"format = {FORMAT + 1}\nquestions = 3")
    edit(folder, "[[questions]]", "[[others]]")
    assert complaint(folder) == (
        f"{folder}/session.toml is of format {FORMAT + 1}, from a newer jagstorm; this one reads up to {FORMAT}: "
        "update jagstorm"
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"patience = ", "is damaged, it is not TOML: Invalid value (at end of document)"),
        (b'a = 1\nb = "open', "is damaged, it is not TOML: Unterminated string (at end of document)"),
        (b"name = 'caf\xe9'", "is damaged, it is not UTF-8 text (byte 11)"),
        (b"\x00\x00", "is damaged, it is not TOML: "),
        (b"a = " + b"[" * 5000, "is damaged, it is not TOML: "),
        (b"a = " + b"1" * 5000, "is damaged, it is not TOML: "),
        (b"", ": Object missing required field `id`"),
    ],
    ids=["cut", "open", "not UTF-8", "zeros", "depth", "digits", "empty"],
)
def test_a_damaged_plan(folder: Path, content: bytes, why: str) -> None:
    (folder / "session.toml").write_bytes(content)
    assert complaint(folder).startswith(f"{folder}/session.toml {why}".replace(" :", ":"))


def test_no_plan_at_all(tmp_path: Path) -> None:
    assert complaint(tmp_path) == f"{tmp_path} is not a session: it has no session.toml"
    assert complaint(tmp_path / "gone") == f"{tmp_path}/gone is not a session: it has no session.toml"


def test_a_plan_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "session.toml").mkdir()
    assert complaint(tmp_path) == f"{tmp_path}/session.toml can't be read: Is a directory"


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "session").touch()
    assert complaint(tmp_path / "session") == f"{tmp_path}/session/session.toml can't be read: Not a directory"


def test_where_sessions_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert sessions_folder(None) == Path("sessions")
    monkeypatch.setenv("JAGSTORM_SESSIONS", "~/mine")
    assert sessions_folder(None) == tmp_path / "home" / "mine"
    assert sessions_folder("given") == Path("given")
    assert replace(make_plan(), id="x").id == "x"
