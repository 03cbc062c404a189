"""The chain as a list: one line an idea, only the visible ones ever painted."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
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

FLASH_SECONDS = 0.8
"""How long an idea that was picked from several stands out."""


class ChainList(ScrollView, can_focus=True, inherit_bindings=False):
    """Ideas, oldest first. The cursor follows the newest until a person moves it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "chain--cursor",
        "chain--dim",
        "chain--failed",
        "chain--bar",
        "chain--own",
        "chain--mark",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="The idea in full, with its scores and the prompt that made it"),
        Binding("up,k", "move(-1)", "Up", show=False, tooltip="The idea before"),
        Binding("down,j", "move(1)", "Down", show=False, tooltip="The idea after"),
        Binding("pageup", "page(-1)", "Page up", show=False, tooltip="A page back"),
        Binding("pagedown", "page(1)", "Page down", show=False, tooltip="A page on"),
        Binding("home", "jump(0)", "First", show=False, tooltip="The first idea"),
        Binding("end", "jump(-1)", "Newest", show=False, tooltip="The newest idea, and follow from there"),
        Binding("y", "copy", "Copy", show=False, tooltip="Copy the idea's text"),
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
        self.question = ""
        """The id of the question whose ideas are shown."""
        self._judged = judged
        self._letters = letters
        self._all: list[Idea] = []
        self._rows: list[Idea] = []
        self._filter = ""
        self._follow = True
        self._flashing: int | None = None
        self.marked: list[int] = []
        """The numbers of the ideas that a person has marked, in that order."""

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, question: str, ideas: Sequence[Idea]) -> None:
        """Take in the chain of a question as it is now; only rows that changed are painted."""
        if question != self.question:
            self._turn_to(question)
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

    def _turn_to(self, question: str) -> None:
        """Begin anew: marks are numbers, which mean other ideas with another question."""
        self.question = question
        self.marked = []
        self._rows = []
        self._follow = True
        self._flashing = None
        self.cursor = 0
        self.virtual_size = Size(0, 0)
        self.refresh()

    def search(self, words: str) -> int:
        """Show only ideas that hold every word. Returns how many that are."""
        self._filter = words.casefold()
        self._rows = [idea for idea in self._all if self._matches(idea)]
        self.virtual_size = Size(0, len(self._rows))
        self._settle()
        self.refresh()
        return len(self._rows)

    def rename(self, letters: dict[str, str]) -> None:
        """Show authors by these names."""
        if letters != self._letters:
            self._letters = letters
            self.refresh()

    def mark(self, numbers: Sequence[int]) -> None:
        """Show these ideas as marked, and no others."""
        self.marked = list(numbers)
        self.refresh()

    def flash(self, number: int) -> None:
        """Have an idea stand out for a moment."""
        self._flashing = number
        self.refresh()
        self.set_timer(FLASH_SECONDS, self._end_flash)

    def _end_flash(self) -> None:
        self._flashing = None
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
        idea = self._rows[row]
        on_cursor = row == self.cursor and self.has_focus
        pointer = Segment("›" if on_cursor else " ", Style())
        strip = Strip([pointer, *self._segments(idea, width - 1)], width)
        strip = strip.apply_style(self.get_component_rich_style("chain--cursor") if on_cursor else self.rich_style)
        return strip.apply_style(Style(reverse=True)) if idea.number == self._flashing else strip

    def _segments(self, idea: Idea, width: int) -> list[Segment]:
        dim, bright = self._only_color("chain--dim"), self._only_color("chain--mark")
        body = self._body(idea)
        tail = self._scores(idea)
        author = max(3, min(10, max(map(len, self._letters.values()), default=3)))
        room = width - 6 - author - 2 - sum(len(segment.text) for segment in tail)
        notes = cut("".join(f"  {note}" for note in _notes(idea)), room // 2)
        text = fill(clean_line(idea.text, 2 * max(width, 1)), room - cell_len(notes))
        under = "+" if idea.seeds else ""
        letter = cut(self._letters.get(idea.author, "?"), author - len(under))
        return [
            Segment(_mark(idea), bright if idea.pinned and not idea.removed else dim),
            Segment(f"{idea.number:>4}", dim),
            Segment("▌", bright) if idea.number in self.marked else Segment(" ", dim),
            Segment(text, body + Style(strike=True) if idea.removed else body),
            Segment(notes, dim),
            Segment(f"{'~' if idea.original else ' '}{fill(letter + under, author)} ", dim),
            *tail,
        ]

    def _body(self, idea: Idea) -> Style:
        """How an idea's text looks: dim where prompts no longer show it, in a colour of its own where it is yours."""
        if not idea.stands:
            return self._only_color("chain--failed")
        return self._only_color("chain--own") if idea.author == YOU else Style()

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
            Segment(bar(score.embedding_novelty or 0.0), self._only_color("chain--bar")),
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


def _mark(idea: Idea) -> str:
    """What matters most of how an idea stands, in one cell."""
    if idea.removed:
        return "-"
    if idea.pinned:
        return "*"
    if idea.failed:
        return "×"
    return "?" if idea.score and idea.score.verdict == "unscored" else " "


def _notes(idea: Idea) -> Iterator[str]:
    """What stands at the end of its text."""
    if idea.removed:
        yield "taken out"
    elif idea.failed and idea.score:
        yield failed_words(idea.score).partition(":")[0]
    if idea.rating:
        yield f"{idea.rating}/5"
    if idea.comment:
        yield "“…”"


def _share(number: float | None, missing: str) -> str:
    """0.42 as .42, in at most four cells."""
    return f"{missing} " if number is None else f"{min(number, 1.0):.2f}".removeprefix("0")


def bar(share: float, cells: int = 4) -> str:
    """`share` of so many cells, in steps of a sixth of a cell."""
    steps = round(max(0.0, min(share, 1.0)) * cells * (len(BAR) - 1))
    full, rest = divmod(steps, len(BAR) - 1)
    return (BAR[-1] * full + (BAR[rest] if rest else "")).ljust(cells)
