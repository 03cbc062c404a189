"""What is answer and what is thought, tag or fence in what a model wrote."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answers import Answer, ThoughtSplitter, read_line, read_tagged, without_thoughts
from core.models import Prompt
from core.prompts import idea_prompt, read_idea

TAGGED = idea_prompt("Propose a way to hear ice crack.", [], style="tagged")


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("Listen.", Answer("Listen.")),
        ("<think>hm</think>Listen.", Answer("Listen.", "hm")),
        ("<THINK>hm</THINK>Listen.", Answer("Listen.", "hm")),
        ("<thinking>hm</thinking>Listen.", Answer("Listen.", "hm")),
        ("[THINK]hm[/THINK]Listen.", Answer("Listen.", "hm")),
        ("One. <think>hm</think>Two.", Answer("One. Two.", "hm")),
        ("<think>a</think>Listen.<think>b</think>", Answer("Listen.", "a\nb")),
        ("hm, hm</think>Listen.", Answer("Listen.", "hm, hm")),
        ("a</think>b</think>Listen.", Answer("Listen.", "a\nb")),
        ("<think>hm, <answer>draft</answer>", Answer(None, "hm, <answer>draft</answer>")),
        ("Listen. <think>or not", Answer(None, "or not")),
        ("", Answer("")),
    ],
)
def test_thoughts_are_told_from_the_answer(raw: str, answer: Answer) -> None:
    assert without_thoughts(raw) == answer


@pytest.mark.parametrize(
    ("answer", "idea"),
    [
        ("<idea>Listen to it.</idea>", "Listen to it."),
        ("<answer>Listen to it.</answer>", "Listen to it."),
        ("Here it is:\n<idea>\nListen to it.\n</idea>\nShall I go on?", "Listen to it."),
        ("Listen to it.", "Listen to it."),
        ("<idea>A draft.</idea> No, better: <idea>Listen to it.</idea>", "Listen to it."),
        ("```xml\n<idea>Listen to it.</idea>\n```", "Listen to it."),
        ("```\nListen to it.\n```", "Listen to it."),
        ("<idea>Listen to it.", "Listen to it."),
        ("<idea>A draft.</idea><idea>Listen to it.", "A draft."),
        ("Listen to it.</idea>", "Listen to it."),
        ("<idea></idea>", ""),
        ("<idea>Listen to it.</idea><idea> </idea>", "Listen to it."),
        ("<IDEA>Listen to it.</IDEA>", "Listen to it."),
        ('<idea id="3">Listen to it.</idea>', "Listen to it."),
        ("<idea>Listen\nto it.\n\nThen wait.</idea>", "Listen to it. Then wait."),
        ("<idea>Listen to <answer>it</answer>.</idea>", "it"),
        ("<think><idea>A draft.</idea></think><idea>Listen to it.</idea>", "Listen to it."),
        ("<idea>A draft.</idea></think><idea>Listen to it.</idea>", "Listen to it."),
        ("<think>never <idea>A draft.</idea>", ""),
        ("", ""),
    ],
)
def test_one_idea_clean_and_without_literal_tags(answer: str, idea: str) -> None:
    assert read_idea(TAGGED, answer) == idea


@given(st.text(alphabet=st.sampled_from("<>/abc think answer idea`\n\\[]THINK"), max_size=60))
def test_nothing_raises_and_no_tag_of_ours_is_left(raw: str) -> None:
    for text in (read_tagged(raw), read_line(raw), read_idea(Prompt(messages=(), tag="idea"), raw)):
        assert "</idea>" not in text
        assert "<idea>" not in text
    without_thoughts(raw)


@given(
    st.sampled_from(["<think>hm <b> x</think>Listen.", "Listen. <b>", " <thinking>a<b</thinking>c", "<thin air", "<"]),
    st.lists(st.integers(1, 5), min_size=1),
)
def test_however_it_is_cut_into_pieces_the_same_streams(raw: str, sizes: list[int]) -> None:
    def streamed(pieces: list[str]) -> tuple[str, str]:
        splitter = ThoughtSplitter()
        shown = [splitter.feed(piece) for piece in pieces] + [splitter.rest()]
        return "".join(text for text, _ in shown), "".join(thoughts for _, thoughts in shown)

    pieces: list[str] = []
    rest = raw
    while rest:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(rest[:size])
        rest = rest[size:]
    assert streamed(pieces) == streamed([raw])


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>", "<idea>", "</idea>", "<idea", "<answer x", "[THINK]", "< ", "1. ", "```"]
)
def test_any_length_of_any_of_it_is_read_at_once(piece: str) -> None:
    raw = piece * (200_000 // len(piece))
    began = perf_counter()
    read_idea(TAGGED, raw)
    read_line(raw)
    splitter = ThoughtSplitter()
    for place in range(0, len(raw), 1000):
        splitter.feed(raw[place : place + 1000])
    assert perf_counter() - began < 2, "a second at most, not minutes"
