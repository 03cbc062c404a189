"""A session that is ready to run: a new one from its plan, or one taken up again from its folder."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from core.config import Plan, checked, read_plan
from core.providers.catalog import Providers
from core.scoring.embeddings import Embedder, embedder_for
from core.scoring.scorer import EmbeddingScorer
from core.session import Session
from core.state import State, fold
from core.store import library
from core.store.log import EventLog


def begin(sessions: Path, plan: Plan, providers: Providers) -> Session:
    """A new session in a folder of its own under `sessions`.

    Raises `UsageError` for a plan that could not be read again, `ModelUnavailableError`, `StoreError`.
    """
    plan = checked(plan)
    embedder = embedder_for(plan.embedder)
    return _session(plan, library.create(sessions, plan), providers, embedder, State())


def resume(folder: Path, providers: Providers, max_ideas: int | None = None) -> Session:
    """The session in `folder`, to go on where it was; `max_ideas` replaces its cap.

    Raises `SessionUnreadableError`, `SessionBusyError`, `StoreError`, `ModelUnavailableError`; `UsageError` if there is
    nothing to go on with.
    """
    plan = read_plan(folder)
    embedder = embedder_for(plan.embedder)
    log, record = EventLog.reopen(folder)
    try:
        state = fold(record.events)
        library.check_unfinished(plan, state, max_ideas)
        return _session(plan, log, providers, embedder, state, max_ideas, record.problems_in_brief)
    except BaseException:
        log.close()
        raise


def _session(
    plan: Plan,
    log: EventLog,
    providers: Providers,
    embedder: Embedder,
    history: State,
    max_ideas: int | None = None,
    notices: Sequence[str] = (),
) -> Session:
    return Session(
        plan,
        log,
        providers.get,
        EmbeddingScorer(embedder),
        history=history,
        max_ideas=max_ideas,
        notices=notices,
        version=version("jagstorm"),
    )
