"""A text to change in place."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from core.text import clean


class Lines(TextArea):
    """What is pasted is text, with nothing in it that a terminal would obey. The cursor does not blink."""

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()  # Textual's own takes it as it is
        start, end = sorted(self.selection)
        self.move_cursor(self.replace(clean(event.text), start, end).end_location)


class Edit(ModalScreen[str | None]):
    """Dismissed with the text as changed, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+s", "done", "Done", id="edit.done", priority=True, tooltip="Take the text as it is now"),
        Binding("escape", "cancel", "Cancel", show=False),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._before = text
        self._warned = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog edit"):
            yield Static(self._title, markup=False, classes="dialog-title")
            lines = Lines(self._before, soft_wrap=True, show_line_numbers=False, id="lines")
            lines.cursor_blink = False
            yield lines
            yield Static("F2 or Ctrl+S done   Esc cancel", markup=False, classes="hint", id="edit-hint")

    def on_mount(self) -> None:
        self.query_one(Lines).move_cursor(self.query_one(Lines).document.end)

    @property
    def _text(self) -> str:
        return self.query_one(Lines).text

    def action_done(self) -> None:
        self.dismiss(self._text)

    def action_cancel(self) -> None:
        """What was typed is not lost by one key."""
        if self._text == self._before or self._warned:
            self.dismiss(None)
            return
        self._warned = True
        self.query_one("#edit-hint", Static).update("Esc again lets your changes go   F2 or Ctrl+S keeps them")
