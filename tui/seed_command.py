"""The command `jagstorm seeds`. Nothing heavy is imported before it runs."""

from typing import Any

import click

from tui.options import AS_JSON, QUESTIONS, SESSIONS, question_ids, seed_fields, session_names, with_shared
from tui.signals import held_signals


@click.group()
def seeds() -> None:
    """Seeds from other fields: which there are, and whether they help."""


@seeds.command("list")
@click.option("--search", metavar="WORDS", default="", help="Only those that hold all these words.")
@click.option(
    "--field", metavar="F", default="", shell_complete=seed_fields, help="Only of this field, as in Chemistry."
)
@click.option("--near", metavar="QUESTION_ID", shell_complete=question_ids, help="With distances, the nearest first.")
@click.option("--far", metavar="QUESTION_ID", shell_complete=question_ids, help="With distances, the farthest first.")
@QUESTIONS
@AS_JSON
@click.pass_context
def list_(context: click.Context, /, **options: Any) -> None:
    """List the seeds of the bank, and your own."""
    if options["near"] and options["far"]:
        raise click.UsageError("--near and --far exclude each other")
    from tui.seeding import list_seeds

    context.exit(list_seeds(**with_shared(context, options)))


@seeds.command()
@click.argument("names", nargs=-1, shell_complete=session_names, metavar="[SESSION]...")
@AS_JSON
@click.option("--svg", metavar="FILE", type=click.Path(dir_okay=False), help="The chart as a picture.")
@SESSIONS
@click.pass_context
def effect(context: click.Context, /, **options: Any) -> None:
    """Compare ideas written under a seed with ideas written without one.

    SESSION is a session, or a folder of sessions as `jagstorm compare` leaves; without any, all sessions count. Each
    idea under a seed is paired with one without, as near to its place as there is one: in the same chain, or in one of
    the same question, team and random seed.
    """
    with held_signals():
        from tui.seeding import show_effect

    context.exit(show_effect(**with_shared(context, options)))
