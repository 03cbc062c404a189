"""Points that have names: none is written over another, and those for which there is no room stand in a list."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from rich.cells import cell_len

from tui.charts.axes import Area, Axis, Points, draw_axes
from tui.charts.canvas import Canvas, label
from tui.charts.look import Lines, Look, paint

LONGEST = 24
"""Cells of a name beside a point."""

_NUMBERS = "123456789abcdefghijklmnpqrstuvwxyz"


class Named(Struct, frozen=True):
    """A point that has a name."""

    name: str
    x: float
    y: float
    matters: float = 0.0
    """Those that matter most are named first."""
    ends: tuple[float, float] | None = None
    """From where to where y may be."""


def draw_named(
    points: Sequence[Named],
    x: Axis,
    y: Axis,
    width: int,
    height: int,
    look: Look,
    *,
    focus: str,
    foot: str,
    under: Callable[[Canvas, Area], None] = lambda canvas, area: None,
) -> Lines:
    """Points with their names and intervals, and a line of text below. `under` draws what lies beneath names."""
    canvas, listed = _drawn(points, x, y, width, height - 1, look, focus, under)
    below = _wrapped(listed, width)[: max(height // 4, 1)]
    if below:
        canvas, listed = _drawn(points, x, y, width, height - 1 - len(below), look, focus, under)
        below = _wrapped(listed, width)[: len(below)]
    lines = canvas.lines()
    rest = Canvas(width, height - len(lines))
    for row, text in enumerate([*below, foot]):
        rest.write(0, row, text, paint(look.muted))
    return lines + rest.lines()


def _drawn(
    points: Sequence[Named],
    x: Axis,
    y: Axis,
    width: int,
    height: int,
    look: Look,
    focus: str,
    under: Callable[[Canvas, Area], None],
) -> tuple[Canvas, list[str]]:
    mark, color = look.glyphs.marks[0], look.series[0]
    dots = Points([point.x for point in points], [point.y for point in points], mark, color)
    canvas, area = draw_axes([dots], x, y, width, height, look)
    seen = [point for point in points if area.holds(point.x, point.y)]
    chosen = [point for point in seen if point.name == focus]
    for point in chosen:
        canvas.write(*area.cell(point.x, point.y), look.glyphs.mean, paint(look.accent, bold=True))
    names = place_names(
        canvas, area, sorted(seen, key=lambda point: (point.name != focus, -point.matters)), look, focus
    )
    under(canvas, area)
    for point in seen:
        _draw_ends(canvas, area, point, look)
    return canvas, names


def _draw_ends(canvas: Canvas, area: Area, point: Named, look: Look) -> None:
    """A thin line, where nothing else stands."""
    if point.ends is None:
        return
    low, high = (min(max(end, area.y.low), area.y.high) for end in point.ends)
    column, top = area.cell(point.x, high)
    for row in range(top, area.cell(point.x, low)[1] + 1):
        if canvas.is_free(column, row, 1):
            canvas.write(column, row, "│", paint(look.muted))


def place_names(canvas: Canvas, area: Area, points: Sequence[Named], look: Look, focus: str = "") -> list[str]:
    """Write the names of `points` beside them, the first ones first, where there is room.

    The others' marks become numbers; returns what these stand for, as "1 name", those in one cell under one number.
    """
    left: dict[tuple[int, int], list[str]] = {}
    for point in points:
        cell = area.cell(point.x, point.y)
        name = label(point.name, LONGEST)
        if spot := _spot(canvas, cell, cell_len(name)):
            chosen = point.name == focus
            canvas.write(*spot, name, paint(look.accent, bold=True) if chosen else paint(look.muted))
        else:
            left.setdefault(cell, []).append(name)
    listed = []
    for number, (cell, names) in zip(_NUMBERS, sorted(left.items()), strict=False):
        canvas.write(*cell, number, paint(look.accent))
        listed.append(f"{number} {', '.join(names)}")
    return listed


def _spot(canvas: Canvas, cell: tuple[int, int], width: int) -> tuple[int, int] | None:
    """Where a name fits: right or left of its point, above or below it; with a free cell on both sides."""
    column, row = cell
    for x, y in (
        (column + 2, row),
        (column - 1 - width, row),
        (column + 1, row - 1),
        (column + 1, row + 1),
        (column - width, row - 1),
        (column - width, row + 1),
        (column - width // 2, row - 1),
        (column - width // 2, row + 1),
    ):
        at_edge = x + width == canvas.width
        if canvas.is_free(x - 1, y, width + 2 - at_edge):
            return x, y
    return None


def _wrapped(texts: Sequence[str], width: int) -> list[str]:
    """As many of `texts` a line as fit."""
    lines: list[str] = []
    for text in texts:
        if lines and cell_len(lines[-1]) + 2 + cell_len(text) <= width:
            lines[-1] += f"  {text}"
        else:
            lines.append(text)
    return lines
