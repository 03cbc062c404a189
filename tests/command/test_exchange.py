"""`import` and `export`: files of others come in once and whole, sessions go out in every format."""

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.config import own_question_files
from core.exchange import importing
from core.exchange.exporting import FORMATS
from core.exchange.importing import ImportedSession
from core.exchange.retelling import Retelling
from core.questions import load_bank
from core.store import library
from core.store.library import example_folder
from tests.command.conftest import Jagstorm
from tests.unit.exchanged import answer, chemistry, failing, write
from tui import exchange_command

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A result file of one model, in a folder of its own."""
    content = chemistry(answer(1, "=1+1"), answer(2, "<b>Ring it.</b>"), failing(3), model="o9-mini")
    return write(tmp_path / "in" / "results.json", content)


@pytest.fixture
def session(jagstorm: Jagstorm, results: Path, sessions: Path) -> str:
    """The id of an imported session."""
    assert jagstorm("import", str(results)).code == 0
    [folder] = library.session_folders(sessions)
    return folder.name


# ── import ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_result_file_is_a_session_in_every_command(jagstorm: Jagstorm, results: Path, sessions: Path) -> None:
    code, out, err = jagstorm("import", str(results))
    [folder] = library.session_folders(sessions)
    assert (code, err) == (0, "")
    assert f"{folder.name}  o9-mini\n    1 question, 3 ideas, 2 valid\n" in out
    assert "Imported 1 session with 3 ideas.\n" in out
    assert "2 of 3 ideas pass" in jagstorm("sessions").out
    assert "Ring it." in jagstorm("show", "last").out
    code, _, err = jagstorm("resume", "last", "--headless")
    assert code == 2
    assert "was imported from results.json: there is nobody to go on with it" in err


def test_the_same_file_again_says_so_and_adds_nothing(jagstorm: Jagstorm, results: Path, session: str) -> None:
    code, out, err = jagstorm("import", str(results))
    assert (code, err) == (0, "")
    assert out == f"results.json was imported before: {session}\n"


def test_a_folder_is_all_that_is_in_it(jagstorm: Jagstorm, results: Path) -> None:
    folder = results.parent
    write(folder / "questions.json", {"Physics/Optics": ["How to hear light?"]})
    (folder / "totals.csv").write_text("model,total,questions\no1,130,65\n")
    (folder / "other.csv").write_text("a,b\n1,2\n")
    write(folder / "package.json", {"name": "x"})
    code, out, err = jagstorm("import", str(folder))
    assert code == 0
    assert "questions.json: 1 question added to your own" in out
    assert "totals.csv: totals of 1 model kept" in out
    assert "left out" in err
    assert "other.csv is no table of totals" in err
    assert "package.json holds neither results" in err
    assert load_bank(own_question_files()).search("hear light")


def test_only_a_file_that_is_named_is_a_list_of_anything(jagstorm: Jagstorm, tmp_path: Path) -> None:
    path = write(tmp_path / "in" / ".vscode" / "extensions.json", {"recommendations": ["ms-python.python"]})
    code, out, err = jagstorm("import", str(tmp_path / "in"))
    assert (code, out) == (0, "")
    assert "left out" in err
    assert "name the file itself" in err
    assert "1 question added" in jagstorm("import", str(path)).out


def test_chains_that_came_in_from_another_file_are_not_counted_twice(
    jagstorm: Jagstorm, results: Path, session: str, sessions: Path
) -> None:
    content = json.loads(results.read_text())
    of_models = content["domains"]["Chemistry"]["models"]
    of_models["o9-mini"]["0.7"]["Another?"] = [answer(1, "It is new.")]
    of_models["other"] = {"0.7": {"Another?": [answer(1, "It is new.")]}}
    merged = write(results.with_name("merged.json"), content)
    code, out, err = jagstorm("import", str(merged))
    assert (code, err) == (0, "")
    assert "merged.json: 1 chain left out, as other sessions have them already\n" in out
    assert "Imported 2 sessions with 2 ideas." in out
    other = write(
        results.with_name("again.json"), chemistry(answer(1, "It is new."), model="other", question="Another?")
    )
    code, out, err = jagstorm("import", str(other))
    assert (code, err) == (0, "")
    assert out == "again.json: 1 chain left out, as other sessions have them already\n"
    assert len(library.session_folders(sessions)) == 3
    assert json.loads(jagstorm("import", str(other), "--json").out)["left_out"] == 1


def test_a_name_that_stands_twice_is_found_where_chains_are_left_out_too(
    jagstorm: Jagstorm, results: Path, session: str
) -> None:
    text = results.read_text()
    twice = results.with_name("twice.json")
    twice.write_text(text.replace('"o9-mini": {', '"o9-mini": {"0.7": {"Lost?": [{"answer_num": 1, "answer": "x"}]}, '))
    code, _, err = jagstorm("import", str(twice))
    assert code == 2
    assert "stands twice in the same table" in err


def test_a_broken_file_is_refused_with_the_place_and_the_others_come_in(
    jagstorm: Jagstorm, results: Path, sessions: Path
) -> None:
    write(results.parent / "broken.json", chemistry(answer(1), answer(2, answer=7)))
    code, out, err = jagstorm("import", str(results.parent))
    assert code == 2
    assert "broken.json: Chemistry, a/b:7b, 0.7, 'How to hear ice?', answer 2: answer: expected `str`, got `int`" in err
    assert "Imported 1 session" in out
    assert len(library.session_folders(sessions)) == 1


@pytest.mark.parametrize("name", ["gone.json", "other.txt", "\udcff", ""])
def test_a_file_that_is_none_is_one_line(jagstorm: Jagstorm, tmp_path: Path, name: str) -> None:
    (tmp_path / "other.txt").write_text("hello")
    code, out, err = jagstorm("import", str(tmp_path / name) if name.endswith(("json", "txt")) else name)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("jagstorm: ")


def test_what_is_odd_is_counted_at_the_end(jagstorm: Jagstorm, tmp_path: Path) -> None:
    odd = chemistry(
        answer(1, ""),
        answer(2, "<answer>x</answer>", stopping_condition="content_error"),
        answer(3, embedding_dissimilarity_score=-2e-16, stopping_condition="error"),
    )
    out = jagstorm("import", str(write(tmp_path / "odd.json", odd))).out
    assert out.split("Odd in it, and kept as it is:\n")[1].splitlines() == [
        "  1 blank answer",
        "  1 answer with literal <answer> tags",
        "  1 novelty below zero",
        "  1 stop in the midst of a chain",
        "  1 chain stopped by error",
    ]


def test_json_is_an_object_a_file(jagstorm: Jagstorm, results: Path) -> None:
    (results.parent / "totals.csv").write_text("model,total,questions\no1,130,65\n")
    (results.parent / "zero.json").write_text("{")
    code, out, err = jagstorm("import", "--json", str(results.parent))
    assert (code, err) == (2, "")
    first, second, third = map(json.loads, out.splitlines())
    [made] = first["sessions"]
    assert (made["model"], made["responses"], made["valid"]) == ("o9-mini", 3, 2)
    assert made["stops"] == {"embedding_dissimilarity_threshold": 1}
    assert (second["file"], second["models"]) == ("totals.csv", 1)
    assert "is broken" in third["problem"]


def test_where_it_cannot_be_written_it_says_so(jagstorm: Jagstorm, results: Path, sessions: Path) -> None:
    sessions.write_text("a file")
    code, _, err = jagstorm("import", str(results))
    assert code == 2
    assert err.startswith("jagstorm: ")


def test_progress_is_for_terminals(jagstorm: Jagstorm, results: Path) -> None:
    assert "Importing" not in jagstorm("import", str(results)).err


def test_nothing_of_a_file_reaches_the_terminal_raw(jagstorm: Jagstorm, tmp_path: Path) -> None:
    nasty = "\x1b]0;evil\x07\x1b[2J\u202e"
    content = {"domains": {nasty: chemistry(answer(1, answer=7), model=nasty)["domains"]["Chemistry"]}}
    path = write(tmp_path / f"results{nasty}.json", content)
    good = write(tmp_path / "good.json", chemistry(answer(1), model=nasty, question=f"{nasty}?"))
    code, out, err = jagstorm("import", str(tmp_path))
    assert code == 2
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
    assert path.exists()
    assert good.exists()


def test_an_import_that_is_interrupted_keeps_what_is_whole(
    jagstorm: Jagstorm, results: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(results.parent / "second.json", chemistry(answer(1), model="second"))
    written = importing._write

    def interrupt(retelling: Retelling, *rest: Any) -> ImportedSession:
        if retelling.origin.model == "second":
            raise KeyboardInterrupt
        return written(retelling, *rest)

    monkeypatch.setattr(importing, "_write", interrupt)
    code, out, err = jagstorm("import", str(results.parent))
    assert code == 4
    assert "Imported 1 session" in out
    assert "stopped: nothing of second.json was imported" in err
    assert [path.name for path in sessions.iterdir()] == [library.session_folders(sessions)[0].name]


# ── export ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_format_has_a_file_and_standard_output(jagstorm: Jagstorm, session: str, tmp_path: Path) -> None:
    assert set(exchange_command.FORMATS) == set(FORMATS)
    for form in FORMATS:
        out = tmp_path / f"ideas.{form}"
        assert jagstorm("export", session, "--format", form, "-o", str(out)).code == 0
        printed = jagstorm("export", session, "--format", form)
        assert printed.code == 0
        assert printed.out.encode() == out.read_bytes()
        assert "Ring it." in printed.out.replace("\\<", "<").replace("&lt;", "<")


def test_a_file_s_name_says_its_format(jagstorm: Jagstorm, session: str, tmp_path: Path) -> None:
    begins = {
        "html": "<!DOCTYPE html>",
        "csv": '"session",',
        "json": '{"domains"',
        "cast": '{"version": 2',
        "txt": "# How",
    }
    for suffix, text in begins.items():
        out = tmp_path / f"ideas.{suffix}"
        assert jagstorm("export", session, "-o", str(out)).code == 0
        assert out.read_text().startswith(text)
    assert jagstorm("export", session).out.startswith("# How to hear ice?")


def test_several_sessions_are_named_as_everywhere(jagstorm: Jagstorm, session: str) -> None:
    found = csv.DictReader(io.StringIO(jagstorm("export", "last", "example", session[:15], "--format", "csv").out))
    assert list(dict.fromkeys(row["session"] for row in found)) == [session, "example"]
    code, _, err = jagstorm("export", "nobody", "--format", "csv")
    assert code == 2
    assert "No session 'nobody'" in err


def test_a_file_that_is_there_stays_as_it_is(jagstorm: Jagstorm, session: str, tmp_path: Path) -> None:
    out = tmp_path / "ideas.md"
    out.write_text("mine")
    code, _, err = jagstorm("export", session, "-o", str(out))
    assert code == 2
    assert "is there already: choose another name, or replace it with --force" in err
    assert out.read_text() == "mine"
    assert jagstorm("export", session, "-o", str(out), "--force").code == 0
    assert out.read_text().startswith("# How to hear ice?")


def test_a_link_is_followed_and_what_is_no_file_is_left_alone(jagstorm: Jagstorm, session: str, tmp_path: Path) -> None:
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_text("old")
    link.symlink_to(target)
    assert jagstorm("export", session, "-o", str(link), "--force").code == 0
    assert link.is_symlink()
    assert target.read_text().startswith("# ")
    for path in (tmp_path, Path("/dev/null")):
        assert jagstorm("export", session, "-o", str(path), "--force").code == 2
    assert Path("/dev/null").is_char_device()


def test_a_link_to_itself_is_one_line(jagstorm: Jagstorm, session: str, tmp_path: Path) -> None:
    loop = tmp_path / "loop.md"
    loop.symlink_to(loop)
    code, out, err = jagstorm("export", session, "-o", str(loop), "--force")
    assert (code, out) == (2, "")
    assert err == f"jagstorm: {loop} can't be written: the link leads to itself\n"
    code, _, err = jagstorm("export", session, "-o", str(tmp_path / ("x" * 300)))
    assert code == 2
    assert "can't be written: File name too long" in err


def test_an_export_that_fails_leaves_nothing(jagstorm: Jagstorm, session: str, tmp_path: Path, sessions: Path) -> None:
    broken = shutil.copytree(sessions / session, sessions / "20990101-000000-broken-0000")
    (broken / "session.toml").write_text("format = [")
    before = sorted(tmp_path.iterdir())
    code, _, err = jagstorm("export", session, broken.name, "-o", str(tmp_path / "out.md"))
    assert code == 2
    assert "is damaged, it is not TOML" in err
    code, _, err = jagstorm("export", session, "-o", str(tmp_path / "no folder" / "out.md"))
    assert code == 2
    assert "can't be written: No such file or directory" in err
    assert sorted(tmp_path.iterdir()) == before


def test_an_export_that_is_interrupted_leaves_nothing(
    jagstorm: Jagstorm, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "load", interrupt)
    before = sorted(tmp_path.iterdir())
    assert jagstorm("export", session, "-o", str(tmp_path / "out.md")).code == 4
    assert sorted(tmp_path.iterdir()) == before


def test_damaged_lines_are_said_and_the_rest_is_exported(jagstorm: Jagstorm, session: str, sessions: Path) -> None:
    log = sessions / session / "events.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"idea_added"', b"idea_added", 1))
    code, out, err = jagstorm("export", session)
    assert code == 0
    assert "is damaged and skipped" in err
    assert "Ring it." in out


def test_ideas_that_nobody_judged_are_said_where_that_matters(jagstorm: Jagstorm) -> None:
    assert (
        "23 ideas without coherence, written as NaN" in jagstorm("export", "example", "--format", "sciaidanbench").err
    )
    assert not jagstorm("export", "example", "--format", "csv").err


def test_the_example_is_exported_in_every_format(jagstorm: Jagstorm) -> None:
    assert (example_folder() / "events.jsonl").exists()
    for form in FORMATS:
        assert jagstorm("export", "example", "--format", form).out


def test_neither_command_loads_a_screen_and_only_importing_loads_numbers(tmp_path: Path) -> None:
    path, sessions = write(tmp_path / "results.json", chemistry(answer(1))), tmp_path / "sessions"
    for deed, loaded in (
        (f"import_files([{str(path)!r}], {str(sessions)!r}, False, True)", "numpy"),
        (f"export_sessions(['last'], 'html', {str(tmp_path / 'out.html')!r}, False, {str(sessions)!r})", ""),
    ):
        code = (
            f"import sys; from tui.exchanging import export_sessions, import_files\n{deed}\n"
            "print(*(name for name in ['textual', 'rich', 'numpy', 'openai', 'httpx'] if name in sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stdout.splitlines()[-1] == loaded
