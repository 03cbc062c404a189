"""The `jagstorm` command. Each subcommand imports what it needs when it runs, so that help comes at once."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import click

SESSIONS = click.option(
    "--sessions", metavar="DIR", help="Where sessions are kept (default: $JAGSTORM_SESSIONS, else ./sessions)."
)
QUESTIONS = click.option(
    "--questions",
    "question_files",
    metavar="FILE",
    multiple=True,
    help="A file of your own questions, TOML or one a line. Can be given several times.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Machine-readable output, one object a line.")
MAX_IDEAS = click.option("--max-ideas", type=click.IntRange(min=1), metavar="N", help="Stop after N ideas.")


def _session_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.config import sessions_folder
    from core.store.library import session_folders

    names = ["last", "example", *(folder.name for folder in session_folders(sessions_folder(None)))]
    return [name for name in names if name.startswith(incomplete)]


def _question_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.questions import load_bank

    return [question.id for question in load_bank().questions if question.id.startswith(incomplete)]


SESSION = click.argument("session", shell_complete=_session_names)


def _loudness(command: Any) -> Any:
    quiet = click.option("-q", "--quiet", is_flag=True, help="No progress.")
    verbose = click.option("-v", "--verbose", is_flag=True, help="More progress: each step and notice.")
    return quiet(verbose(command))


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="jagstorm", message="%(prog)s %(version)s")
@SESSIONS
@QUESTIONS
@click.pass_context
def cli(context: click.Context, sessions: str | None, question_files: tuple[str, ...]) -> None:
    """Brainstorm open scientific questions with a team of language models.

    Without a command, the app opens.
    """
    context.obj = sessions
    if context.invoked_subcommand is None:
        from tui.guard import run_app

        context.exit(run_app(sessions, question_files))


@cli.command()
@click.option("--question", "text", metavar="TEXT", help="A question of your own; - reads it from standard input.")
@click.option("--question-id", metavar="ID", shell_complete=_question_ids, help="A question of the bank.")
@QUESTIONS
@click.option("--team", "team_name", metavar="NAME", help="Which team (default: the embedded team).")
@click.option("--model", metavar="FILE", help="A GGUF file for the team to run on, instead of the built-in model.")
@MAX_IDEAS
@click.option("--patience", type=click.IntRange(min=1), metavar="N", help="Failing ideas in a row that end a chain.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="The random seed, to draw the same again.")
@AS_JSON
@SESSIONS
@_loudness
@click.pass_context
def run(context: click.Context, /, **options: Any) -> None:
    """Run a brainstorm without a screen.

    Progress goes to standard error, a summary (or with --json every event) to standard output.
    """
    from tui.headless import run_new

    context.exit(run_new(**_with_sessions(context, options)))


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
    options = _with_sessions(context, options)
    if headless or options["as_json"]:
        from tui.headless import run_resumed

        context.exit(run_resumed(**options))
    from tui.guard import resume_in_app

    context.exit(resume_in_app(options["sessions"], options["session"], options["max_ideas"]))


@cli.command()
@SESSION
@click.option("--speed", type=click.FloatRange(min=0.1, max=1000), default=1.0, help="How fast, 1 is as it was.")
@SESSIONS
@click.pass_context
def replay(context: click.Context, session: str, speed: float, sessions: str | None) -> None:
    """Watch a recorded session again. `jagstorm replay example` shows the one that comes with Jagstorm."""
    from tui.guard import replay_in_app

    context.exit(replay_in_app(sessions or context.obj, session, speed))


@cli.command()
@click.option("--search", metavar="WORDS", default="", help="Only those that hold all these words.")
@click.option("--domain", metavar="D", default="", help="Only those of this domain or subdomain.")
@QUESTIONS
@AS_JSON
def questions(search: str, domain: str, question_files: tuple[str, ...], as_json: bool) -> None:
    """List the questions of the bank, and your own."""
    from tui.listing import list_questions

    list_questions(search, domain, question_files, as_json)


@cli.command()
@AS_JSON
@SESSIONS
@click.pass_context
def sessions(context: click.Context, sessions: str | None, as_json: bool) -> None:
    """List the sessions, newest first."""
    from tui.listing import list_sessions

    list_sessions(sessions or context.obj, as_json)


@cli.command()
@SESSION
@AS_JSON
@SESSIONS
@click.pass_context
def show(context: click.Context, session: str, as_json: bool, sessions: str | None) -> None:
    """Show a session: the question, the ideas with their scores, why it stopped."""
    from tui.listing import show_session

    show_session(sessions or context.obj, session, as_json)


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


def _with_sessions(context: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """`--sessions` may stand before or after the command's name."""
    return {**options, "sessions": options["sessions"] or context.obj}


def _interrupt(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)


def main() -> None:
    """Run the command."""
    leave(lambda: cli.main(prog_name="jagstorm", standalone_mode=False) or 0)


def leave(command: Callable[[], int]) -> NoReturn:
    """Run `command` and leave with its exit code; what a user can cause ends in one line, never in a traceback."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        code = command()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = 4
    except BrokenPipeError:
        # Whoever read our output has left; let nothing be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        from core.errors import JagstormError

        if not isinstance(error, JagstormError):
            raise
        click.echo(f"jagstorm: {error.message}", err=True)
        code = error.exit_code
    sys.exit(code)


if __name__ == "__main__":
    main()
