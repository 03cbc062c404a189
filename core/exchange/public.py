"""The public result files of SciAidanBench and AidanBench, one model a file or many.

SciAidanBench nests domains → domain [→ subdomain] → models → model → temperature → question → list of answers;
AidanBench begins at `models`. Whatever is odd in them comes through as it is: chains without answers, blank and endless
answers, scores below zero or none, errors as the end of a chain or in the midst of one.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct, field
from msgspec.structs import force_setattr

from core.errors import UsageError
from core.files import read_file
from core.text import clean, clean_line, shown

THRESHOLDS = ("coherence_threshold", "embedding_dissimilarity_threshold", "llm_dissimilarity_threshold")
"""The stops by which a chain ends as the benchmark means it to; all others cut it short."""

EMPTY = "empty"
"""Of a chain that has no answers."""

Layout = Literal["sciaidanbench", "aidanbench"]

Whole = Annotated[int, Meta(ge=-(2**53), le=2**53)]
"""Of a size that every JSON reader can hold."""

Finite = Annotated[float, Meta(ge=-1e9, le=1e9)]


class NoResultsError(UsageError):
    """A file that holds no results of the public benchmarks."""


class PublicProposal(Struct, frozen=True, kw_only=True, gc=False):
    """What one member of a parallel team offered, chosen or not."""

    model: str
    text: str = field(name="answer", default="")
    thoughts: str | None = None
    original_position: Whole | None = None
    shuffled_position: Whole | None = None

    def __post_init__(self) -> None:
        _clean_texts(self, "model", "text", "thoughts")


class PublicChoice(Struct, frozen=True, kw_only=True, gc=False):
    """Where a parallel team's answer comes from."""

    proposals: tuple[PublicProposal, ...] = field(name="all_responses", default=())
    selected_model: str = ""
    selection_judge: str = ""

    def __post_init__(self) -> None:
        _clean_texts(self, "selected_model", "selection_judge")


class PublicAnswer(Struct, frozen=True, kw_only=True, gc=False):
    """One answer with its scores, as published; None where the file has none."""

    number: Whole = field(name="answer_num")
    text: str = field(name="answer")
    thoughts: str | None = None
    coherence: Finite | None = field(name="coherence_score", default=None)
    """0 to 100."""
    embedding_novelty: Finite | None = field(name="embedding_dissimilarity_score", default=None)
    judged_novelty: Finite | None = field(name="llm_dissimilarity_score", default=None)
    seconds: Annotated[float, Meta(ge=0, le=1e9)] | None = field(name="processing_time", default=None)
    """Since the chain began."""
    reasoning_tokens: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    mark: str | None = field(name="stopping_condition", default=None)
    """Why the chain stops here; an error may also mark an answer after which it went on."""
    final_mark: str | None = field(name="final_stopping_condition", default=None)
    """The same once more, on the last answer of some chains."""
    error: str | None = field(name="error_message", default=None)
    author: str | None = field(name="model", default=None)
    """The member that wrote it, in a team's chain."""
    choice: PublicChoice | None = field(name="parallel_experiment", default=None)
    chain_ended: str | None = None
    """What did, "" for nothing: in files that we wrote, on the last answer, where the marks do not tell."""
    patience: Annotated[int, Meta(ge=1, le=1000)] = 1
    """How many failing answers in a row end the chain; where `chain_ended` stands."""

    def __post_init__(self) -> None:
        _clean_texts(self, "text", "thoughts", "mark", "final_mark", "error", "author", "chain_ended")


class PublicChain(Struct, frozen=True, kw_only=True):
    """All answers of one model to one question, in order."""

    model: str
    temperature: str
    """As the file names it."""
    question: str
    domain: str = ""
    """"" in AidanBench, which has none."""
    subdomain: str | None = None
    answers: tuple[PublicAnswer, ...]
    stop: str
    """What we wrote that ended it, else what the last answer is marked with; `empty` without answers. In AidanBench,
    which marks none, the published threshold that the last answer fails, if it does. "" if nothing says why."""

    @property
    def leaf(self) -> str:
        return f"{self.domain} / {self.subdomain}" if self.subdomain else self.domain

    @property
    def responses(self) -> int:
        """The paper's score: every answer counts, the failing one that ended the chain too."""
        return len(self.answers)

    @property
    def valid(self) -> int:
        """Without the one that a threshold stopped the chain at."""
        return len(self.answers) - (self.stop in THRESHOLDS)

    @property
    def patience(self) -> int:
        """How many failing answers in a row end it: 1 but in files that we wrote."""
        return self.answers[-1].patience if self.answers else 1

    @property
    def is_of_team(self) -> bool:
        """Whether several models wrote it."""
        return any(answer.author for answer in self.answers)


