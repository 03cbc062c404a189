"""What is mixed in a selection: teams of one name, several embedders, forks. Nobody should have to find out."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.analysis.fits import scatter
from core.analysis.mixed import Mixed, mixed
from core.analysis.rescoring import as_stored
from core.analysis.ribbons import ribbons
from core.analysis.table import IdeaRow, Table, table_of
from core.analysis.union import together
from core.config import Plan
from core.models import TeamSpec
from core.store.forking import fork
from core.store.library import create, example_folder
from core.store.tables import read_tables, session_table
from tests.app.told import begun
from tests.conftest import make_plan, scripted_team
from tests.unit.tables import counts_of, row
from tui.charts.caveats import caveats
from tui.explorer import Explorer

Stored = Callable[[Plan], Path]


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    """A session of three ideas, stored under a plan."""

    def store(plan: Plan) -> Path:
        recorder = begun()
        for number in range(1, 4):
            recorder.step(number, f"Idea {number}", "anna")
            recorder.score(number, 0.5)
        log = create(tmp_path, plan)
        for event in recorder.events:
            log.append(event)
        log.close()
        return log.folder

    return store


def team(*members: str, name: str = "my team", **more: str) -> TeamSpec:
    return replace(scripted_team(*members), name=name, **more)


# ── teams of one name ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_teams_of_one_name_with_other_members_or_another_strategy_are_told_apart(stored: Stored) -> None:
    teams = [team("anna", "bert"), team("anna", "cleo"), team("bert", "anna"), team("anna", "bert", strategy="bandit")]
    found = read_tables([stored(make_plan(team=each)) for each in teams]).table
    assert found.models == ("my team", "my team (2)", "my team (3)")
    assert found.chains.model.tolist() == [0, 1, 0, 2]
    assert {(each.model, each.chains) for each in ribbons(as_stored(found)).rows} == {
        ("my team", 2),
        ("my team (2)", 1),
        ("my team (3)", 1),
    }


def test_no_two_are_called_alike_whatever_their_names() -> None:
    teams = [("my team", "a"), ("my team (2)", "b"), ("my team", "c"), ("my team", "d")]
    table = table_of([row(name, "q", 1, is_team=True, made_of=made_of) for name, made_of in teams])
    assert table.models == ("my team", "my team (2)", "my team (3)", "my team (4)")


def test_a_model_keeps_its_name_beside_a_team_that_is_called_like_it() -> None:
    counts = counts_of(row("gpt-5", "q", 9, is_team=True, made_of="gpt-5, llama"), row("gpt-5", "q", 4))
    assert counts.table.models == ("gpt-5 (2)", "gpt-5")
    [point] = scatter(counts, {"gpt-5": 1.0}, "x").points
    assert (point.model, point.y) == ("gpt-5", 4.0)


def test_what_they_are_called_does_not_depend_on_what_is_left_of_a_table(stored: Stored) -> None:
    table = read_tables([stored(make_plan(team=each)) for each in (team("anna", "bert"), team("anna", "cleo"))]).table
    assert ribbons(as_stored(table.only(table.chains.model == 1))).rows[0].model == "my team (2)"


# ── embedders ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def measured(embedder: str, *, model: str = "m", novelty: float | None = 0.5) -> Table:
    idea = IdeaRow(number=1, author=model, embedding_novelty=novelty, embedder=embedder)
    return table_of([row(model, "q", 1, ideas=[idea])])


def test_several_embedders_are_named_in_one_line() -> None:
    table = together([measured("wordllama"), measured("text-embedding-3-large"), measured("wordllama")])
    assert mixed(table).embedders == ("text-embedding-3-large", "wordllama")
    [line] = caveats(table)
    assert "Several embedders (text-embedding-3-large, wordllama)" in line


@pytest.mark.parametrize("other", [measured("wordllama"), measured(""), measured("other", novelty=None)])
def test_one_embedder_is_nothing_to_warn_of(other: Table) -> None:
    assert caveats(together([measured("wordllama"), other])) == []


def test_on_the_screen_it_is_about_what_is_chosen() -> None:
    explorer = Explorer(together([measured("wordllama"), measured("other", model="n")]), {})
    assert len(explorer.caveats()) == 1
    explorer.toggle(explorer.rows()[0])
    assert explorer.caveats() == []


# ── forks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fork_says_how_much_it_shares(stored: Stored, tmp_path: Path) -> None:
    parent = stored(make_plan())
    assert mixed(session_table(parent)) == Mixed(embedders=(), forks=0, damaged=0, shared=0)
    table = read_tables([parent, fork(parent, 2, tmp_path)]).table
    assert (mixed(table).forks, mixed(table).shared) == (1, 2)
    [line] = caveats(table)
    assert line.startswith("Forks share 2 ideas in 1 chain with the sessions that they were made of")


def test_a_damaged_record_is_known_also_from_the_columns_that_are_kept(tmp_path: Path) -> None:
    session = Path(shutil.copytree(example_folder(), tmp_path / "session"))
    lines = (session / "events.jsonl").read_bytes().splitlines(keepends=True)
    lines[20] = b"no event\n"
    (session / "events.jsonl").write_bytes(b"".join(lines))
    for _ in ("read", "kept"):
        table = session_table(session)
        assert mixed(table).damaged == 1
        assert caveats(table) == ["1 session lacks part of the record: `jagstorm show` says what."]
