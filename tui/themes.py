"""Two themes of our own, dark and light, and which one fits a terminal."""

import os

from textual.theme import Theme

DARK = Theme(
    name="jagstorm-dark",
    primary="#5fafd7",
    secondary="#87afaf",
    accent="#d7af5f",
    foreground="#d0d0d0",
    background="#121212",
    surface="#1c1c1c",
    panel="#262626",
    success="#87af5f",
    warning="#d7af5f",
    error="#d75f5f",
    dark=True,
    variables={"muted": "#8a8a8a"},
)

LIGHT = Theme(
    name="jagstorm-light",
    primary="#005f87",
    secondary="#5f8787",
    accent="#875f00",
    foreground="#262626",
    background="#ffffff",
    surface="#f2f2f2",
    panel="#e4e4e4",
    success="#4e7a00",
    warning="#875f00",
    error="#af0000",
    dark=False,
    variables={"muted": "#6c6c6c"},
)
# All of these are among the 256 colours of xterm: SSH drops COLORTERM, and most terminals behind it have no more.

DEFAULTS = {"muted": "ansi_bright_black"}
"""For themes not ours: what is past, or matters less. (Textual's own `$text-muted` works on whole widgets only.)"""

OTHER = {
    "jagstorm-dark": "jagstorm-light",
    "jagstorm-light": "jagstorm-dark",
    "ansi-dark": "ansi-light",
    "ansi-light": "ansi-dark",
}


def fitting_theme(color_system: str | None) -> str:
    """The theme for a terminal: its own 16 colours where it has no more, else dark or light as it says it is.

    `color_system` is what Rich found: "standard", "256", "truecolor", or None for no colour.
    """
    light = os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    kind = "light" if light else "dark"
    return f"jagstorm-{kind}" if color_system in ("256", "truecolor") else f"ansi-{kind}"


def chosen_theme(name: str, color_system: str | None) -> str:
    """The theme that a person chose, if it is one of ours; on a terminal of 16 colours, its light or dark kind."""
    fitting = fitting_theme(color_system)
    if name not in OTHER:
        return fitting
    return name if color_system in ("256", "truecolor") else f"ansi-{name.rpartition('-')[2]}"
