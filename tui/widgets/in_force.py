"""What is in force: the seeds, other levers and instructions that the next prompts hold, each with a key to end it."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.deeds import Standing
from tui.widgets.cells import cut

LONGEST = 160
"""Cells of one row, which may take several lines."""


class InForceList(OptionList):
    """One row for each; rows that only tell something stand before them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete,backspace", "withdraw", "Withdraw", key_display="Del", tooltip="Take out of all prompts"),
    ]

    class Withdrawn(Message):
        def __init__(self, standing: Standing) -> None:
            super().__init__()
            self.standing = standing

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, compact=True)
        self._shown: tuple[Sequence[str], Sequence[Standing]] | None = None

    def show(self, told: Sequence[str], rows: Sequence[Standing]) -> None:
        """`told` are lines about which nothing can be done here."""
        if (told, rows) == self._shown:
            return
        self._shown = (told, rows)
        at = self.highlighted
        self.clear_options()
        self.add_options([Option(_line(line), disabled=True) for line in told or ([] if rows else ["nothing"])])
        self.add_options([Option(_line(row.line)) for row in rows])
        if rows:
            self.highlighted = max(len(told), min(at or 0, self.option_count - 1))

    def action_withdraw(self) -> None:
        if self._shown is None or self.highlighted is None:
            return
        told, rows = self._shown
        if rows:
            self.post_message(self.Withdrawn(rows[self.highlighted - len(told)]))


def _line(text: str) -> Text:
    return Text(cut(text, LONGEST))
