"""`jagstorm profile`: what it reads, what it prints, and how it says no."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.levers import Hand
from core.store.library import example_folder
from tests.command.conftest import Jagstorm
from tests.command.test_seeds import store
from tests.unit.tables import public_results
from tui.cli import cli
from tui.profile_command import CHARTS, profile


@pytest.fixture(autouse=True)
def _registered() -> None:
    cli.add_command(profile)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two models on three questions in two leaves, one of which was ended by an error."""

    def answers(*novelties: float, stop: str = "embedding_dissimilarity_threshold") -> list[dict[str, Any]]:
        found = [
            {
                "answer_num": number,
                "answer": f"Idea {number} of many: listen to {novelty}.",
                "coherence_score": 80,
                "embedding_dissimilarity_score": novelty,
                "llm_dissimilarity_score": 0.4,
                "processing_time": float(number),
                "stopping_condition": None,
            }
            for number, novelty in enumerate(novelties, 1)
        ]
        found[-1]["stopping_condition"] = stop
        return found

    hear, see = "How to hear ice?", "How to see it?"
    leaf = {
        "a/b:7b": {"0.7": {hear: answers(1.0, 0.5, 0.1), see: answers(1.0, 0.3, stop="error")}},
        "plain": {"0.7": {hear: answers(1.0, 0.1), see: answers(1.0, 0.25, 0.6, 0.1)}},
    }
    other = {"a/b:7b": {"0.7": {"How to weigh it?": answers(1.0, 0.4, 0.4, 0.4, 0.1)}}}
    path = tmp_path / "results.json"
    path.write_text(
        json.dumps({"domains": {"Chemistry": {"models": leaf}, "Physics": {"Astrophysics": {"models": other}}}})
    )
    return path


def rows(out: str) -> list[dict[str, Any]]:
    found = json.loads(out)["rows"]
    assert isinstance(found, list)
    return found


# ── what it prints ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ribbons_as_json_are_one_object(jagstorm: Jagstorm, results: Path) -> None:
    code, out, err = jagstorm("profile", str(results), "--json")
    assert (code, err) == (0, "")
    first, second = rows(out)
    wanted = {
        "model": "a/b:7b",
        "questions": 3,
        "responses": 10,
        "valid": 8,
        "mean_responses": 10 / 3,
        "mean_valid": 8 / 3,
        "median": 3.0,
        "min": 2,
        "max": 5,
        "stops": {"embedding_novelty": 2, "error": 1},
    }
    assert {name: first[name] for name in wanted} == wanted
    assert "leaf" not in first
    assert (second["model"], second["questions"]) == ("plain", 2)


@pytest.mark.parametrize(
    ("by", "parts"),
    [
        ("leaf", {"Chemistry", "Physics / Astrophysics"}),
        ("domain", {"Chemistry", "Physics"}),
        ("question", {"How to hear ice?", "How to see it?", "How to weigh it?"}),
    ],
)
def test_rows_by_part_name_the_part(jagstorm: Jagstorm, results: Path, by: str, parts: set[str]) -> None:
    _, out, _ = jagstorm("profile", str(results), "--by", by, "--json")
    assert {row[by] for row in rows(out)} == parts


def test_csv_has_all_numbers_and_nothing_that_a_spreadsheet_would_run(jagstorm: Jagstorm, results: Path) -> None:
    results.write_text(results.read_text().replace('"plain"', '"=cmd()"'))
    code, out, _ = jagstorm("profile", str(results), "--by", "leaf", "--csv")
    assert code == 0
    found = list(csv.DictReader(io.StringIO(out)))
    assert {(row["model"], row["part"], row["responses"], row["stop error"]) for row in found} == {
        ("a/b:7b", "Chemistry", "5", "1"),
        ("a/b:7b", "Physics / Astrophysics", "5", "0"),
        ("'=cmd()", "Chemistry", "6", "0"),
    }


def sources(chart: str, results: Path, sessions: Path) -> list[str]:
    """What has something for the chart to show."""
    totals = results.with_name("general.csv")
    totals.write_text("model,total,questions\na/b:7b,200,20\nplain,60,10\n")
    if chart == "seeds":
        return [str(store(sessions, range(3, 6), Hand()))]
    return {"scatter": [str(results), str(totals)], "who": ["example"]}.get(chart, [str(results)])


@pytest.mark.parametrize("chart", CHARTS)
def test_each_chart_is_drawn_and_says_what_it_is_of(
    jagstorm: Jagstorm, results: Path, sessions: Path, chart: str
) -> None:
    code, out, err = jagstorm("profile", *sources(chart, results, sessions), "--chart", chart)
    assert (code, err) == (0, "")
    assert {"who": "analogist", "seeds": "seed 3"}.get(chart, "a/b:7b") in out
    several = "5 chains of 2 models on 3 questions."
    assert ("1 chain of 1 model on 1 question." if chart in ("who", "seeds") else several) in out
    assert "Means are over the questions that each answered." in " ".join(out.split())
    assert "\x1b" not in out


