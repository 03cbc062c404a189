"""What models came to on another benchmark, for the comparison of two: a CSV of model, total and questions."""

import csv
import io
import math
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct

from core.errors import UsageError
from core.exchange.naming import slug
from core.exchange.public import NoResultsError
from core.files import read_file, write_private
from core.text import clean_line, shown

LARGEST = 1e15


class ModelTotal(Struct, frozen=True):
    """One model over all questions of a benchmark."""

    model: str
    total: float
    """Its answers, or whatever its score counts."""
    questions: int

    @property
    def mean(self) -> float:
        return self.total / self.questions


class TotalsTable(Struct, frozen=True):
    """The totals of one benchmark."""

    name: str
    rows: tuple[ModelTotal, ...]


class TotalsKept(Struct, frozen=True, kw_only=True):
    """What came of a file of totals."""

    file: str
    models: int
    path: str
    """Where it is now."""
    there: bool = False
    """Whether it was there before."""


def totals_folder() -> Path:
    """Where imported totals are kept."""
    import platformdirs

    return platformdirs.user_data_path("jagstorm") / "totals"


def kept_totals() -> list[TotalsTable]:
    """All that were imported, the newest first; those that are broken since are left out.

    Raises `UsageError` if there is none that is not.
    """
    try:
        paths = sorted(totals_folder().glob("*.csv"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    except OSError as error:
        raise UsageError(f"{shown(totals_folder())} can't be read: {error.strerror or error}") from None
    tables: list[TotalsTable] = []
    broken: list[UsageError] = []
    for path in paths:
        try:
            tables.append(read_totals(path))
        except UsageError as error:
            broken.append(error)
    if broken and not tables:
        raise broken[0]
    return tables


def most_in_common(tables: Sequence[TotalsTable], models: Collection[str]) -> TotalsTable | None:
    """The one that knows most of `models`, the first of several; None if there is none."""
    return max(tables, key=lambda table: sum(row.model in models for row in table.rows), default=None)


def read_totals(path: Path) -> TotalsTable:
    """A CSV whose header names the columns model, total (…) and questions, in any order and among any others.

    Raises `UsageError` with the line for a broken file, `NoResultsError` for one of another kind.
    """
    try:
        content = read_file(path).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(path)} is broken: it is not UTF-8 text (byte {error.start})") from None
    reader = csv.reader(io.StringIO(content, newline=""), strict=True)
    try:
        columns = _columns(path, next(reader, []))
        rows: dict[str, ModelTotal] = {}
        for cells in reader:
            if any(cell.strip() for cell in cells):
                row = _row(cells, columns)
                if row.model in rows:
                    raise ValueError(f"{row.model} stands there twice")
                rows[row.model] = row
    except (csv.Error, ValueError) as error:
        raise UsageError(f"{shown(path)}, line {reader.line_num}: {clean_line(str(error), 200)}") from None
    if not rows:
        raise UsageError(f"{shown(path)} names no models")
    return TotalsTable(shown(path.stem), tuple(rows.values()))


def _columns(path: Path, header: list[str]) -> tuple[int, int, int]:
    """Where model, total and questions stand. Raises `NoResultsError`."""
    names = [name.strip().casefold() for name in header]
    found = [
        [place for place, name in enumerate(names) if fits(name)]
        for fits in (lambda name: name == "model", lambda name: "total" in name, lambda name: "questions" in name)
    ]
    if not all(found):
        raise NoResultsError(f"{shown(path)} is no table of totals: its first line must name model, total, questions")
    return found[0][0], found[1][0], found[2][-1]


def _row(cells: list[str], columns: tuple[int, int, int]) -> ModelTotal:
    """Raises ValueError."""
    if len(cells) <= max(columns):
        raise ValueError(f"it has {len(cells)} cells; {max(columns) + 1} are needed")
    model, total, questions = (clean_line(cells[column]) for column in columns)
    if not model:
        raise ValueError("the model has no name")
    if not (questions.isdecimal() and 0 < int(questions[:20]) < LARGEST):
        raise ValueError(f"{questions[:40]!r} is no number of questions")
    try:
        value = float(total)
    except ValueError:
        value = math.nan
    if not 0 <= value <= LARGEST:
        raise ValueError(f"{total[:40]!r} is no total")
    return ModelTotal(model, value, int(questions))


def keep_totals(path: Path) -> TotalsKept:
    """Put a file of totals into the user's data folder, unless it is there.

    Raises as `read_totals`; `UsageError` too if it can't be written.
    """
    table = read_totals(path)
    folder = totals_folder()
    for number in range(1, 10_000):
        kept = folder / f"{slug(path.stem) or 'totals'}{'' if number == 1 else f'-{number}'}.csv"
        there = kept.exists()
        if not there or read_totals(kept).rows == table.rows:
            break
    try:
        if not there:
            folder.mkdir(parents=True, exist_ok=True)
            write_private(kept, _as_csv(table))
    except OSError as error:
        raise UsageError(f"{shown(folder)} can't be written: {error.strerror or error}") from None
    return TotalsKept(file=shown(path.name), models=len(table.rows), path=shown(kept), there=there)


def _as_csv(table: TotalsTable) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(ModelTotal.__struct_fields__)
    writer.writerows((row.model, f"{row.total:.17g}", row.questions) for row in table.rows)
    return out.getvalue()
