"""A chart in a widget: drawn anew only when its numbers, its size or the theme change."""

from collections.abc import Callable, Hashable
from typing import Any

from msgspec.structs import replace
from textual.app import App
from textual.strip import Strip
from textual.widget import Widget

from tui.charts.look import DARK, LIGHT, SIXTEEN, Lines, Look, glyphs_here

SMALLEST = (20, 6)
"""Columns and rows below which a chart says nothing."""


class Plot(Widget):
    """Shows the lines that a chart function draws."""

    Draw = Callable[[int, int], Lines]
    """From width and height in cells to lines."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw: Plot.Draw | None = None
        self._version: Hashable = None
        self._drawn_for: Hashable = None
        self._strips: list[Strip] = []

    def show(self, draw: Draw, version: Hashable) -> None:
        """Show what `draw` draws; as long as `version` is the same, so is the chart."""
        self._draw = draw
        if version != self._version:
            self._version = version
            self.refresh()

    def render_line(self, y: int) -> Strip:
        wanted = (self._version, self.size, self.app.theme)
        if wanted != self._drawn_for:
            self._drawn_for = wanted
            self._strips = self._make_strips()
        strip = self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)
        return strip.apply_style(self.rich_style)

    def _make_strips(self) -> list[Strip]:
        width, height = self.size
        if self._draw is None or width < SMALLEST[0] or height < SMALLEST[1]:
            return []
        return [Strip(line).adjust_cell_length(width) for line in self._draw(width, height)]


def look_of(app: App[Any]) -> Look:
    """The look that fits the app's theme and the terminal's font."""
    look = SIXTEEN if app.native_ansi_color else DARK if app.current_theme.dark else LIGHT
    return replace(look, glyphs=glyphs_here())
