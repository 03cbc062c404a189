"""Numbers as a table: where a chart has no room, and what CSV is written from."""

import math

from msgspec import Struct
from rich.cells import cell_len

from core.analysis.intervals import Interval
from tui.charts.canvas import Canvas, label
from tui.charts.look import Lines, Look, paint

SMALLEST = (40, 10)
"""Columns and rows below which a chart is shown as a table."""

Value = str | float | int | None


class Sheet(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    """The first value of each is its name."""


def with_ends(column: str) -> tuple[str, str, str]:
    """The headings of a value and of where it is in 95 of 100 cases."""
    return column, f"{column} low", f"{column} high"


def ends(interval: Interval | None) -> tuple[float | None, float | None, float | None]:
    """What stands below these."""
    return (None, None, None) if interval is None else (interval.value, interval.low, interval.high)


def too_small(width: int, height: int) -> bool:
    return width < SMALLEST[0] or height < SMALLEST[1]


def draw_sheet(sheet: Sheet, width: int, height: int, look: Look) -> Lines:
    """As many rows and columns as there is room for; says how many rows are left out."""
    canvas = Canvas(width, height)
    cells = [sheet.columns, *([_said(value) for value in row] for row in sheet.rows)]
    widths = [max(cell_len(row[place]) for row in cells) for place in range(len(sheet.columns))]
    names = max(min(widths[0], width - sum(w + 2 for w in widths[1:])), min(widths[0], 12))
    shown = cells if len(cells) <= height else cells[: max(height - 1, 1)]
    for y, row in enumerate(shown):
        style = paint(look.muted) if y == 0 else paint("default")
        canvas.write(0, y, label(row[0], names), style)
        end = names
        for value, room in zip(row[1:], widths[1:], strict=True):
            end += 2 + room
            if end > width:
                break
            canvas.write_right(end, y, value, style)
    if len(shown) < len(cells):
        canvas.write(0, height - 1, f"and {len(cells) - len(shown)} more", paint(look.muted))
    return canvas.lines()


def _said(value: Value) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return "–" if not math.isfinite(value) else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)
