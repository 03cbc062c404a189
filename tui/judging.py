"""`jagstorm judge check`: judges tried on items whose right score is known."""

import asyncio
import sys
import textwrap
from collections.abc import Iterable, Sequence

import click
import msgspec

from core.config import sessions_folder
from core.errors import EXIT_ENDED, UsageError
from core.models import ModelSpec
from core.naming import judge_named
from core.providers.catalog import Providers
from core.randomness import generator
from core.scoring.calling import CallJudge
from core.scoring.check import Accuracy, CheckReport, JudgeReport, Rate, check, session_controls
from core.scoring.controls import Control, controls, some
from core.scoring.judge import Judge
from core.store import library
from core.text import clean_line
from tui.settings import settings_with_keys
from tui.words import bill_words

WIDTH = 80
LABEL = 13

_GRADES = {
    "good": "good: it tells {what}",
    "fair": "fair: it mostly tells {what}",
    "poor": "poor: too often wrong to end a chain by it",
    "chance": "unusable: no better than guessing",
    "silent": "unusable: it seldom gives a score that can be read",
    "unknown": "unknown: too few items to tell",
}


def check_judges(
    *,
    names: Sequence[str],
    session: str | None,
    items: int,
    as_json: bool,
    quiet: bool,
    sessions: str | None,
    config: str | None = None,
) -> int:
    """Try the models called `names` as judges and print how they did. Returns the exit code.

    With `session`, items are made from its ideas too. Raises `UsageError`, `ModelUnavailableError`,
    `SessionUnreadableError`.
    """
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"{clean_line(twice[0], 80)} is named twice: compare two different models")
    settings = settings_with_keys(config)
    specs = [judge_named(name, settings) for name in names]
    pool = list(controls())
    if session is not None:
        state = library.load(library.find(sessions_folder(sessions), session)).state()
        pool += session_controls(state.chains.values())
    # The same items each time, so that two checks can be compared.
    chosen = some(pool, items, generator(0, "judge check"))
    report = asyncio.run(_check(specs, chosen, shows=not quiet and not as_json and sys.stderr.isatty()))
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        click.echo("\n".join(report_lines(report)))
    return EXIT_ENDED


async def _check(specs: Sequence[ModelSpec], chosen: Sequence[Control], *, shows: bool) -> CheckReport:
    providers = Providers()

    def show(done: int, of: int) -> None:
        if shows:
            click.echo(f"\r{done} of {of} judgements" + ("\n" if done == of else ""), nl=False, err=True)

    try:
        judges = [Judge(spec, CallJudge(providers.caller)) for spec in specs]
        for judge in judges:
            await judge.prepare()
        return await check(judges, chosen, show)
    finally:
        await providers.close()


def report_lines(report: CheckReport) -> Iterable[str]:
    """The report in words, in lines of at most 80 columns."""
    for place, judge in enumerate(report.judges):
        if place:
            yield ""
        yield from _judge_lines(judge, report.items)
    if len(report.judges) > 1:
        words = [
            f"{kind} {'not defined' if alpha is None else f'{alpha:.2f}'}"
            for kind, alpha in (("coherence", report.coherence_agreement), ("similarity", report.similarity_agreement))
        ]
        yield ""
        agreement = f"Agreement: {', '.join(words)} (Krippendorff's alpha: 1 is perfect, 0 is chance)"
        yield from textwrap.wrap(agreement, WIDTH)


def _judge_lines(judge: JudgeReport, items: int) -> Iterable[str]:
    yield click.style(clean_line(judge.judge, WIDTH), bold=True)
    yield from _wrapped("coherence", _grade(judge.coherence, "sound answers from others"))
    yield from _rates(judge.coherence, "incoherent answers", "sound ones")
    yield from _wrapped("similarity", _grade(judge.similarity, "a new idea from an old one in other words"))
    yield from _rates(judge.similarity, "repeated ideas", "new ones")
    if judge.order_difference is not None:
        yield from _wrapped(
            "order", f"the same pair the other way round: {judge.order_difference:.1f} points apart on average"
        )
    yield from _wrapped("unreadable", _count(Rate(judge.unreadable, judge.replies), "replies"))
    if judge.unscored:
        yield from _wrapped("unscored", f"{judge.unscored} of {judge.judgements} judgements")
        for fault in judge.faults[:3]:
            yield from _wrapped("", clean_line(fault, 240))
    yield from _wrapped("took", _took(judge, items))


def _grade(accuracy: Accuracy, what: str) -> str:
    return _GRADES[accuracy.grade].format(what=what)


def _rates(accuracy: Accuracy, bad: str, good: str) -> Iterable[str]:
    yield from _wrapped("", f"passes {_count(accuracy.false_accepts, bad)}")
    yield from _wrapped("", f"fails {_count(accuracy.false_rejects, good)}")


def _count(rate: Rate, what: str) -> str:
    return f"{rate.wrong} of {rate.of} {what}" + (f" ({100 * rate.share:.0f}%)" if rate.of else "")


def _took(judge: JudgeReport, items: int) -> str:
    usage = judge.usage
    cost = "cost unknown" if judge.cost is None else bill_words(judge.cost)
    tokens = f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written"
    about = "about " if usage.estimated else ""
    return (
        f"{items} items, {judge.judgements} judgements, {judge.seconds:.0f} s, {about}{tokens}, {cost} "
        f"(prompt {judge.prompt_version})"
    )


def _wrapped(label: str, text: str) -> list[str]:
    start = f"  {label:<{LABEL - 2}}"
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * LABEL)
