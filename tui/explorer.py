"""Profiles as a person goes through them: what is chosen, how far down, which chart; no screen is in it."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial, reduce
from typing import Literal, TypeVar, get_args

import numpy as np
from msgspec.structs import replace

from core.analysis.differences import differences
from core.analysis.grids import By
from core.analysis.profiles import Chains, Efforts, Map, Profile
from core.analysis.rescoring import Change, Counts, rescored
from core.analysis.table import Flags, Table
from core.text import counted
from tui.charts.catalog import NAMES, TITLES, Chart, Name, View, chart
from tui.charts.caveats import caveats
from tui.charts.chains import MOST, Measure, Panel, measured, panels
from tui.charts.ideas_map import By as Group
from tui.charts.ideas_map import beside, nearest
from tui.charts.numbers import Beside, NothingToDrawError, numbers_of
from tui.charts.scatter import Spent, known_spent
from tui.charts.words import leaf_name
from tui.idea_vectors import IdeaVectors
from tui.selection import (
    IdeaPlace,
    Inside,
    Row,
    Selection,
    chains_of,
    chains_to_draw,
    idea_place,
    model_rows,
    own_rule,
    passing,
    rows_within,
    session_rows,
    thresholds,
    within,
)

T = TypeVar("T")


OF_MODELS: frozenset[Name] = frozenset({"scatter", "densities", "radar", "heat", "effort", "winners", "costs"})
"""Charts that set models side by side, however far down a person went."""


class Explorer:
    """Holds choices; computes what they come to when asked."""

    def __init__(self, table: Table, totals: Mapping[str, float], benchmark: str = "") -> None:
        self.table = table
        self._totals = totals
        self._benchmark = benchmark
        self.selection = Selection()
        self.name: Name = "ribbons"
        self.listing: Literal["models", "sessions"] = "models"
        self.by: By = "model"
        self.measure: Measure = "embedding_novelty"
        self.group: Group = "author"
        self.spent: Spent | None = None
        self.row: Row | None = None
        """The row that the person is on."""
        self.texts: dict[tuple[str, int] | None, dict[int, str]] = {}
        """What the ideas of chains say by their numbers, of those chains that have been read."""
        self.place: int | None = None
        """The idea on the map that is chosen."""
        self.one: Selection | None = None
        """The selection beside which the present one is shown."""
        self.vectors: IdeaVectors | None = None
        """None before any were made."""
        self._numbers: Profile | None = None
        """What the chart was last drawn of."""
        self._held: Measure | None = None
        """The threshold that a person drags."""
        self._under = lru_cache(maxsize=3)(partial(rescored, table))
        """What all chains come to: under the rules of two selections, and those of now as they move."""

    # ── what is chosen ────────────────────────────────────────────────────────────────────────────────────────────────

    def _sides(self) -> list[Selection]:
        """The present selection, and the one that it stands beside, if any."""
        return [self.selection, *([self.one] if self.one else [])]

    def _of_sides(self, chains: Callable[[Selection], Flags]) -> Flags:
        """(chains,): those of either side."""
        return reduce(np.logical_or, map(chains, self._sides()))

    def _counts(self, selection: Selection, chains: Flags) -> Counts:
        """What these chains come to under the rules of `selection`."""
        return self._under(selection.change).only(chains)

    def _drawn(self, selection: Selection) -> Flags:
        """(chains,): those that the chart is about."""
        inside = selection.inside
        if self.name in OF_MODELS:
            return passing(self.table, selection)
        if self.name == "chains":  # beside the model's own, those of the others on the question
            inside = replace(inside, model=None, chain=None)
        return self._chosen(replace(selection, inside=inside))

    def _chosen(self, selection: Selection) -> Flags:
        """(chains,): those that are included, pass the filters and are where a person went down to."""
        return passing(self.table, selection) & within(self.table, selection.inside)

    def _listed(self, inside: Inside) -> Flags:
        """(chains,): those that there is to choose from there, whatever models are left out."""
        return passing(self.table, self.selection, models=False) & within(self.table, inside)

    def own(self, rule: str) -> float | None:
        """The value that all sessions have of a rule; None if they differ, or have none."""
        return own_rule(self.table, self.selection, rule)

    def change(self, rule: str, value: float | None) -> None:
        """Put a rule in the place of the sessions' own; None takes it away again."""
        whole = value if value is None or rule not in ("patience", "max_ideas") else int(value)
        self.selection = replace(self.selection, change=replace(self.selection.change, **{rule: whole}))
        self.measure = next((measure for measure in get_args(Measure) if measure == rule), self.measure)

    def select(self, **filters: str | Change) -> None:
        """Other `words`, another `domain`, or all rules as `change` has them."""
        self.selection = replace(self.selection, **filters)

    def toggle(self, row: Row) -> None:
        """Include what was left out, or leave it out."""
        field = "without_models" if self.listing == "models" else "without_sessions"
        self.selection = replace(self.selection, **{field: getattr(self.selection, field) ^ {row.name}})

    def toggle_all(self) -> None:
        """Leave everything out; or include everything, if anything is left out."""
        field = "without_models" if self.listing == "models" else "without_sessions"
        names = self.table.models if self.listing == "models" else self.table.sessions
        left_out = frozenset() if getattr(self.selection, field) else frozenset(names)
        self.selection = replace(self.selection, **{field: left_out})

    # ── going down and up ─────────────────────────────────────────────────────────────────────────────────────────────

    def rows(self) -> list[Row]:
        """What there is to choose from here."""
        if self.listing == "sessions":
            return session_rows(self.table, self.selection)
        inside = self.selection.inside
        listed = self._listed(inside)
        counts = self._counts(self.selection, listed)
        if inside.level == "model":
            return model_rows(counts, self.selection)
        return rows_within(counts, inside, self.texts.get(inside.chain)) if listed.any() else []

    def enter(self, row: Row) -> bool:
        """Go into what `row` stands for. False if it is an idea, or a session."""
        inside = self.selection.inside
        if self.listing == "sessions" or inside.level == "idea":
            return False
        step = row.chain if inside.level == "chain" else row.name
        self._go(replace(inside, **{inside.level: step}))
        if self.selection.inside.level == "chain":
            chains = chains_of(self.table.only(self._listed(self.selection.inside)))
            self.name = "chains"
            if len(chains) == 1:
                self._go(replace(self.selection.inside, chain=chains[0]))
        return True

    def up(self) -> str | None:
        """One step back; a chain that was the only one is no step. Returns the name of where one came from."""
        inside = self.selection.inside
        if inside.level == "model":
            return None
        came_from = inside.question or inside.leaf or inside.model
        up = inside.up()
        only_one = up.level == "chain" and self._listed(up).sum() == 1
        self._go(up.up() if only_one else up)
        if self.name == "chains":
            self.name = "ribbons"
        return came_from

    def _go(self, inside: Inside) -> None:
        self.selection = replace(self.selection, inside=inside)
        self.place = None
        self.row = None

    # ── the chart ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def focus_model(self) -> str:
        """The model that a person is in, or on."""
        if self.selection.inside.model:
            return self.selection.inside.model
        return self.row.name if self.row and self.listing == "models" else ""

    def _shown_by(self, selection: Selection) -> By:
        """What ribbons are about."""
        level = selection.inside.level
        return self.by if level == "model" else "leaf" if level == "leaf" else "question"

    def chart(self) -> Chart:
        """The chart that is chosen, of what is chosen. Raises `NothingToDrawError`."""
        self._numbers = self._numbers_of(self.selection)
        return chart(self.name, self._numbers, self._view())

    def pair(self) -> tuple[Chart, Chart]:
        """The chart of the selection that was kept, and that of the present one. Raises `NothingToDrawError`."""
        assert self.one is not None
        view = replace(self._view(), thresholds=thresholds(self.table, self.one), idea=None, at=None)
        return chart(self.name, self._numbers_of(self.one), view), self.chart()

    def differences(self) -> Chart:
        """The selection that was kept less the present one. Raises `NothingToDrawError`."""
        assert self.one is not None
        by = self._shown_by(self.selection)
        one, other = (self._counts(side, self._chosen(side)) for side in (self.one, self.selection))
        found = differences(one, other, "leaf" if by == "model" else by)
        if not found.rows:
            raise NothingToDrawError("The two selections have no question in common")
        return chart("differences", found)

    def keep(self) -> None:
        """Keep the present selection, its rules too, to show others beside it."""
        if not self._chosen(self.selection).any():
            raise NothingToDrawError("Nothing is chosen that another could be shown beside")
        self.one = self.selection

    @property
    def wants_vectors(self) -> bool:
        """Whether the map is chosen, and has nothing to draw on one of its sides."""
        sides = [self._drawn(side)[self.table.ideas.chain] for side in self._sides()]
        return self.name == "map" and not all(self.vectors and self.vectors.any_of(ideas) for ideas in sides)

    @property
    def mapped(self) -> Flags:
        """(chains,): those whose ideas need vectors."""
        return self._of_sides(partial(passing, self.table))

    def _numbers_of(self, selection: Selection) -> Profile:
        chains = self._drawn(selection)
        counts = self._counts(selection, chains)
        rows = chains_to_draw(counts, selection.inside, self.focus_model, MOST) if self.name == "chains" else []
        ideas = chains[self.table.ideas.chain]
        vectors = self.vectors if self.name == "map" else None
        more = Beside(
            by=self._shown_by(selection),
            chains=rows,
            totals=self._totals,
            benchmark=self._benchmark,
            vectors=vectors.of(ideas) if vectors else None,
        )
        numbers = numbers_of(self.name, counts, more)
        return vectors.told(numbers, ideas) if vectors and isinstance(numbers, Map) else numbers

    def _view(self) -> View:
        return View(
            focus=self._focus(),
            thresholds=thresholds(self.table, self.selection),
            measure=self.measure,
            spent=self.spent,
            by=self.group,
            idea=self.place,
            at=int(self.row.name) if self.row and self.selection.inside.level == "idea" else None,
        )

    def threshold(self, measure: Measure) -> float | None:
        """The one in force; None where sessions differ."""
        value: float | None = getattr(thresholds(self.table, self.selection), measure)
        return value

    def _focus(self) -> str:
        """The name of the row to point out on the chart."""
        inside, row = self.selection.inside, self.row
        if self.name == "winners":
            return inside.leaf or (row.name if row and inside.level == "leaf" else "")
        if self.name == "ribbons" and inside.level != "model":
            return "" if row is None else leaf_name(row.name) if inside.level == "leaf" else row.name
        return self.focus_model

    def title(self) -> str:
        """What is shown, in words."""
        inside, selection = self.selection.inside, self.selection
        parts = [TITLES[self.name]]
        where = [part for part in (inside.model, inside.leaf and leaf_name(inside.leaf), inside.question) if part]
        parts += [" / ".join(where)] if where else []
        parts += [leaf_name(selection.domain)] if selection.domain else []
        parts += [f"“{selection.words}”"] if selection.words else []
        return " · ".join(parts)

    def totals(self) -> str:
        """How much of it there is, in words."""
        counts = self._counts(self.selection, self._drawn(self.selection))
        models = len(np.unique(counts.table.chains.model))
        responses, valid = int(counts.responses.sum()), int(counts.valid.sum())
        chains, ideas = counted(len(counts.responses), "chain"), counted(responses, "idea")
        return f"{counted(models, 'model')} · {chains} · {ideas}, {valid:,} valid"

    def caveats(self) -> list[str]:
        """What one must know of what is drawn, on either side."""
        return caveats(self.table.only(self._of_sides(self._drawn)))

    # ── other ways to look ────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, name: Name) -> None:
        self.name = name

    def step_chart(self, by: int) -> None:
        self.name = NAMES[(NAMES.index(self.name) + by) % len(NAMES)]

    def another_way(self) -> None:
        """What a chart can show in several ways: the next of them."""
        match self._numbers:
            case Efforts() as efforts if known := known_spent(efforts):
                self.spent = _next(known, self.spent or known[0])
            case Chains() as chains if measures := measured(chains):
                self.measure = _next(measures, self.measure)
            case Map():
                self.group = _next(get_args(Group), self.group)
            case _:
                self.by = _next(get_args(By), self.by)

    def domains(self) -> list[str]:
        """Domains and leaves that there are questions of."""
        leaves = self.table.leaves()
        domains = dict.fromkeys(question.domain for question in self.table.questions if question.leaf in leaves)
        return [name for domain in domains for name in dict.fromkeys([domain, *_of_domain(leaves, domain)])]

    # ── on the chart ──────────────────────────────────────────────────────────────────────────────────────────────────

    def point(self, x: int, y: int, width: int, height: int, *, begun: bool) -> bool:
        """A person pressed a button on a cell of the chart, or dragged there. Whether that changed anything."""
        match self._numbers:
            case Chains() as chains:
                return self._drag(panels(chains, width, height, self.measure), y, begun=begun)
            case Map() as ideas if begun:
                self.place = nearest(ideas, width, height, x, y, by=self.group)
                return self.place is not None
        return False

    def _drag(self, shown: Sequence[Panel], y: int, *, begun: bool) -> bool:
        """Take hold of the threshold whose line is there, or beside; then move it."""
        if begun:
            hit = next((panel for panel in shown if panel.top <= y < panel.top + panel.rows), None)
            if hit is None:
                return False
            self.measure = hit.measure
            line = self.threshold(hit.measure)
            self._held = hit.measure if line is not None and abs(hit.row(line) - y) <= 1 else None
            return True
        held = next((panel for panel in shown if panel.measure == self._held), None)
        if held is None:
            return False
        self.change(held.measure, _rounded(held.measure, held.value(y)))
        return True

    def nudge(self, right: int, up: int) -> bool:
        """A step on the chart: the threshold up or down, or the next idea. Whether that changed anything."""
        match self._numbers:
            case Chains() if up and (threshold := self.threshold(self.measure)) is not None:
                step = 1.0 if self.measure == "coherence" else 0.005
                most = 100.0 if self.measure == "coherence" else 1.0
                self.change(self.measure, _rounded(self.measure, min(max(threshold + up * step, 0.0), most)))
                return True
            case Map() as ideas:
                self.place = 0 if self.place is None else beside(ideas, self.place, right, up)
                return True
        return False

    def chosen_idea(self) -> IdeaPlace | None:
        """The one that is chosen on the map."""
        if not isinstance(self._numbers, Map) or self.place is None:
            return None
        place = self._numbers.places[self.place]
        return idea_place(self.table.only(self._drawn(self.selection)), place.chain, place.number)

    def idea_of(self, row: Row) -> IdeaPlace:
        """The idea that a row of a chain stands for."""
        return idea_place(self.table.only(self._listed(self.selection.inside)), 0, int(row.name))


def _of_domain(leaves: Sequence[str], domain: str) -> list[str]:
    return [leaf for leaf in leaves if leaf == domain or leaf.startswith(f"{domain} / ")]


def _next(ways: "Sequence[T]", now: "T") -> "T":
    return ways[(ways.index(now) + 1) % len(ways)] if now in ways else ways[0]


def _rounded(measure: Measure, value: float) -> float:
    """To what the slider can show."""
    return float(round(value)) if measure == "coherence" else round(value * 200) / 200
