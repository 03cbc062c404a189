"""Ideas on their first two principal components: alike is near."""

from collections import Counter
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.analysis.profiles import Map, Place
from tui.charts.axes import Area, axis, draw_axes
from tui.charts.canvas import Canvas, label
from tui.charts.look import COLORLESS, Color, Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, too_small

By = Literal["author", "seed", "verdict"]

NO_SEED = "no seed"
OTHERS = "others"


CROWD = 3
"""Ideas a cell, on average over those that have any, beyond which marks would only hide each other."""


class Drawn(Struct, frozen=True):
    """A chart, and where the numbers stand on it; None where a table is shown."""

    lines: Lines
    area: Area | None


def draw_map(ideas: Map, width: int, height: int, look: Look, *, by: By = "author", chosen: int | None = None) -> Drawn:
    """A mark a group; `chosen` is the place of one idea that is pointed out.

    Where marks would hide each other, shades say how many ideas there are, and marks only where a group stands out.
    """
    if too_small(width, height) or not ideas.places:
        return Drawn(draw_sheet(map_sheet(ideas), width, height, look), None)
    groups = _groups(ideas, by, look)
    spots = _spots(ideas)
    low, high = spots.min(axis=0), spots.max(axis=0)
    x, y = (axis([low[place], high[place]], _component(ideas, place), from_zero=False) for place in (0, 1))
    legend = _legend(groups, by, width)
    canvas = Canvas(width, height)
    plot, area = draw_axes([], x, y, width, height - len(legend) - 1, look)
    cells = _cells(spots, area)
    crowded = len(cells) > CROWD * len(np.unique(cells, axis=0))
    if crowded:
        _shade(plot, groups, cells, look)
    else:
        for group in groups:
            _scatter(plot, group, cells)
    if chosen is not None:
        column, row = cells[chosen].tolist()
        plot.write(column, row, look.glyphs.mean, paint(look.accent, bold=True))
    canvas.paste(plot, 0, len(legend))
    for row, words in enumerate(legend):
        at = 0
        for text, color in words:
            canvas.write(at, row, text, paint(color))
            at += len(text) + 2
    foot = f"{len(ideas.places):,} ideas" + (f", {ideas.left_out:,} without a vector" if ideas.left_out else "")
    foot += "   shade: how many   mark: twice a group's share" if crowded else ""
    if chosen is None:
        canvas.write(0, height - 1, label(foot, width), paint(look.muted))
    else:
        canvas.write(0, height - 1, label(_about(ideas.places[chosen]), width), paint(look.accent))
    area = Area(area.left, area.top + len(legend), area.width, area.height, area.x, area.y)
    return Drawn(canvas.lines(), area)


def map_sheet(ideas: Map) -> Sheet:
    return Sheet(
        ("model", "question", "idea", "author", "x", "y", "verdict", "seed"),
        tuple(
            (each.model, each.question, each.number, each.author, each.x, each.y, each.verdict, each.seed)
            for each in ideas.places
        ),
    )


def nearest(ideas: Map, width: int, height: int, column: int, row: int, *, by: By = "author") -> int | None:
    """The idea nearest to a cell of the chart; None where there is no chart."""
    area = draw_map(ideas, width, height, COLORLESS, by=by).area
    if area is None:
        return None
    cells = _cells(_spots(ideas), area)
    return int(np.argmin((cells[:, 0] - column) ** 2 + (2 * (cells[:, 1] - row)) ** 2))


def beside(ideas: Map, chosen: int, right: int, up: int) -> int:
    """The nearest idea in a direction, or the same where there is none: one that lies more along it than across."""
    at = _spots(ideas)
    away = at - at[chosen]
    spread = np.ptp(at, axis=0)
    away = away / np.where(spread > 0, spread, 1)
    along = away @ np.array([right, up])
    across = np.abs(away @ np.array([up, right]))
    distance = np.where((along > 1e-9) & (across <= along), along + across, np.inf)
    best = int(np.argmin(distance))
    return best if np.isfinite(distance[best]) else chosen


