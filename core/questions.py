"""Questions: the built-in bank, a person's own files, search."""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from core.errors import UsageError
from core.leaf_files import Entry, built_in_file, read_entries, read_text
from core.text import clean, clean_line, shown

LONGEST = 20_000
"""The longest question, in characters."""

LEAVES = (
    "Physics / Fundamental",
    "Physics / Astrophysics",
    "Physics / Condensed Matter",
    "Physics / Synchrotron",
    "Chemistry",
    "Nanoscience",
    "Biology",
    "Neuroscience",
    "Environmental Science",
)

OWN = "Own"
"""The domain of questions that a person typed or keeps in a plain-text file."""


class Question(Struct, frozen=True):
    """An open-ended scientific prompt."""

    id: str
    text: str
    domain: str = OWN
    subdomain: str | None = None

    @property
    def leaf(self) -> str:
        return f"{self.domain} / {self.subdomain}" if self.subdomain else self.domain


@functools.lru_cache(maxsize=4096)
def question_key(text: str) -> str:
    """The same for the same question, however it is broken into lines."""
    return clean_line(text).casefold()


class QuestionBank(Struct, frozen=True):
    """Questions in the order they are shown, and what was wrong with the files they came from."""

    questions: tuple[Question, ...]
    problems: tuple[str, ...] = ()
    """One line each: file, line, reason."""
    _by_id: dict[str, Question] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_id.update((question.id, question) for question in self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    def get(self, question_id: str) -> Question:
        """The question of that id. Raises `UsageError`, naming the nearest ids, if there is none."""
        if question := self._by_id.get(question_id):
            return question
        from rapidfuzz import fuzz, process

        near = [match[0] for match in process.extract(question_id, list(self._by_id), scorer=fuzz.WRatio, limit=3)]
        raise UsageError(
            f"No question has the id {clean_line(question_id, 80)!r}; the nearest are {', '.join(near)}"
            if near
            else "There are no questions"
        )

    def leaves(self) -> list[str]:
        """The leaves that have questions: the nine in their order, then a person's own."""
        present = dict.fromkeys(question.leaf for question in self.questions)
        return [leaf for leaf in LEAVES if leaf in present] + [leaf for leaf in present if leaf not in LEAVES]

    def search(self, words: str = "", domain: str = "") -> list[Question]:
        """Questions with every word of `words` in text, id or leaf, in leaves that hold `domain`; case is ignored."""
        wanted = words.casefold().split()
        within = domain.casefold()
        return [
            question
            for question in self.questions
            if within in question.leaf.casefold()
            and all(word in f"{question.text} {question.id} {question.leaf}".casefold() for word in wanted)
        ]


def own_question(text: str) -> Question:
    """A question that a person typed. Raises `UsageError` if it is blank or too long."""
    text = clean(text).strip()
    if not text:
        raise UsageError("The question is empty: write what ideas are wanted for")
    if len(text) > LONGEST:
        raise UsageError(f"The question has {len(text):,} characters; {LONGEST:,} is the most")
    return Question(_own_id(text), text)


def load_bank(own_files: Sequence[Path] = ()) -> QuestionBank:
    """The built-in bank and what can be read of `own_files`; what can't be read is in `problems`."""
    questions: dict[str, Question] = {question.id: question for question in _built_in()}
    problems: list[str] = []
    for path in own_files:
        for place, found in read_question_file(path):
            if isinstance(found, str):
                problems.append(f"{place}: {found}")
            elif found.id in questions and questions[found.id] != found:
                problems.append(f"{place}: the id {found.id!r} is taken by another question: choose a different one")
            else:
                questions[found.id] = found
    return QuestionBank(tuple(questions.values()), tuple(problems))


Found = tuple[str, Question | str]
"""A place (a file, and a line where there is one), and the question there or what is wrong there."""


def read_question_file(path: Path) -> Iterator[Found]:
    """The questions of a TOML file (as the built-in ones) or a plain-text file (one a line, # comments)."""
    try:
        content = read_text(path)
    except UsageError as error:
        yield shown(path), error.message
        return
    yield from (_read_toml if path.suffix.lower() == ".toml" else _read_plain)(path, content)


def _read_plain(path: Path, content: str) -> Iterator[Found]:
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{shown(path)}:{number}", _own_or_fault(line)


def _read_toml(path: Path, content: str) -> Iterator[Found]:
    for place, entry in read_entries(path, content, "questions"):
        yield place, entry if isinstance(entry, str) else _read_entry(entry)


def _read_entry(entry: Entry) -> Question | str:
    text, question_id = entry.values.get("text"), entry.values.get("id")
    if not isinstance(text, str):
        return 'a question needs `text = "..."`'
    if question_id is not None and not (isinstance(question_id, str) and clean_line(question_id)):
        return "`id` must be text"
    question = _own_or_fault(text)
    if isinstance(question, str):
        return question
    return Question(
        clean_line(question_id, 100) if question_id else question.id,
        question.text,
        entry.domain or OWN,
        entry.subdomain,
    )


def _own_or_fault(text: str) -> Question | str:
    try:
        return own_question(text)
    except UsageError as error:
        return error.message


def _built_in() -> Iterable[Question]:
    """The built-in bank, leaf by leaf in the order of `LEAVES`."""
    for leaf in LEAVES:
        for place, found in _read_toml(*built_in_file("questions", leaf)):
            if isinstance(found, str):
                raise AssertionError(f"the built-in bank is broken: {place}: {found}")
            yield found


def _own_id(text: str) -> str:
    """The same text has the same id: a few words to read, and eight digits of its hash."""
    words = "-".join(re.findall(r"[a-z0-9]+", text.lower())[:5])[:50].strip("-")
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{words}-{digest}" if words else f"question-{digest}"
