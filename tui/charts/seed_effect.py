"""What seeds do to ideas: the same with and without, by how far the seed is from the question."""

from collections.abc import Callable, Sequence
from functools import partial

from core.analysis.seed_effect import Band, Contrast, Effect
from core.analysis.seed_pairs import MEASURES, Measure
from tui.charts.axes import axis
from tui.charts.bars import Bars, Column, draw_bars, rows_wanted
from tui.charts.canvas import Canvas, stacked
from tui.charts.catalog import Chart
from tui.charts.look import Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, too_small
from tui.charts.winners import draw_interval
from tui.charts.words import signed

TITLES: dict[Measure, str] = {
    "embedding_novelty": "Novelty",
    "judged_novelty": "Judged novelty",
    "coherence": "Coherence",
    "passed": "Share that passes",
}

BANDS: dict[Band, str] = {"all": "all", "near": "near third", "middle": "middle third", "far": "far third"}


def effect_chart(effect: Effect) -> Chart:
    return Chart(
        "What seeds do", partial(draw_effect, effect), partial(effect_sheet, effect), partial(effect_rows, effect)
    )


def draw_effect(effect: Effect, width: int, height: int, look: Look) -> Lines:
    """A block of rows a measure; right of its line ideas under a seed have more."""
    blocks = _blocks(effect, look)
    if too_small(width, height) or not blocks:
        return draw_sheet(effect_sheet(effect), width, height, look)
    return stacked((draw_bars(block, width, rows_wanted(block) + 1, look) for block in blocks), width).lines()


def effect_rows(effect: Effect, look: Look) -> int:
    """Lines that it takes to show all."""
    return sum(rows_wanted(block) + 1 for block in _blocks(effect, look))


def effect_sheet(effect: Effect) -> Sheet:
    return Sheet(
        ("measure and distance", "pairs", "with a seed", "without", "difference", "low", "high", "p", "verdict"),
        tuple(
            (
                f"{TITLES[each.measure]}, {BANDS[each.band]}",
                each.pairs,
                each.seeded,
                each.plain,
                each.difference.value,
                each.difference.low,
                each.difference.high,
                each.p,
                each.verdict,
            )
            for each in effect.contrasts
        ),
    )


def _blocks(effect: Effect, look: Look) -> list[Bars]:
    by_measure = {measure: [each for each in effect.contrasts if each.measure == measure] for measure in MEASURES}
    return [_block(measure, rows, look) for measure, rows in by_measure.items() if rows]


def _block(measure: Measure, rows: Sequence[Contrast], look: Look) -> Bars:
    digits = 1 if measure == "coherence" else 2
    ends = [
        end
        for row in rows
        for end in (row.difference.value, row.difference.low, row.difference.high)
        if end is not None
    ]
    reach = max(map(abs, [*ends, 1.0 if measure == "coherence" else 0.05]))

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        row = rows[place]
        canvas.write(at(0), y, "│", paint(look.muted))
        color = {"more": look.good, "less": look.bad}.get(row.verdict, look.muted)
        draw_interval(canvas, y, row.difference, at, look, color)

    return Bars(
        title=TITLES[measure],
        names=tuple(BANDS[row.band] for row in rows),
        columns=(
            Column("difference", tuple(signed(row.difference, digits) for row in rows)),
            Column("p", tuple(p_words(row.p) for row in rows)),
            Column("pairs", tuple(str(row.pairs) for row in rows)),
            Column("with", tuple(f"{row.seeded:.{digits}f}" for row in rows)),
            Column("without", tuple(f"{row.plain:.{digits}f}" for row in rows)),
        ),
        scale=axis([-reach, reach]),
        draw=draw,
    )


def p_words(p: float | None) -> str:
    """In few characters: 0.034 as .034, and nothing smaller than can be told."""
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")
