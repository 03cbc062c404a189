"""The command `jagstorm send`: what a person tells a session, as they would say it.

Each subcommand makes one command of `core.commands`. Nothing heavy is imported before it runs.
"""

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tui.options import CONFIG, OF_QUESTION, SESSION, SESSIONS, seed_fields, seeds_word, team_names, with_shared
from tui.signals import held_signals

if TYPE_CHECKING:
    from core.commands import AnyCommand

LONGEST = 1_000_000
"""Characters that are read from standard input."""

IDEA = click.argument("idea", type=click.IntRange(1, 2**53))


class _Words(click.Group):
    """Commands that are named in a person's own words, more or less."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from core.spelling import nearest
        from core.text import clean_line

        name, known = args[0], self.list_commands(ctx)
        if name in ctx.help_option_names:
            click.echo(ctx.get_help())
            ctx.exit()
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise click.UsageError(f"No command {clean_line(name, 80)!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Words, subcommand_metavar="COMMAND [ARGS]...")
@SESSION
@SESSIONS
@CONFIG
@click.option("-q", "--quiet", is_flag=True, help="Don't say what came of it.")
@click.pass_context
def send(context: click.Context, /, **options: Any) -> None:
    """Tell a session something, wherever it runs: jagstorm send last pin 3.

    Where nobody runs it, its ideas can still be marked: pinned, rated, commented, edited, taken out, brought back.
    """
    context.obj = with_shared(context, options)


def _say(context: click.Context, command: "AnyCommand") -> None:
    with held_signals():
        from tui.attaching import send as deliver

    said_to = context.obj
    context.exit(deliver(said_to["sessions"], said_to["session"], command, quiet=said_to["quiet"]))


def _text(words: tuple[str, ...]) -> str:
    """What was typed, or what standard input holds where that was -."""
    from core.text import clean

    return clean(sys.stdin.read(LONGEST) if words == ("-",) else " ".join(words))


def _about_an_idea(name: str, make: "Callable[[Any, dict[str, Any]], AnyCommand]", about: str) -> None:
    """A command that needs nothing but an idea."""

    @send.command(name, help=about)
    @IDEA
    @OF_QUESTION
    @click.pass_context
    def command(context: click.Context, /, **which: Any) -> None:
        from core import commands

        _say(context, make(commands, which))


def _alone(name: str, make: "Callable[[Any], AnyCommand]", about: str) -> None:
    """A command that needs nothing."""

    @send.command(name, help=about)
    @click.pass_context
    def command(context: click.Context) -> None:
        from core import commands

        _say(context, make(commands))


# ── ideas ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_about_an_idea("pin", lambda cmd, which: cmd.PinIdea(**which), "Always show an idea to the team.")
_about_an_idea("unpin", lambda cmd, which: cmd.PinIdea(on=False, **which), "No longer always show it.")
_about_an_idea("remove", lambda cmd, which: cmd.RemoveIdea(**which), "Take an idea out of the chain.")
_about_an_idea("restore", lambda cmd, which: cmd.RestoreIdea(**which), "Bring a removed idea back.")
_about_an_idea("develop", lambda cmd, which: cmd.DevelopIdea(**which), "Have the team work an idea out.")


@send.command()
@click.argument("words", metavar="TEXT|-", nargs=-1, required=True)
@click.pass_context
def add(context: click.Context, words: tuple[str, ...]) -> None:
    """Add an idea of your own; - reads it from standard input."""
    from core.commands import AddIdea

    _say(context, AddIdea(text=_text(words)))


@send.command()
@IDEA
@click.argument("words", metavar="TEXT|-", nargs=-1, required=True)
@OF_QUESTION
@click.pass_context
def edit(context: click.Context, /, words: tuple[str, ...], **which: Any) -> None:
    """Give an idea another text; - reads it from standard input."""
    from core.commands import EditIdea

    _say(context, EditIdea(text=_text(words), **which))


@send.command()
@IDEA
@click.argument("stars", type=click.IntRange(0, 5))
@OF_QUESTION
@click.pass_context
def rate(context: click.Context, /, **rating: Any) -> None:
    """Give an idea 1 to 5; 0 takes the rating back."""
    from core.commands import RateIdea

    _say(context, RateIdea(**rating))


@send.command()
@IDEA
@click.argument("words", metavar="[TEXT|-]", nargs=-1)
@OF_QUESTION
@click.pass_context
def comment(context: click.Context, /, words: tuple[str, ...], **which: Any) -> None:
    """Say something of an idea; nothing takes it back."""
    from core.commands import CommentIdea

    _say(context, CommentIdea(text=_text(words), **which))


@send.command()
@click.argument("ideas", type=click.IntRange(1, 2**53), nargs=-1, required=True, metavar="IDEA IDEA...")
@OF_QUESTION
@click.pass_context
def merge(context: click.Context, ideas: tuple[int, ...], question: str) -> None:
    """Have the team make one idea of several, 2 to 10."""
    from core.commands import MergeIdeas

    if not 2 <= len(ideas) <= 10:
        raise click.UsageError("2 to 10 ideas can be merged", context)
    _say(context, MergeIdeas(ideas=ideas, question=question))


# ── what pushes the team ──────────────────────────────────────────────────────────────────────────────────────────────


def _lasting(command: Any) -> Any:
    """For how long a seed is in force."""
    steps = click.option("--steps", type=click.IntRange(1, 100_000), default=1, help="For so many ideas.")
    keep = click.option("--keep", is_flag=True, help="Until it is withdrawn.")
    return steps(keep(command))


@send.command()
@click.argument("words", metavar="NAME|TEXT", nargs=-1, required=True)
@click.option("--style", type=click.Choice(["mention", "analogy", "constraint"]), default="analogy")
@_lasting
@click.pass_context
def seed(context: click.Context, words: tuple[str, ...], style: Any, steps: int, keep: bool) -> None:
    """Bring in a seed: one of the bank by its name, or a line of your own, as in "whales: they sing over oceans"."""
    from msgspec.structs import replace

    from core.commands import InjectSeed
    from core.seeds.sources import stock_of_bank, typed

    text = _text(words)
    banked = [seed for seed in stock_of_bank().seeds if seed.name.casefold() == text.casefold()]
    found = replace(banked[0] if banked else typed(text), style=style)
    _say(context, InjectSeed(seed=found, steps=None if keep else steps))


@send.command()
@click.argument("distance", type=click.Choice(["far", "near", "any"]), default="far")
@click.option("--field", metavar="F", default="", shell_complete=seed_fields, help="Only of this field.")
@_lasting
@click.pass_context
def draw(context: click.Context, distance: Any, field: str, steps: int, keep: bool) -> None:
    """Bring in a seed of the bank, drawn at random."""
    from core.commands import DrawSeed
    from core.seeds.sources import banked, field_named

    leaf = field_named(field, banked().leaves()) if field else ""
    _say(context, DrawSeed(distance=distance, field=leaf, steps=None if keep else steps))


@send.command()
@click.argument("when", metavar="WHEN", callback=seeds_word)
@click.pass_context
def seeds(context: click.Context, when: Any) -> None:
    """When seeds come by themselves: off, hand, every:N, plateau, each, each:NAME."""
    from msgspec.structs import replace

    from core.commands import SetSeeds
    from core.levers import Each
    from core.seeds.sources import banked

    if isinstance(when, Each) and when.seed:
        when = replace(when, seed=banked().get(when.seed).name)
    _say(context, SetSeeds(policy=when))


def _lever(name: str, about: str) -> None:
    @send.command(name, help=about)
    @click.argument("words", metavar="TEXT", nargs=-1, required=True)
    @click.pass_context
    def command(context: click.Context, words: tuple[str, ...]) -> None:
        from core.commands import InjectSeed
        from core.levers import LONGEST_NAME, Seed
        from core.text import clean_line

        text = clean_line(_text(words))
        if not text:
            raise click.UsageError(f"A {name} needs some words", context)
        if len(text) > LONGEST_NAME:
            raise click.UsageError(f"A {name} can have {LONGEST_NAME} characters, not {len(text):,}", context)
        lever = Seed(name=text, lever=name)  # type: ignore[arg-type]
        _say(context, InjectSeed(seed=lever, steps=None))


_lever("language", "Have the team think in another language until that is withdrawn.")
_lever("persona", "Have the team be somebody until that is withdrawn.")


@send.command()
@click.argument("words", metavar="[IDEA|TEXT]", nargs=-1)
@OF_QUESTION
@click.pass_context
def deny(context: click.Context, words: tuple[str, ...], question: str) -> None:
    """Forbid a mechanism: what you name, or that of an idea, or of the newest one."""
    from core.commands import DenyMechanism

    text = _text(words)
    by_number = text.isascii() and text.isdecimal() and len(text) < 10
    which: dict[str, Any] = {"idea": int(text)} if by_number else {"text": text}
    _say(context, DenyMechanism(question=question, **which))


@send.command()
@click.argument("words", metavar="TEXT|-", nargs=-1, required=True)
@click.pass_context
def steer(context: click.Context, words: tuple[str, ...]) -> None:
    """Give the team a standing instruction."""
    from core.commands import AddSteer

    _say(context, AddSteer(text=_text(words)))


@send.command()
@click.argument("name", metavar="s1|g1|...")
@click.pass_context
def withdraw(context: click.Context, name: str) -> None:
    """End a seed or another lever (s1, s2, ...), or an instruction (g1, g2, ...)."""
    from core.commands import WithdrawSeed, WithdrawSteer

    _say(context, WithdrawSteer(id=name) if name.startswith("g") else WithdrawSeed(id=name))


# ── the session ───────────────────────────────────────────────────────────────────────────────────────────────────────

_alone("pause", lambda cmd: cmd.Pause(), "Hold after the idea under way.")
_alone("resume", lambda cmd: cmd.Resume(), "Go on after a pause.")
_alone("stop", lambda cmd: cmd.Stop(), "End the session; `jagstorm stop` waits until it has ended.")
_alone("undo", lambda cmd: cmd.Undo(), "Take back the last thing that you did.")


@send.command()
@click.argument("picks", nargs=-1, required=True, metavar="PLACE [PLACE]|none")
@click.pass_context
def choose(context: click.Context, picks: tuple[str, ...]) -> None:
    """Pick one of the proposals by its place, or two of them, or none."""
    from core.commands import Choose

    none = picks == ("none",)
    if not none and (len(picks) > 2 or not all(re.fullmatch("[1-9][0-9]{0,2}", pick) for pick in picks)):
        raise click.UsageError("Pick by number from 1: one, as in 2, two, as in 1 3, or none", context)
    _say(context, Choose(picks=() if none else tuple(int(pick) for pick in picks)))


@send.command()
@click.argument("name", shell_complete=team_names)
@click.pass_context
def team(context: click.Context, name: str) -> None:
    """Have another team go on from the next step."""
    from core.commands import ChangeTeam
    from core.config import sessions_folder
    from core.planning import Wishes, looks_for_models, team_for
    from core.teams.results import EarlierSessions
    from tui.settings import models_here, settings_with_keys

    if not name.strip():
        raise click.UsageError("A team is named: `jagstorm teams` lists them", context)
    settings, wishes = settings_with_keys(context.obj["config"]), Wishes(team=name)
    found = models_here(settings) if looks_for_models(wishes, settings) else None
    results = EarlierSessions(sessions_folder(context.obj["sessions"]))
    _say(context, ChangeTeam(team=team_for(wishes, settings, found, results)))


@send.command()
@click.argument("ahead", type=click.Choice(["on", "off"]), metavar="on|off")
@click.pass_context
def pipelining(context: click.Context, ahead: str) -> None:
    """Ask for the next idea while scores are still coming, or not."""
    from core.commands import SetPipelining

    _say(context, SetPipelining(on=ahead == "on"))


@send.command()
@click.argument("folder", type=click.Path())
@click.pass_context
def save(context: click.Context, folder: str) -> None:
    """If the session can't be written: go on in a copy under another folder."""
    from core.commands import SaveElsewhere

    _say(context, SaveElsewhere(folder=folder))


@send.command("--json")
@click.argument("line")
@click.pass_context
def raw(context: click.Context, line: str) -> None:
    """Say a command as a line of JSON, as in {"type": "pin_idea", "idea": 3}."""
    from tui.attaching import command_in

    _say(context, command_in(line))