class Entry(Struct, frozen=True, kw_only=True):
    """Where in a result file a chain stands; its answers are read when they are wanted."""

    model: str
    temperature: str
    question: str
    domain: str
    subdomain: str | None
    answers: Raw

    @property
    def layout(self) -> Layout:
        return "sciaidanbench" if self.domain else "aidanbench"

    @property
    def place(self) -> str:
        """In words."""
        leaf = f"{self.domain} / {self.subdomain}" if self.subdomain is not None else self.domain
        return clean_line(f"{leaf}, {self.model[:80]}, {self.temperature[:20]}, {self.question[:60]!r}").lstrip(", ")

    def chain(self) -> PublicChain:
        """Raises `_Fault`."""
        try:
            answers = _answers.decode(self.answers)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            for number, answer in enumerate(_decoded(_list, self.answers, self.place), 1):
                _decoded(_answer, answer, f"{self.place}, answer {number}")
            raise _Fault(self.place, _in_words(error)) from None  # found in none of them, but there
        return PublicChain(
            model=self.model,
            temperature=self.temperature,
            question=self.question,
            domain=self.domain,
            subdomain=self.subdomain,
            answers=answers,
            stop=_stop(answers),
        )


class Unasked(Struct, frozen=True):
    """A leaf that names a model and no question for it."""

    leaf: str
    model: str


class PublicFile(Struct, frozen=True, kw_only=True):
    """A result file and what is where in it."""

    path: Path
    content: bytes
    digest: str
    """SHA-256 of the file, in hex."""
    entries: tuple[Entry, ...]
    """In the file's order."""
    unasked: tuple[Unasked, ...] = ()
    not_numbers: int = 0
    """Numbers that are NaN or infinite, which are read as missing."""

    def chains(self, entries: Iterable[Entry]) -> Iterator[PublicChain]:
        """Those of some entries. Raises `UsageError` with the place where one is broken."""
        with _faults_of(self.path):
            for entry in entries:
                yield entry.chain()

    def check_complete(self, answers: int) -> None:
        """Raises `UsageError` if a name stands twice in one table, so that there is more than the `answers` read."""
        if sum(1 for _ in _NUMBERED.finditer(self.content)) > answers:
            with _faults_of(self.path):
                json.loads(self.content, object_pairs_hook=_check_names)


def read_public(path: Path) -> list[PublicChain]:
    """Every chain of a result file, in the file's order.

    Raises `UsageError` with the place for a file that is broken anywhere, `NoResultsError` for one of another kind.
    """
    file = open_public(path)
    chains = list(file.chains(file.entries))
    file.check_complete(sum(chain.responses for chain in chains))
    return chains


def open_public(path: Path) -> PublicFile:
    """A result file with its tables read, but for the answers. Raises as `read_public`."""
    try:
        content = read_file(path)
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    digest = hashlib.sha256(content).hexdigest()
    content, not_numbers = _as_json(content.removeprefix(b"\xef\xbb\xbf"))
    with _faults_of(path):
        found = list(_found(content))
    return PublicFile(
        path=path,
        content=content,
        digest=digest,
        entries=tuple(each for each in found if isinstance(each, Entry)),
        unasked=tuple(each for each in found if isinstance(each, Unasked)),
        not_numbers=not_numbers,
    )


class _Fault(Exception):  # noqa: N818
    def __init__(self, place: str, what: str, *, other: bool = False) -> None:
        super().__init__(f"{place}: {what}" if place else what)
        self.place = place
        self.other = other


@contextmanager
def _faults_of(path: Path) -> Iterator[None]:
    """Faults that come up meanwhile are the file's: `NoResultsError`, `UsageError`."""
    try:
        yield
    except _Fault as fault:
        kind = NoResultsError if fault.other else UsageError
        raise kind(f"{shown(path)}{': ' if fault.place else ' '}{fault}") from None


_NAN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b', re.DOTALL)
_NUMBERED = re.compile(rb'"answer_num"\s*:')


def _as_json(content: bytes) -> tuple[bytes, int]:
    """The content of a file that Python may have written, and how many numbers in it JSON does not know."""
    try:
        msgspec.json.decode(content, type=Raw)
    except msgspec.DecodeError:
        return _without_nan(content)
    except RecursionError:
        pass  # whoever reads it says so
    return content, 0


def _without_nan(content: bytes) -> tuple[bytes, int]:
    """`content` with null for every NaN and Infinity outside texts, and how many; Python writes them, JSON has none."""
    found = [match.span() for match in _NAN.finditer(content) if content[match.start()] != ord('"')]
    ends = [0, *(end for _, end in found)]
    starts = [*(start for start, _ in found), len(content)]
    return b"null".join(content[end:start] for end, start in zip(ends, starts, strict=True)), len(found)


