"""Ideas as rows: every one, with all that is known of it, and safe to open in a spreadsheet."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.exchange.csv_text import csv_record, guarded
from core.exchange.rows import COLUMNS, Row, csv_lines, json_lines
from core.text import clean
from tests.unit.exchanged import idea, told, whole
from tests.unit.test_export_reports import rich
from tui.charts.printed import csv_of
from tui.charts.sheet import Sheet


def read(text: str) -> list[dict[str, str]]:
    """As pandas and R do it: quotes doubled within quotes, line ends within them kept."""
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def unguarded(cell: str) -> str:
    """What stood there before: an apostrophe less, where there is one that guards."""
    return cell[1:] if cell.startswith("'") and guarded(cell[1:]) == cell else cell


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_idea_is_a_row_the_failed_and_the_removed_too() -> None:
    found = read(whole(csv_lines([rich(), rich()])))
    assert [row["idea"] for row in found] == ["1", "2", "3", "4", "5"] * 2
    assert [row["author"] for row in found[:5]] == ["anna", "bert", "cleo", "anna", "you"]
    assert [row["model"] for row in found[:5]] == ["model-anna", "model-bert", "model-cleo", "model-anna", ""]
    assert [row["verdict"] for row in found[:5]] == ["passed", "passed", "", "failed", "unscored"]
    assert [row["removed"] for row in found[:5]] == ["false"] * 4 + ["true"]
    assert [row["rating"] for row in found[:5]] == ["5", "", "4", "", ""]


def test_a_row_has_all_that_is_known() -> None:
    row = objects(whole(json_lines([rich()])))[1]
    wanted = {
        "session": "20260101-120000-vortex-00aa",
        "team": "scripted",
        "question": "vortex-in-a-film",
        "domain": "Physics",
        "subdomain": "Condensed Matter",
        "idea": 2,
        "step": 2,
        "text": "Encode it redundantly.",
        "coherence": 88.0,
        "embedding_novelty": 0.42,
        "judged_novelty": 0.3,
        "verdict": "passed",
        "failed_rule": None,
        "judges": ["judge"],
        "pinned": True,
        "rating": None,
        "comment": "Try this first.",
        "seeds": ["error-correcting codes"],
        "input_tokens": 100,
        "output_tokens": 20,
        "reasoning_tokens": 5,
        "writing_seconds": 0.9,
        "cost": 0.01,
        "chain_ended": "embedding_novelty",
        "thoughts": "Codes have distance.",
    }
    assert {name: row[name] for name in wanted} == wanted


def test_both_tables_have_the_same_columns_but_for_thoughts() -> None:
    [header] = csv.reader(csv_lines([]))
    assert tuple(header) == COLUMNS
    assert {*header, "thoughts"} == set(objects(whole(json_lines([rich()])))[0]) == set(Row.__struct_fields__)


def test_what_is_not_known_is_an_empty_cell() -> None:
    [row] = read(whole(csv_lines([told(*idea(1, "One.", coherence=None, judged_novelty=None))])))
    assert (row["coherence"], row["judged_novelty"], row["nearest"], row["chain_ended"]) == ("", "", "", "")


# ── spreadsheets ──────────────────────────────────────────────────────────────────────────────────────────────────────

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1+1",
    "\n=1",
    " =1+1",
    "'=1+1",
    "＝1+1",
    '=HYPERLINK("http://evil.example","x")',
    "-2+3+cmd|' /C calc'!A0",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text: str) -> None:
    [row] = read(whole(csv_lines([told(*idea(1, text))])))
    assert row["text"].startswith("'")
    assert unguarded(row["text"]) == text


def test_numbers_stay_numbers() -> None:
    [row] = read(whole(csv_lines([told(*idea(1, "One.", embedding_novelty=-2e-16))])))
    assert row["embedding_novelty"] == "-2e-16"


@pytest.mark.parametrize("text", ["safe;=1+1", "safe\t=1+1", "safe,=1+1", 'safe";=1+1', "plain"])
def test_a_text_is_one_cell_for_a_spreadsheet_that_splits_at_something_else_too(text: str) -> None:
    record = csv_record([text, 1.5])
    for delimiter in ",;\t":
        [cells] = csv.reader(io.StringIO(record), delimiter=delimiter)
        assert not any(cell.startswith("=") for cell in cells)


def test_texts_are_quoted_and_numbers_and_what_is_not_known_are_not() -> None:
    assert csv_record(["a", "", 1, -2.5, None, True, ("b", "=c")]) == '"a","",1,-2.5,,true,"b; =c"\n'


def test_a_column_may_be_called_like_a_formula_and_is_none() -> None:
    assert csv_of(Sheet(("name", '=HYPERLINK("http://evil.example")'), ())).startswith('"name","\'=HYPERLINK(')


@given(st.text(max_size=30))
@example("''=")
@example("'")
@example("' \t'@")
def test_a_guard_can_be_taken_off_again(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
@example('a "quoted", thing\nof two lines;')
def test_any_idea_comes_back_from_both_tables(text: str) -> None:
    text = clean(text)
    session = told(*idea(1, text, thoughts=text))
    [row] = read(whole(csv_lines([session])))
    assert unguarded(row["text"]) == text
    [found] = objects(whole(json_lines([session])))
    assert (found["text"], found["thoughts"]) == (text, text)
