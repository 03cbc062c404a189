"""A session that is ready to run: a new one from its plan, or one taken up again from its folder."""

from importlib.metadata import version
from pathlib import Path

from core.config import Plan, read_plan
from core.errors import UsageError
from core.events import Notice
from core.providers.catalog import Providers
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.scorer import EmbeddingScorer
from core.session import Session
from core.state import State, fold, reopens
from core.store import library
from core.store.log import EventLog


def begin(sessions: Path, plan: Plan, providers: Providers) -> Session:
    """A new session in a folder of its own under `sessions`. Raises `StoreError`."""
    return _session(plan, library.create(sessions, plan), providers, State())


def resume(folder: Path, providers: Providers, max_ideas: int | None = None) -> Session:
    """The session in `folder`, to go on where it was; `max_ideas` replaces its cap.

    Raises `SessionUnreadableError`, `SessionBusyError`, `StoreError`; `UsageError` if there is nothing to go on with.
    """
    plan = read_plan(folder)
    log, record = EventLog.reopen(folder)
    try:
        state = fold(record.events)
        _check_unfinished(plan, state, max_ideas)
    except UsageError:
        log.close()
        raise
    session = _session(plan, log, providers, state, max_ideas)
    for problem in record.problems:
        session.emit(Notice(text=problem))
    return session


def _session(plan: Plan, log: EventLog, providers: Providers, history: State, max_ideas: int | None = None) -> Session:
    return Session(
        plan,
        log,
        providers.get,
        EmbeddingScorer(WordLlamaEmbedder()),
        history=history,
        max_ideas=max_ideas,
        version=version("jagstorm"),
    )


def _check_unfinished(plan: Plan, state: State, max_ideas: int | None) -> None:
    chain = state.chain
    if chain is None or chain.ended is None or len(state.chains) < len(plan.questions):
        return
    if not reopens(chain.ended):
        raise UsageError(f"This chain is finished ({chain.ended.reason}): look at it with `jagstorm show` or `replay`")
    if chain.ended.reason == "cap" and (max_ideas is None or max_ideas <= chain.responses):
        raise UsageError(
            f"This chain has reached its cap of {chain.responses} ideas: resume it with a --max-ideas above that"
        )
