"""A session without a screen: progress on standard error, a summary or every event on standard output."""

import asyncio
import signal
import sys
from collections.abc import Callable

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.analysis.shares import shares
from core.chain import Chain
from core.config import path_of, sessions_folder
from core.errors import EXIT_ENDED, EXIT_INTERRUPTED, EXIT_MODEL, EXIT_STORE, NotPulledError, StoreError, UsageError
from core.events.course import OWN_FIRST, STORAGE, TROUBLE
from core.files import read_file
from core.levers import OwnFirst
from core.lines import encode
from core.models import Budget
from core.obeying import LONGEST_IDEA
from core.opening import begin, resume
from core.planning import Wishes, looks_for_models, plan_for
from core.providers.catalog import Providers
from core.questions import LONGEST, Question, own_question
from core.serving import Serving
from core.session import Session
from core.settings import Settings
from core.store import library
from core.teams.results import EarlierSessions
from core.text import clean, clean_line, shown
from tui.deeds import share_lines
from tui.detaching import Leave, let_go, on_terminal
from tui.hints import attach_command, resume_command
from tui.listing import bank_with
from tui.settings import models_here, settings_with_keys
from tui.signals import heeded
from tui.words import cost_words, score_words, why_ended


class Manner(Struct, frozen=True, kw_only=True):
    """How a session is run without a screen."""

    as_json: bool
    quiet: bool
    verbose: bool
    leave: Leave | None = None
    """By which it leaves the terminal once it has begun; None: it stays."""


def run_new(
    *,
    text: str | None,
    question_id: str | None,
    question_files: tuple[str, ...],
    wishes: Wishes,
    config: str | None,
    sessions: str | None,
    own: str | None,
    own_hidden: bool,
    manner: Manner,
) -> int:
    """Run a new session to its end, with the ideas in the file `own` before the team's. Returns the exit code."""
    if own_hidden and not own:
        raise UsageError("--own-hidden goes with --own FILE")
    question = _question(text, question_id, question_files)
    ideas = _own_ideas(own) if own else []
    if ideas:
        wishes = replace(wishes, own_first=OwnFirst(shown=not own_hidden))
    settings = settings_with_keys(config)
    folder = sessions_folder(sessions)
    found = models_here(settings) if looks_for_models(wishes, settings) else None
    plan = plan_for(question, wishes, settings, found, EarlierSessions(folder))

    def opened(providers: Providers) -> Session:
        session = begin(folder, plan, providers)
        for idea in ideas:
            session.send(cmd.AddIdea(text=idea))
        if ideas:
            session.send(cmd.Resume())  # the plan holds it until they are written
        return session

    return _run_to_end(opened, settings, manner)


def _own_ideas(path: str) -> list[str]:
    """One a line. Raises `UsageError` for a file that can't be read, or that holds none."""
    try:
        content = sys.stdin.buffer.read() if path == "-" else read_file(path_of(path))
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{shown(path)} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(path)} is not UTF-8 text (byte {error.start})") from None
    lines = [(number, clean(line).strip()) for number, line in enumerate(text.splitlines(), 1)]
    for number, idea in lines:
        if len(idea) > LONGEST_IDEA:
            raise UsageError(
                f"{shown(path)}, line {number}: an idea can have {LONGEST_IDEA:,} characters, not {len(idea):,}"
            )
    ideas = [idea for _, idea in lines if idea]
    if not ideas:
        raise UsageError(f"{shown(path)} holds no idea: write one a line")
    return ideas


def run_resumed(
    *,
    session: str,
    max_ideas: int | None,
    budget: Budget | None,
    config: str | None,
    sessions: str | None,
    manner: Manner,
) -> int:
    """Go on with a session to its end. Returns the exit code."""
    folder = library.find(sessions_folder(sessions), session)
    settings = settings_with_keys(config)
    return _run_to_end(lambda providers: resume(folder, providers, max_ideas, budget), settings, manner)


def _run_to_end(opened: Callable[[Providers], Session], settings: Settings, manner: Manner) -> int:
    """The exit code. A model that its server does not have yet is fetched, if somebody is there to agree."""
    session, code = asyncio.run(_run(opened, settings, manner))
    if not isinstance(session.fault, NotPulledError) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return code
    if not click.confirm(f"Pull {session.fault.name} now?", err=True):
        return code
    from tui.pulling import pull

    folder = session.folder
    return pull(session.fault.name) or _run_to_end(lambda providers: resume(folder, providers), settings, manner)


