"""Ribbons: from the fewest to the most ideas that a model had for a question, with the mean and its interval."""

from collections.abc import Callable

from core.analysis.profiles import Ribbon, Ribbons
from tui.charts.axes import count_axis
from tui.charts.bars import Bars, Column, draw_bars, rows_wanted
from tui.charts.canvas import Canvas
from tui.charts.look import Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, ends, too_small, with_ends
from tui.charts.words import in_brackets, leaf_name

LEGEND = "├┤ fewest to most   ● mean  ═ its 95 % interval   │ median"


def name_of(row: Ribbon, *, of_one_model: bool) -> str:
    """What a ribbon is about: the model, or the part of the questions that it is confined to."""
    part = row.question or (row.leaf and leaf_name(row.leaf)) or row.domain
    if part is None:
        return row.model
    return part if of_one_model else f"{row.model} {part}"


def draw_ribbons(ribbons: Ribbons, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """One row each, on a scale of ln(1 + ideas); `focus` is the name of the row that a person has chosen."""
    if too_small(width, height) or not ribbons.rows:
        return draw_sheet(ribbons_sheet(ribbons), width, height, look)
    return draw_bars(_bars(ribbons, look), width, height, look, focus).lines()


def ribbons_rows(ribbons: Ribbons, look: Look) -> int:
    """Lines that it takes to show all."""
    return rows_wanted(_bars(ribbons, look))


def ribbons_sheet(ribbons: Ribbons) -> Sheet:
    """What is drawn, and then all else that is known of each row."""
    names = _names(ribbons)
    stops = sorted({stop for row in ribbons.rows for stop in row.stops})
    return Sheet(
        (
            *("name", "mean", "low", "high", "median", "min", "max", "questions", "responses", "valid"),
            *(*with_ends("mean valid"), "log mean", "top tenth", "expected valid", "chains", "model", "part"),
            *(f"stop {stop}" for stop in stops),
        ),
        tuple(
            (
                name,
                row.mean_responses,
                row.responses_interval.low,
                row.responses_interval.high,
                row.median,
                row.fewest,
                row.most,
                row.questions,
                row.responses,
                row.valid,
                *ends(row.valid_interval),
                row.log_mean,
                row.top_tenth,
                row.expected.valid if row.expected else None,
                row.chains,
                row.model,
                row.leaf or row.domain or row.question,
                *(row.stops.get(stop, 0) for stop in stops),
            )
            for name, row in zip(names, ribbons.rows, strict=True)
        ),
    )


def _names(ribbons: Ribbons) -> tuple[str, ...]:
    of_one_model = len({row.model for row in ribbons.rows}) == 1
    return tuple(name_of(row, of_one_model=of_one_model) for row in ribbons.rows)


def _bars(ribbons: Ribbons, look: Look) -> Bars:
    rows = ribbons.rows

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        row = rows[place]
        thin = paint(look.muted)
        first, last = at(row.fewest), at(row.most)
        canvas.write(first, y, "─" * (last - first + 1), thin)
        canvas.write(first, y, "├", thin)
        canvas.write(last, y, "┤", thin)
        low, high = row.responses_interval.low, row.responses_interval.high
        if low is not None and high is not None:
            canvas.write(at(low), y, "═" * (at(high) - at(low) + 1), paint(look.series[0]))
        canvas.write(at(row.median), y, "│", paint(look.series[2]))
        canvas.write(at(row.mean_responses), y, look.glyphs.mean, paint(look.accent, bold=True))

    return Bars(
        title="Ideas a question",
        names=_names(ribbons),
        columns=(
            Column("mean", tuple(f"{row.mean_responses:.1f}" for row in rows)),
            Column("95 %", tuple(in_brackets(row.responses_interval) for row in rows)),
            Column("median", tuple(f"{row.median:g}" for row in rows)),
            Column("n", tuple(str(row.questions) for row in rows)),
            Column("valid", tuple(f"{row.mean_valid:.1f}" for row in rows)),
        ),
        scale=count_axis(max([row.most for row in rows])),
        draw=draw,
        foot=(LEGEND.replace("●", look.glyphs.mean),),
    )
