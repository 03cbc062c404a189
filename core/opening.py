"""A session that is ready to run: a new one from its plan, or one taken up again from its folder."""

from importlib.metadata import version
from pathlib import Path

from core.config import Plan, checked, read_plan
from core.levers import Seed
from core.models import Budget
from core.providers.catalog import Providers
from core.scoring.calling import CallEmbedder, CallJudge
from core.scoring.embeddings import Embedder, WordLlamaEmbedder
from core.scoring.judge import Judge
from core.scoring.panel import Panel
from core.scoring.remote import RemoteEmbedder
from core.scoring.scorer import ChainScorer, Scorer
from core.session import Session
from core.spending import budget_notices
from core.state import fold
from core.store import library
from core.store.log import EventLog
from core.text import clean_line


def begin(sessions: Path, plan: Plan, providers: Providers, embedder: Embedder | None = None) -> Session:
    """A new session in a folder of its own under `sessions`; `embedder` is the plan's, where it is there already.

    Raises `UsageError` for a plan that could not be read again, `ModelUnavailableError`, `StoreError`.
    """
    plan = checked(plan)
    scorer = scorer_for(plan, providers, embedder)
    notices = (*_notices(plan), *budget_notices(plan, plan.budget, providers))
    log = library.create(sessions, plan)
    return Session(plan, log, providers.caller, scorer, bank=_seeds, notices=notices, version=version("jagstorm"))


def resume(folder: Path, providers: Providers, max_ideas: int | None = None, budget: Budget | None = None) -> Session:
    """The session in `folder`, to go on where it was; `max_ideas` and `budget` replace its own.

    Raises `SessionUnreadableError`, `SessionBusyError`, `StoreError`, `ModelUnavailableError`; `UsageError` if there is
    nothing to go on with.
    """
    plan = read_plan(folder)
    scorer = scorer_for(plan, providers)
    log, record = EventLog.reopen(folder)
    try:
        state = fold(record.events)
        budget = library.check_unfinished(plan, state, max_ideas, budget)
        notices = [*record.problems_in_brief, *(budget_notices(plan, budget, providers) if budget else [])]
        return Session(
            plan,
            log,
            providers.caller,
            scorer,
            bank=_seeds,
            history=state,
            max_ideas=max_ideas,
            budget=budget,
            notices=notices,
            version=version("jagstorm"),
        )
    except BaseException:
        log.close()
        raise


def scorer_for(plan: Plan, providers: Providers, embedder: Embedder | None = None) -> Scorer:
    """Whoever gives a session's scores. Raises `ModelUnavailableError` for a provider that this version lacks."""
    panel = None
    if plan.judging.judges:
        for spec in plan.judging.judges:
            providers.get(spec.provider)
        ask = CallJudge(providers.caller)
        panel = Panel([Judge(spec, ask) for spec in plan.judging.judges], plan.judging)
    return ChainScorer(embedder or embedder_for(plan, providers), panel)


def embedder_for(plan: Plan, providers: Providers) -> Embedder:
    """What measures a session's novelties. Raises `ModelUnavailableError` for a provider that this version lacks."""
    if plan.embedder == "wordllama":
        return WordLlamaEmbedder()
    providers.get(plan.embedder.provider)
    return RemoteEmbedder(plan.embedder, CallEmbedder(providers.caller))


def _seeds() -> list[Seed]:
    """Those of the bank, and a person's own. Raises `UsageError` if theirs can't be looked for."""
    from core.seeds.sources import banked, of_bank

    return of_bank(banked().seeds)


def _notices(plan: Plan) -> tuple[str, ...]:
    """What whoever follows the session must know of its team."""
    recorded = [member.name for member in plan.team.everybody if member.model.provider == "recorded"]
    if not recorded:
        return ()
    return (f"Recorded: the ideas of {clean_line(', '.join(recorded), 300)} were not written for this chain",)
