"""A replay as an asciinema recording: what came is written when it came, in order, and nothing else is obeyed."""

import json
import re
from itertools import pairwise
from typing import Any

import pyte
import pytest
from rich.cells import cell_len

from core import events as ev
from core.exchange.cast import HEIGHT, IDLE, WIDTH, cast
from core.store.library import StoredSession, example_folder, load
from tests.unit.exchanged import idea, told
from tests.unit.test_export_reports import rich

Frame = tuple[float, str, str]


def recorded(*sessions: StoredSession) -> tuple[dict[str, Any], list[Frame]]:
    header, *frames = [json.loads(line) for line in cast(sessions)]
    return header, frames


def screen(frames: list[Frame], height: int = 200) -> list[str]:
    """What a terminal shows at the end."""
    terminal = pyte.Screen(WIDTH, height)
    stream = pyte.Stream(terminal)
    for _, _, text in frames:
        stream.feed(text)
    return [line.rstrip() for line in terminal.display if line.strip()]


def test_it_is_an_asciicast_of_version_2() -> None:
    header, frames = recorded(rich())
    assert (header["version"], header["width"], header["height"]) == (2, WIDTH, HEIGHT)
    assert header["title"] == "Propose a way to see a single vortex in a superconducting film."
    assert {kind for _, kind, _ in frames} == {"o"}
    times = [t for t, _, _ in frames]
    assert times == sorted(times)


def test_it_shows_ideas_scores_and_what_a_person_did() -> None:
    lines = screen(recorded(rich())[1])
    assert lines[:4] == [
        "Propose a way to see a single vortex in a superconducting film.",
        "   1  anna",
        "      Listen to the film.",
        "      novelty 0.42, coherence 88, judged novelty 0.30",
    ]
    assert "      seed: error-correcting codes" in lines
    assert "   ×  novelty 0.10, coherence 88, judged novelty 0.30; failed: too like an" in lines
    assert "      2 is pinned" in lines
    assert "      3 is rated ★★★★" in lines
    assert "      3 is now: Weigh it twice." in lines
    assert lines[-1] == "5 ideas, 3 valid; the last failed: too like an earlier idea"


def test_text_arrives_as_it_did_and_stays_within_the_terminal() -> None:
    text = "Watch the film sing while it cools, and count how many notes are missing from the chord. " * 3
    _, frames = recorded(told(*idea(1, text)))
    assert sum("film" in piece or "chord" in piece for _, _, piece in frames) > 1, "piece by piece"
    shown = screen(frames)
    assert " ".join(line.strip() for line in shown[2:-1]) == text.strip()
    assert all(line.startswith("      ") for line in shown[2:-1])


def test_wide_characters_take_two_cells_and_no_line_is_wider_than_the_terminal() -> None:
    text = "想法" * 60 + " family 👩‍👩‍👧 " * 20
    _, frames = recorded(told(*idea(1, text)))
    lines = "".join(piece for _, _, piece in frames).split("\r\n")
    widths = [cell_len(re.sub("\x1b\\[[0-9]*m", "", line)) for line in lines]
    assert max(widths) <= WIDTH
    assert "".join(text.split()) in "".join("".join(lines).split())


def test_nothing_happens_for_two_seconds_at_most() -> None:
    late = ev.Paused(by="you", why="lunch", t=5000.0)
    _, frames = recorded(told(*idea(1, "One."), late))
    assert max(after - before for (before, *_), (after, *_) in pairwise(frames)) == pytest.approx(IDLE, abs=0.01)
    assert any("paused: lunch" in text for _, _, text in frames)


def test_an_idea_that_is_written_while_another_is_scored_waits_for_its_scores() -> None:
    first, second = idea(1, "The first."), idea(2, "The second.")
    pipelined = [*first[:-1], *second[:3], first[-1], *second[3:]]
    lines = screen(recorded(told(*pipelined))[1])
    assert [line.strip() for line in lines[1:]] == [
        "1  anna",
        "The first.",
        "novelty 0.42, coherence 88, judged novelty 0.30",
        "2  anna",
        "The second.",
        "novelty 0.42, coherence 88, judged novelty 0.30",
    ]


def test_several_sessions_follow_each_other() -> None:
    _, frames = recorded(told(*idea(1, "One.")), told(*idea(1, "Two.")))
    lines = screen(frames)
    assert [line.strip() for line in lines if line.strip() in ("One.", "Two.")] == ["One.", "Two."]
    times = [t for t, _, _ in frames]
    assert times == sorted(times)


def test_events_of_a_question_that_never_began_are_passed_over() -> None:
    stray = [ev.IdeaAdded(question="gone", idea=1, step=1, text="x", author="anna")]
    assert recorded(told(*stray, ev.QuestionEnded(question="gone", reason="cap", censored=True, responses=0, valid=0)))


def test_an_empty_text_and_odd_characters_take_their_line() -> None:
    lines = screen(recorded(told(*idea(1, ""), *idea(2, "ü – “模型”")))[1])
    assert any("模" in line for line in lines)


def test_the_example_is_as_long_as_it_was() -> None:
    session = load(example_folder())
    _, frames = recorded(session)
    assert frames[-1][0] == pytest.approx(session.state().t, abs=1)
