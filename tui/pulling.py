"""What `jagstorm models pull` prints while it fetches a model, and what to type when it has."""

import asyncio
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import aclosing
from time import monotonic
from typing import TextIO

import click

from core.env_file import load_env_file
from core.errors import EXIT_ENDED, EXIT_INTERRUPTED, ModelUnavailableError, UsageError
from core.models import CallFailedError
from core.providers.hub.fetch import fetch
from core.providers.ollama import OllamaProvider
from core.providers.ollama_host import server_url, split_pull_name
from core.providers.progress import Progress, size_words
from core.text import clean_line
from tui.signals import STOPPING

OLLAMA = "ollama/"

PAINTED = 0.25
"""Seconds between two changes of the line, at least."""

TENTHS = 10
"""Lines a model where there is no terminal: one every 10 %."""


def pull(name: str) -> int:
    """Fetch a model: `ollama/NAME`, or `ollama/NAME@http://host:port`; anything else from the hub. Gives the exit code.

    Raises `UsageError` for a name that is none, `ModelUnavailableError` with what to do.
    """
    load_env_file()  # a hub's token, and Ollama's key and address: no settings are needed for any of them
    line = ProgressLine(sys.stderr, terminal=sys.stderr.isatty())
    try:
        if name.startswith(OLLAMA):
            command = asyncio.run(_from_ollama(name.removeprefix(OLLAMA), line.show))
        else:
            command = f"jagstorm --model {shlex.quote(str(fetch(name, line.show)))}"
    except CallFailedError as error:
        raise ModelUnavailableError(str(error)) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        line.end()
        click.echo("Stopped. What has come stays: the same command goes on from there.", err=True)
        return EXIT_INTERRUPTED
    finally:
        line.end()
    click.echo(f"It is there. Use it with: {command}")
    return EXIT_ENDED


async def _from_ollama(name: str, show: Callable[[Progress], None]) -> str:
    """What to type then."""
    model, host = split_pull_name(name)
    if not model:
        raise UsageError("Which of Ollama's models? Write ollama/NAME, as in ollama/qwen3:4b")
    task = asyncio.current_task()
    assert task is not None
    for number in STOPPING:
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    provider = OllamaProvider()
    try:
        async with aclosing(provider.pull(host, model)) as steps:
            async for step in steps:
                show(step)
    finally:
        await provider.close()
    address = f"@{server_url(host)}" if host else ""
    return f"jagstorm --model {shlex.quote(f'{OLLAMA}{clean_line(model)}{address}')}"


class ProgressLine:
    """On a terminal one line that changes; anywhere else a line every 10 %."""

    def __init__(self, out: TextIO, *, terminal: bool, now: Callable[[], float] = monotonic) -> None:
        self._out = out
        self._terminal = terminal
        self._now = now
        self._words = ""
        self._painted = float("-inf")
        self._tenth = -1
        self._width = 0
        self._began = (now(), 0)
        """When these bytes began to come, and how many there were."""

    def show(self, progress: Progress) -> None:
        now = self._now()
        new = progress.words != self._words
        if new or progress.done < self._began[1]:
            self._began = (now, progress.done)
        if self._terminal:
            if new or now - self._painted >= PAINTED or 0 < progress.total == progress.done:
                self._painted = now
                self._paint(self._text(progress, now))
        else:
            tenth = TENTHS * progress.done // progress.total if progress.total else -1
            if new or tenth > self._tenth:
                self._write(self._text(progress, now) + "\n")
            self._tenth = tenth
        self._words = progress.words

    def end(self) -> None:
        """Leave the line as it stands."""
        if self._width:
            self._write("\n")
            self._width = 0

    def _text(self, progress: Progress, now: float) -> str:
        words = clean_line(progress.words, 200)
        if not progress.total:
            return words
        share = 100 * progress.done // progress.total
        parts = [f"{share:3} %", f"{size_words(progress.done)} of {size_words(progress.total)}"]
        since, before = self._began
        if now - since >= 1 and progress.done > before:
            speed = (progress.done - before) / (now - since)
            parts += [f"{size_words(speed)}/s", f"{_time_words((progress.total - progress.done) / speed)} left"]
        return "  ".join([*parts, words])

    def _paint(self, text: str) -> None:
        columns = shutil.get_terminal_size().columns - 1
        # A character that is not ASCII may be two columns wide.
        text = text[:columns] if text.isascii() else text[: columns // 2]
        self._write("\r" + text.ljust(self._width))
        self._width = len(text)

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except OSError:
            pass  # nobody reads the progress any more: the model comes all the same


def _time_words(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
