"""Lists of questions join the user's own; totals of another benchmark are kept to be compared with."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.config import config_folder, own_question_files
from core.errors import UsageError
from core.exchange.importing import files_under, import_file, import_found
from core.exchange.public import NoResultsError
from core.exchange.question_list import QuestionsKept
from core.exchange.totals_table import (
    ModelTotal,
    TotalsKept,
    TotalsTable,
    kept_totals,
    most_in_common,
    read_totals,
    totals_folder,
)
from core.questions import OWN, load_bank
from tests.unit.exchanged import chemistry, write

LIST = {"Physics/Optics": ["How to hear light?", "How to weigh a shadow?"], "Alchemy": ["Where is gold?"]}


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def kept(path: Path, sessions: Path) -> Any:
    return import_file(path, sessions)


# ── questions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_list_by_leaf_joins_the_bank(tmp_path: Path, sessions: Path) -> None:
    result = kept(write(tmp_path / "questions.json", LIST), sessions)
    assert isinstance(result, QuestionsKept)
    assert (result.added, result.there) == (3, 0)
    bank = load_bank(own_question_files())
    assert not bank.problems
    assert [(question.leaf, question.text) for question in bank.questions[-3:]] == [
        ("Alchemy", "Where is gold?"),
        ("Physics / Optics", "How to hear light?"),
        ("Physics / Optics", "How to weigh a shadow?"),
    ]
    assert not sessions.exists()


def test_a_bare_list_of_texts_is_one_too(tmp_path: Path, sessions: Path) -> None:
    assert kept(write(tmp_path / "questions.json", ["Why?", "Why?", "How?"]), sessions).added == 2
    assert [question.domain for question in load_bank(own_question_files()).search("why?")] == [OWN]


def test_what_is_in_the_bank_is_not_added_again(tmp_path: Path, sessions: Path) -> None:
    path = write(tmp_path / "questions.json", LIST)
    kept(path, sessions)
    files = own_question_files()
    again = kept(path, sessions)
    assert (again.added, again.there) == (0, 3)
    longer = kept(write(path, LIST | {"Alchemy": ["Where is gold?", "Where is lead?"]}), sessions)
    assert (longer.added, longer.there) == (1, 3)
    assert len(own_question_files()) == len(files) + 1, "no file of hers was changed"
    assert not load_bank(own_question_files()).problems


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"Physics": ["How?", 3]}, "Physics, question 2: expected text"),
        ({"Physics": ["How?"], "Alchemy": "Where?"}, "Alchemy: expected a list of questions"),
        ({"Physics": ["How?", " "]}, "Physics, question 2: The question is empty"),
        ({"Physics": ["x" * 20_001]}, "Physics, question 1: The question has 20,001 characters"),
    ],
)
def test_a_broken_list_is_refused_whole(tmp_path: Path, sessions: Path, content: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        kept(write(tmp_path / "questions.json", content), sessions)
    assert not config_folder().exists()


@pytest.mark.parametrize("content", [3, "text", {"a": 1}, {}, None])
def test_a_file_that_is_neither_says_so(tmp_path: Path, sessions: Path, content: Any) -> None:
    with pytest.raises(NoResultsError, match="neither results of a benchmark nor a list of questions"):
        kept(write(tmp_path / "what.json", content), sessions)


@pytest.mark.parametrize(
    "content",
    [
        {"recommendations": ["ms-python.python"], "unwantedRecommendations": ["ms-python.pylint"]},
        {"recommendations": ["ms-python.python", 3], "name": "x"},
        {"Physics": ["How?"], "recommendations": ["ms-python.python"]},
        ["a.json", "b.json"],
        {"Own": ["a.json"]},
    ],
)
def test_a_list_that_nobody_named_is_taken_only_for_domains_that_are_known(
    tmp_path: Path, sessions: Path, content: Any
) -> None:
    path = write(tmp_path / "extensions.json", content)
    with pytest.raises(NoResultsError, match="no questions of domains that are known: name the file itself"):
        import_found(path, sessions)
    assert not config_folder().exists()


def test_a_list_of_known_domains_is_found_in_a_folder(tmp_path: Path, sessions: Path) -> None:
    path = write(tmp_path / "questions.json", {"physics/Optics": ["How to hear light?"], "Biology": ["Why?"]})
    found = import_found(path, sessions)
    assert isinstance(found, QuestionsKept)
    assert found.added == 2
    own = write(tmp_path / "own.json", {"Alchemy": ["Where is gold?"]})
    kept(own, sessions)
    write(own, {"Alchemy": ["Where is lead?"]})
    again = import_found(own, sessions)
    assert isinstance(again, QuestionsKept)
    assert again.added == 1


def test_odd_names_of_leaves_are_names_of_nothing_else(tmp_path: Path, sessions: Path) -> None:
    names = ["../../etc", "", "\x1b[2J", "a/b/c", "🜚", "..", "/"]
    content = {name: [f"What of {number}?"] for number, name in enumerate(names)}
    assert kept(write(tmp_path / "questions.json", content), sessions).added == len(names)
    files = own_question_files()
    assert {file.parent for file in files} == {config_folder() / "questions"}
    bank = load_bank(files)
    assert not bank.problems
    assert len(bank.search("What of")) == len(names)


def test_lists_that_can_t_be_written_are_refused(tmp_path: Path, sessions: Path) -> None:
    config_folder().mkdir(parents=True)
    (config_folder() / "questions").write_text("a file")
    with pytest.raises(UsageError, match="can't be written"):
        kept(write(tmp_path / "questions.json", LIST), sessions)


def test_the_public_list_is_157_questions_in_nine_leaves(public_data: Path, sessions: Path) -> None:
    built_in = len(load_bank())
    assert kept(public_data / "sciaidanbench" / "questions.json", sessions).added == 157
    bank = load_bank(own_question_files())
    assert len(bank) == built_in + 157
    assert len(bank.leaves()) == 9
    assert kept(public_data / "sciaidanbench" / "questions.json", sessions).added == 0


# ── totals ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def csv_file(tmp_path: Path, text: str, name: str = "General benchmark.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_totals_are_kept_and_read_again(tmp_path: Path, sessions: Path) -> None:
    path = csv_file(tmp_path, "model,general_total_responses,general_questions\na/b:7b,650,65\nother,12.5,5\n")
    result = kept(path, sessions)
    assert isinstance(result, TotalsKept)
    assert (result.models, result.there) == (2, False)
    [table] = kept_totals()
    assert table.name == "general-benchmark"
    assert table.rows == (ModelTotal("a/b:7b", 650, 65), ModelTotal("other", 12.5, 5))
    assert [row.mean for row in table.rows] == [10.0, 2.5]


def test_columns_may_stand_anywhere(tmp_path: Path) -> None:
    path = csv_file(tmp_path, '\ufeffwhen, Questions ,"Total","Model"\r\n2025,65,130,"o1, high"\r\n\r\n')
    assert read_totals(path).rows == (ModelTotal("o1, high", 130, 65),)


def test_the_same_totals_again_add_nothing_and_others_take_nothing_away(tmp_path: Path, sessions: Path) -> None:
    path = csv_file(tmp_path, "model,total,questions\no1,130,65\n")
    kept(path, sessions)
    assert kept(path, sessions).there
    assert not kept(csv_file(tmp_path, "model,total,questions\no1,131,65\n"), sessions).there
    assert sorted(table.rows[0].total for table in kept_totals()) == [130, 131]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("o1,many,65", "line 3: 'many' is no total"),
        ("o1,nan,65", "line 3: 'nan' is no total"),
        ("o1,inf,65", "line 3: 'inf' is no total"),
        ("o1,-1,65", "line 3: '-1' is no total"),
        ("o1,1e300,65", "line 3: '1e300' is no total"),
        ("o1,130,0", "line 3: '0' is no number of questions"),
        ("o1,130,6.5", "line 3: '6.5' is no number of questions"),
        (f"o1,130,{'9' * 5000}", "line 3: '9{40}' is no number of questions"),
        ("o1,130", "line 3: it has 2 cells; 3 are needed"),
        (",130,65", "line 3: the model has no name"),
        ("first,130,65", "line 3: first stands there twice"),
        ('"o1,130,65', "line 3: unexpected end of data"),
    ],
)
def test_a_broken_table_is_refused_with_its_line(tmp_path: Path, sessions: Path, row: str, said: str) -> None:
    path = csv_file(tmp_path, f"model,total,questions\nfirst,1,1\n{row}\n")
    with pytest.raises(UsageError, match=said):
        kept(path, sessions)
    assert not totals_folder().exists()


def test_a_table_of_something_else_is_told_apart(tmp_path: Path, sessions: Path) -> None:
    for text in ("", "name,value\na,1\n", "model,questions,responses\na,1,2\n"):
        with pytest.raises(NoResultsError, match="its first line must name model, total, questions"):
            kept(csv_file(tmp_path, text), sessions)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=20),
        st.tuples(st.floats(0, 1e15), st.integers(1, 10**9)),
        min_size=1,
    )
)
def test_any_totals_come_back_as_they_were(tmp_path: Path, table: dict[str, tuple[float, int]]) -> None:
    path = tmp_path / "any.csv"
    rows = [
        f'"{model.replace(chr(34), chr(34) * 2)}",{total!r},{questions}' for model, (total, questions) in table.items()
    ]
    path.write_text("\n".join(["model,total,questions", *rows]), encoding="utf-8")
    found = {row.model: (row.total, row.questions) for row in read_totals(path).rows}
    assert found == table


def test_the_public_totals(public_data: Path, sessions: Path) -> None:
    kept(public_data / "sciaidanbench" / "aidanbench_totals.csv", sessions)
    [table] = kept_totals()
    assert len(table.rows) == 29
    assert {row.questions for row in table.rows} == {65}
    assert next(row for row in table.rows if row.model == "top-5-parallel").total == 7315


# ── a folder ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_means_what_may_be_imported_in_it(tmp_path: Path) -> None:
    for name in ("b.json", "a.JSON", "inner/c.csv", "notes.txt", "d.json.bak"):
        write(tmp_path / name, chemistry())
    (tmp_path / "folder.json").mkdir()
    assert [file.name for file in files_under(tmp_path)] == ["a.JSON", "b.json", "c.csv"]
    assert files_under(tmp_path / "notes.txt") == [tmp_path / "notes.txt"]


def test_of_several_totals_those_that_know_most_of_the_models_are_beside_them(tmp_path: Path) -> None:
    one = TotalsTable("one", (ModelTotal("a", 10, 5), ModelTotal("b", 10, 5)))
    other = TotalsTable("other", (ModelTotal("b", 10, 5), ModelTotal("z", 10, 5)))
    assert most_in_common([other, one], {"a", "b"}) == one
    assert most_in_common([other, one], {"b"}) == other, "the first of those that know as many"
    assert most_in_common([], {"b"}) is None


def test_totals_that_broke_since_do_not_stand_in_the_way_of_others() -> None:
    totals_folder().mkdir(parents=True)
    (totals_folder() / "good.csv").write_text("model,total,questions\na,10,5\n")
    (totals_folder() / "broken.csv").write_text("model,total,questions\na,ten,5\n")
    assert [table.name for table in kept_totals()] == ["good"]
    (totals_folder() / "good.csv").unlink()
    with pytest.raises(UsageError, match="line 2"):
        kept_totals()
