"""A session that is ready to run: a new one from its plan, or one taken up again from its folder."""

from importlib.metadata import version
from pathlib import Path

from core.config import Plan, checked, read_plan
from core.models import Budget, CallFailedError, ModelSpec, Prompt
from core.providers.calls import Call, Caller
from core.providers.catalog import Providers
from core.rules import extended
from core.scoring.embeddings import Embedder, WordLlamaEmbedder
from core.scoring.judge import AskModel, Judge, Reply
from core.scoring.panel import Panel
from core.scoring.remote import RemoteEmbedder
from core.scoring.scorer import EmbeddingScorer, Scorer
from core.session import Session
from core.state import fold
from core.store import library
from core.store.log import EventLog


def begin(sessions: Path, plan: Plan, providers: Providers) -> Session:
    """A new session in a folder of its own under `sessions`.

    Raises `UsageError` for a plan that could not be read again, `ModelUnavailableError`, `StoreError`.
    """
    plan = checked(plan)
    scorer = scorer_for(plan, providers)
    return Session(plan, library.create(sessions, plan), providers.caller, scorer, version=version("jagstorm"))


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
        if budget is not None:
            budget = extended(state.budget or plan.budget, budget)
        library.check_unfinished(plan, state, max_ideas, budget)
        return Session(
            plan,
            log,
            providers.caller,
            scorer,
            history=state,
            max_ideas=max_ideas,
            budget=budget,
            notices=record.problems_in_brief,
            version=version("jagstorm"),
        )
    except BaseException:
        log.close()
        raise


def scorer_for(plan: Plan, providers: Providers) -> Scorer:
    """Whoever gives a session's scores. Raises `ModelUnavailableError` for a provider that this version lacks."""
    panel = None
    if plan.judging.judges:
        for spec in plan.judging.judges:
            providers.get(spec.provider)
        ask = asking(providers.caller)
        panel = Panel([Judge(spec, ask) for spec in plan.judging.judges], plan.judging)
    return EmbeddingScorer(_embedder(plan, providers), panel)


def asking(caller: Caller) -> AskModel:
    """How a judge asks: through the layer that every call goes through."""

    async def ask(spec: ModelSpec, prompt: Prompt) -> Reply:
        call = Call(caller, spec, prompt)
        outcome = await call.run()
        if outcome == "failed":
            raise CallFailedError(call.kind, call.message)
        return Reply(outcome, call.text, call.usage, call.cost)

    return ask


def _embedder(plan: Plan, providers: Providers) -> Embedder:
    if plan.embedder == "wordllama":
        return WordLlamaEmbedder()
    spec = plan.embedder
    provider = providers.get(spec.provider)
    return RemoteEmbedder(spec, providers.caller.embed, lambda usage: provider.cost(spec, usage))
