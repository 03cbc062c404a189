"""`jagstorm compare`: teams on the same questions and the same budget, and always the best member alone beside them."""

import asyncio
import secrets
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core.analysis.standings import Report, Run, report
from core.comparing import Comparison, Contest, asks_a_person, smaller
from core.config import sessions_folder
from core.errors import EXIT_ENDED, EXIT_INTERRUPTED, EXIT_MODEL, UsageError
from core.events.course import TROUBLE
from core.levers import Each, Off, SeedPolicy
from core.metering import Limit
from core.models import TeamSpec
from core.naming import needs_models, team_named
from core.planning import Wishes, plan_for
from core.providers.catalog import Providers
from core.questions import Question
from core.randomness import generator
from core.rehearsing import BEST, Rehearsal, Remembering, rehearsal
from core.scoring.embeddings import Embedder, WordLlamaEmbedder
from core.settings import Settings
from core.teams.presets import DEFAULT
from core.teams.results import EarlierSessions
from core.text import clean_line, counted, shown
from tui.listing import bank_with
from tui.settings import models_here, settings_with_keys
from tui.signals import STOPPING
from tui.standings import report_lines
from tui.words import judging_words

USUAL = Limit("calls", 40)
"""What a chain may use where nobody says so and calls may cost something."""


SEEDS: dict[str, SeedPolicy] = {
    "off": Off(),
    "far": Each(distance="far"),
    "near": Each(distance="near"),
    "any": Each(distance="any"),
}
"""A fresh seed in each step, or none: nothing comes between what a seed does and what is seen of it."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What a person wants compared."""

    question_ids: tuple[str, ...] = ()
    question_files: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    sizes: range | None = None
    seeds: tuple[str, ...] = ()
    """Some of `SEEDS`, in the place of several teams."""
    limit: Limit | None = None
    repeats: int = 1
    rehearse: Path | None = None
    count: int = 40
    """Questions of a rehearsal."""
    at_once: int = 8
    """Chains under way at once."""
    keep: bool = False
    """The sessions of a rehearsal are kept too."""


class Outcome(Struct, frozen=True, kw_only=True):
    """All that a comparison came to, as JSON."""

    questions: tuple[Question, ...]
    limit: Limit | None
    repeats: int
    report: Report
    runs: Sequence[Run]
    sessions: str | None
    """The folder that they are in; null if they were thrown away."""


def compare(
    *, wanted: Wanted, wishes: Wishes, as_json: bool, sessions: str | None, config: str | None, quiet: bool
) -> int:
    """Run the comparison and print what it comes to. Returns the exit code.

    Raises `UsageError`, `ModelUnavailableError`, `StoreError`.
    """
    settings = settings_with_keys(config)
    comparison = (
        _rehearsed(wanted.rehearse, wanted, wishes, settings, quiet)
        if wanted.rehearse
        else _comparison(wanted, wishes, settings, sessions)
    )
    thrown_away = wanted.rehearse is not None and not wanted.keep
    with _folder(sessions, thrown_away) as folder:
        if not quiet:
            _say(_head(comparison))
        embedder = Remembering(WordLlamaEmbedder()) if wanted.rehearse and not wishes.embedder else None
        runs, stopped = asyncio.run(_run(comparison, folder, embedder, wanted.at_once, quiet))
    kept = None if thrown_away else folder
    if stopped:
        _say(f"Stopped after {len(runs)} of {comparison.chains} chains{f'; they are in {shown(kept)}' if kept else ''}")
        comparison = comparison.finished(runs)
        if not comparison.questions:
            return EXIT_INTERRUPTED
        _say(f"What follows is of {_extent(comparison)}: so far everybody has come")
    outcome = _outcome(comparison, comparison.of(runs), kept)
    if as_json:
        click.echo(msgspec.json.encode(outcome))
    else:
        click.echo("\n".join(report_lines(outcome.report, recorded=wanted.rehearse is not None)))
        if kept:
            click.echo(f"\nSaved in {shown(kept)}")
        if kept and wanted.seeds:
            click.echo(f"Idea by idea: jagstorm seeds effect {shlex.quote(shown(kept))}")
    code = _exit_code(comparison, outcome.runs)
    return EXIT_INTERRUPTED if stopped else code


def _comparison(wanted: Wanted, wishes: Wishes, settings: Settings, sessions: str | None) -> Comparison:
    """The teams and the questions that are named."""
    if not wanted.question_ids or not wanted.teams:
        raise UsageError("Name at least one --question-id and one --team, or --rehearse PATH")
    bank = bank_with(wanted.question_files)
    questions = tuple(bank.get(question_id) for question_id in dict.fromkeys(wanted.question_ids))
    results = EarlierSessions(sessions_folder(sessions))
    names = tuple(dict.fromkeys(wanted.teams))
    found = models_here(settings) if any(needs_models(name, settings) for name in names) else None
    teams = _sized(tuple(team_named(name, settings, found, results) for name in names), wanted.sizes)
    if waiting := next((team for team in teams if asks_a_person(team)), None):
        raise UsageError(f"{waiting.name} lets a person pick, and here is none: compare it with another selector")
    if wanted.seeds and len(teams) > 1:
        raise UsageError("--seeds is about one team: name one --team, without --sizes")
    plan = plan_for(questions[0], replace(wishes, team=names[0]), settings, found, results)
    return Comparison(
        teams=teams,
        questions=questions,
        limit=wanted.limit or USUAL,
        rules=plan.rules,
        repeats=wanted.repeats,
        judging=plan.judging,
        embedder=plan.embedder,
        random_seed=wishes.random_seed or 0,
        policies={f"seeds {name}": SEEDS[name] for name in wanted.seeds},
    )


