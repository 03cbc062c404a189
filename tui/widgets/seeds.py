"""Seeds and other levers as a list: one line each, only the visible ones ever painted."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from core.levers import Lever, Seed
from core.text import clean_line
from tui.widgets.cells import fill
from tui.widgets.chain import bar

BAR_CELLS = 5

LEAST_ABOUT, MOST_ABOUT = 13, 21
"""Cells of what stands behind a name."""


class Row(Struct, frozen=True, kw_only=True):
    """Something that can be put into prompts."""

    name: str
    about: str = ""
    """Its field, or what kind of lever it is."""
    mark: str = " "
    """`*` for what a person has pinned or rated."""
    seed: Seed | None = None
    """None where a person has to type it, or the team to name it."""
    lever: Lever = "seed"


class SeedList(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows with a cursor on one of them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"seeds--cursor", "seeds--dim", "seeds--bar"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Inject", tooltip="Put it into the prompts from the next step on"),
        Binding("up", "move(-1)", "Up", show=False, tooltip="The one before"),
        Binding("down", "move(1)", "Down", show=False, tooltip="The one after"),
        Binding("pageup", "page(-1)", "Page up", show=False, tooltip="A page back"),
        Binding("pagedown", "page(1)", "Page down", show=False, tooltip="A page on"),
        Binding("home", "jump(0)", "First", show=False, tooltip="The first one"),
        Binding("end", "jump(-1)", "Last", show=False, tooltip="The last one"),
    ]

    class Highlighted(Message):
        """The cursor is on another row, or on none."""

    class Chosen(Message):
        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self._cursor = 0
        self._moved = False
        """Whether the person has moved the cursor: then it stays on its row."""
        self._nearest, self._farthest = 0.0, 1.0

    @property
    def selected(self) -> Row | None:
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    def show(self, rows: Sequence[Row], *, anew: bool) -> None:
        """Show `rows`; `anew` from the first one on, else the cursor stays on the row that the person chose."""
        kept = self.selected if self._moved and not anew else None
        self._rows = rows
        self._moved = kept is not None
        names = [row.name for row in rows]
        self._cursor = names.index(kept.name) if kept and kept.name in names else 0
        distances = [row.seed.distance for row in rows if row.seed and row.seed.distance is not None]
        self._nearest, self._farthest = min(distances, default=0.0), max(distances, default=1.0)
        self.virtual_size = Size(0, len(rows))
        self.refresh()
        self.call_after_refresh(self._show_cursor)
        self.post_message(self.Highlighted())

    # ── painting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def render_line(self, y: int) -> Strip:
        place = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        here = place == self._cursor
        style = self.get_component_rich_style("seeds--cursor") if here else self.rich_style
        pointer = Segment("›" if here and self.has_focus else " ", Style())
        bar_style = Style() if here else self._only_color("seeds--bar")  # in 16 colours both are the same
        return Strip([pointer, *self._segments(self._rows[place], width - 1, bar_style)], width).apply_style(style)

    def _segments(self, row: Row, width: int, bar_style: Style) -> list[Segment]:
        dim = self._only_color("seeds--dim")
        distance = row.seed.distance if row.seed else None
        number = "" if distance is None else f"{distance:.2f}".removeprefix("0")
        about = max(LEAST_ABOUT, min(width // 4, MOST_ABOUT))
        room = width - 2 - about - BAR_CELLS - 7
        return [
            Segment(f"{row.mark} ", dim),
            Segment(fill(clean_line(row.name, 2 * max(width, 1)), room), Style()),
            Segment(f" {fill(row.about, about)} ", dim),
            Segment(bar(self._far(distance), BAR_CELLS), bar_style),
            Segment(f"{number:>5}", dim),
        ]

    def _far(self, distance: float | None) -> float:
        """How far between the nearest and the farthest of the list, 0 to 1."""
        if distance is None or self._farthest <= self._nearest:
            return 0.0
        return (distance - self._nearest) / (self._farthest - self._nearest)

    def _only_color(self, component: str) -> Style:
        style = self.get_component_rich_style(component, partial=True)
        return Style(color=style.color, bold=style.bold, dim=style.dim)

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def action_move(self, rows: int) -> None:
        self._go(self._cursor + rows)

    def action_page(self, pages: int) -> None:
        self._go(self._cursor + pages * max(self.size.height - 1, 1))

    def action_jump(self, place: int) -> None:
        self._go(place if place >= 0 else len(self._rows) - 1)

    def action_choose(self) -> None:
        if self.selected:
            self.post_message(self.Chosen(self.selected))

    def on_click(self, event: events.Click) -> None:
        """One click shows a row, two choose it."""
        place = self.scroll_offset.y + event.y
        if place < len(self._rows):
            self._go(place)
            if event.chain == 2:
                self.action_choose()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _go(self, place: int) -> None:
        place = max(0, min(place, len(self._rows) - 1))
        if place != self._cursor:
            self._cursor = place
            self._moved = True
            self.refresh()
            self._show_cursor()
            self.post_message(self.Highlighted())

    def _show_cursor(self) -> None:
        if self.size.height:
            top = self.scroll_offset.y
            below = self._cursor - self.size.height + 1
            self.scroll_to(y=min(max(top, below), self._cursor), animate=False, immediate=True)
