"""`jagstorm seeds`: which seeds there are, and whether they help."""

import asyncio
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from core.analysis.rescoring import as_stored
from core.analysis.seed_effect import SIGNIFICANT, Contrast, Effect, Trend, Verdict, effect
from core.analysis.seed_pairs import MEASURES, MOST_APART, written
from core.config import path_of, sessions_folder
from core.errors import EXIT_ENDED, ModelUnavailableError, UsageError
from core.exchange.exporting import write_whole
from core.levers import Seed
from core.lines import EVENTS_FILE
from core.randomness import generator
from core.scoring.embeddings import WordLlamaEmbedder
from core.seeds.ranking import ranked, thirds
from core.seeds.sources import banked, field_named, of_bank
from core.store.library import find, session_folders
from core.store.tables import read_tables
from core.text import clean_line, counted, shown
from tui.charts.printed import colors_here, printed, size_here
from tui.charts.printed import svg as picture
from tui.charts.seed_effect import TITLES, effect_chart, p_words
from tui.listing import bank_with

WIDTH = 100

_VERDICTS: dict[Verdict, str] = {
    "more": "more under a seed",
    "less": "less under a seed",
    "no difference seen": "no difference seen",
    "too few to tell": "too few to tell",
}


# ── the list ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def list_seeds(
    *, search: str, field: str, near: str | None, far: str | None, question_files: tuple[str, ...], as_json: bool
) -> int:
    """Print the seeds that fit; with the id of a question in `near` or `far`, by distance. Returns the exit code.

    Raises `UsageError`, `ModelUnavailableError`.
    """
    bank = banked()
    for problem in bank.problems:
        click.echo(f"jagstorm: {clean_line(problem)}", err=True)
    leaf = field_named(field, bank.leaves()) if field else ""
    seeds = [seed for seed in of_bank(bank.search(search)) if not leaf or seed.field == leaf]
    if named := near or far:
        question = bank_with(question_files).get(named)
        seeds = asyncio.run(ranked(question.text, seeds, WordLlamaEmbedder()))
        seeds = seeds if near else seeds[::-1]
    if as_json:
        for seed in seeds:
            click.echo(msgspec.json.encode(seed))
    else:
        for line in _by_distance(seeds) if named else _by_field(seeds):
            click.echo(line)
        if not seeds:
            click.echo("No seed fits. `jagstorm seeds list` lists them all.", err=True)
    return EXIT_ENDED


def _by_field(seeds: Iterable[Seed]) -> Iterator[str]:
    field = None
    for seed in seeds:
        if seed.field != field:
            field = seed.field
            yield click.style(field, bold=True)
        yield f"  {seed.name}\n    {click.style(seed.text, dim=True)}"


def _by_distance(seeds: Iterable[Seed]) -> Iterator[str]:
    for seed in seeds:
        distance = "  – " if seed.distance is None else f"{seed.distance:.2f}"
        about = click.style(f"{seed.field}. {seed.text}", dim=True)
        yield f"{distance}  {click.style(seed.name, bold=True)}\n      {about}"


# ── the effect ────────────────────────────────────────────────────────────────────────────────────────────────────────


def show_effect(*, names: tuple[str, ...], as_json: bool, svg: str | None, sessions: str | None) -> int:
    """Print what seeds did to ideas in the sessions of these names, or in all. Returns the exit code.

    Raises `UsageError`.
    """
    if svg and (as_json or path_of(svg).suffix.lower() != ".svg"):
        raise UsageError("--svg writes a picture: name a file that ends in .svg, without --json")
    folders = _folders(names, sessions_folder(sessions))
    read = read_tables(folders)
    for problem in read.problems:
        click.echo(f"jagstorm: {clean_line(problem, 400)}", err=True)
    ideas = written(as_stored(read.table))
    found = effect(ideas, _thirds({idea.question for idea in ideas if idea.seed}), generator(0, "seed effect"))
    if as_json:
        click.echo(msgspec.json.encode(found))
    elif svg:
        write_whole(path_of(svg), [picture(effect_chart(found))], replace=True)
        click.echo(f"The picture is {shown(path_of(svg))}", err=True)
    else:
        if found.contrasts:
            click.echo(printed(effect_chart(found), *size_here(), colors_here()), nl=False, color=True)
        for line in _effect_lines(found):
            click.echo("\n".join(textwrap.wrap(line, WIDTH)))
    return EXIT_ENDED


