"""The chain as a list: one line an idea, only the visible ones ever painted."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from core.chain import Idea
from core.models import YOU
from core.text import clean_line
from tui.widgets.cells import cut, fill
from tui.words import failed_words

BAR = " ▁▂▃▄▅▆"


class ChainList(ScrollView, can_focus=True, inherit_bindings=False):
    """Ideas, oldest first. The cursor follows the newest until a person moves it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"chain--cursor", "chain--dim", "chain--failed", "chain--bar", "chain--own"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="The idea in full, with its scores and the prompt that made it"),
        Binding("up,k", "move(-1)", "Up", show=False, tooltip="The idea before"),
        Binding("down,j", "move(1)", "Down", show=False, tooltip="The idea after"),
        Binding("pageup", "page(-1)", "Page up", show=False, tooltip="A page back"),
        Binding("pagedown", "page(1)", "Page down", show=False, tooltip="A page on"),
        Binding("home", "jump(0)", "First", show=False, tooltip="The first idea"),
        Binding("end", "jump(-1)", "Newest", show=False, tooltip="The newest idea, and follow from there"),
        Binding("y", "copy", "Copy", tooltip="Copy the idea's text"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    class Opened(Message):
        def __init__(self, idea: Idea) -> None:
            super().__init__()
            self.idea = idea

    class Highlighted(Message):
        def __init__(self, idea: Idea) -> None:
            super().__init__()
            self.idea = idea

    class Copied(Message):
        def __init__(self, idea: Idea) -> None:
            super().__init__()
            self.idea = idea

    def __init__(self, letters: dict[str, str], *, judged: bool = False, id: str | None = None) -> None:  # noqa: A002
        """With `judged` there is a column for the novelty that judges give."""
        super().__init__(id=id)
        self._judged = judged
        self._letters = letters
        self._all: list[Idea] = []
        self._rows: list[Idea] = []
        self._filter = ""
        self._follow = True

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, ideas: Sequence[Idea]) -> None:
        """Take in the chain as it is now; only rows that changed are painted."""
        before = self._rows
        self._all = list(ideas)
        self._rows = [idea for idea in self._all if self._matches(idea)]
        common = min(len(before), len(self._rows))
        for row in range(max(0, self._first_visible), min(common, self._first_visible + self.size.height)):
            if before[row] is not self._rows[row]:
                self._paint(row)
        if len(self._rows) != len(before):
            self.virtual_size = Size(0, len(self._rows))
            below = self._first_visible + self.size.height
            for row in range(max(common, self._first_visible), min(max(len(before), len(self._rows)), below)):
                self._paint(row)
            self._settle()

    def search(self, words: str) -> int:
        """Show only ideas that hold every word. Returns how many that are."""
        self._filter = words.casefold()
        self._rows = [idea for idea in self._all if self._matches(idea)]
        self.virtual_size = Size(0, len(self._rows))
        self._settle()
        self.refresh()
        return len(self._rows)

    def rename(self, letters: dict[str, str]) -> None:
        """Show authors by other names."""
        self._letters = letters
        self.refresh()

    @property
    def selected(self) -> Idea | None:
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    @property
    def matches(self) -> int:
        return len(self._rows)

    def _matches(self, idea: Idea) -> bool:
        return not self._filter or all(word in idea.text.casefold() for word in self._filter.split())

    @property
    def _first_visible(self) -> int:
        return self.scroll_offset.y

    def _paint(self, row: int) -> None:
        self.refresh(Region(0, row - self._first_visible, self.size.width, 1))

    def _settle(self) -> None:
        """After the number of rows changed: follow the newest, or stay where the person is."""
        last = max(len(self._rows) - 1, 0)
        self._set_cursor(last if self._follow else min(self.cursor, last))
        # A list that has only just become longer than its window can't be scrolled before it is laid out again.
        self.call_after_refresh(self._show_cursor)

    def _set_cursor(self, row: int) -> None:
        row = max(0, min(row, len(self._rows) - 1))
        old, self.cursor = self.cursor, row
        self._paint(old)
        self._paint(row)
        self._show_cursor()
        if self._rows:
            self.post_message(self.Highlighted(self._rows[row]))

    def _show_cursor(self) -> None:
        if self.size.height:
            self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, immediate=True)

    # ── painting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def render_line(self, y: int) -> Strip:
        row = self._first_visible + y
        width = self.scrollable_content_region.width
        if row >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        on_cursor = row == self.cursor and self.has_focus
        pointer = Segment("›" if on_cursor else " ", Style())
        strip = Strip([pointer, *self._segments(self._rows[row], width - 1)], width)
        return strip.apply_style(self.get_component_rich_style("chain--cursor") if on_cursor else self.rich_style)

    def _segments(self, idea: Idea, width: int) -> list[Segment]:
        plain = Style()
        dim = self._only_color("chain--dim")
        body = self._only_color("chain--failed") if idea.failed else plain
        letter = self._letters.get(idea.author, "?")
        tail = self._scores(idea)
        author = max(3, min(10, max(map(len, self._letters.values()), default=3)))
        room = width - 6 - author - 2 - sum(len(segment.text) for segment in tail)
        why = cut(f"  {failed_words(idea.score).partition(':')[0]}", room // 2) if idea.failed and idea.score else ""
        text = fill(clean_line(idea.text, 2 * max(width, 1)), room - len(why))
        mark = "×" if idea.failed else "?" if idea.score and idea.score.verdict == "unscored" else " "
        return [
            Segment(f"{mark}{idea.number:>4} ", dim if not idea.failed else body),
            Segment(text, self._only_color("chain--own") if idea.author == YOU and not idea.failed else body),
            Segment(why, dim),
            Segment(f" {fill(letter, author)} ", dim),
            *tail,
        ]

    def _scores(self, idea: Idea) -> list[Segment]:
        """Bar, novelty, judged novelty where there are judges, and coherence, in 13 or 18 cells."""
        dim = self._only_color("chain--dim")
        score = idea.score
        if score is None:
            return [Segment("…".center(18 if self._judged else 13), dim)]
        missing = "?" if score.judges else "·"  # a judge could not say; nobody was asked
        judged = [Segment(f" {_share(score.judged_novelty, missing):>4}", dim)] if self._judged else []
        coherence = f"{score.coherence:.0f}" if score.coherence is not None else missing
        return [
            Segment(_bar(score.embedding_novelty or 0.0), self._only_color("chain--bar")),
            Segment(f" {_share(score.embedding_novelty, '?'):>4}", Style()),
            *judged,
            Segment(f" {coherence:>3}", dim),
        ]

    def _only_color(self, component: str) -> Style:
        style = self.get_component_rich_style(component, partial=True)
        return Style(color=style.color, bold=style.bold, dim=style.dim)

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def action_move(self, rows: int) -> None:
        self._go(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        self._go(self.cursor + pages * max(self.size.height - 1, 1))

    def action_jump(self, row: int) -> None:
        self._go(row if row >= 0 else len(self._rows) - 1)

    def _go(self, row: int) -> None:
        self._set_cursor(row)
        self._follow = self.cursor >= len(self._rows) - 1

    def action_open(self) -> None:
        if self.selected:
            self.post_message(self.Opened(self.selected))

    def action_copy(self) -> None:
        if self.selected:
            self.post_message(self.Copied(self.selected))

    def on_click(self, event: events.Click) -> None:
        row = self._first_visible + event.y
        if row < len(self._rows):
            self._go(row)
            if event.chain == 2:
                self.action_open()

    def on_focus(self) -> None:
        self._paint(self.cursor)

    def on_blur(self) -> None:
        self._paint(self.cursor)


def _share(number: float | None, missing: str) -> str:
    """0.42 as .42, in at most four cells."""
    return f"{missing} " if number is None else f"{min(number, 1.0):.2f}".removeprefix("0")


def _bar(share: float) -> str:
    """`share` of four cells, in steps of a sixth of a cell."""
    steps = round(max(0.0, min(share, 1.0)) * 4 * (len(BAR) - 1))
    full, rest = divmod(steps, len(BAR) - 1)
    return (BAR[-1] * full + (BAR[rest] if rest else "")).ljust(4)