def _rehearsed(path: Path, wanted: Wanted, wishes: Wishes, settings: Settings, quiet: bool) -> Comparison:
    """Teams of the models whose results are under `path`. The embedding rule alone, unless judges are named."""
    if wanted.question_ids or wanted.teams or wanted.seeds:
        raise UsageError("A rehearsal has teams and questions of its own: leave out --team, --question-id and --seeds")
    made = rehearsal(path, wanted.count, wishes.random_seed or 0)
    if not quiet:
        _say_what_is_rehearsed(made)
    wishes = replace(
        wishes, team=DEFAULT, judges=wishes.judges or ("none",), embedder=wishes.embedder or "wordllama", paper=True
    )
    plan = plan_for(made.questions[0], wishes, settings)
    return Comparison(
        teams=_sized(made.teams, wanted.sizes),
        questions=made.questions,
        limit=wanted.limit,
        rules=plan.rules,
        repeats=wanted.repeats,
        judging=plan.judging,
        embedder=plan.embedder,
        random_seed=wishes.random_seed or 0,
    )


def _say_what_is_rehearsed(made: Rehearsal) -> None:
    for line in made.left_out:
        _say(f"Left out: {clean_line(line, 300)}")
    _say(f"{made.members} models share {made.shared} questions. Recorded: no idea was written for the chain it is in.")
    where = (
        f"the other {made.shared - len(made.questions)}" if made.held_out else "the questions of the rehearsal itself"
    )
    _say(f"Weights, the best {BEST} and the router's table come from {where}.")


def _sized(teams: tuple[TeamSpec, ...], sizes: range | None) -> tuple[TeamSpec, ...]:
    """Each team in each of the sizes that it can have."""
    if sizes is None:
        return teams
    sized = tuple(smaller(team, size) for team in teams for size in sizes if size <= len(team.places))
    if not sized:
        raise UsageError(f"No team has {sizes[0]} members")
    return sized


@contextmanager
def _folder(sessions: str | None, thrown_away: bool) -> Iterator[Path]:
    """Where the sessions of a comparison go."""
    if thrown_away:
        with tempfile.TemporaryDirectory(prefix="jagstorm-") as folder:
            yield Path(folder)
    else:
        yield sessions_folder(sessions) / f"compare-{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


async def _run(
    comparison: Comparison, folder: Path, embedder: Embedder | None, at_once: int, quiet: bool
) -> tuple[list[Run], bool]:
    """The runs, and whether somebody stopped it."""
    providers = Providers()
    contest = Contest(comparison, folder, providers, embedder)
    loop = asyncio.get_running_loop()
    for number in STOPPING:
        loop.add_signal_handler(number, contest.stop, number.name)
    shows = not quiet and sys.stderr.isatty()
    done = 0

    def tell(_: Run) -> None:
        nonlocal done
        done += 1
        if shows:
            end = "\n" if done == comparison.chains else ""
            click.echo(f"\r{done} of {comparison.chains} chains{end}", nl=False, err=True)

    try:
        return await contest.run(at_once, tell), bool(contest.stopped_by)
    finally:
        await providers.close()


def _outcome(comparison: Comparison, runs: Sequence[Run], kept: Path | None) -> Outcome:
    questions = [question.id for question in comparison.questions]
    return Outcome(
        questions=comparison.questions,
        limit=comparison.limit,
        repeats=comparison.repeats,
        report=report(runs, comparison.compared, questions, lambda: generator(comparison.random_seed, "bootstrap")),
        runs=runs,
        sessions=None if kept is None else shown(kept),
    )


def _exit_code(comparison: Comparison, runs: Sequence[Run]) -> int:
    """Something is wrong with a team that came to nothing but trouble, and that is said."""
    code = EXIT_ENDED
    for team in comparison.entrants:
        own = [run for run in runs if run.team == team.name]
        troubled = [run for run in own if run.ended == TROUBLE]
        if troubled:
            why = clean_line(troubled[0].why, 300)
            _say(f"jagstorm: {clean_line(team.name, 80)}: {len(troubled)} of {len(own)} chains broke off: {why}")
        if own and len(troubled) == len(own):
            code = EXIT_MODEL
    return code


def _head(comparison: Comparison) -> str:
    each = f"up to {_amount(comparison.limit)} each" if comparison.limit else "each until a rule ends it"
    who = f"{counted(len(comparison.teams), 'team')}, {counted(len(comparison.members), 'member')} alone"
    if comparison.policies:
        who = f"{clean_line(comparison.teams[0].name, 60)} with {', '.join(comparison.policies)}"
    judged = f"; all judged by {judging_words(comparison.judging)}" if comparison.judging.judges else ""
    return f"{who}, {_extent(comparison)}: {counted(comparison.chains, 'chain')}, {each}{judged}"


def _extent(comparison: Comparison) -> str:
    return f"{counted(len(comparison.questions), 'question')}, {counted(comparison.repeats, 'repeat')}"


def _amount(limit: Limit) -> str:
    return f"${limit.amount:g}" if limit.kind == "cost" else counted(int(limit.amount), limit.kind.removesuffix("s"))


def _say(text: str) -> None:
    click.echo(text, err=True)
