"""Text from outside: what passes the one gate, and what never does."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import events as ev
from core.errors import JagstormError
from core.lines import cleaned, decode, encode
from core.text import clean, clean_all, clean_line

OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

HARMFUL = f"\x00\x07\b\x0b\x0c\r\n\t\x1b\x7f\x80\x85\x9b\x9d\u2028\u2029{OVERRIDES}\ud800\udfff"

# Any code point at all, lone surrogates too, and half of the time one that does harm (st.text would lose that half).
ANY_TEXT = st.lists(st.one_of(st.characters(exclude_categories=()), st.sampled_from(HARMFUL))).map("".join)


def unsafe(text: str) -> list[str]:
    """What `text` holds that may reach neither a terminal nor a file, found without the regular expressions of core."""
    return [
        char
        for char in text
        if (unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t") or char in OVERRIDES + "\u2028\u2029"
    ]


def test_of_all_code_points_there_are_no_unsafe_one_is_left() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert len(unsafe(everything)) > 2000
    assert unsafe(clean(everything)) == []
    assert len(clean(everything)) > sys.maxunicode - 100


@given(ANY_TEXT)
def test_cleaned_text_holds_nothing_unsafe(text: str) -> None:
    assert unsafe(clean(text)) == []
    assert unsafe(clean_line(text)) == []
    clean(text).encode("utf-8")


@given(ANY_TEXT, st.one_of(st.none(), st.integers(0, 50)))
def test_cleaning_again_changes_nothing(text: str, limit: int | None) -> None:
    assert clean(clean(text, limit), limit) == clean(text, limit)
    assert clean_line(clean_line(text, limit), limit) == clean_line(text, limit)


@given(ANY_TEXT, st.integers(0, 50))
def test_limits_hold(text: str, limit: int) -> None:
    assert len(clean(text, limit)) <= limit
    assert len(clean_line(text, limit)) <= limit
    assert clean(text).startswith(clean(text, limit))


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters=OVERRIDES)))
def test_ordinary_text_of_any_script_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("\x1b[2Jhidden\x1b[0m", "[2Jhidden[0m"),
        ("\x1b]52;c;cm0gLXJm\x07", "]52;c;cm0gLXJm"),
        ("\x9b31mred", "31mred"),
        ("rub\x7fout", "rubout"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("isolate\u2066d\u2069", "isolated"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("one\r\ntwo\rthree\u2028four\u2029five\x85six", "one\ntwo\nthree\nfour\nfive\nsix"),
        ("tab\tstays", "tab\tstays"),
        ("[bold]markup[/bold] and **marks** stay", "[bold]markup[/bold] and **marks** stay"),
        ("👩‍🔬 ℏω ≥ 3 µeV, नमस्ते, שלום, 日本語", "👩‍🔬 ℏω ≥ 3 µeV, नमस्ते, שלום, 日本語"),
    ],
)
def test_what_becomes_of(given_text: str, cleaned: str) -> None:
    assert clean(given_text) == cleaned


def test_a_line_has_single_spaces_and_no_ends() -> None:
    assert clean_line("  two\n\nwords\t here\r\n ") == "two words here"
    assert clean_line("two words", 4) == "two"


def test_nested_values_are_cleaned_to_the_bottom() -> None:
    assert clean_all({"a\x1b": ["\x07b", {"c": "\ud800"}, 3, None, ("\x00d",)]}) == {
        "a": ["b", {"c": "\ufffd"}, 3, None, ["d"]]
    }


def test_what_an_error_tells_is_clean_even_if_it_quotes_a_file_name() -> None:
    assert JagstormError("no such file: a\udcff\x1b[2J").message == "no such file: a\ufffd[2J"


@pytest.mark.parametrize(
    ("in_the_file", "read"),
    [
        (r"\u001b[2J", "[2J"),
        (r"\u202eback", "back"),
        (r"a\rb", "a\nb"),
        (r"bell\u0007\b\f", "bell"),
        ("\x7f\x9b1m\u202e\u2066", "1m"),
        ("\u2028", "\n"),
        (r"C:\\users\\ann", r"C:\users\ann"),
    ],
)
def test_an_event_edited_by_hand_comes_out_clean(in_the_file: str, read: str) -> None:
    line = f'{{"type":"idea_added","question":"q","idea":1,"step":1,"text":"{in_the_file}","author":"you"}}'
    event = decode(line.encode())
    assert isinstance(event, ev.IdeaAdded)
    assert event.text == read


@given(ANY_TEXT, ANY_TEXT)
def test_no_event_carries_unsafe_text_whoever_made_it(text: str, member: str) -> None:
    event = cleaned(ev.StepStarted(question="q", step=3, members=(member,), seeds=(text, "plain")))
    assert isinstance(event, ev.StepStarted)
    assert event == ev.StepStarted(question="q", step=3, members=(clean(member),), seeds=(clean(text), "plain"))
    assert decode(encode(event)) == event
    assert not re.search(rb"[\x00-\x1f]", encode(event))
