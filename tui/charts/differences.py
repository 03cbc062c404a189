"""Two selections side by side: how many more ideas a question the one had than the other."""

from collections.abc import Callable

from core.analysis.profiles import Differences
from tui.charts.axes import axis
from tui.charts.bars import Bars, Column, draw_bars, rows_wanted
from tui.charts.canvas import Canvas, label
from tui.charts.look import Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, too_small
from tui.charts.winners import draw_interval
from tui.charts.words import leaf_name, signed


def draw_differences(differences: Differences, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """Right of the line the kept selection had more, left of it the present one."""
    if too_small(width, height) or not differences.rows:
        return draw_sheet(differences_sheet(differences), width, height, look)
    return draw_bars(_bars(differences, look), width, height, look, focus).lines()


def differences_rows(differences: Differences, look: Look) -> int:
    """Lines that it takes to show all."""
    return rows_wanted(_bars(differences, look))


def differences_sheet(differences: Differences) -> Sheet:
    return Sheet(
        ("name", "questions", "kept", "now", "difference", "low", "high"),
        tuple(
            (row.name, row.questions, row.one, row.other, row.difference.value, row.difference.low, row.difference.high)
            for row in differences.rows
        ),
    )


def _fit_words(differences: Differences) -> str:
    """The line through the origin, question by question."""
    r = "" if differences.r is None else f"   r {differences.r:.3f}"
    return f"kept = {differences.slope:.3f} now{r}".replace("-", "−")


def _bars(differences: Differences, look: Look) -> Bars:
    rows = differences.rows
    ends = [
        end
        for row in rows
        for end in (row.difference.value, row.difference.low, row.difference.high)
        if end is not None
    ]
    reach = max(map(abs, [*ends, 1.0]))

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        difference = rows[place].difference
        canvas.write(at(0), y, "│", paint(look.muted))
        color = look.good if difference.above_zero else look.bad if difference.below_zero else look.muted
        draw_interval(canvas, y, difference, at, look, color)

    return Bars(
        title="Kept less now",
        names=tuple(label(leaf_name(row.name), 60) for row in rows),
        columns=(
            Column("difference", tuple(signed(row.difference) for row in rows)),
            Column("kept", tuple(f"{row.one:.1f}" for row in rows)),
            Column("now", tuple(f"{row.other:.1f}" for row in rows)),
            Column("n", tuple(str(row.questions) for row in rows)),
        ),
        scale=axis([-reach, reach]),
        draw=draw,
        foot=(_fit_words(differences), "an interval across the line may as well be chance"),
    )
