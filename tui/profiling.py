"""`jagstorm profile`: what sessions and public results come to, as a chart, as JSON, as CSV or as a picture."""

import asyncio
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import click
import msgspec
import numpy as np
from msgspec import Struct

from core.analysis.grids import By
from core.analysis.profiles import Profile
from core.analysis.rescoring import RECORD, Change, Counts, rescored
from core.analysis.table import Table
from core.config import PLAN_FILE, path_of, sessions_folder
from core.errors import EXIT_ENDED, UsageError
from core.exchange.totals_table import TotalsTable, kept_totals, most_in_common, read_totals
from core.lines import EVENTS_FILE
from core.store.library import find, session_folders, without_example
from core.store.tables import read_tables
from core.text import clean_line, counted, shown
from tui.charts.catalog import NAMES, Chart, View, chart
from tui.charts.caveats import caveats
from tui.charts.look import LIGHT
from tui.charts.numbers import Beside, numbers_of
from tui.charts.printed import colors_here, csv_of, printed, size_here, write
from tui.charts.scatter import Spent
from tui.selection import fitting
from tui.variety import EMBEDDED, MORE, More, more_chart, more_notes, more_numbers

PICTURE = (120, 40)
"""Columns and rows."""

DRAWN = 6
"""Chains in one picture."""

UNNOTICED = 0.5
"""Seconds that nobody needs to be told about."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What a person wants to see."""

    names: tuple[str, ...] = ()
    """Sessions, result files, folders of these, tables of totals; () for all sessions."""
    chart: str = "ribbons"
    by: By | None = None
    domain: str = ""
    words: str = ""
    spent: Spent | None = None
    """The x axis of effort; None for the first that is known."""
    change: Change = Change()
    as_json: bool = False
    as_csv: bool = False
    svg: str | None = None
    sessions: str | None = None


class Sources(Struct, frozen=True):
    places: tuple[Path, ...]
    """Folders of sessions, and result files."""
    totals: tuple[TotalsTable, ...]


def show_profile(wanted: Wanted) -> int:
    """Print the chart that is wanted, or its numbers. Returns the exit code.

    Raises `UsageError`, `SessionUnreadableError`, `ModelUnavailableError`.
    """
    _check(wanted)
    sources = _sources(wanted)
    counts = rescored(_questions_of(_read(sources.places), wanted), wanted.change)
    numbers = _numbers(wanted, counts, sources.totals)
    for caveat in caveats(counts.table):
        click.echo(f"jagstorm: {caveat}", err=True)
    if wanted.as_json:
        click.echo(msgspec.json.encode(numbers))
        return EXIT_ENDED
    drawn = _chart(wanted, numbers)
    if wanted.as_csv:
        click.echo(csv_of(drawn.sheet()), nl=False)
    elif wanted.svg:
        path = path_of(wanted.svg)
        write(drawn, path, *PICTURE, LIGHT)
        click.echo(f"The picture is {shown(path)}", err=True)
    else:
        click.echo(printed(drawn, *size_here(), colors_here()), nl=False, color=True)
        more = more_notes(numbers) if isinstance(numbers, More) else []
        for note in [*more, *_notes(counts, wanted)]:
            click.echo(textwrap.fill(note, size_here()[0], break_on_hyphens=False))
    return EXIT_ENDED


def _check(wanted: Wanted) -> None:
    if wanted.as_json + wanted.as_csv + (wanted.svg is not None) > 1:
        raise UsageError("--json, --csv and --svg exclude each other")
    if wanted.by and wanted.chart != "ribbons":
        raise UsageError("--by goes with --chart ribbons")
    if wanted.spent and wanted.chart != "effort":
        raise UsageError("--x goes with --chart effort")
    if wanted.svg and path_of(wanted.svg).suffix.lower() != ".svg":
        raise UsageError(f"--svg writes a picture: call the file {shown(path_of(wanted.svg).stem)}.svg")


