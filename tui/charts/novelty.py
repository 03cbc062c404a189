"""Novelty and coherence along a chain, with the threshold as a line."""

from collections.abc import Sequence

import plotext
from msgspec import Struct

from core.chain import Idea
from core.rules import Rules

Color = tuple[int, int, int] | str
"""Red, green, blue; or one of the terminal's own by name."""


class Colors(Struct, frozen=True):
    """The theme's colours for a chart."""

    passed: Color
    failed: Color
    coherence: Color
    threshold: Color


class Points(Struct, frozen=True):
    """One series: x is the idea's number, y between 0 and 1."""

    x: tuple[int, ...]
    y: tuple[float, ...]


def novelty_points(ideas: Sequence[Idea], *, failed: bool) -> Points:
    """The embedding novelty of the ideas that passed, or of those that failed."""
    found = [
        (idea.number, min(max(idea.score.embedding_novelty, 0.0), 1.0))
        for idea in ideas
        if idea.score and idea.score.embedding_novelty is not None and idea.failed == failed
    ]
    return Points(tuple(x for x, _ in found), tuple(y for _, y in found))


def coherence_points(ideas: Sequence[Idea]) -> Points:
    """Coherence as a share of 100, where a judge gave one."""
    found = [(i.number, i.score.coherence / 100) for i in ideas if i.score and i.score.coherence is not None]
    return Points(tuple(x for x, _ in found), tuple(y for _, y in found))


def draw_novelty(ideas: Sequence[Idea], rules: Rules, width: int, height: int, colors: Colors) -> list[str]:
    """`height` lines of `width` cells, coloured by ANSI codes, with the thresholds of `rules` as lines.

    plotext has one figure a process: not re-entrant.
    """
    threshold = rules.embedding_novelty
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plotsize(width, height)
    plotext.frame(False)
    plotext.ylim(0, 1)
    last = max((idea.number for idea in ideas), default=1)
    plotext.xlim(1, max(last, 10))
    plotext.xticks(sorted({1, max(last, 10)}))
    plotext.yticks([0, threshold, 0.5, 1], ["0", f"{threshold:g}".removeprefix("0"), ".5", "1"])
    plotext.hline(threshold, color=colors.threshold)
    coherence = coherence_points(ideas)
    if coherence.x:
        plotext.hline(rules.coherence / 100, color=colors.coherence)
    for points, marker, color in (
        (coherence, "+", colors.coherence),
        (novelty_points(ideas, failed=False), "•", colors.passed),
        (novelty_points(ideas, failed=True), "×", colors.failed),
    ):
        if points.x:
            plotext.scatter(list(points.x), list(points.y), marker=marker, color=color)
    lines: list[str] = plotext.build().splitlines()
    return lines
