"""Novelty and coherence along a chain, with the thresholds as lines."""

from collections.abc import Sequence

from msgspec import Struct

from core.chain import Idea
from core.rules import Rules
from tui.charts.axes import Area, Axis, Points, draw_axes
from tui.charts.canvas import Canvas
from tui.charts.look import FULL, Color, Lines, Look, paint

SHORTEST = 10
"""Ideas for which there is room in a shorter chain too."""


class Colors(Struct, frozen=True):
    """The theme's colours for a chart."""

    passed: Color
    failed: Color
    coherence: Color
    threshold: Color


def novelty_points(ideas: Sequence[Idea], *, failed: bool) -> list[tuple[int, float]]:
    """Numbers and embedding novelties of the ideas that passed, or of those that failed."""
    return [
        (idea.number, min(max(idea.score.embedding_novelty, 0.0), 1.0))
        for idea in ideas
        if idea.score and idea.score.embedding_novelty is not None and idea.failed == failed
    ]


def coherence_points(ideas: Sequence[Idea]) -> list[tuple[int, float]]:
    """Numbers and coherences as shares of 100, where a judge gave one."""
    return [(i.number, i.score.coherence / 100) for i in ideas if i.score and i.score.coherence is not None]


def draw_novelty(ideas: Sequence[Idea], rules: Rules, width: int, height: int, colors: Colors) -> Lines:
    """`height` lines of `width` cells, with the thresholds of `rules` as lines."""
    last = max([idea.number for idea in ideas] + [SHORTEST])
    threshold = rules.embedding_novelty
    x, y = Axis(1, last, (1, last)), Axis(0, 1, (0, threshold, 0.5, 1))
    coherence = coherence_points(ideas)
    look = Look(colors.coherence, colors.threshold, colors.passed, colors.failed, (), FULL)
    drawn = (
        _points(coherence, "+", colors.coherence),
        _points(novelty_points(ideas, failed=False), "•", colors.passed),
        _points(novelty_points(ideas, failed=True), "×", colors.failed),
    )
    canvas, area = draw_axes(drawn, x, y, width, height, look)
    _draw_line(canvas, area, threshold, colors.threshold)
    if coherence:
        _draw_line(canvas, area, rules.coherence / 100, colors.coherence)
    return canvas.lines()


def _points(found: Sequence[tuple[int, float]], mark: str, color: Color) -> Points:
    return Points([x for x, _ in found], [y for _, y in found], mark, color)


def _draw_line(canvas: Canvas, area: Area, y: float, color: Color) -> None:
    """Where no point is."""
    row = area.top + area.row(y)
    for column in range(area.left, area.left + area.width):
        if canvas.is_free(column, row):
            canvas.write(column, row, "─", paint(color))
