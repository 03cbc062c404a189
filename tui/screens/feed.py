"""What the live screen and the replay share: the chain, the idea being written, the chart, what is going on.

It mirrors a feed and holds nothing that matters. Events only mark what is out of date; a timer paints ten times a
second while there are any, and nothing is painted while nothing changes.
"""

import re
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
from core.chain import Chain, Idea, Writing
from core.feed import Feed
from core.questions import OWN, Question
from core.text import clean_line
from tui.charts.novelty import Color as ChartColor
from tui.charts.novelty import Colors, draw_novelty
from tui.host import host
from tui.screens.dialogs import Message
from tui.screens.idea import IdeaScreen
from tui.widgets.chain import ChainList
from tui.widgets.field import Field
from tui.widgets.line import Line
from tui.widgets.panes import Pane, Panes
from tui.widgets.plot import Plot
from tui.words import cost_words, letters, score_words, why_ended

_TAG = re.compile(r"</?(?:idea|answer)>")

PAINT_EVERY = 0.1
"""Seconds between two paints while text streams."""

CHART_WIDTH = 100
"""Columns from which the chart stands beside the chain; below, a key shows the one or the other."""


class FeedScreen(Screen[None]):
    """What live and replay share: everything but who drives."""

    CSS_PATH = "../styles/live.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Find", key_display="/", tooltip="Show only ideas that hold some words"),
        Binding("v", "chart", "Chart", tooltip="Where the screen is narrow: the chain or the chart"),
        Binding("i", "question", "Question", show=False, tooltip="The question in full"),
        Binding("n", "names", "Names", show=False, tooltip="Show members by name instead of by letter"),
        Binding("escape", "leave_search", "End search", show=False, tooltip="Show all ideas again"),
        Binding("full_stop", "pane(1)", "Next proposal", show=False, tooltip="Where proposals have tabs: the next one"),
        Binding("comma", "pane(-1)", "Proposal before", show=False, tooltip="The one before"),
    ]

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.feed = feed
        self._letters = self._letters_now(feed)
        self._named = False
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
                yield ChainList(self._letters, judged=judged, id="chain")
                yield Field(placeholder="words to look for; Esc shows all", id="search")
            with Vertical(id="right"):
                yield Line(id="chart-title")
                yield Plot(id="chart")
                yield Static(markup=False, id="detail")
        yield Line(id="writing")
        yield Panes(id="tail")
        yield Line(id="status")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#search", Input).display = False
        self.query_one(ChainList).focus()
        self.paint()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < CHART_WIDTH, "narrow")
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done now is offered."""
        return self.has_class("narrow") if action == "chart" else True

    def on_unmount(self) -> None:
        self._unsubscribe()

    # ── painting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _on_event(self, event: ev.Event) -> None:
        """Note that something changed; what is shown is always read from the state."""
        if isinstance(event, ev.TeamChanged):
            self._letters = self._letters_now(self.feed)
            self._show_names()
        self.touch()

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
        chain_list.show(chain.ideas)
        self._show_detail(chain_list.selected)
        self._paint_writing(chain)
        self._paint_chart(chain)
        self.query_one("#status", Line).show(self.activity(), self.counts())

    def progress(self, chain: Chain) -> str:
        return f"idea {chain.responses} · {clock(self.seconds())}"

    def seconds(self) -> float:
        return self.feed.state.t

    def _paint_writing(self, chain: Chain) -> None:
        """Who is writing, what is waited for, or how it stands."""
        title = self.query_one("#writing", Line)
        panes = self.query_one(Panes)
        slots = _in_order(chain) if chain.step_open and not chain.ended else []
        self.set_class(len(slots) > 1, "parallel")
        retry = self.feed.state.retry
        if len(slots) > 1:
            title.show(self._step_words(chain, slots))
            panes.show([self._pane(chain, slot) for slot in slots])
        elif retry and not any(writing.text or writing.thoughts for writing in chain.writing.values()):
            seconds = max(0, round(retry.until - self.seconds()))
            when = f"in {seconds} s" if seconds else "now"
            name = retry.member if retry.scoring else self.name_of(retry.member)
            title.show(f"{chain.next_number} ── {name} is asked again {when}")
            panes.show([Pane("", retry.why)])
        elif writing := next(iter(chain.writing.values()), None):
            title.show(f"{chain.next_number} ── {self._writing_words(chain, writing)}{self._picked(chain)}")
            panes.show([Pane("", _written(writing))])
        else:
            title.show(self._standing(chain))
            panes.show([Pane("", self._why_standing(chain))])

    def _writing_words(self, chain: Chain, writing: Writing) -> str:
        prompt = chain.prompts[ev.slot_of(writing.member, writing.draft)]
        start = f" from “{prompt.concept}”" if prompt.concept else ""
        start += f" on “{prompt.direction}”" if prompt.direction else ""
        trimmed = f" · sees {len(prompt.shown)} ideas" if chain.trimmed and chain.trimmed.step == chain.step else ""
        does = "is writing" if writing.text or not writing.thoughts else "is thinking"
        return f"{self.name_of(writing.member)} {does}{start}{trimmed}"

    def _step_words(self, chain: Chain, slots: list[str]) -> str:
        """How a step stands in which several propose."""
        ready = sum(slot in chain.outcomes for slot in slots)
        doing = f"{ready} of {len(slots)} proposals" if ready < len(slots) else "choosing"
        tabs = "   , . another" if self.query_one(Panes).tabbed else ""
        return f"{chain.next_number} ── {doing}{self._picked(chain)}{tabs}"

    def _picked(self, chain: Chain) -> str:
        """What was picked last, and from how many."""
        last = chain.ideas[-1] if chain.ideas else None
        if last is None or last.chosen is None or len(last.chosen.order) < 2:
            return ""
        return f"   ({last.number}: {self.name_of(last.author)} of {len(last.chosen.order)})"

    def _pane(self, chain: Chain, slot: str) -> Pane:
        """One proposal, as far as it has come."""
        prompt, end = chain.prompts[slot], chain.outcomes.get(slot)
        name = self.name_of(prompt.member) + (f"·{prompt.draft + 1}" if prompt.draft else "")
        direction = f" {prompt.direction}" if prompt.direction else ""
        if isinstance(end, ev.ProposalFinished):
            return Pane(f"✓ {name}{direction}", end.text)
        if end:
            return Pane(f"× {name} {end.outcome}", end.message)
        writing = chain.writing.get(slot)
        return Pane(f"  {name}{direction}", _written(writing) if writing else "")

    def _standing(self, chain: Chain) -> str:
        """Why nobody is writing, in one line."""
        if chain.ended:
            return why_ended(chain, self.feed.state)
        return "paused" if self.feed.state.paused else ""

    def _why_standing(self, chain: Chain) -> str:
        """The same at length, where there is more to say."""
        paused = self.feed.state.paused
        return chain.ended.message if chain.ended else paused.why if paused else ""

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
            return Colors("blue", "red", "magenta", "gray")
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
        return member if self._named else self._letters.get(member, "?")

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def on_chain_list_opened(self, event: ChainList.Opened) -> None:
        self.app.push_screen(IdeaScreen(self.feed, event.idea.number, self._letters))

    def on_chain_list_copied(self, event: ChainList.Copied) -> None:
        host(self).copy(event.idea.text)

    def on_chain_list_highlighted(self, event: ChainList.Highlighted) -> None:
        self._show_detail(event.idea)

    def _show_detail(self, idea: Idea | None) -> None:
        if idea is not self._detailed:
            self._detailed = idea
            said = f"{idea.number}  {idea.text}\n\n{score_words(idea)}" if idea else ""
            self.query_one("#detail", Static).update(said)

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
        self.app.push_screen(Message("Your own question" if question.domain == OWN else question.leaf, question.text))

    def action_names(self) -> None:
        self._named = not self._named
        self._show_names()
        self.touch()

    def _show_names(self) -> None:
        names = {name: name for name in self._letters} if self._named else self._letters
        self.query_one(ChainList).rename(names)

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


def _in_order(chain: Chain) -> list[str]:
    """The proposals of the step under way, in the order in which their members were asked, not in which they begin."""

    def place(slot: str) -> tuple[int, int]:
        started = chain.prompts[slot]
        asked = started.member.partition("/")[0]
        return chain.asked.index(asked) if asked in chain.asked else len(chain.asked), started.draft

    return sorted(chain.prompts, key=place)


def _written(writing: Writing) -> str:
    """What there is to see of a proposal so far, without the tags that it was asked to stand between."""
    return _TAG.sub("", writing.text) or writing.thoughts


def _unbegun(question: Question) -> Chain:
    """What there is to show before the question was started."""
    return Chain(question=question.id, text=question.text, domain=question.domain, subdomain=question.subdomain)


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _rgb(value: str) -> ChartColor:
    return Color.parse(value).rgb
