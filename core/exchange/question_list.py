"""A benchmark's list of questions among the user's own."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import tomli_w
from msgspec import Struct

from core.config import config_folder, own_question_files
from core.errors import UsageError
from core.exchange.naming import slug
from core.exchange.public import NoResultsError
from core.files import read_file, write_private
from core.questions import OWN, Question, load_bank, own_question
from core.text import clean_line, shown

FOLDER = "questions"
"""Of the user's own question files, in the config folder."""


class QuestionsKept(Struct, frozen=True, kw_only=True):
    """What came of a list of questions."""

    file: str
    added: int
    there: int
    """Questions that were in the bank before."""
    folder: str
    """Where they are now."""


def read_question_list(path: Path) -> list[Question]:
    """The questions of a JSON file: a list of texts, or such lists by leaf, as in `Physics/Optics`.

    Raises `UsageError` with the place for a broken file, `NoResultsError` for one of another kind.
    """
    return _questions(path, _by_leaf(path))


def read_known_questions(path: Path) -> list[Question]:
    """The same of a file that nobody named, which may be anything: the domain of every leaf must have questions.

    Raises as `read_question_list`, `NoResultsError` for a list of other domains too.
    """
    by_leaf = _by_leaf(path)
    known = {
        question.domain.casefold() for question in load_bank(own_question_files()).questions if question.domain != OWN
    }
    if not all(_parted(leaf)[0].casefold() in known for leaf in by_leaf):
        raise NoResultsError(
            f"{shown(path)} holds no results of a benchmark, and no questions of domains that are known: "
            "name the file itself if its texts are questions"
        )
    return _questions(path, by_leaf)


def _by_leaf(path: Path) -> dict[str, object]:
    try:
        content = msgspec.json.decode(read_file(path).removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{shown(path)} is broken: {clean_line(str(error), 200)}") from None
    by_leaf = {"": content} if isinstance(content, list) else content
    if not isinstance(by_leaf, dict) or not any(isinstance(texts, list) for texts in by_leaf.values()):
        raise NoResultsError(f"{shown(path)} holds neither results of a benchmark nor a list of questions")
    return by_leaf


def _questions(path: Path, by_leaf: dict[str, object]) -> list[Question]:
    return [question for leaf, texts in by_leaf.items() for question in _of_leaf(path, clean_line(leaf), texts)]


def _parted(leaf: str) -> tuple[str, str]:
    """Domain and subdomain."""
    domain, _, subdomain = clean_line(leaf).partition("/")
    return domain.strip(), subdomain.strip()


def _of_leaf(path: Path, leaf: str, texts: object) -> list[Question]:
    domain, subdomain = _parted(leaf)
    if not isinstance(texts, list):
        raise UsageError(f"{shown(path)}: {leaf}: expected a list of questions")
    questions = []
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise UsageError(f"{shown(path)}: {leaf}, question {number}: expected text")
        try:
            own = own_question(text)
        except UsageError as error:
            raise UsageError(f"{shown(path)}: {leaf}, question {number}: {error.message}") from None
        questions.append(Question(own.id, own.text, domain[:60] or OWN, subdomain[:60] or None))
    return questions


def keep_questions(path: Path, found: Sequence[Question]) -> QuestionsKept:
    """Put what was `found` in a list into the config folder, a file a leaf, but for what is in the bank already.

    Raises `UsageError` if it can't be written, and then none of it is kept.
    """
    questions = list(dict.fromkeys(found))
    known = {question.id for question in load_bank(own_question_files()).questions}
    by_leaf: dict[str, list[Question]] = {}
    for question in questions:
        if question.id not in known:
            by_leaf.setdefault(question.leaf, []).append(question)
    written: list[Path] = []
    try:
        for leaf, own in by_leaf.items():
            written.append(_free_path(f"{slug(path.stem) or 'questions'}-{slug(leaf) or 'leaf'}"))
            write_private(written[-1], _as_toml(path, own))
    except OSError as error:
        for each in written:
            each.unlink(missing_ok=True)
        raise UsageError(f"{shown(config_folder())} can't be written: {error.strerror or error}") from None
    added = sum(len(own) for own in by_leaf.values())
    return QuestionsKept(
        file=shown(path.name), added=added, there=len(questions) - added, folder=shown(config_folder() / FOLDER)
    )


def _free_path(name: str) -> Path:
    """Of a question file that is not there yet. Raises OSError."""
    folder = config_folder() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    paths = (folder / f"{name}{number}.toml" for number in ("", *(f"-{place}" for place in range(2, 10_000))))
    return next(path for path in paths if not path.exists())


def _as_toml(path: Path, questions: list[Question]) -> str:
    first = questions[0]
    table = {
        "domain": first.domain,
        **({"subdomain": first.subdomain} if first.subdomain else {}),
        "questions": [{"id": question.id, "text": question.text} for question in questions],
    }
    return f"# Imported from {shown(path.name)}\n{tomli_w.dumps(table)}"
