"""The command `jagstorm compare`. Nothing heavy is imported before it runs."""

import re
from typing import Any

import click

from tui.options import AS_JSON, CONFIG, QUESTIONS, SESSIONS, judged, question_ids, team_names
from tui.signals import held_signals

_MOST = {"calls": 10**9, "tokens": 10**15, "cost": 1e9}

_WISHES = ("judges", "nearest", "controls", "embedder", "patience", "random_seed")


def sizes_in(_: click.Context, __: click.Parameter, value: str | None) -> range | None:
    """`3`, or `1..5`."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,3})(?:\.\.(\d{1,3}))?", value)
    if match and 1 <= int(match[1]) <= int(match[2] or match[1]):
        return range(int(match[1]), int(match[2] or match[1]) + 1)
    raise click.BadParameter("a number of members, or two as in 1..5")


def budget_in(_: click.Context, __: click.Parameter, value: tuple[str, float] | None) -> tuple[str, float] | None:
    """Calls and tokens in whole numbers, money in what there is of it."""
    if value is None:
        return None
    kind, amount = value
    if not 0 < amount <= _MOST[kind]:
        raise click.BadParameter(f"more than 0 {kind}, and at most {_MOST[kind]:,.0f}")
    if kind != "cost" and not amount.is_integer():
        raise click.BadParameter(f"a whole number of {kind}")
    return value


def seeds_in(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Two or more of `off`, `far`, `near` and `any`, with commas between."""
    names = tuple(dict.fromkeys(value.split(","))) if value is not None else ()
    if value is not None and (len(names) < 2 or not set(names) <= {"off", "far", "near", "any"}):
        raise click.BadParameter("two or more of off, far, near and any, as in off,far")
    return names


@click.command()
@click.option(
    "--question-id",
    "question_ids",
    metavar="ID",
    multiple=True,
    shell_complete=question_ids,
    help="Which question. Can be given several times.",
)
@QUESTIONS
@click.option(
    "--team",
    "teams",
    metavar="NAME",
    multiple=True,
    shell_complete=team_names,
    help="Which team. Can be given several times.",
)
@click.option("--sizes", callback=sizes_in, metavar="N..M", help="Each team with its N to M members of most weight.")
@click.option(
    "--seeds",
    callback=seeds_in,
    metavar="off,far,near",
    help="One team without seeds, and with one in each step, far from the question or near.",
)
@click.option(
    "--budget",
    type=(click.Choice(list(_MOST)), float),
    callback=budget_in,
    metavar="calls|tokens|cost N",
    help="What each chain may use (default: 40 calls; in a rehearsal no limit). Cost in US dollars.",
)
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True, help="Chains a question.")
@click.option(
    "--rehearse",
    metavar="PATH",
    type=click.Path(exists=True),
    help="Compare strategies on the ideas in public result files.",
)
@click.option(
    "--count", type=click.IntRange(1, 100_000), default=40, show_default=True, help="Questions of a rehearsal."
)
@click.option("--keep", is_flag=True, help="Keep the sessions of a rehearsal.")
@click.option("--at-once", type=click.IntRange(1, 1000), default=8, show_default=True, help="Chains under way at once.")
@judged
@click.option("--patience", type=click.IntRange(min=1), metavar="N", help="Failing ideas in a row that end a chain.")
@click.option("--random-seed", type=click.IntRange(0, 2**32), metavar="N", help="To draw the same again.")
@AS_JSON
@SESSIONS
@CONFIG
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.pass_context
def compare(context: click.Context, /, **options: Any) -> None:
    """Compare teams on the same questions and the same budget, each with the best of its members alone.

    A team that only spends more has not won: what is shown is what each chain brought for the same calls, tokens or
    money, with intervals. Sessions go into a folder of their own.
    """
    with held_signals():
        from core.config import path_of
        from core.metering import Limit
        from core.planning import Wishes
        from tui.comparing import Wanted
        from tui.comparing import compare as run

    options = {name: value or context.obj.get(name, value) for name, value in options.items()}
    given = {name: value for name in _WISHES if (value := options.pop(name)) not in (None, ())}
    budget, rehearse = options.pop("budget"), options.pop("rehearse")
    wanted = Wanted(
        limit=Limit(*budget) if budget else None,
        rehearse=path_of(rehearse) if rehearse else None,
        **{name: options.pop(name) for name in Wanted.__struct_fields__ if name in options},
    )
    context.exit(run(wanted=wanted, wishes=Wishes(**given), **options))
