"""How charts look on a terminal: its colours, and the characters that it has."""

import os
from functools import lru_cache

from msgspec import Struct
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style

Color = tuple[int, int, int] | str
"""Red, green, blue; or one of the terminal's own 16 by Rich's name; "default" is the text's own."""

Line = list[Segment]
Lines = list[Line]
"""What a chart is made of: one list a row, each no wider than the chart."""


class Glyphs(Struct, frozen=True):
    """The characters that charts are drawn with."""

    marks: tuple[str, ...]
    """One a series, so that they differ without colour."""
    shades: tuple[str, ...]
    """From little to much."""
    mean: str = "●"
    braille: bool = True
    """Whether curves are drawn in braille dots; else in dots of ASCII, two to a cell."""


FULL = Glyphs(marks=("•", "×", "+", "o", "*", "#"), shades=(" ", "░", "▒", "▓", "█"))
PLAIN = Glyphs(marks=("*", "x", "+", "o", "#", "%"), shades=(" ", ":", "=", "&", "@"), mean="o", braille=False)
"""For consoles whose font lacks braille, such as Linux's own."""


class Look(Struct, frozen=True):
    """Colours by what they say, and glyphs."""

    muted: Color
    """Axes, and what matters less."""
    accent: Color
    """What the person has chosen; thresholds."""
    good: Color
    bad: Color
    series: tuple[Color, ...]
    """As many as there are marks."""
    glyphs: Glyphs = FULL


SIXTEEN = Look("bright_black", "yellow", "green", "red", ("blue", "yellow", "green", "red", "magenta", "cyan"))
"""In the terminal's own colours."""

COLORLESS = Look("default", "default", "default", "default", ("default",) * 6)

DARK = Look(
    muted=(138, 138, 138),
    accent=(215, 175, 95),
    good=(135, 175, 95),
    bad=(215, 95, 95),
    series=((95, 175, 215), (215, 175, 95), (135, 175, 95), (215, 95, 95), (175, 135, 215), (208, 208, 208)),
)
LIGHT = Look(
    muted=(108, 108, 108),
    accent=(135, 95, 0),
    good=(78, 122, 0),
    bad=(175, 0, 0),
    series=((0, 95, 135), (135, 95, 0), (78, 122, 0), (175, 0, 0), (95, 0, 135), (38, 38, 38)),
)


def glyphs_here() -> Glyphs:
    """Those that the terminal's font has, as far as TERM tells."""
    return PLAIN if os.environ.get("TERM") in ("linux", "vt100", "vt220", "dumb") else FULL


@lru_cache(maxsize=256)
def paint(color: Color, *, bold: bool = False, reverse: bool = False) -> Style:
    """Text in `color`."""
    parsed = RichColor.from_rgb(*color) if isinstance(color, tuple) else RichColor.parse(color)
    return Style(color=parsed, bold=bold or None, reverse=reverse or None)


PLAIN_TEXT = Style()
