"""A session that is ready to run: a new one from its plan, or one taken up again from its folder."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from core.config import Plan, checked, read_plan
from core.errors import UsageError
from core.models import Cap
from core.providers.catalog import Providers
from core.scoring.embeddings import Embedder, embedder_for
from core.scoring.scorer import EmbeddingScorer
from core.session import Session
from core.state import Chain, State, fold, reopens
from core.store import library
from core.store.log import EventLog, read_log


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
    check_unfinished(plan, fold(read_log(folder).events), max_ideas)
    log, record = EventLog.reopen(folder)
    try:
        return _session(plan, log, providers, embedder, fold(record.events), max_ideas, _in_brief(record.problems))
    except BaseException:
        log.close()
        raise


def _in_brief(problems: Sequence[str]) -> tuple[str, ...]:
    """One notice for all that is wrong with a log: the first, and how many more."""
    if len(problems) < 2:
        return tuple(problems)
    return (f"{problems[0]} (and {len(problems) - 1} more like it)",)


def check_unfinished(plan: Plan, state: State, max_ideas: int | None) -> None:
    """Raises `UsageError` if a session that came to `state` has nothing to go on with; `max_ideas` is its new cap."""
    if max_ideas is not None:
        try:
            msgspec.convert(max_ideas, Cap)
        except msgspec.ValidationError as error:
            raise UsageError(f"{max_ideas:,} ideas can't be the cap: {error}") from None
    chains = state.chains.values()
    if len(chains) < len(plan.questions) or any(_goes_on(chain, max_ideas) for chain in chains):
        return
    for chain in chains:
        if chain.ended and chain.ended.reason == "cap":
            raise UsageError(
                f"This chain has reached its cap of {chain.responses} ideas: resume it with a --max-ideas above that"
            )
    reasons = ", ".join(chain.ended.reason for chain in chains if chain.ended)
    raise UsageError(f"This chain is finished ({reasons}): look at it with `jagstorm show` or `replay`")


def _goes_on(chain: Chain, max_ideas: int | None) -> bool:
    if chain.ended is None:
        return True
    if chain.ended.reason == "cap":
        return max_ideas is not None and max_ideas > chain.responses
    return reopens(chain.ended)


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
