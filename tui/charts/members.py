"""Who contributed what in a team, which seeds helped, and what it all cost."""

from collections.abc import Callable, Sequence

from core.analysis.intervals import Interval
from core.analysis.profiles import Contributions, Costs, SeedEffects
from tui.charts.axes import Axis, axis, count_axis
from tui.charts.bars import Bars, Column, draw_bars, rows_wanted
from tui.charts.canvas import Canvas, label
from tui.charts.look import Color, Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, ends, too_small, with_ends
from tui.charts.winners import draw_interval
from tui.charts.words import amount, amount_ends, in_brackets, signed, with_interval


def draw_who(who: Contributions, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """A bar is the share of a team's valid ideas; `focus` is a member's name."""
    if too_small(width, height) or not who.rows:
        return draw_sheet(who_sheet(who), width, height, look)
    return draw_bars(_who(who, look), width, height, look, focus).lines()


def who_rows(who: Contributions, look: Look) -> int:
    """Lines that it takes to show all."""
    return rows_wanted(_who(who, look))


def who_sheet(who: Contributions) -> Sheet:
    return Sheet(
        ("member", "team", "offered", "chosen", "valid", "share", *with_ends("novelty")),
        tuple(
            (row.author, row.team, row.offered, row.chosen, row.valid, row.share, *ends(row.novelty))
            for row in who.rows
        ),
    )


def draw_seeds(seeds: SeedEffects, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """How much more novel ideas were while a seed was in force; right of the line it helped."""
    if too_small(width, height) or not seeds.rows:
        return draw_sheet(seeds_sheet(seeds), width, height, look)
    return draw_bars(_seeds(seeds, look), width, height, look, focus).lines()


def seeds_rows(seeds: SeedEffects, look: Look) -> int:
    """Lines that it takes to show all."""
    return rows_wanted(_seeds(seeds, look))


def seeds_sheet(seeds: SeedEffects) -> Sheet:
    return Sheet(
        ("seed", "ideas", "valid", "pairs", "novelty", "without", "difference", "low", "high"),
        tuple(
            (
                row.seed,
                row.ideas,
                row.valid,
                row.pairs,
                row.novelty,
                row.without,
                row.difference.value if row.difference else None,
                row.difference.low if row.difference else None,
                row.difference.high if row.difference else None,
            )
            for row in seeds.rows
        ),
    )


def draw_costs(costs: Costs, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """What a valid idea takes: money, seconds, tokens. Drawn are seconds, or cost where no seconds are known."""
    if too_small(width, height) or not costs.rows:
        return draw_sheet(costs_sheet(costs), width, height, look)
    return draw_bars(_costs(costs, look), width, height, look, focus).lines()


def costs_rows(costs: Costs, look: Look) -> int:
    """Lines that it takes to show all."""
    return rows_wanted(_costs(costs, look))


def costs_sheet(costs: Costs) -> Sheet:
    return Sheet(
        (
            *("name", "valid", "low", "high"),
            *with_ends("cost"),
            *with_ends("seconds"),
            *with_ends("tokens"),
            *with_ends("reasoning tokens"),
        ),
        tuple(
            (
                *(row.model, *ends(row.valid)),
                *ends(row.cost),
                *ends(row.seconds),
                *ends(row.tokens),
                *ends(row.reasoning_tokens),
            )
            for row in costs.rows
        ),
    )


def _who(who: Contributions, look: Look) -> Bars:
    rows = who.rows
    teams = {row.team for row in rows}
    return Bars(
        title="Member",
        names=tuple(label(row.author if len(teams) == 1 else f"{row.author} in {row.team}", 60) for row in rows),
        columns=(
            Column("share", tuple(f"{row.share:.0%}" for row in rows)),
            Column("valid", tuple(str(row.valid) for row in rows)),
            Column("chosen", tuple(str(row.chosen) for row in rows)),
            Column("of", tuple(_count(row.offered) for row in rows)),
            Column("novelty", tuple(with_interval(row.novelty, 2) for row in rows)),
        ),
        scale=Axis(0.0, 1.0, (0.0, 0.5, 1.0)),
        draw=_filled([row.share for row in rows], look, look.series[0]),
        foot=("share of the valid ideas; chosen, of how many offered",),
    )


def _seeds(seeds: SeedEffects, look: Look) -> Bars:
    rows = seeds.rows
    found = [row.difference for row in rows if row.difference]
    ends = [end for each in found for end in (each.value, each.low, each.high) if end is not None]
    reach = max(map(abs, [*ends, 0.1]))

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        canvas.write(at(0), y, "│", paint(look.muted))
        if difference := rows[place].difference:
            color = look.good if difference.above_zero else look.bad if difference.below_zero else look.muted
            draw_interval(canvas, y, difference, at, look, color)

    return Bars(
        title="Seed",
        names=tuple(label(row.seed, 60) for row in rows),
        columns=(
            Column("novelty", tuple(_share(row.novelty) for row in rows)),
            Column("without", tuple(_share(row.without) for row in rows)),
            Column("ideas", tuple(str(row.ideas) for row in rows)),
            Column("valid", tuple(str(row.valid) for row in rows)),
            Column("pairs", tuple(str(row.pairs) for row in rows)),
            Column("difference", tuple(signed(row.difference, 2) for row in rows)),
        ),
        scale=axis([-reach, reach]),
        draw=draw,
        foot=("right: more novel than without it; across: maybe chance",),
    )


def _costs(costs: Costs, look: Look) -> Bars:
    rows = costs.rows
    timed = any(row.seconds for row in rows)
    drawn = [row.seconds if timed else row.cost for row in rows]
    farthest = [(each.high or each.value) if each else 0.0 for each in drawn]

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        if amount_drawn := drawn[place]:
            draw_interval(canvas, y, amount_drawn, at, look, look.series[0])

    return Bars(
        title="For a valid idea",
        names=tuple(label(row.model, 60) for row in rows),
        columns=(
            *_amounts("seconds", [row.seconds for row in rows]),
            *_amounts("$", [row.cost for row in rows]),
            *_amounts("tokens", [row.tokens for row in rows]),
            *_amounts("reasoning", [row.reasoning_tokens for row in rows]),
            Column("valid", tuple(f"{row.valid.value:.1f}" for row in rows)),
            Column("95 %", tuple(in_brackets(row.valid) for row in rows)),
        ),
        scale=count_axis(max(farthest)) if timed else axis(farthest),
        draw=draw,
        foot=(f"{look.glyphs.mean} {'seconds' if timed else 'dollars'} a valid idea  ═ the 95 % interval",),
    )


def _amounts(title: str, values: Sequence[Interval | None]) -> list[Column]:
    """What is known of anybody, with its interval."""
    if not any(values):
        return []
    return [
        Column(title, tuple(amount(value.value if value else None) for value in values)),
        Column("95 %", tuple(amount_ends(value) for value in values)),
    ]


def _filled(values: Sequence[float], look: Look, color: Color) -> Callable[..., None]:
    """Bars from nothing to a value."""

    def draw(place: int, canvas: Canvas, y: int, at: Callable[[float], int]) -> None:
        if values[place] > 0:
            canvas.write(at(0), y, "■" * (at(values[place]) - at(0) + 1), paint(color))

    return draw


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".removeprefix("0")
