"""The `jagstorm` command. Each subcommand imports what it needs when it runs, so that help comes at once."""

import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tui.attach_command import attach, fork, stop, watch
from tui.compare_command import compare
from tui.exchange_command import export, import_
from tui.options import (
    AS_JSON,
    CONFIG,
    DETACH,
    MAX_IDEAS,
    MODELS,
    OWN_FIRST,
    QUESTIONS,
    SESSION,
    SESSIONS,
    budgeted,
    judged,
    loudness,
    model_names,
    own_ideas,
    question_ids,
    seed_wish,
    seeded,
    session_names,
    speed_factor,
    team_names,
    with_shared,
)
from tui.profile_command import profile
from tui.seed_command import seeds
from tui.send_command import send
from tui.signals import held_signals, ignore_signals, interrupt_on_signals

if TYPE_CHECKING:
    from tui.headless import Manner


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="jagstorm", message="%(prog)s %(version)s")
@SESSIONS
@QUESTIONS
@MODELS
@CONFIG
@OWN_FIRST
@click.pass_context
def cli(
    context: click.Context,
    sessions: str | None,
    question_files: tuple[str, ...],
    models: tuple[str, ...],
    config: str | None,
    own_first: float | None,
) -> None:
    """Brainstorm open scientific questions with a team of language models.

    Without a command, the app opens.
    """
    context.obj = {"sessions": sessions, "question_files": question_files, "models": models, "config": config}
    if context.invoked_subcommand is None:
        from tui.guard import run_app

        context.exit(run_app(sessions, question_files, models, config, own_first))


@cli.command()
@click.option("--question", "text", metavar="TEXT", help="A question of your own; - reads it from standard input.")
@click.option("--question-id", metavar="ID", shell_complete=question_ids, help="A question of the bank.")
@QUESTIONS
@click.option(
    "--team", metavar="NAME", shell_complete=team_names, help="Which team (default: your own, else embedded)."
)
@MODELS
@judged
@MAX_IDEAS
@click.option("--patience", type=click.IntRange(min=1), metavar="N", help="Failing ideas in a row that end a chain.")
@click.option("--paper", is_flag=True, help="The published benchmark's rules: the first failing idea ends the chain.")
@budgeted
@seeded
@own_ideas
@click.option(
    "--random-seed", type=click.IntRange(0, 2**63 - 1), metavar="N", help="To draw the same members and concepts again."
)
@DETACH
@AS_JSON
@SESSIONS
@CONFIG
@loudness
@click.pass_context
def run(context: click.Context, /, **options: Any) -> None:
    """Run a brainstorm without a screen.

    Progress goes to standard error, a summary (or with --json every event) to standard output.
    """
    with held_signals():
        from core.models import Budget
        from core.planning import Wishes
        from tui.headless import run_new

    options = with_shared(context, options)
    manner = {name: options.pop(name) for name in _MANNER}
    budget = Budget(**_taken(options, Budget.__struct_fields__))
    wishes = Wishes(seeds=seed_wish(options), **_taken(options, Wishes.__struct_fields__), budget=budget)
    context.exit(_run_in(manner, lambda manner: run_new(wishes=wishes, manner=manner, **options)))


@cli.command()
@SESSION
@click.option("--headless", is_flag=True, help="Without a screen.")
@MAX_IDEAS
@budgeted
@DETACH
@AS_JSON
@SESSIONS
@CONFIG
@loudness
@click.pass_context
def resume(context: click.Context, /, headless: bool, **options: Any) -> None:
    """Go on with a session that was stopped, interrupted or killed."""
    from core.models import Budget

    options = with_shared(context, options)
    given = _taken(options, Budget.__struct_fields__)
    options["budget"] = Budget(**given) if given else None
    if headless or options["as_json"] or options["detach"]:
        with held_signals():
            from tui.headless import run_resumed

        manner = {name: options.pop(name) for name in _MANNER}
        context.exit(_run_in(manner, lambda manner: run_resumed(manner=manner, **options)))
    from tui.guard import resume_in_app

    wanted = ("sessions", "session", "max_ideas", "budget", "config")
    context.exit(resume_in_app(**_taken(options, wanted)))


@cli.command()
@SESSION
@click.option(
    "--speed", metavar="X", default="1", callback=speed_factor, help="How fast: 1 is as it was, max is at once."
)
@SESSIONS
@click.pass_context
def replay(context: click.Context, /, **options: Any) -> None:
    """Watch a recorded session again. `jagstorm replay example` shows the one that comes with Jagstorm."""
    from tui.guard import replay_in_app

    context.exit(replay_in_app(**with_shared(context, options)))


