"""Columns: what sessions and files hold comes into them, and tables of several can be put together and taken apart."""

import re
import shutil
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from core.analysis.rescoring import Change, as_stored, rescored
from core.analysis.table import NAMES, RULES, Table, table_of
from core.analysis.union import together
from core.errors import SessionUnreadableError, UsageError
from core.exchange.importing import import_results
from core.store.columns import COLUMNS_FILE
from core.store.library import example_folder, load
from core.store.tables import StoppedError, public_table, read_tables, session_table
from core.store.texts import idea_text
from tests.conftest import Open, make_plan, scripted_team
from tests.unit.tables import public_results, row


def columns(table: Table) -> dict[str, list[object]]:
    """All that a table holds, with names in the place of numbers."""
    found: dict[str, list[object]] = {}
    for part in ("chains", "ideas", "offers"):
        for name in getattr(table, part).__struct_fields__:
            values = getattr(getattr(table, part), name).tolist()
            if name in NAMES:
                names = getattr(table, NAMES[name])
                values = [names[value] if value >= 0 else None for value in values]
            found[f"{part}.{name}"] = [None if isinstance(value, float) and isnan(value) else value for value in values]
    return found


# ── together and in part ──────────────────────────────────────────────────────────────────────────────────────────────


def test_tables_put_together_are_the_table_of_all_their_chains() -> None:
    rows = [row("m", "q", 3, session="one"), row("n", "q", 2, "error", session="two"), row("m", "r", 0, "empty")]
    apart = together([table_of([each]) for each in rows])
    assert columns(apart) == columns(table_of(rows))
    assert apart.models == ("m", "n")
    assert len(apart.questions) == 2


def test_a_question_is_the_same_whatever_its_id_and_its_line_breaks() -> None:
    one, other = row("m", "q", 1), row("n", "q", 1)
    other = type(other)(
        **{name: getattr(other, name) for name in other.__struct_fields__ if name != "question"},
        question=type(one.question)("another-id", "How  about\nQ?", "Chemistry"),
    )
    elsewhere = row("n", "q", 1, leaf="Biology")
    assert table_of([one, other, elsewhere]).chains.question.tolist() == [0, 0, 1]


def test_a_part_has_its_own_chains_ideas_and_offers() -> None:
    table = table_of([row("m", "q", 3), row("n", "q", 2), row("o", "r", 1)])
    part = table.only(np.array([False, True, True]))
    assert columns(part) == columns(table_of([row("n", "q", 2), row("o", "r", 1)]))
    assert part.lengths.tolist() == [2, 1]
    assert part.starts.tolist() == [0, 2]
    assert part.positions.tolist() == [0, 1, 0]
    assert part.leaves() == ["Chemistry"]


def test_nothing_is_a_table_too() -> None:
    assert columns(together([])) == columns(table_of([]))
    assert together([]).leaves() == []


# ── from sessions and files ───────────────────────────────────────────────────────────────────────────────────────────


async def test_a_session_is_in_it_with_its_rules_its_scores_and_what_it_took(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=5))
    await session.run()
    found = session_table(session.folder)
    ideas = session.state.chains["vortex-in-a-film"].ideas
    assert found.models == ("scripted",)
    assert found.sessions == (str(session.folder),)
    assert found.chains.is_team.tolist() == [True]
    assert (found.chains.patience[0], found.chains.max_ideas[0]) == (3, 5)
    assert found.chains.rule_embedding_novelty[0] == 0.185
    assert [found.authors[author] for author in found.ideas.author] == [idea.author for idea in ideas]
    assert found.ideas.embedding_novelty.tolist() == [idea.score and idea.score.embedding_novelty for idea in ideas]
    assert np.isnan(found.ideas.coherence).all(), "nobody judged"
    assert found.ideas.input_tokens.tolist() == [100.0] * 5
    assert found.ideas.seconds.tolist() == [0.1] * 5
    assert found.ideas.length.tolist() == [len(idea.text) for idea in ideas]
    counts = as_stored(found)
    assert (counts.responses[0], counts.end(0), bool(counts.censored[0])) == (5, "cap", True)


async def test_one_model_alone_is_called_by_its_own_name(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1, team=scripted_team("anna", strategy="solo")))
    await session.run()
    found = session_table(session.folder)
    assert (found.models, found.chains.is_team.tolist()) == (("model-anna",), [False])


async def test_a_chain_that_was_left_is_unfinished(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=3))
    await session.run()
    log = session.folder / "events.jsonl"
    log.write_bytes(b"".join(line for line in log.read_bytes().splitlines(True) if b'_ended"' not in line))
    counts = as_stored(session_table(session.folder))
    assert (counts.end(0), bool(counts.censored[0]), counts.responses[0]) == ("unfinished", True, 3)