def _check_names(pairs: list[tuple[str, Any]]) -> None:
    """Of one table. Raises `_Fault` if two are the same: what stands under the first would be lost."""
    names = [name for name, _ in pairs]
    if twice := next((name for name, times in Counter(names).items() if times > 1), None):
        raise _Fault(clean_line(twice, 80), "stands twice in the same table")


_Table = dict[str, Raw]

_table = msgspec.json.Decoder(_Table)
_list = msgspec.json.Decoder(list[Raw])
_answer = msgspec.json.Decoder(PublicAnswer)
_answers = msgspec.json.Decoder(tuple[PublicAnswer, ...])


def _found(content: bytes) -> Iterator[Entry | Unasked]:
    top = _top(content)
    if "models" in top:
        yield from _of_leaf(top["models"], "", None)
    if "domains" not in top:
        return
    for domain, raw in _decoded(_table, top["domains"], "domains").items():
        inner = _decoded(_table, raw, clean_line(domain))
        if "models" in inner:
            yield from _of_leaf(inner.pop("models"), domain, None)
        for subdomain, table in inner.items():
            place = clean_line(f"{domain} / {subdomain}")
            models = _decoded(_table, table, place)
            if "models" not in models:
                raise _Fault(place, "has no `models`")
            yield from _of_leaf(models["models"], domain, subdomain)


def _top(content: bytes) -> _Table:
    """The file's outermost table, which has `models` or `domains`."""
    try:
        top = _table.decode(content)
    except msgspec.ValidationError:
        top = {}
    except UnicodeDecodeError as error:
        raise _Fault("", f"is broken: it is not UTF-8 text (byte {error.start})") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise _Fault("", f"is broken: {_in_words(error)}{_line_of(error, content)}") from None
    if not {"models", "domains"} & top.keys():
        raise _Fault("", "holds no results of SciAidanBench or AidanBench: no `domains`, no `models`", other=True)
    return top


def _of_leaf(models: Raw, domain: str, subdomain: str | None) -> Iterator[Entry | Unasked]:
    leaf = clean_line(domain if subdomain is None else f"{domain} / {subdomain}")
    for model, raw in _decoded(_table, models, leaf).items():
        at_model = f"{leaf}, {clean_line(model, 80)}".removeprefix(", ")
        questions = 0
        for temperature, by_question in _decoded(_table, raw, at_model).items():
            chains = _decoded(_table, by_question, f"{at_model}, {clean_line(temperature, 20)}")
            questions += len(chains)
            for question, answers in chains.items():
                yield Entry(
                    model=clean_line(model),
                    temperature=clean_line(temperature),
                    question=clean(question),
                    domain=clean_line(domain),
                    subdomain=None if subdomain is None else clean_line(subdomain),
                    answers=answers,
                )
        if not questions:
            yield Unasked(leaf, clean_line(model))


def _stop(answers: tuple[PublicAnswer, ...]) -> str:
    if not answers:
        return EMPTY
    last = answers[-1]
    if last.chain_ended is not None:
        return last.chain_ended
    if mark := last.final_mark or last.mark:
        return mark
    if last.judged_novelty is not None:
        return ""  # of a file that marks what stops a chain: nothing did
    # The published rules, in their order.
    if last.coherence is not None and last.coherence <= 15:
        return "coherence_threshold"
    if last.embedding_novelty is not None and last.embedding_novelty < 0.15:
        return "embedding_dissimilarity_threshold"
    return ""


def _decoded(decoder: "msgspec.json.Decoder[Any]", raw: Raw, place: str) -> Any:
    """Raises `_Fault` that says `place`."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _Fault(place, _in_words(error)) from None


def _in_words(error: Exception) -> str:
    """msgspec's `Expected …, got … - at `$.answer`` as `answer: expected …, got …`."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    what, _, key = str(error).partition(" - at `$")
    key = key.strip("`.")
    what = what if what.startswith("JSON") else f"{what[:1].lower()}{what[1:]}"
    return clean_line(f"{key}: {what}" if key else what, 200)


def _line_of(error: Exception, content: bytes) -> str:
    """On which line a fault is, where msgspec tells the byte; at the end of what was cut off."""
    if isinstance(error, RecursionError):
        return ""
    found = re.search(r"\(byte (\d+)\)", str(error))
    line = content.count(b"\n", 0, int(found[1]) if found else len(content)) + 1
    return f", line {line}"


def _clean_texts(record: Struct, *names: str) -> None:
    for name in names:
        text = getattr(record, name)
        if text and (cleaned := clean(text)) != text:
            force_setattr(record, name, cleaned)
