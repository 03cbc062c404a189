"""The commands `attach`, `watch`, `stop` and `fork`. Nothing heavy is imported before they run."""

from typing import Any

import click

from tui.options import AS_JSON, OF_QUESTION, SESSION, SESSIONS, with_shared
from tui.signals import held_signals


@click.command()
@SESSION
@SESSIONS
@click.pass_context
def attach(context: click.Context, /, **options: Any) -> None:
    """Show a session that runs, detached or in another terminal, and tell it what to do."""
    with held_signals():
        from tui.guard import attach_in_app

    context.exit(attach_in_app(**with_shared(context, options)))


@click.command()
@SESSION
@AS_JSON
@SESSIONS
@click.pass_context
def watch(context: click.Context, /, as_json: bool, **options: Any) -> None:
    """Only look at a session, running or not; to read its folder is enough.

    With --json every event is printed, those to come too for as long as it runs.
    """
    options = with_shared(context, options)
    if as_json:
        with held_signals():
            from tui.attaching import watch_as_json

        context.exit(watch_as_json(**options))
    with held_signals():
        from tui.guard import watch_in_app

    context.exit(watch_in_app(**options))


@click.command()
@SESSION
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait until it has ended.",
)
@SESSIONS
@click.pass_context
def stop(context: click.Context, /, **options: Any) -> None:
    """End a session that runs; it can be resumed. Comes back when all of it is written."""
    with held_signals():
        from tui.attaching import stop as run

    context.exit(run(**with_shared(context, options)))


@click.command()
@SESSION
@click.argument("idea", type=click.IntRange(1, 2**53))
@OF_QUESTION
@AS_JSON
@SESSIONS
@click.pass_context
def fork(context: click.Context, /, **options: Any) -> None:
    """Make a new session that shares the past of another up to an idea, to go on otherwise from there."""
    with held_signals():
        from tui.attaching import fork as run

    context.exit(run(**with_shared(context, options)))
