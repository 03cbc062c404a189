"""Who is best in each leaf and how sure that is; then the router that asks them, the best single model, and teams."""

from collections.abc import Callable

from core.analysis.intervals import Interval
from core.analysis.profiles import Winners
from tui.charts.axes import Axis, axis
from tui.charts.bars import Bars, Column, bars_begin, draw_bars, rows_wanted
from tui.charts.canvas import Canvas, label, stacked
from tui.charts.look import Color, Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, ends, too_small, with_ends
from tui.charts.words import in_brackets, leaf_name, signed

NOBODY = "No model answered the questions of all these leaves: there is no best one over all"


def draw_winners(winners: Winners, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """Two blocks of rows; `focus` is a leaf's name."""
    if too_small(width, height) or not winners.rows:
        return draw_sheet(winners_sheet(winners), width, height, look)
    leaves, contenders = _leaves(winners, look), _contenders(winners, look)
    if not winners.contenders:
        return draw_bars(leaves, width, height, look, leaf_name(focus)).lines()
    room = min(rows_wanted(contenders) + 1, max(height // 3, 4))
    above = min(rows_wanted(leaves), height - room)
    left = max(bars_begin(leaves, width), bars_begin(contenders, width))
    blocks = [
        draw_bars(leaves, width, above, look, leaf_name(focus), left),
        Canvas(width, 1),
        draw_bars(contenders, width, min(rows_wanted(contenders), height - above - 1), look, left=left),
    ]
    return stacked(blocks, width).lines()


def winners_rows(winners: Winners, look: Look) -> int:
    """Lines that it takes to show all."""
    over_all = 1 + rows_wanted(_contenders(winners, look)) if winners.contenders else 0
    return rows_wanted(_leaves(winners, look)) + over_all


def winners_sheet(winners: Winners) -> Sheet:
    """What is ahead of what: a leaf's best of its next, a contender of the best single model."""
    leaves = [
        (leaf_name(row.leaf), row.model, *ends(row.mean), row.sure, row.runner_up, *ends(row.lead))
        for row in winners.rows
    ]
    over_all = [(row.kind, row.name, *ends(row.mean), None, None, *ends(row.over_single)) for row in winners.contenders]
    columns = ("leaf", "best", "mean", "low", "high", "sure", "runner-up", *with_ends("ahead"))
    return Sheet(columns, (*leaves, *over_all))


def _leaves(winners: Winners, look: Look) -> Bars:
    rows = winners.rows

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        row = rows[place]
        draw_interval(canvas, y, row.mean, at, look, look.series[0])
        if row.best_single is not None and at(row.best_single) != at(row.mean.value):
            canvas.write(at(row.best_single), y, "│", paint(look.accent))

    return Bars(
        title="Best by leaf",
        names=tuple(leaf_name(row.leaf) for row in rows),
        columns=(
            Column("sure model", tuple(f"{row.sure:4.0%} {label(row.model, 22)}" for row in rows), words=True),
            Column("mean", tuple(f"{row.mean.value:.1f}" for row in rows)),
            Column("95 %", tuple(in_brackets(row.mean) for row in rows)),
            Column("next", tuple(label(row.runner_up, 22) for row in rows), words=True),
            Column("lead", tuple(signed(row.lead) for row in rows)),
        ),
        scale=_scale(winners),
        draw=draw,
        foot=_foot(winners),
    )


def _foot(winners: Winners) -> tuple[str, ...]:
    best = "│ the model that is best over all leaves" if winners.contenders else NOBODY
    left_out = ", ".join(leaf_name(leaf) for leaf in winners.left_out)
    return (best, f"left out, as no two models answered the same there: {left_out}") if left_out else (best,)


def _contenders(winners: Winners, look: Look) -> Bars:
    rows = winners.contenders
    colors = {"single": look.muted, "team": look.accent}

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        draw_interval(canvas, y, rows[place].mean, at, look, colors.get(rows[place].kind, look.series[0]))

    return Bars(
        title="Over all leaves",
        names=tuple(label(row.name, 26) for row in rows),
        columns=(
            Column("as", tuple(row.kind for row in rows), words=True),
            Column("mean", tuple(f"{row.mean.value:.1f}" for row in rows)),
            Column("n", tuple(str(row.questions) for row in rows)),
            Column("95 %", tuple(in_brackets(row.mean) for row in rows)),
            Column("over the best single", tuple(signed(row.over_single) for row in rows)),
        ),
        scale=_scale(winners),
        draw=draw,
    )


def _scale(winners: Winners) -> Axis:
    means = [row.mean for row in winners.rows] + [row.mean for row in winners.contenders]
    return axis([mean.high or mean.value for mean in means])


def draw_interval(
    canvas: Canvas, y: int, interval: Interval, at: Callable[[float], int], look: Look, color: Color
) -> None:
    """A mean, and from where to where it may be."""
    if interval.low is not None and interval.high is not None:
        canvas.write(at(interval.low), y, "═" * (at(interval.high) - at(interval.low) + 1), paint(color))
    canvas.write(at(interval.value), y, look.glyphs.mean, paint(color, bold=True))