def _question(text: str | None, question_id: str | None, question_files: tuple[str, ...]) -> Question:
    if (text is None) == (question_id is None):
        raise UsageError("Give either --question TEXT or --question-id ID (`jagstorm questions` lists the bank)")
    if text is not None:
        return own_question(sys.stdin.read(10 * LONGEST) if text == "-" else text)
    assert question_id is not None
    return bank_with(question_files).get(question_id)


async def _run(opened: Callable[[Providers], Session], settings: Settings, manner: Manner) -> tuple[Session, int]:
    providers = Providers()
    try:
        session = opened(providers)
        terminal = _Terminal(Serving(session), manner)
        if manner.leave:
            session.subscribe(terminal.leave_once_begun)
        elif manner.as_json:
            session.subscribe(_Printer(session))
        elif not manner.quiet:
            session.subscribe(_Progress(session, manner.verbose))
        session.subscribe(terminal.stop_on_trouble)
        loop = asyncio.get_running_loop()
        for number in heeded():
            loop.add_signal_handler(number, session.send, cmd.Stop(by=number.name))
        if signal.SIGHUP in heeded() and settings.lost_terminal == "detach" and on_terminal():
            loop.add_signal_handler(signal.SIGHUP, terminal.leave)
        try:
            ended = await terminal.serving.run()
        except StoreError as error:
            click.echo(f"jagstorm: {error.message}", err=True)
            return session, EXIT_STORE
    finally:
        await providers.close()
    if not manner.as_json and (ended.how != "error" or session.state.output_tokens):
        _print_summary(session)
    return session, _exit_code(session, ended)


class _Terminal:
    """What becomes of the session without its terminal."""

    def __init__(self, serving: Serving, manner: Manner) -> None:
        self.serving = serving
        self._manner = manner
        self._left = False

    def leave(self) -> None:
        """Run on without it."""
        if not self._left:
            self._left = True
            self.serving.detach()
            (self._manner.leave or let_go)(self.serving.session.folder)

    def leave_once_begun(self, event: ev.Event) -> None:
        """Run on without it as soon as a model has been asked for something, or a person must say how it goes on."""
        waits = isinstance(event, ev.Paused) and event.by not in (STORAGE, TROUBLE)
        if not self._left and (waits or isinstance(event, ev.ProposalStarted)):
            self._say_where()
            self.leave()

    def _say_where(self) -> None:
        folder = self.serving.session.folder
        if self._manner.as_json:
            click.echo(msgspec.json.encode({"id": shown(folder.name), "folder": shown(folder.resolve())}))
        else:
            click.echo(f"{shown(folder.name)} runs on by itself. Look in with: {attach_command(folder)}")

    def stop_on_trouble(self, event: ev.Event) -> None:
        """Where nobody is to come who could end it, trouble that pauses a session ends it."""
        if isinstance(event, ev.Paused) and event.by in (STORAGE, TROUBLE):
            _say(f"jagstorm: {event.why}")
            if not self._left:
                self.serving.session.send(cmd.Stop(by=event.by))


