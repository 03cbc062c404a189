"""A frame with ticks and points, drawn by plotext; and where in it a number stands."""

import math
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from tui.charts.canvas import Canvas
from tui.charts.dots import Dots
from tui.charts.look import Color, Look, paint

ALIKE = 1e-9
"""Relative difference of two numbers between which an axis can't be drawn."""

Spacing = Literal["even", "log", "log1p"]
"""Equal steps of a number, of its logarithm, or of ln(1 + number), which leaves room for 0."""

_ONTO: dict[Spacing, Callable[[float], float]] = {"even": float, "log": math.log, "log1p": math.log1p}
_BACK: dict[Spacing, Callable[[float], float]] = {"even": float, "log": math.exp, "log1p": math.expm1}


class Axis(Struct, frozen=True):
    """From `low` to `high`, with ticks at some numbers."""

    low: float
    high: float
    ticks: tuple[float, ...]
    name: str = ""
    spacing: Spacing = "even"

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high end; nothing lies outside."""
        onto = _ONTO[self.spacing]
        low, high = onto(self.low), onto(self.high)
        return (onto(min(max(value, self.low), self.high)) - low) / (high - low)

    def value(self, place: float) -> float:
        """The number at a place."""
        onto = _ONTO[self.spacing]
        low, high = onto(self.low), onto(self.high)
        return _BACK[self.spacing](low + place * (high - low))

    def holds(self, value: float) -> bool:
        return math.isfinite(value) and self.low <= value <= self.high


def axis(values: Sequence[float], name: str = "", *, ticks: int = 5, from_zero: bool = True) -> Axis:
    """One that holds the finite ones of `values`, with at most so many ticks."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = (min(0.0, *finite) if from_zero else min(finite)), max(finite)
    if high - low <= max(ALIKE * max(abs(low), abs(high)), 1e-300):
        reach = max(abs(high), 1.0)
        low, high = (low if from_zero else low - reach), high + reach
    margin = (high - low) * 0.04
    low, high = (low if from_zero else low - margin), high + margin
    return Axis(low, high, round_numbers(low, high, ticks), name)


def round_numbers(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most so many, if two at least, from `low` to `high`: multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(float(f"{place * step:.12g}") for place in range(first, last + 1))


def log_axis(values: Sequence[float], name: str = "") -> Axis:
    """One that holds those of `values` that are finite and above zero, with ticks at 1, 2 or 5 times powers of ten."""
    good = [value for value in values if math.isfinite(value) and value > 0] or [1.0, 10.0]
    margin = 1.1 if max(good) / min(good) > 4 else 2.0
    low, high = min(good) / margin, max(good) * margin
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = (1, 2, 5) if high / low < 200 else (1,)
    ticks = tuple(factor * 10.0**power for power in powers for factor in fine if low <= factor * 10.0**power <= high)
    return Axis(low, high, ticks, name, "log")


def count_axis(high: float, name: str = "", *, ticks: int = 6) -> Axis:
    """For counts, from 0: few long chains leave room for the rest."""
    high = max(high, 1.0)
    fine = [0.0, *(factor * 10.0**power for power in range(7) for factor in (1, 2, 5))]
    marks = [tick for tick in fine if tick <= high]
    if len(marks) > ticks:
        marks = [tick for tick in marks if tick == 0 or math.log10(tick).is_integer()]
    return Axis(0.0, high, tuple(marks), name, "log1p")


def number(value: float) -> str:
    """In few characters: 1200 as 1.2k, 0.25 as .25."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g}M"
    if abs(value) >= 1000:
        return f"{value / 1000:.3g}k"
    said = f"{value:.3g}".replace("-", "−")
    return said.replace("0.", ".", 1) if abs(value) < 1 else said


class Points(Struct, frozen=True):
    """Some of one kind, with a mark of their own."""

    x: Sequence[float]
    y: Sequence[float]
    mark: str
    color: Color


class Area(Struct, frozen=True):
    """Where on a canvas the numbers of two axes stand."""

    left: int
    top: int
    width: int
    height: int
    x: Axis
    y: Axis

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Column and row on the canvas."""
        return self.left + self.column(x), self.top + self.row(y)

    def column(self, x: float) -> int:
        """Within the area, rounded as plotext does."""
        return math.floor(0.5 + (self.width - 1) * self.x.place(x))

    def row(self, y: float) -> int:
        return self.height - 1 - math.floor(0.5 + (self.height - 1) * self.y.place(y))

    def holds(self, x: float, y: float) -> bool:
        return self.x.holds(x) and self.y.holds(y)


def draw_axes(points: Sequence[Points], x: Axis, y: Axis, width: int, height: int, look: Look) -> tuple[Canvas, Area]:
    """The y axis' name is above, the x axis' below. Points that are not finite, or outside, are left out.

    plotext draws the axes; points are put on them cell by cell, and curves in dots: six of its own take it 60 ms.
    """
    canvas = Canvas(width, height)
    top = bool(y.name)
    rows = _plotted(x, y, width, height - top - bool(x.name))
    muted = paint(look.muted)
    for row, line in enumerate(rows):
        canvas.write(0, row + top, line, muted)
    corner = next(row for row, line in enumerate(rows) if "└" in line)
    left = rows[corner].index("└") + 1
    area = Area(left, top, width - left, corner, x, y)
    canvas.write(0, 0, y.name, muted)
    if x.name:
        canvas.write_right(width, height - 1, x.name, muted)
    for series in points:
        style = paint(series.color)
        for spot in zip(series.x, series.y, strict=True):
            if area.holds(*spot):
                canvas.write(*area.cell(*spot), series.mark, style)
    return canvas, area


def draw_curve(canvas: Canvas, area: Area, x: Sequence[float], y: Sequence[float], color: Color, look: Look) -> None:
    """Through points in order, under what is there; a number that is not finite, or not on its axis, is a gap."""
    dots = Dots(area.width, area.height)
    seen = [(area.x.holds(a) and area.y.holds(b)) for a, b in zip(x, y, strict=True)]
    dots.curve(
        [area.x.place(a) * (area.width - 1) + 0.5 if there else math.nan for a, there in zip(x, seen, strict=True)],
        [
            (1 - area.y.place(b)) * (area.height - 1) + 0.5 if there else math.nan
            for b, there in zip(y, seen, strict=True)
        ],
    )
    dots.draw(canvas, area.left, area.top, paint(color), braille=look.glyphs.braille)


def _plotted(x: Axis, y: Axis, width: int, height: int) -> list[str]:
    """Axes with ticks, without colours. plotext has one figure a process: not re-entrant."""
    import plotext

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)
    plotext.plotsize(width, height)
    plotext.xaxes(True, False)
    plotext.yaxes(True, False)
    plotext.xlim(0, 1)
    plotext.ylim(0, 1)
    plotext.xticks([x.place(tick) for tick in x.ticks], [number(tick) for tick in x.ticks])
    plotext.yticks([y.place(tick) for tick in y.ticks], [number(tick) for tick in y.ticks])
    plotext.scatter([0], [0], marker=" ")  # without any point there are no axes
    lines: list[str] = plotext.uncolorize(plotext.build()).splitlines()
    plotext.clear_figure()
    return lines
