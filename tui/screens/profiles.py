"""Profiles: where models and teams are strong, over all sessions, as charts that follow the rules."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from core.analysis.rescoring import Change
from core.config import path_of
from core.errors import JagstormError
from core.store.tables import Found
from core.text import clean_line, shown
from tui.charts.catalog import NAMES, TITLES, Chart, Name
from tui.charts.numbers import NothingToDrawError
from tui.charts.printed import write
from tui.explorer import Explorer
from tui.host import host
from tui.idea_vectors import IdeaVectors
from tui.profile_jobs import embed_in_background, exploring, read_in_background, texts_in_background
from tui.screens.dialogs import Ask, Choose, Message
from tui.selection import IdeaPlace
from tui.widgets.chart_view import ChartView
from tui.widgets.field import Field
from tui.widgets.line import Line
from tui.widgets.picks import Picks
from tui.widgets.plot import Plot, look_of
from tui.widgets.rule_sliders import RuleSliders
from tui.widgets.slider import Slider

WIDE = 100
"""Columns from which the list stands beside the chart; below, a key shows the one or the other."""

ROOM_FOR_PAIR = (80, 26)
"""Columns and rows for charts from which two selections have one each, and not only their difference."""

KEYS = "1234567890"
"""For the first ten charts."""


class ProfilesScreen(Screen[None]):
    CSS_PATH = "../styles/profiles.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"chart('{name}')", TITLES[name], show=False, id=f"profiles.{name}", tooltip="Show this chart")
            for key, name in zip(KEYS, NAMES, strict=False)
        ),
        Binding("full_stop", "step(1)", "Next chart", key_display=".", id="profiles.next", tooltip="The next chart"),
        Binding("comma", "step(-1)", "Chart before", key_display=",", show=False, tooltip="The chart before"),
        Binding("slash", "filter", "Filter", False, "/", tooltip="Questions with some words", id="profiles.filter"),
        Binding("d", "domain", "Domain", id="profiles.domain", tooltip="Only questions of one domain or leaf"),
        Binding("e", "another", "By", id="profiles.by", tooltip="By domain, leaf, question; another x; other groups"),
        Binding(
            "b", "beside", "Beside", id="profiles.beside", tooltip="Keep this selection, and show others beside it"
        ),
        Binding("s", "sessions", "Sessions", show=False, id="profiles.sessions", tooltip="Choose sessions, or models"),
        Binding("a", "all", "All or none", show=False, id="profiles.all", tooltip="Leave all out, or include all"),
        Binding("v", "list", "List", id="profiles.list", tooltip="Where the screen is narrow: the list or the chart"),
        Binding("w", "write", "Write", id="profiles.write", tooltip="Write the chart as SVG, plain text or CSV"),
        Binding("x", "reset", "As recorded", show=False, id="profiles.reset", tooltip="All rules as sessions had them"),
        Binding("escape", "up", "Up", show=False, tooltip="A step up; end a filter; stop what takes long; go back"),
        Binding("q", "back", "Back", tooltip="Back to where you came from"),
    ]

    def __init__(self, folders: Sequence[Path] | None = None) -> None:
        """`folders` are the sessions to read; None for all."""
        super().__init__()
        self._folders = folders
        self._explorer: Explorer | None = None
        self._version = 0
        self._due = False
        self._chart: Chart | None = None
        self._stop: Callable[[], None] | None = None
        """Ends what takes long."""

    def compose(self) -> ComposeResult:
        yield Line("Profiles", id="title", classes="title")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Line("Models and teams", "mean ideas", id="heading", classes="heading")
                yield Picks(id="picks")
                yield Field(placeholder="words of questions; Esc shows all", id="filter")
                yield RuleSliders(id="rules")
            with Vertical(id="right"):
                yield Line(id="chart-title")
                with Horizontal(id="sides"):
                    yield Line("kept", classes="heading")
                    yield Line("now", classes="heading")
                with Horizontal(id="pair"):
                    yield Plot(id="one")
                    yield Plot(id="other")
                yield ChartView(id="chart")
                yield Static(markup=False, id="says")
                yield Static(markup=False, id="caveats")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(Picks).focus()
        self._say("Reading the sessions")
        self._stop = read_in_background(self, self._folders, self._say, self._take)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < WIDE, "narrow")
        self.refresh_bindings()
        self._show_chart()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done now is offered."""
        if action == "list":
            return self.has_class("narrow")
        return self._explorer is not None or action in ("up", "back")

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _take(self, found: Found) -> None:
        """What was read is there."""
        self._stop = None
        if not self.is_attached:
            return
        for problem in found.problems[:3]:
            host(self).say(problem, severity="warning")
        if not len(found.table.chains.model):
            self._say("There is nothing to show yet: begin a session, or bring results in with `jagstorm import`")
            return
        self._explorer = exploring(found.table, partial(host(self).say, severity="warning"))
        self.refresh_bindings()
        self._recount()

    def _do(self, deed: Callable[[Explorer], object]) -> None:
        """Something was chosen: count anew, once for all that comes at the same time."""
        if self._explorer is not None:
            deed(self._explorer)
            self._count_soon()

    def _count_soon(self) -> None:
        if not self._due:
            self._due = True
            self.call_later(self._recount)

    def _recount(self, at: str | None = None) -> None:
        self._due = False
        if self._explorer is None:
            return
        rows = self._explorer.rows()
        picks = self.query_one(Picks)
        picks.show(rows, at)
        self._explorer.row = picks.selected
        self.query_one(RuleSliders).show(self._explorer.selection.change, self._explorer.own)
        self._show_heading()
        self._show_chart()

    def _show_heading(self) -> None:
        assert self._explorer is not None
        inside = self._explorer.selection.inside
        names = {
            "model": "Models and teams",
            "leaf": "Leaves",
            "question": "Questions",
            "chain": "Chains",
            "idea": "Ideas",
        }
        name = "Sessions" if self._explorer.listing == "sessions" else names[inside.level]
        number = "chains" if name == "Sessions" else "novelty" if inside.level == "idea" else "mean ideas"
        self.query_one("#heading", Line).show(name, number)
        self.query_one("#title", Line).show("Profiles", self._explorer.totals())

    def _show_chart(self) -> None:
        if self._explorer is None:
            return
        self._version += 1
        place = NAMES.index(self._explorer.name) + 1
        self.query_one("#chart-title", Line).show(clean_line(self._explorer.title()), f"{place}/{len(NAMES)}")
        try:
            self._draw(self._explorer)
        except NothingToDrawError as error:
            self._chart = None
            self._say(error.message)

    def _draw(self, explorer: Explorer) -> None:
        beside = explorer.one is not None
        right = self.query_one("#right").size
        room = right.width >= ROOM_FOR_PAIR[0] and right.height >= ROOM_FOR_PAIR[1]
        pair = explorer.pair() if beside and room else ()
        self._chart = explorer.differences() if beside else explorer.chart()
        self.query_one("#sides").display = bool(pair)
        self.set_class(bool(pair), "pair")
        for name, each in zip(("one", "other"), pair, strict=False):
            self._show(self.query_one(f"#{name}", Plot), each)
        self.remove_class("silent")
        caveats = explorer.caveats()
        self.set_class(bool(caveats), "mixed")
        self.query_one("#caveats", Static).update("\n".join(caveats))
        self._show(self.query_one(ChartView), self._chart)

    def _show(self, plot: Plot, chart: Chart) -> None:
        plot.show(lambda width, height: chart.draw(width, height, look_of(self.app)), self._version)

    def _say(self, text: str) -> None:
        """In the chart's place."""
        if not self.is_attached:
            return
        self.add_class("silent")
        self.remove_class("pair")
        self.query_one("#says", Static).update(text)

    # ── the list and the rules ────────────────────────────────────────────────────────────────────────────────────────

    def on_picks_highlighted(self, event: Picks.Highlighted) -> None:
        if self._explorer:
            self._explorer.row = event.row
            self._show_chart()

    def on_picks_toggled(self, event: Picks.Toggled) -> None:
        self._do(lambda explorer: explorer.toggle(event.row))

    def on_picks_opened(self, event: Picks.Opened) -> None:
        if self._explorer is None:
            return
        if self._wants_vectors:
            self._embed(self._explorer)
        elif self._explorer.enter(event.row):
            self._recount("")
            self._read_texts(self._explorer)
        elif self._explorer.selection.inside.level == "idea":
            self._open_idea(self._explorer.idea_of(event.row))

    def action_reset(self) -> None:
        self._do(lambda explorer: explorer.select(change=Change()))

    def on_slider_moved(self, event: Slider.Moved) -> None:
        self._do(lambda explorer: explorer.change(str(event.slider.id), event.value))

    def on_input_changed(self, event: Input.Changed) -> None:
        self._do(lambda explorer: explorer.select(words=event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.remove_class("filtering")
        self.query_one(Picks).focus()

    # ── on the chart ──────────────────────────────────────────────────────────────────────────────────────────────────

    def on_chart_view_pointed(self, event: ChartView.Pointed) -> None:
        """On chains: take hold of a threshold, and move it. On the map: choose the nearest idea."""
        size = self.query_one(ChartView).size
        if self._explorer and self._explorer.point(event.x, event.y, *size, begun=event.begun):
            self._count_soon()

    def on_chart_view_nudged(self, event: ChartView.Nudged) -> None:
        """On chains: move the threshold. On the map: to the next idea. Elsewhere: along the list."""
        if self._explorer and self._explorer.nudge(event.right, event.up):
            self._count_soon()
        elif event.up:
            self.query_one(Picks).action_move(-event.up)

    def on_chart_view_entered(self, event: ChartView.Entered) -> None:
        if self._explorer is None:
            return
        if self._wants_vectors:
            self._embed(self._explorer)
        elif chosen := self._explorer.chosen_idea():
            self._open_idea(chosen)
        elif not event.clicked:
            self.query_one(Picks).action_open()

    @property
    def _wants_vectors(self) -> bool:
        """Whether the map is wanted, and can't be drawn yet."""
        return self._explorer is not None and self._chart is None and self._explorer.wants_vectors and not self._stop

    def _embed(self, explorer: Explorer) -> None:
        def take(vectors: IdeaVectors) -> None:
            self._stop = None
            explorer.vectors = vectors
            self._recount()

        self._say("Making vectors of the ideas   Esc stops it")
        self._stop = embed_in_background(self, explorer.table, explorer.mapped, self._say, take)

    def _read_texts(self, explorer: Explorer) -> None:
        """Of the chain that a person went into."""
        chain = explorer.selection.inside.chain
        if chain is None or chain in explorer.texts:
            return

        def take(texts: dict[int, str]) -> None:
            explorer.texts[chain] = texts
            self._recount()

        texts_in_background(self, *chain, [int(row.name) for row in explorer.rows()], take)

    def _open_idea(self, idea: IdeaPlace) -> None:
        def show(texts: dict[int, str]) -> None:
            self.app.push_screen(Message(idea.title, f"{texts[idea.number]}\n\n{idea.about}"))

        texts_in_background(self, idea.session, idea.chain, [idea.number], show)

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def action_chart(self, name: Name) -> None:
        self._do(lambda explorer: explorer.show(name))
        self._leave_list()

    def action_step(self, by: int) -> None:
        self._do(lambda explorer: explorer.step_chart(by))
        self._leave_list()

    def _leave_list(self) -> None:
        """Where the list hides the chart, whoever asks for another chart wants to see it."""
        if self.has_class("narrow") and self.has_class("show-list"):
            self.action_list()

    def action_another(self) -> None:
        self._do(Explorer.another_way)

    def action_sessions(self) -> None:
        if self._explorer:
            self._explorer.listing = "models" if self._explorer.listing == "sessions" else "sessions"
            self._recount("")

    def action_all(self) -> None:
        self._do(Explorer.toggle_all)

    def action_filter(self) -> None:
        self.add_class("filtering", "show-list")
        self.query_one("#filter", Input).focus()

    def action_domain(self) -> None:
        def choose(name: str | None) -> None:
            if name is not None:
                self._do(lambda explorer: explorer.select(domain=name))

        assert self._explorer is not None
        rows = [("", "all"), *((name, name) for name in self._explorer.domains())]
        self.app.push_screen(Choose("Questions of which domain or leaf?", rows), choose)

    def action_beside(self) -> None:
        assert self._explorer is not None
        try:
            if self._explorer.one is None:
                self._explorer.keep()
                host(self).say("Kept. Now choose what to show beside it: models, a filter, other rules. b ends it")
            else:
                self._explorer.one = None
        except NothingToDrawError as error:
            host(self).say(error.message)
        self._count_soon()

    def action_list(self) -> None:
        self.toggle_class("show-list")
        self.query_one(Picks if self.has_class("show-list") else ChartView).focus()

    def action_write(self) -> None:
        def to(name: str | None) -> None:
            if name is None or self._chart is None:
                return
            size = self.query_one(ChartView).size
            try:
                write(self._chart, path_of(name), size.width, size.height, look_of(self.app))
            except JagstormError as error:
                host(self).show_fault(error)
            else:
                host(self).say(f"Written to {shown(path_of(name))}")

        if self._chart is None or self._explorer is None:
            host(self).say("There is no chart to write")
            return
        hint = "The end says what: .svg, .txt, .csv   Enter write   Esc cancel"
        self.app.push_screen(Ask("Write the chart to which file?", f"profile-{self._explorer.name}.svg", hint=hint), to)

    def action_up(self) -> None:
        """Whatever was begun last ends first."""
        explorer = self._explorer
        if self._stop and explorer:
            self._stop()
            self._stop = None
            self._recount()
        elif self.has_class("filtering") or (explorer and explorer.selection.words):
            self.query_one("#filter", Input).value = ""
            self.remove_class("filtering")
            self.query_one(Picks).focus()
        elif explorer and explorer.listing == "sessions":
            self.action_sessions()
        elif explorer and (came_from := explorer.up()):
            self._recount(came_from)
        else:
            self.action_back()

    def action_back(self) -> None:
        if self._stop:
            self._stop()
        self.dismiss()
