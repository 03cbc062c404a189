"""The idea being written: its last few lines, as plain text."""

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.cells import fill, wrap

KEPT = 4000
"""Characters of text that are looked at: more than any tail shows."""


class Tail(Widget):
    """Shows the end of a growing text. A line that has not changed is not painted again."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = ""
        self._lines: list[str] = []

    def show(self, text: str) -> None:
        self._text = text[-KEPT:]
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width, height = self.size
        if not height:
            return
        lines = wrap(self._text, width)[-height:] if self._text else []
        lines = [fill(line, width) for line in lines] + [" " * width] * (height - len(lines))
        before, self._lines = self._lines, lines
        for y, line in enumerate(lines):
            if y >= len(before) or before[y] != line:
                self.refresh(Region(0, y, width, 1))

    def render_line(self, y: int) -> Strip:
        text = self._lines[y] if y < len(self._lines) else ""
        return Strip([Segment(fill(text, self.size.width), Style())], self.size.width).apply_style(self.rich_style)
