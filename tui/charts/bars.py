"""Rows that are as many as the numbers: a name, columns of numbers, and a bar on a scale that all share."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.style import Style

from tui.charts.axes import Axis, number
from tui.charts.canvas import Canvas, label
from tui.charts.look import PLAIN_TEXT, Look, paint

NARROWEST_BAR = 16
LONGEST_NAME = 28


class Column(Struct, frozen=True):
    """A column of numbers, as they are said, or of words; columns that come later are left out first."""

    title: str
    values: tuple[str, ...]
    words: bool = False
    """Whether they begin under each other, instead of ending so."""

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.title, *self.values)))


class Bars(Struct, frozen=True):
    """`draw(row, canvas, y, place)` draws a row's bar; `place` gives a number's column."""

    title: str
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    scale: Axis
    draw: Callable[[int, Canvas, int, Callable[[float], int]], None]
    foot: tuple[str, ...] = ()
    """Lines below: left out where there is no room for three rows above them."""


def rows_shown(count: int, room: int, focus: int) -> range:
    """Which of `count` rows to show in `room` lines, so that the one in focus is among them."""
    if count <= room:
        return range(count)
    first = min(max(focus - room // 2, 0), count - room)
    return range(first, first + room)


def hidden_words(above: int, below: int) -> str:
    """How many rows are hidden on either side."""
    sides = ((above, f"↑ {above} more above"), (below, f"↓ {below} more below"))
    return "   ".join(words for count, words in sides if count)


def draw_bars(bars: Bars, width: int, height: int, look: Look, focus: str = "", left: int = 0) -> Canvas:
    """A heading with the scale, the rows, and what is hidden above and below. Bars begin at column `left` or later."""
    canvas = Canvas(width, height)
    muted = paint(look.muted)
    foot = bars.foot if height - 1 - len(bars.foot) >= min(len(bars.names), 3) else ()
    place = bars.names.index(focus) if focus in bars.names else 0
    room = height - 1 - len(foot)
    hidden = len(bars.names) > room
    shown = rows_shown(len(bars.names), room - hidden, place)
    name_width, columns = _layout(bars, width)
    left = max(left, bars_begin(bars, width))
    span = width - left - 1

    def at(value: float) -> int:
        return left + round(bars.scale.place(value) * (span - 1))

    canvas.write(0, 0, label(bars.title, name_width), muted)
    _write_columns(canvas, 0, name_width, columns, lambda column: column.title, muted)
    _write_ticks(canvas, bars.scale.ticks, at, look)
    for y, row in enumerate(shown, 1):
        chosen = bars.names[row] == focus
        style = paint(look.accent, bold=True) if chosen else PLAIN_TEXT
        canvas.write(0, y, label(bars.names[row], name_width), style)
        _write_columns(canvas, y, name_width, columns, lambda column, row=row: column.values[row], style)  # type: ignore[misc]
        bars.draw(row, canvas, y, at)
    if hidden:
        above, below = shown[0], len(bars.names) - 1 - shown[-1]
        canvas.write(0, height - 1 - len(foot), hidden_words(above, below), muted)
    for y, line in enumerate(foot, height - len(foot)):
        canvas.write(0, y, line, muted)
    return canvas


def rows_wanted(bars: Bars) -> int:
    """Lines that it takes to show all."""
    return 1 + len(bars.names) + len(bars.foot)


def bars_begin(bars: Bars, width: int) -> int:
    """The column at which bars begin."""
    names, columns = _layout(bars, width)
    return names + sum(column.width + 1 for column in columns) + 2


def _layout(bars: Bars, width: int) -> tuple[int, list[Column]]:
    """The width of the names, and the columns for which there is room beside a bar."""
    names = min(max(map(cell_len, (bars.title, *bars.names)), default=0), LONGEST_NAME, max(width // 3, 12))
    columns: list[Column] = []
    rest = width - names - 3 - max(NARROWEST_BAR, width // 3)
    for column in bars.columns:
        rest -= column.width + 1
        if rest < 0 and columns:
            break
        columns.append(column)
    return names, columns


def _write_columns(
    canvas: Canvas, y: int, left: int, columns: Sequence[Column], said: Callable[[Column], str], style: Style
) -> None:
    end = left
    for column in columns:
        end += column.width + 1
        if column.words:
            canvas.write(end - column.width, y, said(column), style)
        else:
            canvas.write_right(end, y, said(column), style)


def _write_ticks(canvas: Canvas, ticks: Sequence[float], at: Callable[[float], int], look: Look) -> None:
    """Each where there is room for it beside the one before."""
    end = 0
    for tick in ticks:
        said = number(tick)
        x = min(max(at(tick) - cell_len(said) // 2, 0), canvas.width - cell_len(said))
        if x >= end and canvas.is_free(x, 0, cell_len(said)):
            canvas.write(x, 0, said, paint(look.muted))
            end = x + cell_len(said) + 1
