"""What the live screen and the replay share: the chain, the idea being written, the chart, what is going on.

It mirrors a feed and holds nothing that matters. Events only mark what is out of date; a timer paints ten times a
second while there are any, and nothing is painted while nothing changes.
"""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer, Input, Static

from core import events as ev
from core.chain import Chain, Idea
from core.feed import Feed
from core.levers import Hand
from core.models import YOU
from core.questions import OWN, Question
from core.text import clean_line
from tui.charts.look import Color as ChartColor
from tui.charts.novelty import Colors, draw_novelty
from tui.deeds import doer, fork_lines, mark_words, policy_words, standing, task_lines
from tui.host import host
from tui.levers import policy_now
from tui.screens.dialogs import Message
from tui.screens.idea import IdeaScreen
from tui.screens.writing import Scene
from tui.widgets.cells import cut
from tui.widgets.chain import ChainList
from tui.widgets.field import Field
from tui.widgets.in_force import InForceList
from tui.widgets.line import Line
from tui.widgets.panes import Panes
from tui.widgets.plot import Plot
from tui.words import cost_words, letters, score_words

PAINT_EVERY = 0.1
"""Seconds between two paints while text streams."""

CHART_WIDTH = 100
"""Columns from which the chart stands beside the chain; below, a key shows the one or the other."""


