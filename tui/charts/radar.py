"""A radar over leaves, in braille dots: how far each model reaches in each."""

import math
from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len

from core.analysis.profiles import LeafRow, LeafTable
from tui.charts.axes import axis, number
from tui.charts.canvas import Canvas, label
from tui.charts.dots import Dots
from tui.charts.heat import draw_leaves, jagged_words
from tui.charts.look import Lines, Look, paint
from tui.charts.sheet import too_small
from tui.charts.words import leaf_name, with_interval

MOST = 5
"""Models on one radar: more can't be told apart."""

LABEL = 13
"""Cells of a leaf's name."""


class _Circle(Struct, frozen=True):
    """x and y are in cells, which are twice as high as wide; the first leaf is at the top, the next clockwise."""

    x: float
    y: float
    radius: float
    """In rows."""
    leaves: int
    high: float

    def at(self, leaf: int, value: float) -> tuple[float, float]:
        angle = 2 * math.pi * leaf / self.leaves
        reach = self.radius * min(max(value / self.high, 0.0), 1.0)
        return self.x + 2 * reach * math.sin(angle), self.y - reach * math.cos(angle)

    def ring(self, values: Sequence[float]) -> tuple[list[float], list[float]]:
        """The closed curve through a value a leaf."""
        spots = [self.at(leaf, value) for leaf, value in enumerate([*values, values[0]])]
        return [x for x, _ in spots], [y for _, y in spots]


def draw_radar(leaves: LeafTable, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """The first five models and the one in `focus`, whose intervals are dots along the spokes."""
    if too_small(width, height) or not leaves.rows or len(leaves.leaves) < 3:
        return draw_leaves(leaves, width, height, look)
    rows = chosen_rows(leaves, focus)
    front = next((row for row in rows if row.model == focus), rows[0])
    means = [mean.value for row in rows for mean in row.means if mean]
    beside = width >= 100
    panel = 34 if beside else 0
    below = 1 if beside else _legend_lines(rows, width) + 1
    high = max([*means, 1.0]) * 1.02
    canvas = Canvas(width, height)
    radius = min((height - below - 3) / 2, (width - panel - 2 * LABEL - 4) / 4)
    circle = _Circle((width - panel) / 2, 1.5 + (height - below - 3) / 2, radius, len(leaves.leaves), high)
    ticks = [tick for tick in axis([0.0, high], ticks=4).ticks[1:] if tick <= high]
    _draw_curves(canvas, circle, rows, front, ticks, look)
    _draw_marks(canvas, circle, rows, front, look)
    _name_leaves(canvas, circle, leaves.leaves, look)
    for tick in ticks:
        x, y = circle.at(0, tick)
        canvas.write(math.floor(x) + 1, math.floor(y), number(tick), paint(look.muted))
    if beside:
        _draw_panel(canvas, leaves, rows, front, width - panel, look)
    else:
        _draw_legend(canvas, rows, height - below, look)
    canvas.write(0, height - 1, jagged_words(front), paint(look.muted))
    return canvas.lines()


def chosen_rows(leaves: LeafTable, focus: str) -> list[LeafRow]:
    """Those that are drawn, in their order."""
    rows = list(leaves.rows[:MOST])
    chosen = [row for row in leaves.rows[MOST:] if row.model == focus]
    return [*rows[: MOST - 1], *chosen] if chosen else rows


def _draw_curves(
    canvas: Canvas, circle: _Circle, rows: Sequence[LeafRow], front: LeafRow, ticks: Sequence[float], look: Look
) -> None:
    grid = Dots(canvas.width, canvas.height)
    for tick in [*ticks, circle.high]:
        grid.curve(*circle.ring([tick] * circle.leaves))
    for leaf in range(circle.leaves):
        grid.curve(*zip(circle.at(leaf, 0), circle.at(leaf, circle.high), strict=True))
    if look.glyphs.braille:  # in dots of ASCII it would hide the models
        grid.draw(canvas, 0, 0, paint(look.muted), braille=True)
    for row, color in sorted(zip(rows, look.series, strict=False), key=lambda drawn: drawn[0] is front):
        dots = Dots(canvas.width, canvas.height)
        dots.curve(*circle.ring([mean.value if mean else math.nan for mean in row.means]))
        dots.draw(canvas, 0, 0, paint(color), braille=look.glyphs.braille)
    ends = Dots(canvas.width, canvas.height)
    for leaf, mean in enumerate(front.means):
        if mean and mean.low is not None and mean.high is not None:
            ends.curve(*zip(circle.at(leaf, mean.low), circle.at(leaf, mean.high), strict=True))
    ends.draw(canvas, 0, 0, paint(look.series[rows.index(front)], bold=True), braille=look.glyphs.braille)


def _draw_marks(canvas: Canvas, circle: _Circle, rows: Sequence[LeafRow], front: LeafRow, look: Look) -> None:
    """Each model's mark at its means; those of the one in front are on top."""
    marked = zip(rows, look.glyphs.marks, look.series, strict=False)
    for row, mark, color in sorted(marked, key=lambda drawn: drawn[0] is front):
        for leaf, mean in enumerate(row.means):
            if mean:
                x, y = circle.at(leaf, mean.value)
                canvas.write(math.floor(x), math.floor(y), mark, paint(color, bold=True))


def _name_leaves(canvas: Canvas, circle: _Circle, leaves: Sequence[str], look: Look) -> None:
    for place, leaf in enumerate(leaves):
        x, y = circle.at(place, circle.high)
        name = label(leaf_name(leaf), LABEL)
        across = math.sin(2 * math.pi * place / circle.leaves)
        down = -math.cos(2 * math.pi * place / circle.leaves)
        left = x - cell_len(name) / 2 if abs(across) < 0.2 else x + 2 if across > 0 else x - 1 - cell_len(name)
        row = math.floor(y + 0.9 * down)
        canvas.write(max(math.floor(left), 0), min(max(row, 0), canvas.height - 1), name, paint(look.muted))


def _draw_panel(
    canvas: Canvas, leaves: LeafTable, rows: Sequence[LeafRow], front: LeafRow, left: int, look: Look
) -> None:
    """Beside the radar: who is who, and the model in front leaf by leaf."""
    y = 1
    for row, mark, color in zip(rows, look.glyphs.marks, look.series, strict=False):
        canvas.write(left, y, f"{mark} {label(row.model, 22):<22} {row.overall.value:5.1f}", paint(color))
        y += 1
    y += 1
    canvas.write(left, y, label(front.model, 30), paint(look.muted))
    for leaf, mean in zip(leaves.leaves, front.means, strict=True):
        y += 1
        canvas.write(left, y, f"{label(leaf_name(leaf), 15):<15} {with_interval(mean)}")


def _legend(row: LeafRow, mark: str) -> str:
    return f"{mark} {label(row.model, 22)} {row.overall.value:.1f}"


def _legend_lines(rows: Sequence[LeafRow], width: int) -> int:
    return math.ceil(len(rows) / max(width // 30, 1))


def _draw_legend(canvas: Canvas, rows: Sequence[LeafRow], top: int, look: Look) -> None:
    a_line = max(canvas.width // 30, 1)
    for place, (row, mark, color) in enumerate(zip(rows, look.glyphs.marks, look.series, strict=False)):
        y, x = divmod(place, a_line)
        canvas.write(x * 30, top + y, _legend(row, mark), paint(color))