# ── what is read ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _sources(wanted: Wanted) -> Sources:
    folder = sessions_folder(wanted.sessions)
    places: list[Path] = []
    totals: list[TotalsTable] = []
    for name in wanted.names:
        path = path_of(name)
        if path.is_file() and path.suffix.lower() == ".csv":
            totals.append(read_totals(path))
        elif path.is_file() and path.name not in (PLAN_FILE, EVENTS_FILE):
            places.append(path)
        elif path.is_dir() and not (path / EVENTS_FILE).exists() and (files := sorted(path.glob("*.json"))):
            places += files
        else:
            places.append(find(folder, name))
    if not places:
        places = without_example(session_folders(folder))
        if not places:
            raise UsageError(
                f"There are no sessions in {shown(folder)} yet: begin one with `jagstorm run`, or bring results with "
                "`jagstorm import`"
            )
    return Sources(tuple(dict.fromkeys(places)), tuple(totals))


def _read(places: Sequence[Path]) -> Table:
    """All that can be read of `places`; of what can't be, why. Raises `UsageError` if nothing can."""
    with _progress("Reading") as tell:
        found = read_tables(places, tell)
    unreadable = list(found.problems)
    nothing = UsageError(unreadable.pop()) if len(unreadable) == len(places) else None
    for problem in unreadable:
        click.echo(f"jagstorm: {clean_line(problem, 400)}", err=True)
    if nothing:
        raise nothing
    return found.table


def _questions_of(table: Table, wanted: Wanted) -> Table:
    """What is left with the questions that are wanted."""
    if not len(table.chains.model):
        raise UsageError("There are no chains in what was read")
    left = fitting(table.questions, wanted.words, wanted.domain)[table.chains.question]
    if not left.any():
        leaves = ", ".join(clean_line(leaf, 60) for leaf in table.leaves())
        raise UsageError(f"No question fits: leave out --question or --domain, or ask for less; there are {leaves}")
    return table.only(left)


# ── what comes of it ──────────────────────────────────────────────────────────────────────────────────────────────────


def _numbers(wanted: Wanted, counts: Counts, totals: Sequence[TotalsTable]) -> Profile | More:
    vectors = None
    if wanted.chart in EMBEDDED:
        from core.scoring.embeddings import WordLlamaEmbedder
        from core.store.vectors import embed_ideas

        with _progress("Embedding") as tell:
            vectors = asyncio.run(embed_ideas(counts.table, WordLlamaEmbedder(), progress=tell))
    if wanted.chart in MORE:
        with _progress("Comparing") as tell:
            return more_numbers(wanted.chart, counts, vectors, tell)
    name = next(name for name in NAMES if name == wanted.chart)
    benchmark = most_in_common(totals or (kept_totals() if name == "scatter" else ()), counts.table.models)
    chains = np.argsort(-counts.responses, kind="stable").tolist()
    beside = Beside(
        by=wanted.by or "model",
        chains=chains if wanted.as_json or wanted.as_csv else chains[:DRAWN],
        totals={row.model: row.mean for row in benchmark.rows} if benchmark else {},
        benchmark=benchmark.name if benchmark else "",
        vectors=vectors,
    )
    return numbers_of(name, counts, beside)


def _chart(wanted: Wanted, numbers: Profile | More) -> Chart:
    if isinstance(numbers, More):
        return more_chart(numbers)
    name = next(name for name in NAMES if name == wanted.chart)
    return chart(name, numbers, View(thresholds=wanted.change, spent=wanted.spent))


def _notes(counts: Counts, wanted: Wanted) -> list[str]:
    """What one must know to read the chart."""
    chains = counts.table.chains
    models, questions = len(np.unique(chains.model)), len(np.unique(chains.question))
    notes = [
        f"{counted(len(chains.model), 'chain')} of {counted(models, 'model')} on {counted(questions, 'question')}. "
        "Means are over the questions that each answered."
    ]
    if wanted.change != Change():
        beyond = int((counts.ended == counts.ends.index(RECORD)).sum())
        notes.append(
            f"Rescored from stored scores; {counted(beyond, 'chain')} would have gone on where the record ends."
        )
    return notes


@contextmanager
def _progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Whom to tell how much of how much is done: it shows once somebody has waited a while, if anybody is there."""
    began = monotonic()
    with ExitStack() as stack:
        bar: Any = None

        def tell(done: int, of: int) -> None:
            nonlocal bar
            if bar is None and done < of and monotonic() - began > UNNOTICED and sys.stderr.isatty():
                bar = stack.enter_context(click.progressbar(length=of, label=label, file=sys.stderr))
            if bar is not None:
                bar.update(done - bar.pos)

        yield tell
