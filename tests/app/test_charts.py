"""Charts and cells: numbers and texts of every kind, drawn in the room there is."""

import pytest
from rich.cells import cell_len

from core.chain import Idea
from core.events import IdeaScored
from core.rules import Rules
from tui.charts.look import Lines
from tui.charts.novelty import Colors, coherence_points, draw_novelty, novelty_points
from tui.widgets.cells import cut, fill, wrap

COLORS = Colors((1, 2, 3), "red", (7, 8, 9), "bright_black")


def plain(lines: Lines) -> list[str]:
    return ["".join(segment.text for segment in line) for line in lines]


def idea(number: int, novelty: float | None, *, failed: bool = False, coherence: float | None = None) -> Idea:
    score = IdeaScored(
        question="q",
        idea=number,
        embedding_novelty=novelty,
        coherence=coherence,
        verdict="failed" if failed else "passed",
    )
    return Idea(number=number, step=number, text="x", author="anna", score=score)


def drawn(*ideas: Idea, width: int = 60, height: int = 15, rules: Rules = Rules()) -> list[str]:  # noqa: B008
    return plain(draw_novelty(ideas, rules, width, height, COLORS))


@pytest.mark.parametrize(("width", "height"), [(20, 6), (60, 18), (120, 40)])
def test_it_fills_the_room_it_is_given_and_no_more(width: int, height: int) -> None:
    lines = drawn(idea(1, 1.0), idea(2, 0.4), width=width, height=height)
    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)


def test_passed_failed_and_coherence_have_markers_of_their_own() -> None:
    picture = "\n".join(drawn(idea(1, 0.9, coherence=50), idea(2, 0.5), idea(3, 0.1, failed=True)))
    assert picture.count("•") == 2
    assert picture.count("×") == 1
    assert picture.count("+") == 1


def test_the_thresholds_are_lines_and_coherence_has_one_where_it_is_judged() -> None:
    def lines(*ideas: Idea) -> list[float]:
        """How far down the chart each is."""
        rows = drawn(*ideas, height=30, rules=Rules(embedding_novelty=0.25, coherence=75))
        return [place / len(rows) for place, row in enumerate(rows) if row.count("─") > 20 and "└" not in row]

    assert lines(idea(1, 0.9)) == [pytest.approx(0.7, abs=0.05)]
    assert lines(idea(1, 0.9, coherence=80)) == [pytest.approx(0.23, abs=0.05), pytest.approx(0.7, abs=0.05)]


def test_an_idea_without_a_score_leaves_a_gap_and_an_empty_chain_is_an_empty_chart() -> None:
    assert novelty_points([idea(1, 0.5), idea(2, None)], failed=False) == [(1, 0.5)]
    assert coherence_points([idea(1, 0.5)]) == []
    assert "•" not in "".join(drawn())


def test_novelty_out_of_range_stays_on_the_chart() -> None:
    points = novelty_points([idea(1, 1.7), idea(2, -2e-16)], failed=False)
    assert points == [(1, 1.0), (2, 0.0)]


TEXTS = ["plain words", "你好世界的想法", "family 👩‍👩‍👧 and e\u0301 accents", "שלום עולם", "tab\tand", ""]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [1, 2, 7, 40])
def test_texts_take_the_cells_they_are_given(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= width
    assert cell_len(fill(text, width)) == width
    assert all(cell_len(line) <= max(width, 2) for line in wrap(text, width))


def test_nothing_fits_in_no_room() -> None:
    assert cut("words", 0) == ""
    assert fill("words", -1) == ""