class _Printer:
    """Every event as a line of JSON. When they can't be written (the reader has left, the disk is full), it stops."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._read = True

    def __call__(self, event: ev.Event) -> None:
        if not self._read:
            return
        try:
            click.echo(encode(event))
        except OSError:
            self._read = False
            self._session.send(cmd.Stop(by=signal.SIGPIPE.name))


class _Progress:
    """One line an idea."""

    def __init__(self, session: Session, verbose: bool) -> None:
        self._session = session
        self._verbose = verbose
        self._chain: Chain | None = None
        self._why = ""
        """Why a call was made again, the last time."""

    def __call__(self, event: ev.Event) -> None:
        self._chain = self._session.state.chain
        match event:
            case ev.QuestionStarted():
                _say(clean_line(event.text, 500), bold=True)
            case ev.IdeaScored() if self._chain:
                self._idea(self._chain, event)
            case ev.ProposalFailed() if event.outcome != "cancelled" and event.message != self._why:
                _say(f"      {event.member}: {event.outcome} {clean_line(event.message, 200)}", dim=True)
            case ev.RetryScheduled():
                self._retry(event)
            case ev.ControlScored() if not event.passed:
                _say(f"      {event.judge} was wrong about a control ({event.kind})", dim=True)
            case ev.Notice():
                _say(f"      {clean_line(event.text)}")
            case ev.ContextTrimmed() if self._verbose:
                _say(f"      shows {event.shown} of {event.ideas} ideas: {event.why}", dim=True)
            case ev.StepStarted() if self._verbose:
                _say(f"      step {event.step}: {', '.join(event.members)}", dim=True)
            case ev.ProposalFinished() if self._verbose:
                usage = event.usage
                _say(f"      {usage.output_tokens} tokens, {usage.tokens_per_second:.0f}/s", dim=True)
            case _:
                self._what_is_in_force(event)

    def _what_is_in_force(self, event: ev.Event) -> None:
        """What a person, or a policy, did to what the next prompts hold; and whom the session waits for."""
        match event:
            case ev.Paused() if event.by == OWN_FIRST:
                _say(f"      own ideas first; to write more: {attach_command(self._session.folder)}", dim=True)
            case ev.Paused() if event.by not in (STORAGE, TROUBLE):
                _say(f"      paused by {event.by}: {attach_command(self._session.folder)}")
            case ev.SeedInjected():
                why = f", {event.why}" if event.why else ""
                _say(f"      {event.seed.lever}: {clean_line(event.seed.name, 200)} ({event.by}{why})", dim=True)
            case ev.SteerAdded():
                _say(f"      instruction: {clean_line(event.text, 200)} ({event.by})", dim=True)
            case ev.StepDropped() if self._verbose:
                _say(f"      step {event.step} is asked anew: {event.why}", dim=True)

    def _retry(self, event: ev.RetryScheduled) -> None:
        """When a call is made again; why, where it is not the same as the last time."""
        wait = max(0.0, event.until - event.t)
        why = f": {clean_line(event.why, 300)}" if event.why != self._why else ""
        self._why = event.why
        _say(f"      {event.member}: again {f'in {wait:.0f} s' if wait else 'at once'}{why}", dim=True)

    def _idea(self, chain: Chain, event: ev.IdeaScored) -> None:
        idea = next(idea for idea in reversed(chain.ideas) if idea.number == event.idea)
        _say(f"{'×' if idea.failed else ' '}{idea.number:4}  {clean_line(idea.text)}")
        _say(f"       {idea.author}, {score_words(idea)}", dim=True)


def _say(text: str, *, bold: bool = False, dim: bool = False) -> None:
    try:
        click.echo(click.style(text, bold=bold or None, dim=dim or None), err=True)
    except OSError:
        pass  # nobody reads the progress any more: the session, and its summary, go on


def _print_summary(session: Session) -> None:
    state = session.state
    for chain in state.chains.values():
        click.echo(why_ended(chain, state))
    speed = f" at {state.output_tokens / state.generation_seconds:.0f} a second" if state.generation_seconds else ""
    cost = cost_words(state, state.budget or session.plan.budget)
    click.echo(f"{state.t:.0f} s, {state.output_tokens:,} tokens written{speed}{f', {cost}' if cost else ''}")
    if state.controls:
        click.echo(f"The judges were right about {state.controls_passed} of {state.controls} controls")
    for line in share_lines(shares(state.chains.values())):
        click.echo(line)
    click.echo(f"Saved in {shown(session.folder)}")


def _exit_code(session: Session, ended: ev.SessionEnded) -> int:
    chain = session.state.chain
    if ended.how == "error":
        click.echo(f"jagstorm: {ended.message}", err=True)
        return EXIT_MODEL
    if ended.how == "finished":
        refused = chain is not None and chain.ended is not None and chain.ended.reason == "refused"
        return EXIT_MODEL if refused else EXIT_ENDED
    if ended.message == STORAGE:
        return EXIT_STORE
    if ended.message == TROUBLE:
        return EXIT_MODEL
    click.echo(f"Go on with: {resume_command(session.folder)}", err=True)
    return EXIT_INTERRUPTED
