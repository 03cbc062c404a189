"""What `doctor` prints."""

import asyncio
import textwrap
from collections.abc import Iterator

import click

from core.doctor import Report, examine
from core.errors import EXIT_ENDED, EXIT_MODEL
from core.machine import Check
from core.providers.catalog import Providers

WIDTH, TOPIC = 80, 16

_MARKS = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "bad": ("BAD ", "red")}


def print_doctor(*, config: str | None, sessions: str | None) -> int:
    """Print what works and what to do about the rest. Returns the exit code: 0 if a session can run."""
    return asyncio.run(_examine(config, sessions))


async def _examine(config: str | None, sessions: str | None) -> int:
    providers = Providers()
    try:
        report = await examine(config, sessions, providers)
        for line in report_lines(report):
            click.echo(line)
    finally:
        await providers.close()
    return EXIT_ENDED if report.can_run else EXIT_MODEL


def report_lines(report: Report) -> Iterator[str]:
    """In lines of at most 80 columns."""
    for check in report.checks:
        yield from _lines(check)
    yield ""
    yield "A session can run." if report.can_run else "No session can run before what is BAD is put right."


def _lines(check: Check) -> Iterator[str]:
    mark, colour = _MARKS[check.health]
    text = f"{check.words}. To do: {check.todo}" if check.todo else check.words
    indent = " " * (len(mark) + 2 + TOPIC)
    first, *rest = textwrap.wrap(text, WIDTH - len(indent), break_on_hyphens=False) or [""]
    yield f"{click.style(mark, fg=colour)}  {check.topic:{TOPIC}}{first}"
    for line in rest:
        yield indent + line
