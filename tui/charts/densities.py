"""How long chains become: the density of their lengths, and beside it the share that goes on after so many ideas."""

from collections.abc import Sequence

from msgspec import Struct

from core.analysis.profiles import Density, Lengths, Survival
from tui.charts.axes import Area, Axis, axis, count_axis, draw_axes, draw_curve
from tui.charts.canvas import Canvas, label
from tui.charts.look import Color, Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, too_small
from tui.charts.words import in_brackets

MOST = 6
"""Models on one chart."""


SAYS_EXPECTED = 100
"""Columns from which the legend says how many valid ideas to expect."""

BEYOND = "Expected beyond where chains were cut short: too few where questions differ, as those left would last longer."


class _Model(Struct, frozen=True):
    density: Density | None
    survival: Survival | None
    mark: str
    color: Color

    @property
    def name(self) -> str:
        either = self.density or self.survival
        return either.model if either else ""


def draw_densities(lengths: Lengths, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """The first six models; of the one in `focus`, the band in which its survival lies too."""
    models = _models(lengths, look, focus)
    if too_small(width, height) or not models:
        return draw_sheet(densities_sheet(lengths), width, height, look)
    legend = [_legend(model, width) for model in models]
    a_line = max(width // (max(map(len, legend)) + 3), 1)
    foot = width >= SAYS_EXPECTED and any(_goes_beyond(model.survival) for model in models)
    below = -(-len(models) // a_line) + foot
    canvas = Canvas(width, height)
    left = width // 2
    canvas.paste(_draw_densities(models, left - 1, height - below, look), 0, 0)
    canvas.paste(_draw_survivals(models, focus, width - left, height - below, look), left, 0)
    for place, (model, text) in enumerate(zip(models, legend, strict=True)):
        row, column = divmod(place, a_line)
        canvas.write(
            column * (width // a_line), height - below + row, text, paint(model.color, bold=model.name == focus)
        )
    if foot:
        canvas.write(0, height - 1, BEYOND, paint(look.muted))
    return canvas.lines()


def densities_sheet(lengths: Lengths) -> Sheet:
    """Each model's chains, and from how many of them on three quarters, a half and a quarter are left."""
    return Sheet(
        ("model", "chains", "cut short", "3/4 go on", "half", "1/4", "expected", "low", "high"),
        tuple(
            (
                row.model,
                row.chains,
                row.censored,
                *(_when_left(row, share) for share in (0.75, 0.5, 0.25)),
                row.expected.valid if row.expected else None,
                row.expected_interval.low if row.expected_interval else None,
                row.expected_interval.high if row.expected_interval else None,
            )
            for row in lengths.survivals
        ),
    )


def _models(lengths: Lengths, look: Look, focus: str) -> list[_Model]:
    densities = {row.model: row for row in lengths.densities}
    survivals = {row.model: row for row in lengths.survivals}
    names = sorted(dict.fromkeys([*densities, *survivals]), key=lambda name: -_expected(survivals.get(name)))
    shown = names[:MOST] if focus not in names[MOST:] else [*names[: MOST - 1], focus]
    return [
        _Model(densities.get(name), survivals.get(name), mark, color)
        for name, mark, color in zip(shown, look.glyphs.marks, look.series, strict=False)
    ]


def _expected(survival: Survival | None) -> float:
    """Valid ideas; 0 where nobody knows."""
    return survival.expected.valid if survival and survival.expected else 0.0


def _goes_beyond(survival: Survival | None) -> bool:
    """Whether more is expected than was seen, but for rounding."""
    expected = survival.expected if survival else None
    return expected is not None and expected.valid > expected.observed + 0.05


def _counts(models: Sequence[_Model], width: int) -> Axis:
    longest = [model.density.counts[-1] for model in models if model.density]
    longest += [model.survival.ideas[-1] for model in models if model.survival]
    return count_axis(max(longest, default=1.0), "ideas", ticks=width // 8)


def _draw_densities(models: Sequence[_Model], width: int, height: int, look: Look) -> Canvas:
    most = [max(model.density.density) for model in models if model.density]
    canvas, area = draw_axes(
        [], _counts(models, width), axis(most or [1.0], "share of questions", ticks=height // 5), width, height, look
    )
    for model in models:
        if model.density:
            x, y = model.density.counts, model.density.density
            draw_curve(canvas, area, x, y, model.color, look)
    for model in models:
        if model.density:
            peak = max(range(len(model.density.density)), key=model.density.density.__getitem__)
            _mark(canvas, area, model, model.density.counts[peak], model.density.density[peak])
    return canvas


def _draw_survivals(models: Sequence[_Model], focus: str, width: int, height: int, look: Look) -> Canvas:
    share = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0) if height >= 16 else (0.0, 0.5, 1.0), "share that goes on")
    canvas, area = draw_axes([], _counts(models, width), share, width, height, look)
    for model in models:
        if model.survival:
            draw_curve(canvas, area, *_steps(model.survival.ideas, model.survival.alive), model.color, look)
            if model.name == focus:
                for band in (model.survival.low, model.survival.high):
                    draw_curve(canvas, area, *_steps(model.survival.ideas, band), look.muted, look)
    for model in models:
        if model.survival:
            for left in (0.75, 0.5, 0.25):
                when = _when_left(model.survival, left)
                if when is not None:
                    _mark(canvas, area, model, when, left)
    return canvas


def _steps(x: Sequence[float], y: Sequence[float | None]) -> tuple[list[float], list[float]]:
    """The corners of a curve that holds its value until the next."""
    xs, ys = [], []
    for place, value in enumerate(y):
        end = x[place + 1] if place + 1 < len(x) else x[place]
        xs += [x[place], end]
        ys += [float("nan") if value is None else value] * 2
    return xs, ys


def _when_left(survival: Survival, share: float) -> float | None:
    """After how many ideas no more than `share` of the chains go on; None if that was not seen."""
    return next((x for x, alive in zip(survival.ideas, survival.alive, strict=True) if alive <= share), None)


def _mark(canvas: Canvas, area: Area, model: _Model, x: float, y: float) -> None:
    canvas.write(*area.cell(x, y), model.mark, paint(model.color, bold=True))


def _legend(model: _Model, width: int) -> str:
    """How many valid ideas to expect of a chain that nothing but a rule ends; how many chains something else ended."""
    name = f"{model.mark} {label(model.name, 24)}"
    survival = model.survival
    if survival is None or survival.expected is None or width < SAYS_EXPECTED:
        return name
    said = f"{survival.expected.valid:.1f} {in_brackets(survival.expected_interval)}".rstrip()
    short = f", {survival.censored} of {survival.chains} cut short" if survival.censored else ""
    return f"{name} {said} valid expected{short}"
