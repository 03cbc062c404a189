"""The public result files of SciAidanBench and AidanBench, one model a file or many.

SciAidanBench nests domains → domain [→ subdomain] → models → model → temperature → question → list of answers;
AidanBench begins at `models`. Whatever is odd in them comes through as it is: chains without answers, blank and endless
answers, scores below zero, errors as the end of a chain or in the midst of one.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import force_setattr

from core.errors import UsageError
from core.files import read_file
from core.text import clean, clean_line, shown

THRESHOLDS = ("coherence_threshold", "embedding_dissimilarity_threshold", "llm_dissimilarity_threshold")
"""The stops by which a chain ends as the benchmark means it to; all others cut it short."""

EMPTY = "empty"
"""The stop of a chain that has no answers."""


class NoResultsError(UsageError):
    """A file that holds no results of the public benchmarks."""


class PublicProposal(Struct, frozen=True, kw_only=True, gc=False):
    """What one member of a parallel team offered, chosen or not."""

    model: str
    text: str = field(name="answer", default="")
    thoughts: str | None = None
    original_position: int | None = None
    shuffled_position: int | None = None

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

    number: int = field(name="answer_num")
    text: str = field(name="answer")
    thoughts: str | None = None
    coherence: float | None = field(name="coherence_score", default=None)
    """0 to 100."""
    embedding_novelty: float | None = field(name="embedding_dissimilarity_score", default=None)
    judged_novelty: float | None = field(name="llm_dissimilarity_score", default=None)
    seconds: float | None = field(name="processing_time", default=None)
    reasoning_tokens: int | None = None
    mark: str | None = field(name="stopping_condition", default=None)
    """Why the chain stops here; an error may also mark an answer after which it went on."""
    final_mark: str | None = field(name="final_stopping_condition", default=None)
    """The same once more, on the last answer of some chains."""
    error: str | None = field(name="error_message", default=None)
    author: str | None = field(name="model", default=None)
    """The member that wrote it, in a team's chain."""
    choice: PublicChoice | None = field(name="parallel_experiment", default=None)

    def __post_init__(self) -> None:
        _clean_texts(self, "text", "thoughts", "mark", "final_mark", "error", "author")


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
    """What the last answer is marked with; `empty` without answers. Where a file of AidanBench, which marks none, has
    a last answer that fails a published threshold, that threshold. "" if nothing says why."""

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
    def is_of_team(self) -> bool:
        """Whether several models wrote it."""
        return any(answer.author for answer in self.answers)


def read_public(path: Path) -> list[PublicChain]:
    """Every chain of a result file, in the file's order.

    Raises `UsageError` with the place for a file that is broken anywhere, `NoResultsError` for one of another kind.
    """
    try:
        content = read_file(path)
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    try:
        return list(_chains(content.removeprefix(b"\xef\xbb\xbf")))
    except _Fault as fault:
        kind = NoResultsError if fault.other else UsageError
        raise kind(f"{shown(path)}{': ' if fault.place else ' '}{fault}") from None


class _Fault(Exception):  # noqa: N818
    def __init__(self, place: str, what: str, *, other: bool = False) -> None:
        super().__init__(f"{place}: {what}" if place else what)
        self.place = place
        self.other = other


_Table = dict[str, Raw]
_Models = dict[str, dict[str, dict[str, tuple[PublicAnswer, ...]]]]

_table = msgspec.json.Decoder(_Table)
_answer = msgspec.json.Decoder(PublicAnswer)
_models = msgspec.json.Decoder(_Models)


def _chains(content: bytes) -> Iterator[PublicChain]:
    top = _top(content)
    if "models" in top:
        yield from _of_leaf(top["models"], "", None, "")
    if "domains" not in top:
        return
    for domain, raw in _decoded(_table, top["domains"], "domains").items():
        inner = _decoded(_table, raw, clean_line(domain))
        if "models" in inner:
            yield from _of_leaf(inner.pop("models"), domain, None, clean_line(domain))
        for subdomain, table in inner.items():
            place = clean_line(f"{domain} / {subdomain}")
            models = _decoded(_table, table, place)
            if "models" not in models:
                raise _Fault(place, "has no `models`")
            yield from _of_leaf(models["models"], domain, subdomain, place)


def _top(content: bytes) -> _Table:
    """The file's outermost table, which has `models` or `domains`."""
    try:
        top = _table.decode(content)
    except msgspec.ValidationError:
        top = {}
    except msgspec.DecodeError as error:
        raise _Fault("", f"is broken: {_in_words(error)}{_line_of(error, content)}") from None
    except UnicodeDecodeError as error:
        raise _Fault("", f"is broken: it is not UTF-8 text (byte {error.start})") from None
    if not {"models", "domains"} & top.keys():
        raise _Fault("", "holds no results of SciAidanBench or AidanBench: no `domains`, no `models`", other=True)
    return top


def _of_leaf(raw: Raw, domain: str, subdomain: str | None, place: str) -> Iterator[PublicChain]:
    try:
        models = _models.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _find_fault(raw, place)
        raise _Fault(place, _in_words(error)) from None  # found by nobody, but there
    for model, by_temperature in models.items():
        for temperature, by_question in by_temperature.items():
            for question, answers in by_question.items():
                yield PublicChain(
                    model=clean_line(model),
                    temperature=clean_line(temperature),
                    question=clean(question),
                    domain=clean_line(domain),
                    subdomain=None if subdomain is None else clean_line(subdomain),
                    answers=answers,
                    stop=_stop(answers),
                )


def _stop(answers: tuple[PublicAnswer, ...]) -> str:
    if not answers:
        return EMPTY
    last = answers[-1]
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


def _find_fault(raw: Raw, place: str) -> None:
    """Raises `_Fault` with where in a leaf's models the fault is, table by table."""
    for model, by_temperature in _decoded(_table, raw, place).items():
        at_model = f"{place}, {clean_line(model, 80)}".removeprefix(", ")
        for temperature, by_question in _decoded(_table, by_temperature, at_model).items():
            at_temperature = f"{at_model}, {clean_line(temperature, 20)}"
            for question, answers in _decoded(_table, by_question, at_temperature).items():
                at_question = f"{at_temperature}, {clean_line(question, 60)!r}"
                for number, answer in enumerate(_decoded(_list, answers, at_question), 1):
                    _decoded(_answer, answer, f"{at_question}, answer {number}")


_list = msgspec.json.Decoder(list[Raw])


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
    """On which line a fault is of which msgspec tells the byte."""
    found = re.search(r"\(byte (\d+)\)", str(error))
    line = content.count(b"\n", 0, int(found[1]) if found else len(content)) + 1
    return f", line {line}"


def _clean_texts(record: Struct, *names: str) -> None:
    for name in names:
        text = getattr(record, name)
        if text and (cleaned := clean(text)) != text:
            force_setattr(record, name, cleaned)
