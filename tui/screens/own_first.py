"""A quiet screen before the team starts: the question, and the person's own ideas, one a line."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, Input, Static

from core import commands as cmd
from core.chain import Chain
from core.events.course import OWN_FIRST
from core.feed import LiveFeed
from core.models import YOU
from tui.screens.following import Following
from tui.telling import tell
from tui.widgets.field import Field
from tui.widgets.line import Line

LOOK_EVERY = 10.0
"""Seconds between two looks at the clock; painted is what has changed by then."""


class OwnFirstScreen(Following):
    """No scores, no chain, nobody else's words. Whoever sees a model's ideas first has fewer original ones."""

    CSS_PATH = "../styles/own_first.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "give", "Give", id="own_first.give", tooltip="Your idea joins the chain"),
        Binding(
            "f2,ctrl+s",
            "done",
            "Let the team begin",
            id="own_first.done",
            key_display="F2",
            priority=True,
            tooltip="Your turn is over: start",
        ),
        Binding("ctrl+z", "undo", "Undo", id="own_first.undo", tooltip="Take back the last one"),
    ]

    feed: LiveFeed

    def __init__(self, feed: LiveFeed) -> None:
        super().__init__()
        self.feed = feed

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static(self._chain.text, markup=False, id="own-question")
            yield Static(markup=False, id="own-ideas")
            yield Field(placeholder="one idea; Enter gives it", id="own-idea")
        yield Line(id="own-timer")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:  # Textual calls the base class's as well
        self.query_one(Field).focus()
        self.set_interval(LOOK_EVERY, self.show_time)

    def on_screen_resume(self) -> None:
        self.show_state()

    @property
    def _chain(self) -> Chain:
        chain = self.feed.state.chain
        assert chain
        return chain

    def show_state(self) -> None:
        """Whoever lets the team begin, here or elsewhere, ends this."""
        paused = self.feed.state.paused
        if paused is None or paused.by != OWN_FIRST:
            if self.app.screen is self:
                self.dismiss()
            return
        given = [idea for idea in self._chain.ideas if idea.author == YOU and not idea.removed]
        listed = "\n\n".join(f"{place:>2}  {idea.text}" for place, idea in enumerate(given, 1))
        ideas = self.query_one("#own-ideas", Static)
        ideas.update(listed)
        ideas.display = bool(given)
        self.show_time()

    def show_time(self) -> None:
        """Show how much is left, whichever screen it began on."""
        self.query_one("#own-timer", Line).show(self._time_words(), self._shown_words())

    def _time_words(self) -> str:
        own = self._chain.own_first
        left = own.minutes - (self.feed.elapsed() - own.t) / 60 if own else 0.0
        if left <= 0:
            return "The time you gave yourself is over; go on for as long as ideas come"
        minutes = round(left)
        return f"about {minutes} minute{'s' if minutes != 1 else ''} left" if minutes else "less than a minute left"

    def _shown_words(self) -> str:
        own = self._chain.own_first
        return "the team will see your ideas" if own and own.shown else "the team will not see your ideas"

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_give()

    def action_give(self) -> None:
        field = self.query_one(Field)
        if field.value.strip() and tell(self, self.feed, cmd.AddIdea(text=field.value)):
            field.value = ""
            self.call_after_refresh(self.query_one(VerticalScroll).scroll_end, animate=False)

    def action_done(self) -> None:
        """What still stands in the line is given as well."""
        self.action_give()
        tell(self, self.feed, cmd.Resume())

    def action_undo(self) -> None:
        tell(self, self.feed, cmd.Undo())