def _folders(names: Sequence[str], sessions: Path) -> list[Path]:
    """The folders of the sessions that are named, or in folders that are; of all there are if none is named.

    Raises `UsageError`.
    """
    if not names:
        found = [folder for folder in _inside(sessions) if folder.name != "example"]
        if not found:
            raise UsageError(f"There are no sessions in {shown(sessions)} yet: begin one with `jagstorm run`")
        return found
    return list(dict.fromkeys(folder for name in names for folder in _named(name, sessions)))


def _named(name: str, sessions: Path) -> list[Path]:
    """Raises `UsageError`."""
    for path in (path_of(name), sessions / name):
        if path.is_dir() and not (path / EVENTS_FILE).exists() and (inside := _inside(path)):
            return inside
    return [find(sessions, name)]


def _inside(folder: Path) -> list[Path]:
    """The sessions in a folder, and in the folders in it that comparisons have left."""
    compared = [session for inner in sorted(folder.glob("compare-*")) for session in session_folders(inner)]
    return session_folders(folder) + compared


def _thirds(questions: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Up to which distance a seed of the bank is near, and from which on it is far, by question."""
    seeds, embedder = of_bank(banked().seeds), WordLlamaEmbedder()

    async def measured() -> dict[str, tuple[float, float]]:
        return {question: thirds(await ranked(question, seeds, embedder)) for question in questions}

    try:
        return asyncio.run(measured())
    except ModelUnavailableError as error:
        click.echo(f"jagstorm: near and far can't be told apart. {error.message}", err=True)
        return {}


def _effect_lines(found: Effect) -> Iterator[str]:
    """What it comes to, in words."""
    if not found.seeded:
        yield "No idea here was written under a seed: bring one with s on the live screen, or run with --seeds."
        return
    alone = found.seeded - found.pairs
    yield (
        f"{counted(found.pairs, 'pair')} in {counted(found.chains, 'chain')} on "
        f"{counted(found.questions, 'question')}: an idea under a seed with one without, at most {MOST_APART} places "
        f"away ({found.apart:.1f} on average) in the same chain, or in one that differs in nothing but its seeds."
        + (f" {counted(alone, 'idea')} under a seed found no partner." if alone else "")
    )
    if not found.pairs:
        yield "To have some, run the same question with --seeds every:4, or `jagstorm compare --seeds off,far`."
        return
    overall = {each.measure: each for each in found.contrasts if each.band == "all"}
    for measure in MEASURES:
        yield f"{TITLES[measure]}: {_said(overall[measure]) if measure in overall else 'not judged'}"
    if found.trend:
        yield _trend_words(found.trend)
    if found.called:
        yield (
            f"In {counted(found.called, 'pair')} the seed came because of how ideas went, by hand or at a plateau. "
            "What went badly by chance goes better by itself, so they flatter seeds; "
            "`jagstorm compare --seeds off,far` does not."
        )
    yield f"Intervals are of 95 %; verdicts allow for {len(found.contrasts)} tests at once (Holm 1979)."


def _trend_words(trend: Trend) -> str:
    rho = f"{trend.rho:+.2f}".replace("-", "−")
    independent = f", {trend.units} of them independent" if trend.units < trend.pairs else ""
    numbers = f"(rank correlation {rho}, p {p_words(trend.p)}, {counted(trend.pairs, 'pair')}{independent})"
    if trend.p > SIGNIFICANT:
        return f"No change with the seed's distance seen {numbers}."
    return f"The difference in novelty {'grows' if trend.rho > 0 else 'falls'} with the seed's distance {numbers}."


def _said(contrast: Contrast) -> str:
    swaps = f", {contrast.swaps} of them independent" if contrast.swaps < contrast.pairs else ""
    return f"{_VERDICTS[contrast.verdict]} ({counted(contrast.pairs, 'pair')}{swaps}, p {p_words(contrast.p)})"
