"""The built-in bank: enough questions, good ones, each unlike every other."""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.errors import UsageError
from core.questions import LEAVES, LONGEST, Question, load_bank, own_question
from core.scoring.embeddings import Vectors, WordLlamaEmbedder

BANK = load_bank()

RICH = ("Physics / Fundamental", "Chemistry", "Nanoscience", "Biology")

OPENINGS = re.compile(
    r"(Propose|Suggest|Design|Invent|Devise|Describe|Name) (an? |one |chemistry |on-chip )[A-Za-z]"
    r"|Explain how .+ (might|may|could|can) "
)

# Two tasks in one question: a second sentence, a second instruction, or a list of things to deliver.
TWO_PART = re.compile(
    r"[.?!;] \S|;|\band (then )?(propose|suggest|design|invent|devise|describe|explain|discuss|estimate|compare|say|"
    r"predict|justify|outline)\b|\bas well as (how|why|what)\b",
    re.IGNORECASE,
)


def vectors_of(texts: list[str], embedder: WordLlamaEmbedder) -> Vectors:
    """(texts, dims) float32, unit rows."""
    rows = [embedding.vector for embedding in asyncio.run(embedder.embed(texts))]
    return np.array([row for row in rows if row is not None])


def test_every_leaf_is_well_stocked() -> None:
    count = Counter(question.leaf for question in BANK.questions)
    assert len(BANK) >= 160
    assert set(count) == set(LEAVES)
    assert {leaf: count[leaf] for leaf in RICH if count[leaf] < 20} == {}
    assert {leaf: count[leaf] for leaf in LEAVES if count[leaf] < 12} == {}
    assert BANK.problems == ()


def test_leaves_come_in_their_order() -> None:
    assert BANK.leaves() == list(LEAVES)


def test_ids_are_unique_and_readable() -> None:
    assert [name for name, count in Counter(question.id for question in BANK.questions).items() if count > 1] == []
    assert [q.id for q in BANK.questions if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+|[a-z]{5,}", q.id)] == []
    assert [q.id for q in BANK.questions if len(q.id) > 40] == []


@pytest.mark.parametrize("question", BANK.questions, ids=lambda question: question.id)
def test_each_is_one_open_task_in_one_sentence(question: Question) -> None:
    assert OPENINGS.match(question.text)
    assert not TWO_PART.search(question.text)
    assert re.fullmatch(r"[^.?!\n]+(\.\d+[^.?!\n]*)*\.", question.text), "one sentence, which ends in a full stop"
    assert 50 <= len(question.text) <= 200


def test_no_two_are_near_duplicates(embedder: WordLlamaEmbedder) -> None:
    vectors = vectors_of([question.text for question in BANK.questions], embedder)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -1)
    first, second = np.unravel_index(int(likeness.argmax()), likeness.shape)
    assert likeness.max() < 0.75, f"{BANK.questions[first].text} / {BANK.questions[second].text}"


def test_none_is_taken_from_the_public_benchmark(public_data: Path, embedder: WordLlamaEmbedder) -> None:
    public = json.loads((public_data / "sciaidanbench" / "questions.json").read_text(encoding="utf-8"))
    theirs = vectors_of([text for texts in public.values() for text in texts], embedder)
    ours = vectors_of([question.text for question in BANK.questions], embedder)
    closest = (ours @ theirs.T).max(axis=1)
    assert len(theirs) > 100
    assert [BANK.questions[row].id for row in np.flatnonzero(closest >= 0.9)] == []


# ── finding one ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_question_is_found_by_its_id() -> None:
    question = BANK.questions[17]
    assert BANK.get(question.id) is question


def test_a_mistyped_id_names_the_nearest() -> None:
    real = "selective-disorder"
    with pytest.raises(UsageError) as caught:
        BANK.get("selectiv-disorders")
    assert real in caught.value.message
    assert "'selectiv-disorders'" in caught.value.message


def test_an_unknown_id_with_terminal_escapes_is_named_without_them() -> None:
    with pytest.raises(UsageError) as caught:
        BANK.get("\x1b[2Jnope\u202e" + "x" * 500)
    assert "\x1b" not in caught.value.message
    assert "\u202e" not in caught.value.message
    assert len(caught.value.message) < 400


def test_search_wants_every_word_whatever_its_case() -> None:
    found = BANK.search("PROTEIN disorder", "biology")
    assert [question.id for question in found] == ["selective-disorder"]
    assert BANK.search("protein zzz") == []
    assert len(BANK.search()) == len(BANK)


def test_a_domain_holds_its_subdomains() -> None:
    physics = BANK.search(domain="physics")
    assert {question.leaf for question in physics} == {leaf for leaf in LEAVES if leaf.startswith("Physics")}
    assert {question.leaf for question in BANK.search(domain="synchrotron")} == {"Physics / Synchrotron"}


# ── one's own, typed on the spot ──────────────────────────────────────────────────────────────────────────────────────


def test_the_longest_question_has_20_000_characters() -> None:
    assert own_question("x" * 20_000).text == "x" * LONGEST
    with pytest.raises(UsageError, match=r"20,001 characters; 20,000 is the most"):
        own_question("x" * 20_001)


def test_only_what_is_left_after_cleaning_counts() -> None:
    assert len(own_question("  " + "\x00" * 5000 + "x" * 20_000 + "\n").text) == 20_000


@pytest.mark.parametrize("blank", ["", "  \n\t ", "\x1b\x00\u202e"])
def test_a_blank_question_is_none(blank: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        own_question(blank)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Explain 👩‍🔬 and 🧬.", "Explain 👩‍🔬 and 🧬."),
        ("הסבר כיצד חלבונים מתקפלים", "הסבר כיצד חלבונים מתקפלים"),
        ("[bold]Propose[/bold] [@click=app.quit]a way[/]", "[bold]Propose[/bold] [@click=app.quit]a way[/]"),
        ("Propose \x1b]52;c;cm0=\x07a way\x1b[2J", "Propose ]52;c;cm0=a way[2J"),
        ("{0} %s ../../etc", "{0} %s ../../etc"),
        ("two\r\nlines", "two\nlines"),
    ],
)
def test_a_typed_question_is_text_and_nothing_else(typed: str, kept: str) -> None:
    question = own_question(typed)
    assert question.text == kept
    assert question.domain == "Own"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", question.id)


def test_the_same_text_has_the_same_id_and_another_text_another() -> None:
    long_words = "Antidisestablishmentarianism " * 5
    assert own_question(long_words + "now").id == own_question(long_words + "now").id
    assert own_question(long_words + "now").id != own_question(long_words + "then").id
    assert len({own_question(f"問題{number}について提案").id for number in range(2000)}) == 2000
    assert len(own_question("x" * 20_000).id) <= 60