def test_the_example_counts_as_its_state_does() -> None:
    [chain] = load(example_folder()).state().chains.values()
    counts = as_stored(session_table(example_folder()))
    assert (counts.responses[0], counts.valid[0]) == (chain.responses, chain.valid)
    assert counts.table.ideas.failed_rule.tolist().count(RULES.index("mechanical")) > 0


def test_numbers_beyond_all_bounds_are_passed_over(tmp_path: Path) -> None:
    session = Path(shutil.copytree(example_folder(), tmp_path / "session"))
    log = session / "events.jsonl"
    for name in (b"output_tokens", b"reasoning_tokens", b"responses", b"step"):
        log.write_bytes(re.sub(rb'"%s":\d+' % name, b'"%s":1' % name + b"0" * 400, log.read_bytes(), count=3))
        assert as_stored(session_table(session)).responses.tolist() == [len(session_table(session).ideas.chain)]


CHANGES = (
    Change(),
    Change(coherence=15, embedding_novelty=0.15, judged_novelty=0.15, patience=1),
    Change(coherence=60),
    Change(embedding_novelty=0.3, patience=2),
    Change(judged_novelty=0.35, max_ideas=5),
    Change(embedding_novelty=0.0, judged_novelty=0.0, patience=3),
)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Table, Path]]:
    """Of every public model: what its result file says, and the session that was made of it."""
    files = sorted((public_results() / "per_model").glob("*.json"))
    files.append(public_results().parent / "aidanbench" / "small_results.json")
    sessions = tmp_path_factory.mktemp("imported")
    found = []
    for file in files:
        table = public_table(file)
        for made in import_results(file, sessions).sessions:
            own = table.chains.model == table.models.index(made.model)
            found.append((table.only(own), sessions / made.id))
    return found


def test_a_result_file_and_the_sessions_made_of_it_are_counted_alike(imported: list[tuple[Table, Path]]) -> None:
    for of_file, session in imported:
        of_session = session_table(session)
        assert of_session.models == (of_file.models[int(of_file.chains.model[0])],)
        for change in CHANGES:
            one, other = rescored(of_file, change), rescored(of_session, change)
            for name in ("failed", "counted", "responses", "valid", "censored"):
                assert (getattr(one, name) == getattr(other, name)).all(), (session.name, change, name)
            assert [one.end(row) for row in range(len(one.ended))] == [
                other.end(row) for row in range(len(other.ended))
            ]


def test_they_have_the_same_columns_and_so_has_what_importing_keeps(imported: list[tuple[Table, Path]]) -> None:
    for of_file, session in imported:
        kept_table = session_table(session)
        (session / COLUMNS_FILE).unlink()
        kept_columns, made, own = columns(kept_table), columns(session_table(session)), columns(of_file)
        for each in (kept_columns, made, own):
            each.pop("chains.session")
            each["chains.question"] = [(name.leaf, name.text) for name in each["chains.question"]]  # type: ignore[attr-defined]
        own["chains.place"] = made["chains.place"]  # among those of the session, or of the file
        for each, seconds in ((kept_columns, made["ideas.seconds"]), (own, made["ideas.seconds"])):
            assert each["ideas.seconds"] == [value and pytest.approx(value) for value in seconds]
            each["ideas.seconds"] = seconds
        assert made == kept_columns
        assert made == own
        assert session_table(session).questions == kept_table.questions


def test_what_can_t_be_read_is_told_and_the_rest_is_there(sessions: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"models": ')
    found = read_tables([example_folder(), broken, tmp_path / "gone"])
    assert found.table.models == ("embedded",)
    assert len(found.problems) == 2
    assert "broken.json is broken" in found.problems[0]
    with pytest.raises(SessionUnreadableError):
        session_table(tmp_path / "gone")


def test_reading_tells_how_far_it_is_and_stops_when_it_is_asked_to() -> None:
    told: list[tuple[int, int]] = []
    read_tables([example_folder()] * 2, lambda done, of: told.append((done, of)))
    assert told == [(0, 2), (1, 2), (2, 2)]
    with pytest.raises(StoppedError):
        read_tables([example_folder()] * 2, stopped=lambda: True)


def test_an_idea_can_be_read_by_where_it_stands() -> None:
    [chain] = load(example_folder()).state().chains.values()
    assert idea_text(example_folder(), 0, 3) == chain.ideas[2].text
    for chain_place, number in ((0, 999), (5, 1)):
        with pytest.raises(UsageError, match="no such idea"):
            idea_text(example_folder(), chain_place, number)
    with pytest.raises(SessionUnreadableError, match="can't be read"):
        idea_text(Path("nowhere"), 0, 1)
