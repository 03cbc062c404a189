"""Profiles as a person goes through them: what is chosen, how far down, which chart; no screen is in it."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from core.analysis.differences import differences
from core.analysis.grids import By
from core.analysis.profiles import Chains, Efforts, Map, Profile
from core.analysis.rescoring import Change, Counts, rescored
from core.analysis.table import Flags, Table
from tui.charts.catalog import NAMES, TITLES, Chart, Name, View, chart
from tui.charts.chains import MOST, Measure, Panel, measured, panels
from tui.charts.ideas_map import By as Group
from tui.charts.ideas_map import beside, nearest
from tui.charts.numbers import Beside, NothingToDrawError, numbers_of
from tui.charts.scatter import Spent, known_spent
from tui.charts.words import leaf_name
from tui.idea_vectors import IdeaVectors
from tui.selection import (
    Inside,
    Row,
    Selection,
    chains_of,
    chains_to_draw,
    model_rows,
    passing,
    rows_within,
    session_rows,
    within,
)

T = TypeVar("T")


class IdeaPlace(Struct, frozen=True):
    """Where an idea is, and what it is called."""

    session: str
    chain: int
    """Its place among the session's chains."""
    number: int
    title: str


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
        self.one: Counts | None = None
        """The selection beside which the present one is shown."""
        self.vectors: IdeaVectors | None = None
        """None before any were made."""
        self._numbers: Profile | None = None
        """What the chart was last drawn of."""
        self._held: Measure | None = None
        """The threshold that a person drags."""
        self._counts = rescored(table, Change())
        self._counted_for = Change()

    # ── what is chosen ────────────────────────────────────────────────────────────────────────────────────────────────

    def counts(self, chains: Flags) -> Counts:
        """What these chains come to under the rules of now."""
        if self._counted_for != self.selection.change:
            self._counts = rescored(self.table, self.selection.change)
            self._counted_for = self.selection.change
        return self._counts.only(chains)

    @property
    def passing(self) -> Flags:
        """(chains,): those that are included and pass the filters."""
        return passing(self.table, self.selection)

    @property
    def drawn(self) -> Flags:
        """(chains,): those that the chart is about."""
        inside = self.selection.inside
        if self.name in OF_MODELS:
            return self.passing
        if self.name == "chains":  # beside the model's own, those of the others on the question
            return self.passing & within(self.table, replace(inside, model=None, chain=None))
        return self.passing & within(self.table, inside)

    def own(self, rule: str) -> float | None:
        """The value that all sessions have of a rule; None if they differ, or have none."""
        column = {"patience": "patience", "max_ideas": "max_ideas"}.get(rule, f"rule_{rule}")
        values = np.unique(getattr(self.table.chains, column)[self.passing])
        return float(values[0]) if len(values) == 1 and (values[0] > 0 or rule != "max_ideas") else None

    def change(self, rule: str, value: float | None) -> None:
        """Put a rule in the place of the sessions' own; None takes it away again."""
        whole = value if value is None or rule not in ("patience", "max_ideas") else int(value)
        self.selection = replace(self.selection, change=replace(self.selection.change, **{rule: whole}))
        self.measure = next((measure for measure in get_args(Measure) if measure == rule), self.measure)

    def select(self, **filters: str) -> None:
        """Other `words` or another `domain`."""
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
        if inside.level == "model":
            return model_rows(self.counts(passing(self.table, self.selection, models=False)), self.selection)
        mask = passing(self.table, self.selection, models=False) & within(self.table, inside)
        return rows_within(self.counts(mask), inside, self.texts.get(inside.chain)) if mask.any() else []

    def enter(self, row: Row) -> bool:
        """Go into what `row` stands for. False if it is an idea, or a session."""
        inside = self.selection.inside
        if self.listing == "sessions" or inside.level == "idea":
            return False
        step = row.chain if inside.level == "chain" else row.name
        self._go(replace(inside, **{inside.level: step}))
        if self.selection.inside.level == "chain":
            chains = chains_of(self.table.only(self.passing & within(self.table, self.selection.inside)))
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
        only_one = up.level == "chain" and len(rows_within(self.counts(within(self.table, up)), up)) == 1
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

    def shown_by(self) -> By:
        """What ribbons and differences are about."""
        level = self.selection.inside.level
        return self.by if level == "model" else "leaf" if level == "leaf" else "question"

    def chart(self) -> Chart:
        """The chart that is chosen, of what is chosen. Raises `NothingToDrawError`."""
        return self._chart_of(self.counts(self.drawn), self.drawn)

    def pair(self) -> tuple[Chart, Chart]:
        """The chart of the selection that was kept, and that of the present one. Raises `NothingToDrawError`."""
        assert self.one is not None
        return self._chart_of(self.one, None), self.chart()

    def differences(self) -> Chart:
        """The selection that was kept less the present one. Raises `NothingToDrawError`."""
        assert self.one is not None
        by: By = "leaf" if self.shown_by() == "model" else self.shown_by()
        found = differences(self.one, self.counts(self.passing & within(self.table, self.selection.inside)), by)
        if not found.rows:
            raise NothingToDrawError("The two selections have no question in common")
        return chart("differences", found)

    def keep(self) -> None:
        """Keep the present selection, to show others beside it."""
        mask = self.passing & within(self.table, self.selection.inside)
        if not mask.any():
            raise NothingToDrawError("Nothing is chosen that another could be shown beside")
        self.one = self.counts(mask)

    def _chart_of(self, counts: Counts, mask: Flags | None) -> Chart:
        rows = chains_to_draw(counts, self.selection.inside, self.focus_model, MOST) if self.name == "chains" else []
        ideas = None if mask is None else mask[self.table.ideas.chain]
        vectors = None if self.vectors is None or ideas is None or self.name != "map" else self.vectors.of(ideas)
        more = Beside(by=self.shown_by(), chains=rows, totals=self._totals, benchmark=self._benchmark, vectors=vectors)
        self._numbers = numbers_of(self.name, counts, more)
        if isinstance(self._numbers, Map) and self.vectors is not None and ideas is not None:
            self._numbers = self.vectors.told(self._numbers, ideas)
        return chart(self.name, self._numbers, self._view())

    def _view(self) -> View:
        return View(
            focus=self._focus(),
            thresholds=Change(
                coherence=self.threshold("coherence"),
                embedding_novelty=self.threshold("embedding_novelty"),
                judged_novelty=self.threshold("judged_novelty"),
            ),
            measure=self.measure,
            spent=self.spent,
            by=self.group,
            idea=self.place,
            at=int(self.row.name) if self.row and self.selection.inside.level == "idea" else None,
        )

    def threshold(self, measure: Measure) -> float | None:
        """The one in force; None where sessions differ."""
        value: float | None = getattr(self.selection.change, measure)
        return self.own(measure) if value is None else value

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
        counts = self.counts(self.drawn)
        models = len(np.unique(counts.table.chains.model))
        responses, valid = int(counts.responses.sum()), int(counts.valid.sum())
        plural = "" if models == 1 else "s"
        return f"{models} model{plural} · {len(counts.responses):,} chains · {responses:,} ideas, {valid:,} valid"

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
        return self._idea(self.table.only(self.drawn), place.chain, place.number)

    def idea_of(self, row: Row) -> IdeaPlace:
        """The idea that a row of a chain stands for."""
        mask = passing(self.table, self.selection, models=False) & within(self.table, self.selection.inside)
        return self._idea(self.table.only(mask), 0, int(row.name))

    def _idea(self, table: Table, chain: int, number: int) -> IdeaPlace:
        session, place = chains_of(table)[chain]
        return IdeaPlace(session, place, number, f"{table.models[int(table.chains.model[chain])]}, idea {number}")


def _of_domain(leaves: Sequence[str], domain: str) -> list[str]:
    return [leaf for leaf in leaves if leaf == domain or leaf.startswith(f"{domain} / ")]


def _next(ways: "Sequence[T]", now: "T") -> "T":
    return ways[(ways.index(now) + 1) % len(ways)] if now in ways else ways[0]


def _rounded(measure: Measure, value: float) -> float:
    """To what the slider can show."""
    return float(round(value)) if measure == "coherence" else round(value * 200) / 200
