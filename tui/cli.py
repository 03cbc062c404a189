"""The `jagstorm` command. Each subcommand imports what it needs when it runs, so that help comes at once."""

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from tui.signals import held_signals, ignore_signals, interrupt_on_signals

SESSIONS = click.option(
    "--sessions",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where sessions are kept (default: $JAGSTORM_SESSIONS, else ./sessions).",
)
QUESTIONS = click.option(
    "--questions",
    "question_files",
    metavar="FILE",
    type=click.Path(),
    multiple=True,
    help="A file of your own questions, TOML or one a line. Can be given several times.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Machine-readable output, one object a line.")
MAX_IDEAS = click.option("--max-ideas", type=click.IntRange(1, 100_000), metavar="N", help="Stop after N ideas.")


def _session_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.config import sessions_folder
    from core.errors import UsageError
    from core.store.library import session_folders

    try:
        folders = session_folders(sessions_folder(None))
    except UsageError:
        folders = []  # there is nobody to tell while a line is being completed
    names = ["last", "example", *(folder.name for folder in folders)]
    return [name for name in names if name.startswith(incomplete)]


def _question_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.questions import load_bank

    return [question.id for question in load_bank().questions if question.id.startswith(incomplete)]


MODEL = click.option(
    "--model", metavar="FILE", type=click.Path(), help="A GGUF file to run on, instead of the built-in model."
)


def _speed(_: click.Context, __: click.Parameter, value: str) -> float:
    """A factor, or `max` for as fast as possible."""
    try:
        speed = float("inf") if value == "max" else float(value)
    except ValueError:
        speed = 0.0
    if not (0.1 <= speed <= 1000 or value == "max"):
        raise click.BadParameter("a number from 0.1 to 1000, or max")
    return speed


def _team_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.teams.presets import presets

    return [name for name in presets() if name.startswith(incomplete)]


SESSION = click.argument("session", shell_complete=_session_names)


def _loudness(command: Any) -> Any:
    quiet = click.option("-q", "--quiet", is_flag=True, help="No progress.")
    verbose = click.option("-v", "--verbose", is_flag=True, help="More progress: each step and notice.")
    return quiet(verbose(command))


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="jagstorm", message="%(prog)s %(version)s")
@SESSIONS
@QUESTIONS
@MODEL
@click.pass_context
def cli(context: click.Context, sessions: str | None, question_files: tuple[str, ...], model: str | None) -> None:
    """Brainstorm open scientific questions with a team of language models.

    Without a command, the app opens.
    """
    context.obj = {"sessions": sessions, "question_files": question_files, "model": model}
    if context.invoked_subcommand is None:
        from tui.guard import run_app

        context.exit(run_app(sessions, question_files, model))


@cli.command()
@click.option("--question", "text", metavar="TEXT", help="A question of your own; - reads it from standard input.")
@click.option("--question-id", metavar="ID", shell_complete=_question_ids, help="A question of the bank.")
@QUESTIONS
@click.option(
    "--team", "team_name", metavar="NAME", shell_complete=_team_names, help="Which team (default: the embedded team)."
)
@MODEL
@MAX_IDEAS
@click.option("--patience", type=click.IntRange(min=1), metavar="N", help="Failing ideas in a row that end a chain.")
@click.option(
    "--random-seed", type=click.IntRange(0, 2**63 - 1), metavar="N", help="To draw the same members and concepts again."
)
@AS_JSON
@SESSIONS
@_loudness
@click.pass_context
def run(context: click.Context, /, **options: Any) -> None:
    """Run a brainstorm without a screen.

    Progress goes to standard error, a summary (or with --json every event) to standard output.
    """
    with held_signals():
        from tui.headless import run_new

    context.exit(run_new(**_with_shared(context, options)))


@cli.command()
@SESSION
@click.option("--headless", is_flag=True, help="Without a screen.")
@MAX_IDEAS
@AS_JSON
@SESSIONS
@_loudness
@click.pass_context
def resume(context: click.Context, /, headless: bool, **options: Any) -> None:
    """Go on with a session that was stopped, interrupted or killed."""
    options = _with_shared(context, options)
    if headless or options["as_json"]:
        with held_signals():
            from tui.headless import run_resumed

        context.exit(run_resumed(**options))
    from tui.guard import resume_in_app

    context.exit(resume_in_app(options["sessions"], options["session"], options["max_ideas"]))


@cli.command()
@SESSION
@click.option("--speed", metavar="X", default="1", callback=_speed, help="How fast: 1 is as it was, max is at once.")
@SESSIONS
@click.pass_context
def replay(context: click.Context, /, **options: Any) -> None:
    """Watch a recorded session again. `jagstorm replay example` shows the one that comes with Jagstorm."""
    from tui.guard import replay_in_app

    context.exit(replay_in_app(**_with_shared(context, options)))


@cli.command()
@click.option("--search", metavar="WORDS", default="", help="Only those that hold all these words.")
@click.option("--domain", metavar="D", default="", help="Only those of this domain or subdomain.")
@QUESTIONS
@AS_JSON
@click.pass_context
def questions(context: click.Context, /, **options: Any) -> None:
    """List the questions of the bank, and your own."""
    from tui.listing import list_questions

    list_questions(**_with_shared(context, options))


@cli.command()
@AS_JSON
@SESSIONS
@click.pass_context
def sessions(context: click.Context, /, **options: Any) -> None:
    """List the sessions, newest first."""
    from tui.listing import list_sessions

    list_sessions(**_with_shared(context, options))


@cli.command()
@SESSION
@AS_JSON
@SESSIONS
@click.pass_context
def show(context: click.Context, /, **options: Any) -> None:
    """Show a session: its ideas with their scores."""
    from tui.listing import show_session

    show_session(**_with_shared(context, options))


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    For bash: jagstorm completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "jagstorm", "_JAGSTORM_COMPLETE").source())


def _with_shared(context: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """The command's options; those that it shares with `jagstorm` itself may also stand before its name."""
    return {name: value or context.obj.get(name, value) for name, value in options.items()}


def run_command() -> NoReturn:
    """Run what the command line says, and leave."""
    leave(lambda: cli.main(prog_name="jagstorm", standalone_mode=False) or 0)


def leave(command: Callable[[], int]) -> NoReturn:
    """Run `command` and leave with its exit code; what a user can cause ends in one line, never in a traceback."""
    interrupt_on_signals()
    try:
        code = command()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        ignore_signals()
        code = 4
    except BrokenPipeError:
        # Whoever read our output has left; let nothing be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        # Standard output on a full disk, say: what is left in its buffer must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"jagstorm: can't write: {error.strerror or error}\n")
        code = 1
    except Exception as error:
        from core.errors import JagstormError

        if not isinstance(error, JagstormError):
            raise
        click.echo(f"jagstorm: {error.message}", err=True)
        code = error.exit_code
    sys.exit(code)
