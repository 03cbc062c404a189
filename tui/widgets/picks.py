"""A list to include things from, and to go into them: one line each, with a number at its end."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from core.text import clean_line
from tui.selection import Row
from tui.widgets.cells import cut, fill

BOX = 5
"""Cells of the pointer and the box."""


class Picks(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows with boxes. Only visible ones are painted."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"picks--cursor", "picks--out", "picks--number"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "open", "Into", tooltip="From a model to its leaves, their questions, their chains, their ideas"
        ),
        Binding("space", "include", "Include", show=False, tooltip="Include it in the chart, or not"),
        Binding("up,k", "move(-1)", "Up", show=False, tooltip="The row before"),
        Binding("down,j", "move(1)", "Down", show=False, tooltip="The row after"),
        Binding("pageup", "page(-1)", "Page up", show=False, tooltip="A page back"),
        Binding("pagedown", "page(1)", "Page down", show=False, tooltip="A page on"),
        Binding("home", "jump(0)", "First", show=False, tooltip="The first row"),
        Binding("end", "jump(-1)", "Last", show=False, tooltip="The last row"),
    ]

    class Highlighted(Message):
        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    class Opened(Message):
        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    class Toggled(Message):
        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self._cursor = 0

    def show(self, rows: Sequence[Row], at: str | None = None) -> None:
        """Show `rows`, the cursor on the one named `at`, or else on that which it was on, if it is still there."""
        before = self.selected
        name = at if at is not None else before.name if before else None
        self._rows = rows
        self._cursor = next((place for place, row in enumerate(rows) if row.name == name), 0)
        self.virtual_size = Size(0, len(rows))
        self.refresh()
        self.call_after_refresh(self._show_cursor)

    @property
    def selected(self) -> Row | None:
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    def render_line(self, y: int) -> Strip:
        place = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[place]
        on_cursor = place == self._cursor
        box = "" if row.included is None else "[x] " if row.included else "[ ] "
        head = f"{'›' if on_cursor else ' '}{box}"
        said = cut(row.said, max(width - len(head) - 4, 0))
        room = max(width - len(head) - len(said) - 1, 1)
        segments = [
            Segment(head, Style()),
            Segment(fill(row.text or clean_line(row.name, 2 * room), room), self._color("out", row.included is False)),
            Segment(f" {said}", self._color("number")),
        ]
        style = self.get_component_rich_style("picks--cursor") if on_cursor and self.has_focus else self.rich_style
        return Strip(segments).adjust_cell_length(width).apply_style(style)

    def _color(self, component: str, wanted: bool = True) -> Style:
        return (
            Style(color=self.get_component_rich_style(f"picks--{component}", partial=True).color) if wanted else Style()
        )

    def _show_cursor(self) -> None:
        if self.size.height:
            self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False, immediate=True)

    def _go(self, place: int) -> None:
        place = max(0, min(place, len(self._rows) - 1))
        if place != self._cursor:
            self._cursor = place
            self.refresh()
            self._show_cursor()
            if self.selected:
                self.post_message(self.Highlighted(self.selected))

    def action_move(self, rows: int) -> None:
        self._go(self._cursor + rows)

    def action_page(self, pages: int) -> None:
        self._go(self._cursor + pages * max(self.size.height - 1, 1))

    def action_jump(self, place: int) -> None:
        self._go(place if place >= 0 else len(self._rows) - 1)

    def action_open(self) -> None:
        if self.selected:
            self.post_message(self.Opened(self.selected))

    def action_include(self) -> None:
        if self.selected and self.selected.included is not None:
            self.post_message(self.Toggled(self.selected))

    def on_click(self, event: events.Click) -> None:
        """One click on a box includes or leaves out; one elsewhere shows a row, two go into it."""
        place = self.scroll_offset.y + event.y
        if place >= len(self._rows):
            return
        self._go(place)
        if event.x < BOX and self._rows[place].included is not None:
            self.action_include()
        elif event.chain == 2:
            self.action_open()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
