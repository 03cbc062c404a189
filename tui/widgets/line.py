"""One line of text, with something at its right end."""

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.cells import cut, fill


class Line(Widget):
    """A line that is painted when it says something else than before. The right part is kept whole; the left is cut."""

    DEFAULT_CSS = "Line { height: 1; }"

    def __init__(self, left: str = "", right: str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._left = left
        self._right = right

    def show(self, left: str, right: str = "") -> None:
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        right = cut(self._right, width)
        room = width - cell_len(right) - (2 if right else 0)
        text = fill(self._left, room) + "  " * bool(right) + right if room > 0 else fill(right, width)
        return Strip([Segment(text, Style())], width).apply_style(self.rich_style)
