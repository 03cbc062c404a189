"""What `jagstorm import` and `jagstorm export` do and print."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from core.config import path_of, sessions_folder
from core.errors import EXIT_ENDED, EXIT_USAGE, JagstormError
from core.exchange.exporting import SUFFIXES, Format, exported, write_whole
from core.exchange.importing import Imported, ResultsImported, files_under, import_file, import_found
from core.exchange.oddities import Oddities, oddity_words
from core.exchange.public import EMPTY, THRESHOLDS, NoResultsError
from core.exchange.question_list import QuestionsKept
from core.store import library
from core.store.library import StoredSession
from core.text import clean_line, counted, shown

# ── import ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Refused(Struct, frozen=True):
    """A file of which nothing was imported."""

    file: str
    problem: str


def import_files(paths: Sequence[str], sessions: str | None, as_json: bool, quiet: bool) -> int:
    """Import all files and say what came of each. Gives the exit code: one that is refused does not stop the others.

    Raises `UsageError`.
    """
    folder = sessions_folder(sessions)
    given = [path_of(path) for path in paths]
    files = [file for path in given for file in files_under(path)]
    sizes = {file: file.stat().st_size if file.is_file() else 0 for file in files}
    imported: list[Imported] = []
    refused: list[Refused] = []
    left_out: list[Refused] = []
    hidden = quiet or as_json or not sys.stderr.isatty()
    try:
        with click.progressbar(
            length=sum(sizes.values()), label="Importing", file=sys.stderr, hidden=hidden, show_pos=False
        ) as bar:
            for file in files:
                before = bar.pos
                try:
                    # In a folder there may be anything; a file that was named was meant.
                    take = import_file if file in given else import_found
                    imported.append(take(file, folder, bar.update))
                except NoResultsError as error:
                    (refused if file in given else left_out).append(Refused(shown(file), error.message))
                except JagstormError as error:
                    refused.append(Refused(shown(file), error.message))
                except KeyboardInterrupt:
                    click.echo(f"\njagstorm: stopped: nothing of {shown(file.name)} was imported", err=True)
                    raise
                bar.update(max(0, before + sizes[file] - bar.pos))
    finally:
        _say(imported, refused, left_out, as_json=as_json)
    return EXIT_USAGE if refused else EXIT_ENDED


def _say(
    imported: Sequence[Imported], refused: Sequence[Refused], left_out: Sequence[Refused], *, as_json: bool
) -> None:
    if as_json:
        for each in (*imported, *refused, *left_out):
            click.echo(msgspec.json.encode(each))
        return
    for one in imported:
        for line in _lines(one):
            click.echo(line)
    results = [one for one in imported if isinstance(one, ResultsImported)]
    for line in _summary(results):
        click.echo(line)
    for words, files in (("left out", left_out), ("not imported", refused)):
        for file in files:
            click.echo(f"jagstorm: {words}: {clean_line(file.problem)}", err=True)


def _lines(one: Imported) -> Iterator[str]:
    if isinstance(one, ResultsImported):
        for session in one.sessions:
            questions = counted(session.questions, "question")
            ideas = f"{counted(session.responses, 'idea')}, {session.valid:,} valid"
            yield f"{click.style(session.id, bold=True)}  {session.model}"
            yield f"    {questions}, {ideas}"
        if one.there:
            yield f"{one.file} was imported before: {', '.join(one.there[:3])}{' …' if len(one.there) > 3 else ''}"
        if one.left_out:
            yield f"{one.file}: {counted(one.left_out, 'chain')} left out, as other sessions have them already"
        if not one.sessions and not one.there and not one.left_out:
            yield f"{one.file} holds no chains"
    elif isinstance(one, QuestionsKept):
        there = f", {one.there:,} were there" if one.there else ""
        yield f"{one.file}: {counted(one.added, 'question')} added to your own{there}: {one.folder}"
    else:
        deed = "were there" if one.there else "kept"
        yield f"{one.file}: totals of {counted(one.models, 'model')} {deed}: {one.path}"


def _summary(results: Sequence[ResultsImported]) -> Iterator[str]:
    odd = Oddities()
    for result in results:
        odd.include(result.oddities)
    sessions = [session for result in results for session in result.sessions]
    if not sessions:
        return
    ideas = sum(session.responses for session in sessions)
    yield f"Imported {counted(len(sessions), 'session')} with {counted(ideas, 'idea')}."
    stops: Counter[str] = Counter()
    for session in sessions:
        stops.update(session.stops)
    cut_short = {stop or "nothing that the file says": stops[stop] for stop in stops.keys() - {*THRESHOLDS, EMPTY}}
    lines = [f"{counted(number, 'chain')} stopped by {clean_line(stop)}" for stop, number in sorted(cut_short.items())]
    if lines := [*oddity_words(odd), *lines]:
        yield "Odd in it, and kept as it is:"
        yield from (f"  {line}" for line in lines)


# ── export ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def export_sessions(
    names: Sequence[str], form: Format | None, output: str | None, force: bool, sessions: str | None
) -> int:
    """Write sessions to a file, or to standard output. Gives the exit code.

    Raises `UsageError`, `SessionUnreadableError`; then no file has changed.
    """
    folders = list(dict.fromkeys(library.find(sessions_folder(sessions), name) for name in names))
    path = path_of(output) if output and output != "-" else None
    form = form or (SUFFIXES.get(path.suffix.lower()) if path else None) or "md"
    pieces = exported(_loaded(folders, form), form)
    if path:
        write_whole(path, pieces, replace=force)
        click.echo(f"{shown(path)}: {counted(len(folders), 'session')}", err=True)
        return EXIT_ENDED
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode())  # in UTF-8, whatever the terminal speaks
    sys.stdout.flush()
    return EXIT_ENDED


def _loaded(folders: Iterable[Path], form: Format) -> Iterator[StoredSession]:
    """One by one, as they are wanted; what is wrong with them is said on standard error."""
    for folder in folders:
        session = library.load(folder)
        for problem in session.record.problems_in_brief:
            click.echo(f"jagstorm: {clean_line(problem)}", err=True)
        if form == "sciaidanbench" and (missing := _unjudged(session)):
            click.echo(
                f"jagstorm: {shown(folder.name)}: {counted(missing, 'idea')} without coherence, written as NaN",
                err=True,
            )
        yield session


def _unjudged(session: StoredSession) -> int:
    chains = session.state().chains.values()
    return sum(idea.score is None or idea.score.coherence is None for chain in chains for idea in chain.ideas)
