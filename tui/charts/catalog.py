"""Every chart there is by name, with what a person has chosen to look at."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

from msgspec import Struct

from core.analysis.rescoring import Change
from tui.charts import chains, densities, differences, heat, ideas_map, members, radar, ribbons, scatter, winners
from tui.charts.look import Lines, Look
from tui.charts.sheet import Sheet

Name = Literal[
    "ribbons", "scatter", "densities", "radar", "heat", "effort", "winners", "chains", "map", "who", "seeds", "costs"
]

TITLES: dict[Name, str] = {
    "ribbons": "From the fewest to the most",
    "scatter": "One benchmark against another",
    "densities": "How long chains become",
    "radar": "A radar over leaves",
    "heat": "Every model in every leaf",
    "effort": "What an idea takes, and what comes of it",
    "winners": "Who is best where",
    "chains": "Along the chain",
    "map": "A map of ideas",
    "who": "Who contributed what",
    "seeds": "Which seeds helped",
    "costs": "Cost and time",
}

NAMES: tuple[Name, ...] = get_args(Name)


class View(Struct, frozen=True, kw_only=True):
    """What a person has chosen; each chart takes from it what it knows."""

    focus: str = ""
    """The name of a row: a model, a leaf, a member."""
    thresholds: Change = Change()
    measure: chains.Measure = "embedding_novelty"
    """The one whose threshold is moved."""
    spent: scatter.Spent | None = None
    """None: the first of them that is known."""
    by: ideas_map.By = "author"
    idea: int | None = None
    """A place on the map."""
    at: int | None = None
    """The number of an idea of the first chain that is drawn."""


class Chart(Struct, frozen=True):
    """A chart with its numbers."""

    title: str
    draw: Callable[[int, int, Look], Lines]
    """From width, height and look."""
    sheet: Callable[[], Sheet]
    """Its numbers."""
    rows: Callable[[Look], int] | None = None
    """How many lines it takes to show all of them, where that depends on how many there are."""


def chart(name: Name | Literal["differences"], numbers: Any, view: View = View()) -> Chart:  # noqa: B008
    """The chart `name` of `numbers`: the struct of `core.analysis.profiles` that it is drawn of."""
    title = "Two selections side by side" if name == "differences" else TITLES[name]
    match name:
        case "scatter":
            draw = partial(scatter.draw_scatter, numbers, focus=view.focus)
            return Chart(title, draw, partial(scatter.scatter_sheet, numbers))
        case "densities":
            draw = partial(densities.draw_densities, numbers, focus=view.focus)
            return Chart(title, draw, partial(densities.densities_sheet, numbers))
        case "radar":
            draw = partial(radar.draw_radar, numbers, focus=view.focus)
            return Chart(title, draw, partial(heat.leaves_sheet, numbers))
        case "effort":
            draw = partial(scatter.draw_efforts, numbers, focus=view.focus, spent=view.spent)
            return Chart(title, draw, partial(scatter.efforts_sheet, numbers))
        case "chains":
            return Chart(title, partial(_draw_chains, numbers, view), partial(chains.chains_sheet, numbers))
        case "map":
            return Chart(title, partial(_draw_map, numbers, view), partial(ideas_map.map_sheet, numbers))
    draw_rows, sheet, rows = _OF_ROWS[name]
    return Chart(title, partial(draw_rows, numbers, focus=view.focus), partial(sheet, numbers), partial(rows, numbers))


_OF_ROWS: dict[str, tuple[Callable[..., Lines], Callable[[Any], Sheet], Callable[[Any, Look], int]]] = {
    "ribbons": (ribbons.draw_ribbons, ribbons.ribbons_sheet, ribbons.ribbons_rows),
    "heat": (heat.draw_heat, heat.leaves_sheet, heat.heat_rows),
    "winners": (winners.draw_winners, winners.winners_sheet, winners.winners_rows),
    "who": (members.draw_who, members.who_sheet, members.who_rows),
    "seeds": (members.draw_seeds, members.seeds_sheet, members.seeds_rows),
    "costs": (members.draw_costs, members.costs_sheet, members.costs_rows),
    "differences": (differences.draw_differences, differences.differences_sheet, differences.differences_rows),
}


def _draw_chains(numbers: Any, view: View, width: int, height: int, look: Look) -> Lines:
    return chains.draw_chains(numbers, view.thresholds, width, height, look, measure=view.measure, at=view.at)


def _draw_map(numbers: Any, view: View, width: int, height: int, look: Look) -> Lines:
    return ideas_map.draw_map(numbers, width, height, look, by=view.by, chosen=view.idea).lines