class _Group(Struct, frozen=True):
    name: str
    members: NDArray[np.int_]
    """Places of the ideas in it."""
    mark: str
    color: Color


def _groups(ideas: Map, by: By, look: Look) -> list[_Group]:
    """The largest first; what is in none of the five largest stands together."""
    names = [_group_of(place, by) for place in ideas.places]
    largest = [name for name, _ in Counter(names).most_common()]
    own = largest if len(largest) <= len(look.series) else [*largest[: len(look.series) - 1], OTHERS]
    numbers = {name: number for number, name in enumerate(own)}
    of = np.array([numbers.get(name, len(own) - 1) for name in names])
    styles = zip(look.glyphs.marks, look.series, strict=True)
    return [
        _Group(name, np.flatnonzero(of == number), *style)
        for (number, name), style in zip(enumerate(own), styles, strict=False)
    ]


def _group_of(place: Place, by: By) -> str:
    if by == "seed":
        return place.seed or NO_SEED
    return place.author if by == "author" else place.verdict


def _scatter(canvas: Canvas, group: _Group, cells: NDArray[np.int_]) -> None:
    style = paint(group.color)
    own = cells[group.members]
    for code in np.unique(own[:, 0] * canvas.height + own[:, 1]):
        column, row = divmod(int(code), canvas.height)
        canvas.write(column, row, group.mark, style)


def _shade(canvas: Canvas, groups: list[_Group], cells: NDArray[np.int_], look: Look) -> None:
    """How many ideas each cell has, as a shade; and the mark of the group that is most above its share there, if it is
    twice that."""
    code = cells[:, 0] * canvas.height + cells[:, 1]
    places, cell, total = np.unique(code, return_inverse=True, return_counts=True)
    named = [group for group in groups if group.name != OTHERS]
    own = np.array([np.bincount(cell[group.members], minlength=len(places)) for group in named])
    usual = np.array([[len(group.members) / len(cells)] for group in named]) * total
    over = np.where((own > 2) & (own > usual + 2 * np.sqrt(usual)), own / usual, 0.0)
    best = over.argmax(axis=0)
    shades = look.glyphs.shades[1:]
    level = np.ceil(np.sqrt(total / total.max()) * len(shades)).astype(np.int_) - 1
    for place, spot in enumerate(places.tolist()):
        column, row = divmod(spot, canvas.height)
        if over[best[place], place] >= 2:
            group = named[best[place]]
            canvas.write(column, row, group.mark, paint(group.color, bold=True))
        else:
            canvas.write(column, row, shades[level[place]], paint(look.muted))


def _spots(ideas: Map) -> NDArray[np.float64]:
    """Where the ideas are: (ideas, 2)."""
    return np.array([[place.x for place in ideas.places], [place.y for place in ideas.places]]).T


def _cells(spots: NDArray[np.float64], area: Area) -> NDArray[np.int_]:
    """Columns and rows on the canvas: (ideas, 2). Both axes have equal steps."""
    low = np.array([area.x.low, area.y.low])
    place = (spots - low) / (np.array([area.x.high, area.y.high]) - low)
    steps = np.floor(0.5 + place * np.array([area.width - 1, area.height - 1])).astype(np.int_)
    return np.stack([area.left + steps[:, 0], area.top + area.height - 1 - steps[:, 1]], axis=1)


def _component(ideas: Map, place: int) -> str:
    return f"component {place + 1}: {ideas.explained[place]:.0%} of the variance"


def _about(place: Place) -> str:
    seed = f", from the seed “{place.seed}”" if place.seed else ""
    return f"idea {place.number} by {place.author}, {place.verdict}{seed}"


def _legend(groups: list[_Group], by: By, width: int) -> list[list[tuple[str, Color]]]:
    """In as many lines as it takes, two at most."""
    lines: list[list[tuple[str, Color]]] = [[]]
    used = 0
    for group in groups:
        text = f"{group.mark} {label(group.name, 22)} {len(group.members)}"
        if used and used + len(text) + 2 > width:
            lines.append([])
            used = 0
        lines[-1].append((text, group.color))
        used += len(text) + 2
    return lines[:2]
