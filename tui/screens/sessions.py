"""The sessions so far: open one, live where it runs and as a replay where it doesn't, or go on with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import DataTable, Footer

from core.config import path_of
from core.errors import JagstormError, UsageError
from core.store import library, listing
from core.text import clean_line, shown
from tui.host import host
from tui.screens.dialogs import Ask
from tui.widgets.line import Line
from tui.words import END_WORDS

MARK = "*"

WIDE = 100
"""Columns from which there is room for whole dates and teams."""

LOOK_EVERY = 2.0
"""Seconds between two looks at which sessions run."""


class SessionsScreen(Screen[None]):
    CSS_PATH = "../styles/sessions.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="See it live where it runs, else watch it again", priority=True),
        Binding("r", "resume", "Resume", tooltip="Go on with the session where it was"),
        Binding("space", "mark", "Mark", id="sessions.mark", tooltip="Mark several, to export or to profile"),
        Binding("x", "export", "Export", id="sessions.export", tooltip="Write what is marked, or the one chosen"),
        Binding("f4", "profiles", "Profiles", id="sessions.profiles", tooltip="Of what is marked, or of all"),
        Binding("q,escape", "back", "Back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, listing.Summary] = {}
        self._marked: set[str] = set()

    def compose(self) -> ComposeResult:
        yield Line("Sessions", shown(host(self).sessions), classes="title")
        yield DataTable(cursor_type="row", zebra_stripes=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._show([])
        self.set_interval(LOOK_EVERY, self._look)
        host(self).read_sessions(self._fill)

    def on_resize(self, event: events.Resize) -> None:
        narrow = event.size.width < WIDE
        if narrow != self.has_class("narrow"):
            self.set_class(narrow, "narrow")
            self._show(list(self._rows.values()))

    def on_screen_resume(self) -> None:
        if self._rows:
            host(self).read_sessions(self._fill)

    def _look(self) -> None:
        """Read them again if one has begun to run, or runs no more, or runs otherwise."""
        if self.is_current and any(_stands_otherwise(row) for row in self._rows.values()):
            host(self).read_sessions(self._fill)

    def _fill(self, rows: list[listing.Summary]) -> None:
        if not self.is_attached:
            return
        self._show(rows)
        if not rows:
            self.query_one(Line).show("Sessions: none yet", shown(host(self).sessions))

    def _show(self, rows: Sequence[listing.Summary]) -> None:
        """Show `rows`, the cursor on the session that it was on."""
        table = self.query_one(DataTable)
        chosen = self._selected()
        table.clear(columns=True)
        narrow = self.has_class("narrow")
        table.add_column("", width=1, key="mark")
        table.add_column("When", width=11 if narrow else 16)
        table.add_column("Pass", width=9)
        table.add_column("How it stands", width=19)
        table.add_column("Team", width=12 if narrow else 24)
        table.add_column("Question")
        self._rows = {str(row.folder): row for row in rows}
        for key, row in self._rows.items():
            cells = (MARK if key in self._marked else "", *_cells(row, narrow=narrow))
            table.add_row(*(_text(cell) for cell in cells), key=key)
        if chosen and str(chosen.folder) in self._rows:
            table.move_cursor(row=table.get_row_index(str(chosen.folder)))

    def _selected(self) -> listing.Summary | None:
        table = self.query_one(DataTable)
        if not table.row_count:
            return None
        key = table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value
        return self._rows.get(key or "")

    def action_open(self) -> None:
        if row := self._selected():
            host(self).open_session(row.folder)

    def action_resume(self) -> None:
        if row := self._selected():
            host(self).resume_session(row.folder)

    def action_mark(self) -> None:
        if row := self._selected():
            key = str(row.folder)
            self._marked ^= {key}
            table = self.query_one(DataTable)
            table.update_cell(key, "mark", Text(MARK if key in self._marked else ""))
            table.action_cursor_down()

    def action_profiles(self) -> None:
        from tui.screens.profiles import ProfilesScreen

        self.app.push_screen(ProfilesScreen(self._marked_folders() or None))

    def action_export(self) -> None:
        """Ask for a file, whose name's end says how it is written."""
        folders = self._marked_folders() or [row.folder for row in [self._selected()] if row]

        def to(name: str | None) -> None:
            if name:
                self._write(folders, path_of(name))

        if folders:
            name = folders[0].name if len(folders) == 1 else "sessions"
            title = "Export to which file?" if len(folders) == 1 else f"Export {len(folders)} sessions to which file?"
            hint = "The end says what: .md, .html, .csv, .jsonl, .json, .cast   Enter write   Esc cancel"
            self.app.push_screen(Ask(title, f"{name}.md", hint=hint), to)

    @work(thread=True, exit_on_error=False, group="export")
    def _write(self, folders: list[Path], path: Path) -> None:
        from core.exchange.exporting import SUFFIXES, exported, write_whole

        try:
            if path.suffix.lower() not in SUFFIXES:
                raise UsageError(f"{shown(path.name)} must end in {', '.join(SUFFIXES)}")
            write_whole(path, exported(map(library.load, folders), SUFFIXES[path.suffix.lower()]))
        except JagstormError as error:
            self.app.call_from_thread(host(self).show_fault, error)
        else:
            self.app.call_from_thread(host(self).say, f"Written to {shown(path)}")

    def _marked_folders(self) -> list[Path]:
        """In the order of the table."""
        return [row.folder for key, row in self._rows.items() if key in self._marked]

    def action_back(self) -> None:
        self.dismiss()


def _cells(row: listing.Summary, *, narrow: bool) -> tuple[str, ...]:
    """What stands in a row; where it is narrow, the year does not."""
    said = row.problem if row.status == "damaged" else row.question
    stands = row.status + (f", {END_WORDS.get(row.reason, row.reason)}" if row.reason else "")
    when = row.created[5 if narrow else 0 : 16].replace("T", " ")
    return when, f"{row.valid}/{row.ideas}", stands, row.team, said


def _text(cell: str) -> Text:
    return Text(clean_line(cell, 300), no_wrap=True, overflow="ellipsis")


def _stands_otherwise(row: listing.Summary) -> bool:
    """Whether the session is run otherwise than when its row was read."""
    was = row.status if row.status in ("running", "detached") else ""
    return row.status != "damaged" and library.run_now(row.folder) != was