@pytest.mark.parametrize("chart", CHARTS)
def test_each_chart_has_its_numbers(jagstorm: Jagstorm, results: Path, sessions: Path, chart: str) -> None:
    code, out, err = jagstorm("profile", *sources(chart, results, sessions), "--chart", chart, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)


def test_diversity_says_what_models_have_in_common_and_how_many_kinds_there_are(
    jagstorm: Jagstorm, results: Path
) -> None:
    out = " ".join(jagstorm("profile", str(results), "--chart", "diversity").out.split())
    assert "Overlap: on the same question another model has 100% of a model's ideas (within 0.185) on average" in out
    assert "of a/b:7b's are plain's too" in out
    assert "First answers to “How to hear ice?”: 2 chains gave 1 kind, of 1 at the least (Chao's estimate)" in out


@pytest.mark.parametrize(("x", "word"), [("seconds", "seconds an idea"), ("tokens", "reasoning tokens")])
def test_what_an_idea_takes_can_be_chosen(jagstorm: Jagstorm, results: Path, x: str, word: str) -> None:
    results.write_text(results.read_text().replace('"answer_num"', '"reasoning_tokens": 7, "answer_num"'))
    code, out, err = jagstorm("profile", str(results), "--chart", "effort", "--x", x)
    assert (code, err) == (0, "")
    assert word in out


def test_a_heading_that_a_spreadsheet_would_run_is_guarded(jagstorm: Jagstorm, results: Path) -> None:
    results.write_text(results.read_text().replace("Chemistry", "=HYPERLINK(1)"))
    out = jagstorm("profile", str(results), "--chart", "heat", "--csv").out
    assert '"\'=HYPERLINK(1)"' in out.splitlines()[0]


def test_a_picture_goes_into_a_file(jagstorm: Jagstorm, results: Path, tmp_path: Path) -> None:
    picture = tmp_path / "ribbons.svg"
    code, out, err = jagstorm("profile", str(results), "--svg", str(picture))
    assert (code, out) == (0, "")
    assert f"The picture is {picture}" in err
    assert picture.read_text().startswith("<svg")
    code, _, err = jagstorm("profile", str(results), "--svg", str(picture))
    assert code == 2
    assert "is there already" in err


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_other_rules_rescore_what_is_stored(jagstorm: Jagstorm, results: Path) -> None:
    _, out, _ = jagstorm("profile", str(results), "--embedding", "0.35", "--json")
    assert {row["model"]: row["responses"] for row in rows(out)} == {"a/b:7b": 10, "plain": 4}
    _, out, _ = jagstorm("profile", str(results), "--cap", "2", "--json")
    assert {row["model"]: row["stops"] for row in rows(out)} == {
        "a/b:7b": {"cap": 3},
        "plain": {"embedding_novelty": 1, "cap": 1},
    }


def test_whoever_is_more_patient_is_told_where_the_record_ends(jagstorm: Jagstorm, results: Path) -> None:
    code, out, _ = jagstorm("profile", str(results), "--patience", "2")
    assert code == 0
    assert "Rescored from stored scores; 4 chains would have gone on where the record ends." in out


@pytest.mark.parametrize(
    "rule",
    [
        ("--coherence", "101"),
        ("--embedding", "-0.1"),
        ("--judged", "x"),
        ("--patience", "0"),
        ("--cap", "0"),
        ("--cap", "9" * 30),
    ],
)
def test_rules_that_can_t_be_are_refused(jagstorm: Jagstorm, results: Path, rule: tuple[str, str]) -> None:
    code, out, err = jagstorm("profile", str(results), *rule)
    assert (code, out) == (2, "")
    assert rule[0] in err


# ── what it reads ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_names_all_sessions_count_but_the_example(jagstorm: Jagstorm, sessions: Path) -> None:
    code, _, err = jagstorm("profile")
    assert code == 2
    assert "There are no sessions in" in err
    shutil.copytree(example_folder(), sessions / "example")
    assert rows(jagstorm("profile", "--json").out)[0]["model"] == "embedded", "where there is nothing else"
    shutil.copytree(example_folder(), sessions / "20260101-000000-own-0001")
    _, out, _ = jagstorm("profile", "--json")
    assert [(row["model"], row["responses"]) for row in rows(out)] == [("embedded", 23)]
    _, out, _ = jagstorm("profile", "example", "--json")
    assert rows(out)[0]["chains"] == 1


def test_sessions_and_files_stand_side_by_side(jagstorm: Jagstorm, sessions: Path, results: Path) -> None:
    shutil.copytree(example_folder(), sessions / "20260101-000000-own-0001")
    _, out, _ = jagstorm("profile", "last", str(results.parent), "--json")
    assert {row["model"] for row in rows(out)} == {"embedded", "a/b:7b", "plain"}


