"""The time bar of a replay: where it is, and where something happened."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from core.store.replay import Mark

GLYPHS: dict[Mark, str] = {"failed": "×", "person": "|", "seed": "+"}


class TimeBar(Widget):
    """Click or drag to go somewhere."""

    DEFAULT_CSS = "TimeBar { height: 1; }"

    class Moved(Message):
        """`share` of the recording's length, 0 to 1."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self, marks: Sequence[tuple[float, Mark]], length: float, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._marks = marks
        self._length = max(length, 0.001)
        self._at = 0

    def show(self, seconds: float) -> None:
        at = self._column(seconds)
        if at != self._at:
            self._at = at
            self.refresh()

    def _column(self, seconds: float) -> int:
        return round(min(seconds / self._length, 1.0) * max(self.size.width - 1, 0))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        cells = ["━" if column <= self._at else "─" for column in range(width)]
        for seconds, kind in self._marks:
            cells[self._column(seconds)] = GLYPHS[kind]
        if self._at < width:
            cells[self._at] = "●"
        return Strip([Segment("".join(cells), Style())], width).apply_style(self.rich_style)

    def on_resize(self) -> None:
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._move(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._move(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def _move(self, event: events.MouseEvent) -> None:
        x = event.get_content_offset_capture(self).x
        self.post_message(self.Moved(min(max(x / max(self.size.width - 1, 1), 0.0), 1.0)))
