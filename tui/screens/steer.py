"""A standing instruction to the team, and what stands already."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from core import commands as cmd
from core.feed import Feed
from tui.deeds import standing
from tui.screens.following import Following
from tui.telling import tell, withdrawal
from tui.widgets.field import Field
from tui.widgets.in_force import InForceList


class SteerScreen(ModalScreen[None], Following):
    """Enter gives the instruction; it is in every prompt from the next step on, until it is withdrawn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False),
        Binding("down", "to_list", "What stands", show=False),
    ]

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.feed = feed

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("An instruction to the team, from now on", markup=False, classes="dialog-title")
            yield Field(placeholder="such as: prefer what a student can test")
            yield Static("In force", markup=False, classes="heading")
            yield InForceList()
            yield Static("Enter give   Tab the list   Del withdraw   Esc close", markup=False, classes="hint")

    def show_state(self) -> None:
        self.query_one(InForceList).show([], standing(self.feed.state))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip() or tell(self, self.feed, cmd.AddSteer(text=event.value)):
            self.dismiss()

    def on_in_force_list_withdrawn(self, event: InForceList.Withdrawn) -> None:
        event.stop()
        tell(self, self.feed, withdrawal(event.standing))

    def action_to_list(self) -> None:
        self.query_one(InForceList).focus()

    def action_close(self) -> None:
        self.dismiss()