class FeedScreen(Screen[None]):
    """What live and replay share: everything but who drives."""

    CSS_PATH = "../styles/live.tcss"
    HELP = "* pinned  × failed  - taken out  ? unscored  ~ edited  + under a seed  ▌ marked  4/5 rated  “…” comment"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "search",
            "Find",
            id="feed.find",
            show=False,
            key_display="/",
            tooltip="Show only ideas that hold words",
        ),
        Binding("v", "chart", "Chart", id="feed.chart", tooltip="On a narrow screen: the chain, or chart and the rest"),
        Binding("i", "question", "Question", id="feed.question", show=False, tooltip="The question in full"),
        Binding(
            "n", "names", "Names", id="feed.names", show=False, tooltip="Show members by name instead of by letter"
        ),
        Binding("escape", "leave_search", "End search", id="feed.all", show=False, tooltip="Show all ideas again"),
        Binding(
            "full_stop",
            "pane(1)",
            "Next proposal",
            id="feed.next_pane",
            show=False,
            tooltip="Where proposals have tabs: the next one",
        ),
        Binding("comma", "pane(-1)", "Proposal before", id="feed.pane_before", show=False, tooltip="The one before"),
    ]

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.feed = feed
        self.letters = self._letters_now(feed)
        """What members are called, by their names."""
        self._named = False
        self._newest: ev.IdeaAdded | None = None
        """The team's newest idea, if it has not been shown yet."""
        self._detailed: Idea | None = None
        self._paint_timer: Timer | None = None
        self._unsubscribe = feed.subscribe(self._on_event)

    def compose(self) -> ComposeResult:
        yield Line(id="question")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                judged = bool(self.feed.plan.judging.judges)
                head = "who  novelty     jud coh  " if judged else "who  novelty    coh  "
                yield Line("     # idea", head, id="chain-head")
                yield ChainList(self.letters, judged=judged, id="chain")
                yield Field(placeholder="words to look for; Esc shows all", id="search")
            with Vertical(id="right"):
                yield Line(id="chart-title")
                yield Plot(id="chart")
                yield Static(markup=False, id="detail")
                yield Line("In force", id="force-title")
                yield InForceList(id="force")
        yield Line(id="writing")
        yield Panes(id="tail")
        yield Line(id="force-line")
        yield Line(id="status")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#search", Input).display = False
        self.query_one(ChainList).focus()
        self.paint()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < CHART_WIDTH, "narrow")
        self.refresh_bindings()
        self.touch()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done now is offered."""
        return self.has_class("narrow") if action == "chart" else super().check_action(action, parameters)

    def on_unmount(self) -> None:
        self._unsubscribe()

    # ── painting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _on_event(self, event: ev.Event) -> None:
        """Note that something changed; what is shown is always read from the state."""
        if isinstance(event, ev.TeamChanged):
            self.letters = self._letters_now(self.feed)
        elif isinstance(event, ev.IdeaAdded) and not event.by_person:
            self._newest = event
        self.touch()

    def _flash_if_picked(self, chain: Chain) -> None:
        """The pick among several joins the chain, and is seen to."""
        newest, self._newest = self._newest, None
        idea = chain.idea(newest.idea) if newest and newest.question == chain.question else None
        if idea and idea.chosen:
            self.query_one(ChainList).flash(idea.number)

    @staticmethod
    def _letters_now(feed: Feed) -> dict[str, str]:
        """Letters for all who may have written: those of the plan first, then those who took over."""
        teams = [feed.plan.team, *([feed.state.team] if feed.state.team else [])]
        return letters(tuple(dict.fromkeys(member.name for team in teams for member in team.everybody)))

    def touch(self) -> None:
        if self._paint_timer is None and self.is_running:
            self._paint_timer = self.set_timer(PAINT_EVERY, self._paint_now)

    def _paint_now(self) -> None:
        self._paint_timer = None
        self.paint()

    def paint(self) -> None:
        """Show the state as it is now. Each widget paints only what differs from what it shows."""
        chain = self.feed.state.chain or _unbegun(self.feed.plan.questions[0])
        self.query_one("#question", Line).show(clean_line(chain.text), self.progress(chain))
        chain_list = self.query_one(ChainList)
        chain_list.show(chain.question, chain.ideas)
        chain_list.rename(self._names)
        self._flash_if_picked(chain)
        self._show_detail(chain_list.selected)
        self._paint_writing(self.scene(chain))
        self._paint_force()
        self._paint_chart(chain)
        self.query_one("#status", Line).show(self.activity(), self.counts())

    def progress(self, chain: Chain) -> str:
        return f"idea {chain.responses} · {clock(self.seconds())}"

    def seconds(self) -> float:
        return self.feed.state.t

    def scene(self, chain: Chain) -> Scene:
        """What is being written now, as this screen shows it."""
        state = self.feed.state
        return Scene(state, chain, state.team or self.feed.plan.team, self.seconds(), self.name_of, self._named)

    def _paint_writing(self, scene: Scene) -> None:
        self.set_class(scene.several, "parallel")
        self.set_class(scene.choosing, "choosing")
        panes = self.query_one(Panes)
        panes.show(scene.panes())
        self.query_one("#writing", Line).show(scene.title(tabbed=panes.tabbed))

    def _paint_force(self) -> None:
        """What the next prompts hold: a list beside the chain, and one line where there is no room for it."""
        state = self.feed.state
        policy = policy_now(self.feed)
        told = [*fork_lines(state), *task_lines(state)]
        told += [f"seeds {policy_words(policy)}"] if not isinstance(policy, Hand) else []
        rows = standing(state)
        self.query_one(InForceList).show(told, rows)
        self.set_class(not (told or rows), "nothing-in-force")
        line = self.query_one("#force-line", Line)
        line.set_class(not rows, "empty")
        line.show("In force: " + " · ".join(cut(row.line, 60) for row in rows))

    def _paint_chart(self, chain: Chain) -> None:
        ideas = chain.ideas
        legend = "Novelty  • passed  × failed  ─ least"
        if any(idea.score and idea.score.coherence is not None for idea in ideas):
            legend += "  + coherence"
        self.query_one("#chart-title", Line).show(legend)
        rules = self.feed.plan.rules
        self.query_one(Plot).show(
            lambda width, height: draw_novelty(ideas, rules, width, height, self._chart_colors()),
            (chain.question, len(ideas), sum(idea.score is not None for idea in ideas)),
        )

    def _chart_colors(self) -> Colors:
        if self.app.native_ansi_color:
            return Colors("blue", "red", "magenta", "bright_black")
        theme = self.app.theme_variables
        names = ("primary", "error", "accent", "secondary")
        return Colors(*(_rgb(theme[name]) for name in names))

    def activity(self) -> str:
        """What is going on right now."""
        raise NotImplementedError

    def counts(self) -> str:
        state = self.feed.state
        parts = [f"step {state.chain.step if state.chain else 0}", f"{state.tokens:,} tok"]
        if state.tokens_per_second:
            parts.append(f"{state.tokens_per_second:.0f} tok/s")
        if state.controls:
            parts.append(f"controls {state.controls_passed}/{state.controls}")
        if state.wasted_tokens:
            parts.append(f"{state.wasted_tokens:,} wasted")
        if cost := cost_words(state, state.budget or self.feed.plan.budget):
            parts.append(cost)
        return " · ".join(parts)

    def name_of(self, member: str) -> str:
        return member if self._named else self.letters.get(member, "?")

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def on_chain_list_opened(self, event: ChainList.Opened) -> None:
        self.app.push_screen(self.idea_screen(event.idea.number))

    @property
    def question(self) -> str:
        """The id of the question whose ideas are shown; the next one may have begun, and not been painted yet."""
        return self.query_one(ChainList).question

    def idea_screen(self, number: int) -> IdeaScreen:
        """One idea in full."""
        return IdeaScreen(self.feed, self.question, number, self.letters)

    def on_chain_list_copied(self, event: ChainList.Copied) -> None:
        host(self).copy(event.idea.text)

    def on_chain_list_highlighted(self, event: ChainList.Highlighted) -> None:
        self._show_detail(event.idea)

    def _show_detail(self, idea: Idea | None) -> None:
        if idea is not self._detailed:
            self._detailed = idea
            self.query_one("#detail", Static).update(self._in_brief(idea) if idea else "")

    def _in_brief(self, idea: Idea) -> str:
        """An idea beside the chain."""
        under = [seed.name for seed in self.feed.state.was_in_force(idea).seeds]
        said = [score_words(idea), ", ".join(mark_words(idea)), _remark(idea)]
        said.append(f"under {', '.join(under)}" if under else "")
        return f"{idea.number}  {idea.text}\n\n" + "\n".join(filter(None, said))

    def action_chart(self) -> None:
        self.toggle_class("show-chart")
        if not self.has_class("show-chart"):
            self.query_one(ChainList).focus()

    def action_pane(self, by: int) -> None:
        self.query_one(Panes).turn(by)

    def action_question(self) -> None:
        chain = self.feed.state.chain
        question = next((q for q in self.feed.plan.questions if chain and q.id == chain.question), None)
        question = question or self.feed.plan.questions[0]
        title = "Your own question" if question.domain == OWN else question.leaf
        self.app.push_screen(Message(title, "\n\n".join([question.text, *fork_lines(self.feed.state)])))

    def action_names(self) -> None:
        self._named = not self._named
        self.touch()

    @property
    def _names(self) -> dict[str, str]:
        """What members are called now."""
        return {name: name for name in self.letters} if self._named else self.letters

    def action_search(self) -> None:
        self.remove_class("show-chart")
        search = self.query_one("#search", Input)
        search.display = True
        self.set_focus(search)

    def action_leave_search(self) -> None:
        search = self.query_one("#search", Input)
        search.value = ""
        search.display = False
        self.query_one(ChainList).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one(ChainList).search(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one(ChainList).focus()


def _unbegun(question: Question) -> Chain:
    """What there is to show before the question was started."""
    return Chain(question=question.id, text=question.text, domain=question.domain, subdomain=question.subdomain)


def _remark(idea: Idea) -> str:
    """What was said of it, and by whom, if that was not you."""
    by = doer(idea, ev.IdeaCommented)
    return idea.comment and f"{'' if by == YOU else f'{by}: '}“{idea.comment}”"


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _rgb(value: str) -> ChartColor:
    return Color.parse(value).rgb
