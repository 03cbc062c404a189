"""Models as points: one profile against another, and what a model spends against its score."""

from typing import Literal

from core.analysis.intervals import Interval
from core.analysis.profiles import Effort, Efforts, Scatter
from tui.charts.axes import Area, axis, draw_curve, log_axis
from tui.charts.canvas import Canvas, label
from tui.charts.labels import Named, draw_named
from tui.charts.look import Lines, Look
from tui.charts.sheet import Sheet, draw_sheet, ends, too_small, with_ends
from tui.charts.words import both_ends, said, with_interval

Spent = Literal["reasoning_tokens", "cost", "seconds"]

SPENT: dict[Spent, str] = {
    "reasoning_tokens": "reasoning tokens an idea",
    "cost": "dollars an idea",
    "seconds": "seconds an idea",
}


def draw_scatter(scatter: Scatter, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """With the line y = slope · x; the names of those farthest from it come first."""
    if too_small(width, height) or not scatter.points:
        return draw_sheet(scatter_sheet(scatter), width, height, look)
    points, slope = scatter.points, scatter.slope
    x = axis([point.x for point in points], label(scatter.x_name, width // 2), ticks=width // 12)
    y = axis(
        [_top(point.y, point.y_interval) for point in points], label(scatter.y_name, width // 2), ticks=height // 5
    )

    def line(canvas: Canvas, area: Area) -> None:
        end = min(x.high, y.high / slope) if slope > 0 else x.high
        draw_curve(canvas, area, [0.0, end], [0.0, min(end * slope, y.high)], look.accent, look)

    named = [
        Named(point.model, point.x, point.y, abs(point.y - slope * point.x), both_ends(point.y_interval))
        for point in points
    ]
    r = "" if scatter.r is None else f"   r {scatter.r:.3f}".replace("-", "−")
    foot = f"y = {slope:.3f} x{r}   n {scatter.n}"
    chosen = next((point for point in points if point.model == focus), None)
    if chosen:
        foot += f"   {label(focus, 24)} {chosen.x:.1f}, {with_interval(chosen.y_interval or Interval(chosen.y))}"
    return draw_named(named, x, y, width, height, look, focus=focus, foot=foot, under=line)


def scatter_sheet(scatter: Scatter) -> Sheet:
    return Sheet(
        ("model", scatter.x_name or "x", *with_ends(scatter.y_name or "y")),
        tuple((point.model, point.x, *ends(point.y_interval or Interval(point.y))) for point in scatter.points),
    )


def draw_efforts(
    efforts: Efforts, width: int, height: int, look: Look, focus: str = "", *, spent: Spent | None = None
) -> Lines:
    """What an idea takes, on a scale of logarithms, against the score. Models of which it is not known are left out.

    `spent` is on the x axis: by default the first of them that is known of a model.
    """
    by = spent or (known_spent(efforts) or ["reasoning_tokens"])[0]
    known = [row for row in efforts.rows if spent_by(row, by)]
    if too_small(width, height) or not known:
        return draw_sheet(efforts_sheet(efforts), width, height, look)
    x = log_axis([_amount(row, by) for row in known], SPENT[by])
    y = axis([_top(row.score.value, row.score) for row in known], "ideas a question", ticks=height // 5)
    r: float | None = getattr(efforts, f"r_{by}")
    foot = "" if r is None else f"rank correlation {r:.2f}   ".replace("-", "−")
    found = [row for row in efforts.rows if getattr(row, by) is not None]
    foot += f"n {len(found)}"
    if nothing := len(found) - len(known):
        foot += f", {nothing} of them at 0 and not drawn"
    if unknown := len(efforts.rows) - len(found):
        foot += f"   of {unknown} more it is not known"
    chosen = next((row for row in known if row.model == focus), None)
    if chosen:
        foot += f"   {label(focus, 24)} {said(spent_by(chosen, by))}, {with_interval(chosen.score)}"
    named = [
        Named(row.model, _amount(row, by), row.score.value, row.score.value, both_ends(row.score)) for row in known
    ]
    return draw_named(named, x, y, width, height, look, focus=focus, foot=foot)


def efforts_sheet(efforts: Efforts) -> Sheet:
    return Sheet(
        (
            *("model", "score", "low", "high"),
            *with_ends("reasoning tokens"),
            *with_ends("cost"),
            *with_ends("seconds"),
        ),
        tuple(
            (
                *(row.model, *ends(row.score)),
                *(value for spent in SPENT for value in ends(getattr(row, spent))),
            )
            for row in efforts.rows
        ),
    )


def known_spent(efforts: Efforts) -> list[Spent]:
    """What is known of any model."""
    return [spent for spent in SPENT if any(spent_by(row, spent) for row in efforts.rows)]


def spent_by(row: Effort, spent: Spent) -> Interval | None:
    """None where it is not known, or nothing: that has no place on a scale of logarithms."""
    found: Interval | None = getattr(row, spent)
    return found if found and found.value > 0 else None


def _top(value: float, interval: Interval | None) -> float:
    """How far up it may be."""
    ends_of_it = both_ends(interval)
    return ends_of_it[1] if ends_of_it else value


def _amount(row: Effort, spent: Spent) -> float:
    found = spent_by(row, spent)
    return found.value if found else 0.0
