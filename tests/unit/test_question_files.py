"""A person's own files of questions: what is wrong is told with file and line, and the rest still loads."""

from pathlib import Path

import pytest

from core.config import own_question_files
from core.questions import LEAVES, Question, QuestionBank, load_bank

BUILT_IN = len(load_bank())

GOOD = """\
domain = "Geology"
subdomain = "Caves"

[[questions]]
id = "drip-clock"
text = "Propose a way to read a century from one drop of cave water."
"""


def load(folder: Path, name: str, content: str | bytes) -> QuestionBank:
    """The bank with one file of that content."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_bank([path])


def own(bank: QuestionBank) -> list[Question]:
    return list(bank.questions[BUILT_IN:])


def test_a_toml_file_adds_its_questions(tmp_path: Path) -> None:
    bank = load(tmp_path, "caves.toml", GOOD)
    assert own(bank) == [
        Question("drip-clock", "Propose a way to read a century from one drop of cave water.", "Geology", "Caves")
    ]
    assert bank.problems == ()
    assert bank.leaves() == [*LEAVES, "Geology / Caves"]


def test_a_question_without_an_id_gets_one(tmp_path: Path) -> None:
    [question] = own(load(tmp_path, "own.toml", '[[questions]]\ntext = "Invent a silent drill."\n'))
    assert question.id.startswith("invent-a-silent-drill-")
    assert question.domain == "Own"


def test_a_text_file_has_one_question_a_line(tmp_path: Path) -> None:
    bank = load(tmp_path, "own.txt", "# mine\nInvent a silent drill.\r\n\n   \n  # no question\nInvent a dry soap.\n")
    assert [question.text for question in own(bank)] == ["Invent a silent drill.", "Invent a dry soap."]
    assert bank.problems == ()


@pytest.mark.parametrize("name", ["own.txt", "own.toml"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    content = "Invent a silent drill.\n" if name.endswith("txt") else '[[questions]]\ntext = "Invent a silent drill."\n'
    bank = load(tmp_path, name, b"\xef\xbb\xbf" + content.encode())
    assert [question.text for question in own(bank)] == ["Invent a silent drill."]
    assert bank.problems == ()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"Invent a caf\xe9.\n", "own.txt: is not UTF-8 text (byte 12)"),
        ("Invent a drill.".encode("utf-16"), "own.txt: is not UTF-8 text (byte 0)"),
        ("Invent a drill.\n" + "x" * 20_001 + "\n", "own.txt:2: The question has 20,001 characters"),
    ],
)
def test_what_is_wrong_with_a_text_file(tmp_path: Path, content: str | bytes, why: str) -> None:
    [problem] = load(tmp_path, "own.txt", content).problems
    assert problem.startswith(f"{tmp_path}/{why}")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('[[questions]]\ntext = "Invent\n', "own.toml: not TOML: Illegal character '\\n' (at line 2, column 15)"),
        ("questions = 3\n", "own.toml:1: has no [[questions]] tables"),
        ('title = "none"\n', "own.toml:1: has no [[questions]] tables"),
        ("subdomain = 3\n" + GOOD.replace('subdomain = "Caves"', ""), "own.toml:1: `domain` and `subdomain` must be"),
        ('questions = ["text"]\n', 'own.toml:1: a question needs `text = "..."`'),
        ("a = " + "[" * 5000, "own.toml: not TOML: "),
        ("a = " + "1" * 5000, "own.toml: not TOML: "),
    ],
)
def test_what_is_wrong_with_a_toml_file(tmp_path: Path, content: str, why: str) -> None:
    bank = load(tmp_path, "own.toml", content)
    assert own(bank) == []
    [problem] = bank.problems
    assert problem.startswith(f"{tmp_path}/{why}")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('id = "no-text"', 'a question needs `text = "..."`'),
        ("text = 3", 'a question needs `text = "..."`'),
        ('text = "  "', "The question is empty: write what ideas are wanted for"),
        ('text = "Invent a drill."\nid = 3', "`id` must be text"),
        ('text = "Invent a drill."\nid = ""', "`id` must be text"),
        ('text = "Invent a drill."\nid = "drip-clock"', "the id 'drip-clock' is taken by another question: choose"),
        ('text = "Invent a drill."\nid = "selective-disorder"', "the id 'selective-disorder' is taken by another"),
    ],
)
def test_one_bad_entry_is_named_by_its_line_and_the_rest_load(tmp_path: Path, entry: str, why: str) -> None:
    last = '\n[[questions]]\nid = "last"\ntext = "Suggest a use for cave silence."\n'
    bank = load(tmp_path, "own.toml", f"{GOOD}\n[[questions]]\n{entry}\n{last}")
    assert [question.id for question in own(bank)] == ["drip-clock", "last"]
    [problem] = bank.problems
    assert problem.startswith(f"{tmp_path}/own.toml:8: {why}")


def test_the_same_question_twice_is_one_and_no_fault(tmp_path: Path) -> None:
    bank = load(tmp_path, "own.txt", "Invent a silent drill.\nInvent a silent drill.\n")
    assert len(own(bank)) == 1
    assert bank.problems == ()


def test_a_file_that_is_missing_and_one_that_is_a_folder(tmp_path: Path) -> None:
    good = tmp_path / "good.txt"
    good.write_text("Invent a silent drill.\n", encoding="utf-8")
    bank = load_bank([tmp_path / "gone.toml", tmp_path, good])
    assert [question.text for question in own(bank)] == ["Invent a silent drill."]
    assert bank.problems == (
        f"{tmp_path}/gone.toml: can't be read: No such file or directory",
        f"{tmp_path}: can't be read: Is a directory",
    )


def test_escapes_in_a_file_never_get_further(tmp_path: Path) -> None:
    content = (
        'domain = "Geo\\u001b[2Jlogy"\n[[questions]]\nid = "a\\u0007b"\n'
        'text = "Invent \\u202e\\u009ba \\u001b]0;x\\u0007."'
    )
    [question] = own(load(tmp_path, "own.toml", content))
    assert question == Question("ab", "Invent a ]0;x.", "Geo[2Jlogy")


def test_a_text_line_with_odd_line_ends_is_still_that_line(tmp_path: Path) -> None:
    bank = load(tmp_path, "own.txt", f"Invent a\u2028drill.\n{'x' * 20_001}\n")
    assert [question.text for question in own(bank)] == ["Invent a\ndrill."]
    assert bank.problems[0].startswith(f"{tmp_path}/own.txt:2:")


def test_the_config_folder_holds_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jagstorm"
    monkeypatch.setattr("core.config.config_folder", lambda: folder)
    assert own_question_files() == []
    (folder / "questions" / "not-a-file.txt").mkdir(parents=True)
    named = [folder / name for name in ("questions.toml", "questions.txt", "questions/a.txt", "questions/b.toml")]
    for path in [*named, folder / "questions" / "notes.md"]:
        path.touch()
    assert own_question_files() == named
