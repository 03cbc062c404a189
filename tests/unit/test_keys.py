"""Keys are taken out of every text, however it comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import keys
from core.keys import HIDDEN, StreamScrubber, hide, read_key, scrub

KEY = "aab-aabaaab-aab"


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_known", set())
    monkeypatch.setenv("SOME_KEY", KEY)
    read_key("SOME_KEY")


@given(st.lists(st.sampled_from([KEY, KEY[:5], KEY[5:], "a", "b", "-", "x "]), max_size=12), st.integers(1, 9))
def test_in_whatever_pieces_it_comes_no_key_is_shown_and_nothing_else_is_lost(parts: list[str], size: int) -> None:
    text = "".join(parts)
    scrubber = StreamScrubber()
    shown = "".join(scrubber.feed(text[place : place + size]) for place in range(0, len(text), size))
    shown += scrubber.rest()
    assert KEY not in shown
    if KEY not in text:
        assert shown == text
    else:
        assert HIDDEN in shown


def test_ordinary_text_is_shown_at_once() -> None:
    assert StreamScrubber().feed("Listen to the ice. ") == "Listen to the ice. "


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Incorrect API key provided: sk-proj-abcdefgh1jklmnop.", "sk-proj"),
        ("Incorrect API key provided: sk-abcde*******wxyz.", "wxyz"),
        ("Authorization: Bearer abc.def.ghi", "abc.def"),
        ("http://user:secret@host/v1", "secret"),
        ("AKIAIOSFODNN7EXAMPLE is not allowed", "AKIAIOSF"),
    ],
)
def test_what_looks_like_a_key_is_hidden_whoever_it_belongs_to(text: str, kept: str) -> None:
    assert kept not in scrub(text)


SCIENCE = [
    "skyrmion-lattice-defects",
    "hf-coupled circuits",
    "ask-and-answer games",
    "The pk-dependent-conductivity of ice",
    "an rk-approximation.scheme for it",
    "sk_transformation_kernel",
    "see hf_spectroscopy-lines",
]


@pytest.mark.parametrize("text", SCIENCE)
def test_words_are_no_keys(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("text", [*SCIENCE, "The hf-transition-of-Cs-133 and the sk-model-of-1975", "ssh://me@host"])
def test_in_answers_only_keys_that_were_read_are_hidden(text: str) -> None:
    assert hide(f"{text} {KEY}") == f"{text} {HIDDEN}"
