"""Tables as CSV, for pandas, R and spreadsheets: every text quoted, and guarded from being run as a formula."""

import re
from collections.abc import Iterable

Cell = str | float | tuple[object, ...] | None
"""What a cell may hold: a text, a number, yes or no, several things; None is an empty cell."""

_FORMULA = re.compile(r"[\s']*[=+\-@＝＋－＠]|'*[\t\r\n]")
"""How texts begin that a spreadsheet would run; apostrophes before them change nothing, so that one can be told off."""


def csv_record(cells: Iterable[Cell]) -> str:
    """One line, as RFC 4180 has it. Lists are joined by semicolons.

    Texts are all quoted, numbers and empty cells are not: `csv` quotes what is empty too, and a reader may then take a
    column of numbers for texts.
    """
    return f"{','.join(map(_written, cells))}\n"


def _written(value: Cell) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case tuple():
            return _quoted("; ".join(map(str, value)))
    return _quoted(value)


def _quoted(text: str) -> str:
    return '"' + guarded(text).replace('"', '""') + '"'


def guarded(text: str) -> str:
    """`text` with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text
