"""A grid of terminal cells to draw on."""

from collections.abc import Iterable
from itertools import groupby

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from core.text import clean_line
from tui.charts.look import PLAIN_TEXT, Lines
from tui.widgets.cells import cut


class Canvas:
    """`width` × `height` cells, each a character and its style. What falls outside is not drawn."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._chars = [[" "] * width for _ in range(height)]
        """"" in the second cell of a wide character."""
        self._styles = [[PLAIN_TEXT] * width for _ in range(height)]
        self._dotted: set[tuple[int, int]] = set()
        """Cells of dots that nothing was written over."""

    def write(self, x: int, y: int, text: str, style: Style = PLAIN_TEXT) -> None:
        """`text` from column `x` of row `y` on, cut at the edge; control characters are left out."""
        if not 0 <= y < self.height or not 0 <= x < self.width:
            return
        chars, styles = self._chars[y], self._styles[y]
        for char in cut(text, self.width - x):
            width = cell_len(char)
            if not width:
                continue
            chars[x : x + width] = [char, *[""] * (width - 1)]
            styles[x : x + width] = [style] * width
            self._dotted.discard((x, y))
            x += width

    def write_right(self, end: int, y: int, text: str, style: Style = PLAIN_TEXT) -> None:
        """`text` so that it ends before column `end`."""
        self.write(max(end - cell_len(text), 0), y, text, style)

    def put_dots(self, x: int, y: int, char: str, style: Style) -> None:
        """A cell of dots, together with other dots that are there; under anything else."""
        there = self._chars[y][x]
        if there == " " or (x, y) in self._dotted:
            self._chars[y][x] = _together(there, char)
            self._styles[y][x] = style
            self._dotted.add((x, y))

    def is_free(self, x: int, y: int, width: int = 1) -> bool:
        """Whether nothing is drawn in `width` cells from column `x` on, all of them on the canvas."""
        inside = 0 <= y < self.height and x >= 0 and x + width <= self.width
        return inside and all(char == " " for char in self._chars[y][x : x + width])

    def paste(self, other: "Canvas", x: int, y: int) -> None:
        """All of `other`, its upper left corner at `x`, `y`, as far as there is room."""
        width = min(other.width, self.width - x)
        for row in range(min(other.height, self.height - y)):
            self._chars[y + row][x : x + width] = other._chars[row][:width]  # noqa: SLF001
            self._styles[y + row][x : x + width] = other._styles[row][:width]  # noqa: SLF001

    def lines(self) -> Lines:
        """As rows of segments, one wherever the style changes."""
        return [
            [
                Segment("".join(char for char, _ in run), style)
                for style, run in groupby(zip(chars, styles, strict=True), key=lambda cell: cell[1])
            ]
            for chars, styles in zip(self._chars, self._styles, strict=True)
        ]


def _together(there: str, char: str) -> str:
    """Two cells of dots in one: braille adds up, bit by bit (Unicode, U+2800); so do an upper and a lower dot."""
    if there in (" ", char):
        return char
    return chr(ord(there) | ord(char)) if ord(char) >= 0x2800 else ":"


def label(text: str, width: int) -> str:
    """A name from outside as a chart can show it: on one line, in at most `width` cells."""
    return cut(clean_line(text), width)


def stacked(canvases: Iterable[Canvas], width: int) -> Canvas:
    """One below the other."""
    parts = list(canvases)
    whole = Canvas(width, sum(part.height for part in parts))
    y = 0
    for part in parts:
        whole.paste(part, 0, y)
        y += part.height
    return whole