@cli.command()
@click.option("--search", metavar="WORDS", default="", help="Only those that hold all these words.")
@click.option("--domain", metavar="D", default="", help="Only those of this domain or subdomain.")
@QUESTIONS
@AS_JSON
@click.pass_context
def questions(context: click.Context, /, **options: Any) -> None:
    """List the questions of the bank, and your own."""
    from tui.listing import list_questions

    list_questions(**with_shared(context, options))


@cli.command()
@AS_JSON
@SESSIONS
@click.pass_context
def sessions(context: click.Context, /, **options: Any) -> None:
    """List the sessions, newest first."""
    from tui.listing import list_sessions

    list_sessions(**with_shared(context, options))


@cli.command()
@SESSION
@AS_JSON
@SESSIONS
@click.pass_context
def show(context: click.Context, /, **options: Any) -> None:
    """Show a session: its ideas with their scores."""
    from tui.listing import show_session

    show_session(**with_shared(context, options))


@cli.group(invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help="Old models and those nobody has described too.")
@AS_JSON
@CONFIG
@click.pass_context
def models(context: click.Context, /, **options: Any) -> None:
    """List the models that can be used here and now; try one, or fetch one."""
    options = with_shared(context, options)
    context.obj = {**context.obj, "config": options["config"]}
    if context.invoked_subcommand is None:
        with held_signals():
            from tui.models import list_models

        context.exit(list_models(**options))


@models.command("test")
@click.argument("name", shell_complete=model_names)
@AS_JSON
@CONFIG
@click.pass_context
def models_test(context: click.Context, /, **options: Any) -> None:
    """Make one small call to a model: how soon and how fast it answers, and what that costs."""
    with held_signals():
        from tui.models import try_model

    context.exit(try_model(**with_shared(context, options)))


@models.command("pull")
@click.argument("name")
@click.pass_context
def models_pull(context: click.Context, name: str) -> None:
    """Fetch a model: a GGUF file from a hub, as in unsloth/Qwen3-4B-GGUF, or one of Ollama's, as in ollama/qwen3:4b."""
    with held_signals():
        from tui.pulling import pull

    context.exit(pull(name))


@cli.command()
@click.argument("name", required=False, shell_complete=team_names)
@click.option("--check", "checked", metavar="FILE", type=click.Path(), help="Say all that is wrong in a file of teams.")
@AS_JSON
@SESSIONS
@CONFIG
@click.pass_context
def teams(context: click.Context, /, **options: Any) -> None:
    """List the teams; or show one in full, with its weights, its router's table, and where they come from."""
    with held_signals():
        from tui.teams import show_teams

    context.exit(show_teams(**with_shared(context, options)))


@cli.group()
def judge() -> None:
    """Try models as judges."""


@judge.command("check")
@click.argument("names", nargs=-1, required=True, shell_complete=model_names)
@click.option("--session", shell_complete=session_names, help="Take items from the ideas of a session too.")
@click.option("--items", type=click.IntRange(1, 1000), default=60, show_default=True, help="How many items.")
@AS_JSON
@SESSIONS
@CONFIG
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.pass_context
def judge_check(context: click.Context, /, **options: Any) -> None:
    """See whether a model can be trusted as a judge: it is given items whose right score is known."""
    with held_signals():
        from tui.judging import check_judges

    context.exit(check_judges(**with_shared(context, options)))


@cli.command()
@SESSIONS
@CONFIG
@click.pass_context
def doctor(context: click.Context, /, **options: Any) -> None:
    """Say what works here, and what to do about the rest. Safe to paste in public."""
    with held_signals():
        from tui.doctor import print_doctor

    context.exit(print_doctor(**with_shared(context, options)))


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


for command in (attach, watch, send, stop, fork):
    cli.add_command(command)
cli.add_command(compare)
cli.add_command(profile)
cli.add_command(seeds)
cli.add_command(import_)
cli.add_command(export)


_MANNER = ("as_json", "quiet", "verbose", "detach")


def _run_in(manner: dict[str, Any], start: "Callable[[Manner], int]") -> int:
    """Run what `start` runs, in this process or, to be detached, in one that leaves the terminal."""
    from tui.guard import apart
    from tui.headless import Manner

    if manner.pop("detach"):
        return apart(lambda leave: start(Manner(leave=leave, **manner)))
    return start(Manner(**manner))


def _taken(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Those of the options that are named, taken out; what was not given is left to whoever has defaults."""
    found = {name: options.pop(name) for name in names if name in options}
    return {name: value for name, value in found.items() if value is not None}


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
