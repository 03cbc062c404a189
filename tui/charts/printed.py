"""Charts on stdout and in files: as text for a terminal, as SVG, as CSV. Nothing here needs Textual."""

import os
import shutil
from collections.abc import Callable
from html import escape
from io import StringIO
from pathlib import Path
from typing import Literal, get_args

from msgspec.structs import replace
from rich.console import Console
from rich.segment import Segment, SegmentLines
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, TerminalTheme

from core.errors import UsageError
from core.exchange.csv_text import csv_record
from core.exchange.exporting import write_whole
from core.text import shown
from tui.charts.catalog import Chart
from tui.charts.look import COLORLESS, DARK, LIGHT, SIXTEEN, Look, glyphs_here
from tui.charts.sheet import SMALLEST, Sheet

ColorSystem = Literal["standard", "256", "truecolor", "windows"]

_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<title>TITLE</title>
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px; }}
{styles}
</style>
<defs>
{lines}
</defs>
<rect width="100%" height="100%" fill="BACKGROUND"/>
<g class="{unique_id}-matrix"><text x="{terminal_x}" y="28" class="{unique_id}-r1">TITLE</text></g>
<g transform="translate({terminal_x}, {terminal_y})" class="{unique_id}-matrix">
{backgrounds}
{matrix}
</g>
</svg>
"""
"""Rich's, without a window's frame and without fonts from the net."""


def colors_here() -> ColorSystem | None:
    """What stdout can show; None for none: no terminal, or NO_COLOR is set."""
    console = Console()
    found = None if console.no_color or not console.is_terminal else console.color_system
    return next((system for system in get_args(ColorSystem) if system == found), None)


def size_here() -> tuple[int, int]:
    """Columns and rows of the terminal; 100 × 30 where there is none."""
    columns, rows = shutil.get_terminal_size((100, 30))
    return columns, max(rows - 1, 10)


def look_for(colors: ColorSystem | None) -> Look:
    """The look for a terminal: its own colours where it has but 16, else for dark or light as COLORFGBG says it is."""
    light = os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    full = LIGHT if light else DARK
    look = COLORLESS if colors is None else SIXTEEN if colors in ("standard", "windows") else full
    return replace(look, glyphs=glyphs_here())


def printed(chart: Chart, width: int, height: int, colors: ColorSystem | None, look: Look | None = None) -> str:
    """The chart as lines of text, coloured by ANSI codes if there are colours. One made of rows shows them all."""
    look = look or look_for(colors)
    rows = max(chart.rows(look), SMALLEST[1]) if chart.rows else height
    lines = [_trimmed(line) for line in chart.draw(width, rows, look)]
    file = StringIO()
    console = Console(file=file, width=width, force_terminal=colors is not None, color_system=colors)
    console.print(SegmentLines(lines, new_lines=True), end="")
    return file.getvalue().rstrip("\n") + "\n"


def svg(chart: Chart, width: int = 120, height: int = 40, look: Look = LIGHT) -> str:
    """The chart as a picture; on white in the colours of the light look."""
    rows = max(chart.rows(look), SMALLEST[1]) if chart.rows else height
    console = Console(file=StringIO(), record=True, width=width, force_terminal=True, color_system="truecolor")
    lines = [_parted(line) for line in chart.draw(width, rows, look)]
    console.print(SegmentLines(lines, new_lines=True), end="")
    theme = DEFAULT_TERMINAL_THEME if look.muted == LIGHT.muted else _ON_DARK
    page = _FORMAT.replace("TITLE", escape(chart.title)).replace("BACKGROUND", theme.background_color.hex)
    return console.export_svg(theme=theme, code_format=page, unique_id="chart")


def csv_of(sheet: Sheet) -> str:
    """The numbers as CSV with a heading; texts that a spreadsheet would take for formulas begin with an apostrophe."""
    return "".join(map(csv_record, (sheet.columns, *sheet.rows)))


def write(chart: Chart, path: Path, width: int, height: int, look: Look) -> None:
    """As the end of the name says: .svg, .txt or .csv. Raises `UsageError` for another, and if it can't be written."""
    makers: dict[str, Callable[[], str]] = {
        ".svg": lambda: svg(chart, width, height, look),
        ".txt": lambda: printed(chart, width, height, None, look),
        ".csv": lambda: csv_of(chart.sheet()),
    }
    if path.suffix.lower() not in makers:
        raise UsageError(f"{shown(path.name)} must end in .svg, .txt or .csv")
    if path.exists():
        raise UsageError(f"{shown(path)} is there already: choose another name")
    write_whole(path, [makers[path.suffix.lower()]()])


_ON_DARK = TerminalTheme(
    (18, 18, 18),
    (208, 208, 208),
    [
        (0, 0, 0),
        (205, 49, 49),
        (13, 188, 121),
        (229, 229, 16),
        (36, 114, 200),
        (188, 63, 188),
        (17, 168, 205),
        (229, 229, 229),
    ],
)


def _trimmed(line: list[Segment]) -> list[Segment]:
    """Without blanks at its end."""
    while line and not line[-1].text.strip():
        line = line[:-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(), line[-1].style)] if line else []


def _parted(line: list[Segment]) -> list[Segment]:
    """With blanks in segments of their own: viewers place each text exactly, but not what is in it."""
    parts = []
    for segment in line:
        text = segment.text.lstrip(" ")
        blank = len(segment.text) - len(text)
        parts += [Segment(" " * blank, segment.style)] if blank else []
        parts += [Segment(text, segment.style)] if text else []
    return parts
