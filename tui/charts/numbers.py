"""The numbers of each chart, from what the chains of a selection come to."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from core.analysis.diversity import Vectors
from core.analysis.grids import By
from core.analysis.profiles import Chains, Lengths, Map, Profile, Scatter
from core.analysis.rescoring import Counts
from core.errors import UsageError
from tui.charts.catalog import Name


class Beside(Struct, frozen=True, kw_only=True, eq=False):
    """What some charts need beside counts."""

    by: By = "model"
    """What ribbons are about."""
    chains: Sequence[int] = ()
    """Rows of the table: those that are drawn idea by idea."""
    totals: Mapping[str, float] = {}
    """Of models on another benchmark, a question."""
    benchmark: str = ""
    """What it is called."""
    vectors: Vectors | None = None
    """Of the table's ideas, in their order."""


class NothingToDrawError(UsageError):
    """There are no numbers for a chart; the message says what to do."""


def numbers_of(name: Name, counts: Counts, beside: Beside) -> Profile:
    """What the chart `name` is drawn of. Raises `NothingToDrawError`."""
    if not len(counts.responses):
        raise NothingToDrawError("Nothing is chosen: Space includes a model, Esc ends a filter")
    found = _numbers_of(name, counts, beside)
    if not _rows(found):
        raise NothingToDrawError(_MISSING.get(name, "There are no numbers for this chart"))
    return found


_MISSING: dict[str, str] = {
    "scatter": "There are no totals of another benchmark: `jagstorm import` brings a CSV of model, total, questions",
    "winners": "It takes two models that answered the same questions",
    "chains": "There is no chain here",
    "map": "No idea has a vector",
    "who": "There is no team among the chosen",
    "seeds": "No idea here was written while a seed was in force",
}


def _numbers_of(name: Name, counts: Counts, beside: Beside) -> Profile:
    """Modules are imported where they are first used: some take scipy."""
    match name:
        case "ribbons":
            from core.analysis.ribbons import ribbons

            return ribbons(counts, beside.by)
        case "scatter":
            from core.analysis.fits import scatter

            return scatter(counts, beside.totals, f"{beside.benchmark}, ideas a question")
        case "densities":
            from core.analysis.densities import lengths

            return lengths(counts)
        case "radar" | "heat":
            from core.analysis.jaggedness import leaf_table

            return leaf_table(counts)
        case "effort":
            from core.analysis.spending import efforts

            return efforts(counts)
        case "winners":
            from core.analysis.winners import winners

            return winners(counts)
        case "chains":
            from core.analysis.series import chain_series

            return chain_series(counts, beside.chains)
        case "map":
            from core.analysis.idea_map import idea_map

            if beside.vectors is None:
                raise NothingToDrawError(
                    "The map needs a vector of each idea: Enter makes them, with the embedder here"
                )
            return idea_map(counts, beside.vectors)
        case "who":
            from core.analysis.members import contributions

            return contributions(counts)
        case "seeds":
            from core.analysis.seed_effect import by_seed

            return by_seed(counts)
        case "costs":
            from core.analysis.spending import costs

            return costs(counts)


def _rows(found: Profile) -> Sequence[object]:
    """What there is one of for each model, chain or idea."""
    match found:
        case Scatter():
            return found.points
        case Lengths():
            return found.survivals
        case Chains():
            return found.series
        case Map():
            return found.places
    return found.rows
