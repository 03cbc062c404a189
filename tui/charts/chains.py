"""Novelty and coherence along chains, idea by idea, with the thresholds as lines that a person can move."""

import math
from typing import Literal, get_args

from msgspec import Struct

from core.analysis.profiles import Chains, Series
from core.analysis.rescoring import Change
from tui.charts.axes import Area, Axis, Points, draw_axes, number, round_numbers
from tui.charts.canvas import Canvas, label
from tui.charts.look import Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, too_small
from tui.words import END_WORDS

Measure = Literal["embedding_novelty", "judged_novelty", "coherence"]

NAMES: dict[Measure, str] = {
    "embedding_novelty": "novelty by embedding",
    "judged_novelty": "novelty as judged",
    "coherence": "coherence",
}

HIGHEST: dict[Measure, float] = {"embedding_novelty": 1.0, "judged_novelty": 1.0, "coherence": 100.0}

MOST = 5
"""Chains on one chart."""

LEAST_NOVELTY = 0.3
"""At which the axis ends, or above."""

LEAST_ROWS = 9
"""Of one panel; where there are fewer for each there is one."""


class Panel(Struct, frozen=True):
    """Where one measure is drawn: its rows begin with the name of the measure, and end with the ticks."""

    measure: Measure
    top: int
    rows: int
    high: float
    """The end of its axis, which begins at 0."""

    def row(self, value: float) -> int:
        """Of the chart."""
        return self.top + self.rows - 3 - round((self.rows - 4) * min(value / self.high, 1.0))

    def value(self, row: int) -> float:
        """What a row of the chart stands for."""
        share = (self.top + self.rows - 3 - row) / max(self.rows - 4, 1)
        return min(max(share, 0.0), 1.0) * self.high


def panels(chains: Chains, width: int, height: int, measure: Measure) -> list[Panel]:
    """One for each measure, or only that of `measure` where there is no room for all; none where a table is shown."""
    measures = measured(chains)
    if too_small(width, height) or not measures:
        return []
    top = min(len(chains.series), MOST)
    room = height - top
    shown = measures if room // len(measures) >= LEAST_ROWS else [measure if measure in measures else measures[0]]
    found = []
    for place, each in enumerate(shown):
        rows = room // len(shown) + (place < room % len(shown))
        found.append(Panel(each, top, rows, _highest(chains, each)))
        top += rows
    return found


def measured(chains: Chains) -> list[Measure]:
    """Of what there is any number."""
    return [
        measure
        for measure in get_args(Measure)
        if any(value is not None for series in chains.series for value in getattr(series, measure))
    ]


def draw_chains(
    chains: Chains,
    thresholds: Change,
    width: int,
    height: int,
    look: Look,
    *,
    measure: Measure = "embedding_novelty",
    at: int | None = None,
) -> Lines:
    """A panel a measure; marks differ by chain. Of the threshold of `measure` the line is double.

    `at` is the number of an idea of the first chain that is pointed out.

    Ideas that fall behind one of the `thresholds` are in another colour; those that came after the end are dots. A
    threshold that is None is not drawn.
    """
    shown = panels(chains, width, height, measure)
    if not shown:
        return draw_sheet(chains_sheet(chains), width, height, look)
    canvas = Canvas(width, height)
    series = zip(chains.series, look.glyphs.marks[:MOST], look.series, strict=False)
    for row, (each, mark, color) in enumerate(series):
        same = row > 0 and each.question == chains.series[row - 1].question
        canvas.write(0, row, _legend(each, mark, width, asks=not same), paint(color))
    for panel in shown:
        drawn, area = _draw_panel(chains, thresholds, panel, width, look, chosen=panel.measure == measure)
        _point_out(drawn, area, chains.series[0], panel, at, look)
        canvas.paste(drawn, 0, panel.top)
    return canvas.lines()


