"""The proposals being written: one pane a member, side by side, or one at a time where there is no room."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.cells import cut, fill, wrap

KEPT = 4000
"""Characters of text that are looked at: more than any pane shows."""

WIDE = 100
"""Columns from which panes stand beside each other; with less there is one pane, with tabs."""

NARROWEST = 20
"""Columns of a pane beside others; the same with less for each."""


class Pane(Struct, frozen=True):
    title: str
    text: str = ""
    from_start: bool = False
    """Whether its beginning is shown, as of something to read; else its end, as of something that grows."""


class Panes(Widget):
    """Shows the ends of growing texts. What has not changed is not painted again."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"panes--title"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._panes: Sequence[Pane] = ()
        self._selected = 0
        self._columns: list[list[str]] = []
        """The lines of each column, each as wide as its column."""

    def show(self, panes: Sequence[Pane]) -> None:
        self._panes = panes
        self._lay_out()

    def turn(self, by: int) -> None:
        """Where one pane is shown at a time: another one."""
        self._selected += by
        self._lay_out()

    @property
    def tabbed(self) -> bool:
        """Whether there is no room for panes beside each other."""
        width = self.size.width
        return len(self._panes) > 1 and width > 0 and (width < WIDE or width // len(self._panes) < NARROWEST)

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width, height = self.size
        if not height:
            return
        before, self._columns = self._columns, self._columns_now(width, height)
        if [len(column) and len(column[0]) for column in before] != [len(column[0]) for column in self._columns]:
            self.refresh()
            return
        x = 0
        for old, new in zip(before, self._columns, strict=True):
            for y, line in enumerate(new):
                if y >= len(old) or old[y] != line:
                    self.refresh(Region(x, y, len(line), 1))
            x += len(new[0])

    def _columns_now(self, width: int, height: int) -> list[list[str]]:
        panes = self._panes
        if len(panes) < 2:
            return [_lines(panes[0], width, height) if panes else [" " * width] * height]
        if self.tabbed:
            selected = self._selected % len(panes)
            tabs = "  ".join(f"[{p.title}]" if n == selected else p.title for n, p in enumerate(panes))
            return [[fill(tabs, width), *_lines(panes[selected], width, height - 1)]]
        shares = [width // len(panes) + (place < width % len(panes)) for place in range(len(panes))]
        return [
            [f"{fill(cut(pane.title, room - 2), room - 2)}  ", *_lines(pane, room - 2, height - 1, spare=2)]
            for pane, room in zip(panes, shares, strict=True)
        ]

    def render_line(self, y: int) -> Strip:
        titled = len(self._panes) > 1 and y == 0
        style = self.get_component_rich_style("panes--title", partial=True) if titled else Style()
        text = "".join(column[y] for column in self._columns if y < len(column))
        width = self.size.width
        return Strip([Segment(fill(text, width), Style(color=style.color))], width).apply_style(self.rich_style)


def _lines(pane: Pane, width: int, height: int, spare: int = 0) -> list[str]:
    """`height` lines of a pane's text, each `width` cells and `spare` empty ones."""
    lines = _first(pane.text, width, height) if pane.from_start else _last(pane.text, width, height)
    lines += [""] * (height - len(lines))
    return [fill(line, width) + " " * spare for line in lines]


def _first(text: str, width: int, height: int) -> list[str]:
    lines = wrap(text[:KEPT], width)
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], cut(lines[height - 1] + " " * width, width)]


def _last(text: str, width: int, height: int) -> list[str]:
    return wrap(text[-KEPT:], width)[-height:] if text else []
