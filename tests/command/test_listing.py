"""`questions`, `sessions`, `show`, `completion`, and what every command has."""

import json
import shutil
from pathlib import Path

import pytest

from tests.command.conftest import Jagstorm
from tests.command.test_run import QUESTION, last
from tests.scripted import ScriptedProvider


@pytest.fixture
def session(jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path) -> Path:
    """A finished session of two ideas."""
    assert jagstorm("run", *QUESTION, "--max-ideas", "2").code == 0
    return last(sessions)


def test_questions_are_searched_by_words_and_domain(jagstorm: Jagstorm) -> None:
    everything = jagstorm("questions", "--json").out.splitlines()
    chemistry = jagstorm("questions", "--domain", "chemistry", "--json").out.splitlines()
    assert len(everything) >= 160
    assert {json.loads(line)["domain"] for line in chemistry} == {"Chemistry"}
    found = jagstorm("questions", "--search", "SHAPE forgets").out
    assert "shape-memory-ten-uses" in found
    assert "Physics / Condensed Matter" in found


def test_a_bad_question_file_is_named_and_the_rest_is_listed(jagstorm: Jagstorm, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("questions = 3\n")
    code, out, err = jagstorm("questions", "--questions", str(bad), "--search", "shape forgets")
    assert code == 0
    assert f"{bad}" in err
    assert "shape-memory-ten-uses" in out


def test_sessions_and_show_tell_what_there_is(jagstorm: Jagstorm, session: Path) -> None:
    assert session.name in jagstorm("sessions").out
    [row] = map(json.loads, jagstorm("sessions", "--json").out.splitlines())
    assert (row["id"], row["status"], row["ideas"], row["reason"]) == (session.name, "finished", 2, "cap")
    shown = jagstorm("show", "last").out
    assert "Propose a way to weigh a smell." in shown
    assert "Reached its cap: 2 of 2 ideas pass." in shown


def test_show_json_is_one_object_with_ideas_and_scores(jagstorm: Jagstorm, session: Path) -> None:
    shown = json.loads(jagstorm("show", session.name[:15], "--json").out)
    [question] = shown["questions"]
    assert [idea["number"] for idea in question["ideas"]] == [1, 2]
    assert question["ideas"][0]["score"]["embedding_novelty"] == 1.0
    assert question["ended"]["reason"] == "cap"


def test_a_session_is_found_by_path_from_anywhere(jagstorm: Jagstorm, session: Path, tmp_path: Path) -> None:
    elsewhere = shutil.copytree(session, tmp_path / "elsewhere" / "kept")
    assert jagstorm("show", str(elsewhere)).code == 0
    assert jagstorm("show", str(elsewhere / "events.jsonl")).code == 0


def test_an_id_that_fits_several_names_them(jagstorm: Jagstorm, session: Path) -> None:
    shutil.copytree(session, session.with_name(session.name + "-copy"))
    code, _, err = jagstorm("show", session.name[:8])
    assert code == 2
    assert "2 sessions begin with" in err


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("session.toml", "format = 99\n", "from a newer jagstorm"),
        ("session.toml", "format = [", "is damaged, it is not TOML"),
        ("session.toml", "", "missing required field"),
        ("session.toml", None, "is not a session"),
        ("events.jsonl", None, "can't be read"),
    ],
)
def test_a_session_that_cannot_be_read_says_why(
    jagstorm: Jagstorm, session: Path, file: str, content: str | None, said: str
) -> None:
    if content is None:
        (session / file).unlink()
    else:
        (session / file).write_text(content)
    for words in (("show", session.name), ("resume", session.name, "--headless")):
        code, _, err = jagstorm(*words)
        assert code == 2
        assert said in err


def test_a_damaged_line_is_named_and_the_rest_is_shown(jagstorm: Jagstorm, session: Path) -> None:
    log = session / "events.jsonl"
    lines = log.read_bytes().split(b"\n")
    lines[2] = b'{"type": "idea_add\xff'
    log.write_bytes(b"\n".join(lines))
    code, out, err = jagstorm("show", session.name)
    assert code == 0
    assert "line 3 is damaged" in err
    assert "2 of 2 ideas pass" in out


def test_an_empty_session_is_shown_as_not_begun(jagstorm: Jagstorm, session: Path) -> None:
    (session / "events.jsonl").write_bytes(b"")
    code, out, _ = jagstorm("show", session.name)
    assert code == 0
    assert "has not begun" in out


@pytest.mark.parametrize("command", ["run", "resume", "replay", "questions", "sessions", "show", "completion"])
def test_every_command_has_help(jagstorm: Jagstorm, command: str) -> None:
    code, out, _ = jagstorm(command, "--help")
    assert code == 0
    assert out.startswith("Usage: ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(jagstorm: Jagstorm, shell: str) -> None:
    assert "_JAGSTORM_COMPLETE" in jagstorm("completion", shell).out


def test_sessions_and_question_ids_are_completed(session: Path, sessions: Path) -> None:
    from click.shell_completion import BashComplete

    from tui.cli import cli

    completed = BashComplete(cli, {}, "jagstorm", "_JAGSTORM_COMPLETE").get_completions(["show"], session.name[:12])
    assert [item.value for item in completed] == [session.name]


def test_the_version_is_the_package_s(jagstorm: Jagstorm) -> None:
    from importlib.metadata import version

    assert jagstorm("--version").out.strip() == f"jagstorm {version('jagstorm')}"


def test_without_a_terminal_the_app_says_so(jagstorm: Jagstorm) -> None:
    code, _, err = jagstorm()
    assert code == 2
    assert "needs a terminal" in err


NAME = "20260101-000000-\x1b]0;evil\x07\x1b[2J\u202e-0000"


def test_what_a_folder_is_called_never_reaches_the_terminal_raw(
    jagstorm: Jagstorm, session: Path, sessions: Path, tmp_path: Path
) -> None:
    shutil.copytree(session, sessions / NAME)
    odd = tmp_path / "bad\x1b[2J.toml"
    odd.write_text("questions = 3")
    for words in (("sessions",), ("sessions", "--json"), ("show", NAME), ("show", NAME, "--json")):
        code, out, err = jagstorm(*words)
        assert code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
    code, out, err = jagstorm("questions", "--questions", str(odd))
    assert "\x1b" not in out + err


@pytest.mark.parametrize("path", ["~nobody-of-that-name/x", "\udcff", "x" * 5000, ""])
def test_a_path_that_is_none_is_one_line(jagstorm: Jagstorm, path: str) -> None:
    for words in (("sessions", "--sessions", path), ("run", *QUESTION, "--model", path, "--sessions", path)):
        assert jagstorm(*words).code in (0, 2, 3, 5)
