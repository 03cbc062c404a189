"""Text in terminal cells: cut, filled and wrapped by the width that a terminal gives it."""

from rich.cells import cell_len, set_cell_size


def cut(text: str, width: int) -> str:
    """`text` in at most `width` cells; what is cut off is shown by an ellipsis."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…" if width > 0 else ""


def fill(text: str, width: int) -> str:
    """`text` in exactly `width` cells."""
    return set_cell_size(cut(text, width), max(width, 0))


def wrap(text: str, width: int) -> list[str]:
    """The lines of `text` at `width` cells; broken at white space where there is any."""
    from textual.content import Content  # charts are printed without it

    return [line.plain for line in Content(text).wrap(max(width, 1))]
