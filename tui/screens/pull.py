"""A model that its server does not have yet: fetched, if a person wants it, with its progress shown."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import ProgressBar, Static

from core.errors import NotPulledError
from core.models import CallFailedError
from core.providers.progress import Progress, size_words
from core.text import clean_line

PAINT_EVERY = 0.25
"""Seconds."""


class PullScreen(ModalScreen[bool]):
    """Dismissed with whether the model is there now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "pull", "Pull"),
        Binding("escape,q", "leave", "Cancel"),
    ]

    def __init__(self, fault: NotPulledError, pull: Callable[[str], AsyncGenerator[Progress, None]]) -> None:
        super().__init__()
        self._fault = fault
        self._pull = pull
        self._begun = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._fault.title, markup=False, classes="dialog-title")
            yield Static(self._fault.message, markup=False, id="pull-words")
            yield ProgressBar(total=100, show_eta=False, id="pull-bar")
            yield Static("Enter pull it now   Esc leave", markup=False, classes="hint", id="pull-hint")

    def on_mount(self) -> None:
        self.query_one("#pull-bar").display = False

    def action_pull(self) -> None:
        if not self._begun:
            self._begun = True
            self.query_one("#pull-bar").display = True
            self.query_one("#pull-hint", Static).update("Esc stop: what has come stays")
            self.run_worker(self._fetch(), exclusive=True, exit_on_error=False)

    async def _fetch(self) -> None:
        words = self.query_one("#pull-words", Static)
        painted = 0.0
        try:
            async with aclosing(self._pull(self._fault.name)) as steps:
                async for step in steps:
                    if monotonic() - painted >= PAINT_EVERY or step.done == step.total:
                        painted = monotonic()
                        self._show(step)
        except CallFailedError as error:
            words.update(clean_line(str(error), 400))
            self.query_one("#pull-hint", Static).update("Enter try again   Esc leave")
            self._begun = False
            return
        self.dismiss(True)

    def _show(self, step: Progress) -> None:
        size = f"  {size_words(step.done)} of {size_words(step.total)}" if step.total else ""
        self.query_one("#pull-words", Static).update(f"{clean_line(step.words, 100)}{size}")
        if step.total:
            self.query_one("#pull-bar", ProgressBar).update(total=step.total, progress=step.done)

    def action_leave(self) -> None:
        """What has come stays at the server: the next pull goes on from there."""
        self.dismiss(False)