@pytest.mark.parametrize("how", [(), ("--json",), ("--csv",)])
def test_whoever_mixes_embedders_is_told(
    jagstorm: Jagstorm, sessions: Path, results: Path, how: tuple[str, ...]
) -> None:
    shutil.copytree(example_folder(), sessions / "20260101-000000-own-0001")
    assert "Several embedders" not in jagstorm("profile", "last", *how).err
    _, out, err = jagstorm("profile", "last", str(results), *how)
    assert "Several embedders (text-embedding-3-large, wordllama): the same novelty" in err
    assert "Several embedders" not in out


def test_only_the_questions_that_are_wanted(jagstorm: Jagstorm, results: Path) -> None:
    _, out, _ = jagstorm("profile", str(results), "--domain", "astrophysics", "--json")
    assert [(row["model"], row["responses"]) for row in rows(out)] == [("a/b:7b", 5)]
    code, _, err = jagstorm("profile", str(results), "--domain", "astro")
    assert code == 2
    assert "there are Physics / Astrophysics, Chemistry" in err
    _, out, _ = jagstorm("profile", str(results), "--question", "SEE it", "--json")
    assert {row["model"]: row["responses"] for row in rows(out)} == {"a/b:7b": 2, "plain": 4}


def test_what_can_t_be_read_does_not_stop_the_rest(jagstorm: Jagstorm, results: Path) -> None:
    broken = results.with_name("broken.json")
    broken.write_text("{")
    code, out, err = jagstorm("profile", str(results), str(broken), "--json")
    assert code == 0
    assert len(rows(out)) == 2
    assert err.startswith("jagstorm: ")
    assert "broken.json is broken" in err


def test_the_scatter_takes_its_totals_from_a_csv(jagstorm: Jagstorm, results: Path, tmp_path: Path) -> None:
    totals = tmp_path / "general.csv"
    totals.write_text("model,total,questions\na/b:7b,200,20\nplain,60,10\nnobody,5,1\n")
    code, out, _ = jagstorm("profile", str(results), str(totals), "--chart", "scatter", "--json")
    assert code == 0
    found = json.loads(out)
    assert [(point["model"], point["x"], point["y"]) for point in found["points"]] == [
        ("plain", 6.0, 3.0),
        ("a/b:7b", 10.0, 10 / 3),
    ]
    assert found["n"] == 2
    assert found["slope"] == pytest.approx((18 + 100 / 3) / 136)
    assert found["r"] == pytest.approx(1.0)


def test_the_published_figures_come_out(jagstorm: Jagstorm) -> None:
    folder = public_results()
    words = (str(folder / "per_model"), str(folder / "aidanbench_totals.csv"), "--chart", "scatter", "--json")
    code, out, _ = jagstorm("profile", *words)
    found = json.loads(out)
    assert code == 0
    assert (f"{found['slope']:.3f}", f"{found['r']:.3f}", found["n"]) == ("0.419", "0.903", 19)


# ── how it says no ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "No session 'nobody'"),
        (("RESULTS", "--domain", "nowhere"), "No question fits"),
        (("RESULTS", "--chart", "radar", "--by", "leaf"), "--by goes with --chart ribbons"),
        (("RESULTS", "--x", "cost"), "--x goes with --chart effort"),
        (("RESULTS", "--json", "--csv"), "exclude each other"),
        (("RESULTS", "--svg", "results.json"), "call the file results.svg"),
        (("RESULTS", "--chart", "scatter"), "totals of another benchmark"),
        (("RESULTS", "--chart", "who"), "There is no team"),
        (("RESULTS", "--chart", "seeds"), "No idea here was written while a seed was in force"),
        (("NOTHING",), "no chains"),
        (("BROKEN",), "is broken"),
    ],
)
def test_one_line_says_what_is_wrong(jagstorm: Jagstorm, results: Path, words: tuple[str, ...], said: str) -> None:
    nothing, broken = results.with_name("nothing.json"), results.with_name("broken.json")
    nothing.write_text('{"models": {}}')
    broken.write_text("{")
    places = {"RESULTS": str(results), "NOTHING": str(nothing), "BROKEN": str(broken)}
    code, out, err = jagstorm("profile", *(places.get(word, word) for word in words))
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("option", ["--coherence", "--embedding", "--judged"])
@pytest.mark.parametrize("number", ["nan", "-1", "1e9", "inf", "much"])
def test_a_threshold_is_a_number_in_its_range(jagstorm: Jagstorm, results: Path, option: str, number: str) -> None:
    code, out, err = jagstorm("profile", str(results), option, number)
    assert (code, out) == (2, "")
    assert option in err