def chains_sheet(chains: Chains) -> Sheet:
    return Sheet(
        ("model", "question", "idea", "embedding novelty", "judged novelty", "coherence", "failed", "counted"),
        tuple(
            (
                series.model,
                series.question,
                number,
                series.embedding_novelty[place],
                series.judged_novelty[place],
                series.coherence[place],
                "yes" if series.failed[place] else "no",
                "yes" if series.counted[place] else "no",
            )
            for series in chains.series
            for place, number in enumerate(series.numbers)
        ),
    )


def _draw_panel(
    chains: Chains, thresholds: Change, panel: Panel, width: int, look: Look, *, chosen: bool
) -> tuple[Canvas, Area]:
    threshold: float | None = getattr(thresholds, panel.measure)
    last = max([series.numbers[-1] for series in chains.series if series.numbers], default=1)
    x = Axis(1.0, max(last, 10.0), round_numbers(0.0, max(last, 10.0), width // 12)[1:])
    y = Axis(0.0, panel.high, round_numbers(0.0, panel.high, max(panel.rows // 4, 2)), NAMES[panel.measure])
    canvas, area = draw_axes(_points(chains, panel.measure, threshold, look), x, y, width, panel.rows, look)
    if threshold is None:
        return canvas, area
    color = look.accent if chosen else look.muted
    row = panel.row(threshold) - panel.top
    for column in range(area.left, area.left + area.width):
        if canvas.is_free(column, row):
            canvas.write(column, row, "═" if chosen else "─", paint(color))
    least = f" {'more than' if panel.measure == 'coherence' else 'at least'} {number(threshold)} "
    canvas.write_right(width, max(row - 1, 1), least, paint(color, bold=chosen))
    return canvas, area


def _point_out(canvas: Canvas, area: Area, series: Series, panel: Panel, at: int | None, look: Look) -> None:
    if at not in series.numbers:
        return
    value: float | None = getattr(series, panel.measure)[series.numbers.index(at)]
    if value is not None and area.holds(at, value):
        canvas.write(*area.cell(at, value), look.glyphs.mean, paint(look.accent, bold=True))


def _highest(chains: Chains, measure: Measure) -> float:
    """The end of the axis. The novelty of first ideas is 1 by definition, and would press the others together."""
    if measure == "coherence":
        return HIGHEST[measure]
    later: list[float] = [
        value for series in chains.series for value in getattr(series, measure)[1:] if value is not None
    ]
    return min(max([*later, LEAST_NOVELTY]) * 1.05, HIGHEST[measure])


def _points(chains: Chains, measure: Measure, threshold: float | None, look: Look) -> list[Points]:
    """Of each chain, the first one on top: ideas that pass by this measure, those that don't, those after its end."""
    drawn = []
    for series, mark, color in reversed(list(zip(chains.series[:MOST], look.glyphs.marks, look.series, strict=False))):
        seen = [
            (float(number), float(value), counted)
            for number, value, counted in zip(series.numbers, getattr(series, measure), series.counted, strict=True)
            if value is not None and math.isfinite(value)
        ]
        clipped = [(x, min(max(y, 0.0), HIGHEST[measure]), counted) for x, y, counted in seen]
        kinds = (
            ([(x, y) for x, y, counted in clipped if not counted], ".", look.muted),
            ([(x, y) for x, y, counted in clipped if counted and not fails(measure, y, threshold)], mark, color),
            ([(x, y) for x, y, counted in clipped if counted and fails(measure, y, threshold)], mark, look.bad),
        )
        drawn += [Points([x for x, _ in at], [y for _, y in at], kind, color) for at, kind, color in kinds if at]
    return drawn


def fails(measure: Measure, value: float, threshold: float | None) -> bool:
    """As `core.rules.judge` has it: coherence at the threshold fails, novelty at it passes."""
    if threshold is None:
        return False
    return value <= threshold if measure == "coherence" else value < threshold


def _legend(series: Series, mark: str, width: int, *, asks: bool) -> str:
    ended = END_WORDS.get(series.ended, series.ended)
    counts = f"{series.responses} ideas, {series.valid} valid, ended by {ended}"
    name = f"{mark} {label(series.model, 24)}: {counts}"
    return f"{name}   {label(series.question, max(width - len(name) - 3, 0))}" if asks else name
