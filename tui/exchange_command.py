"""The commands `jagstorm import` and `jagstorm export`. Nothing heavy is imported before they run."""

from typing import Any

import click

from tui.options import AS_JSON, SESSIONS, session_names, with_shared
from tui.signals import held_signals

FORMATS = ("md", "html", "csv", "jsonl", "sciaidanbench", "cast")


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@AS_JSON
@SESSIONS
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.pass_context
def import_(context: click.Context, /, **options: Any) -> None:
    """Import files of the public benchmarks: results, lists of questions, totals.

    A result file of SciAidanBench or AidanBench becomes a session for each model in it; chains that were imported
    before, from this file or another, are left out. A JSON list of questions joins your own questions. A CSV with the
    columns model, total and questions is kept for comparing two benchmarks. A folder means all .json and .csv files in
    it, of lists of questions only those by domains that there are.
    """
    with held_signals():
        from tui.exchanging import import_files

    context.exit(import_files(**with_shared(context, options)))


@click.command()
@click.argument("names", nargs=-1, required=True, shell_complete=session_names, metavar="SESSION...")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="md and html to read, csv and jsonl of ideas, the result layout of sciaidanbench, an asciinema cast "
    "(default: what FILE ends in, else md).",
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Where to (default: standard output).")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@SESSIONS
@click.pass_context
def export(context: click.Context, /, **options: Any) -> None:
    """Export sessions, to read or to go on with elsewhere.

    In a CSV, texts that a spreadsheet would take for formulas begin with an apostrophe.
    """
    with held_signals():
        from tui.exchanging import export_sessions

    context.exit(export_sessions(**with_shared(context, options)))
