"""A line to type in."""

from textual import events
from textual.reactive import reactive
from textual.widgets import Input

from core.questions import LONGEST
from core.text import clean_line


class Field(Input):
    """What is pasted is text: on one line, with nothing in it that a terminal would obey. The cursor does not blink."""

    cursor_blink = reactive(False, init=False)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()  # Textual's own takes the first line as it is
        self.insert_text_at_cursor(clean_line(event.text, LONGEST))
