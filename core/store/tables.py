"""Sessions and public result files as the columns that profiles are computed from."""

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from core.analysis.table import EMPTY, RULES, UNFINISHED, ChainRow, IdeaRow, Table, table_of
from core.analysis.union import together
from core.chain import Idea
from core.config import Plan, read_plan
from core.errors import JagstormError
from core.events import EndReason
from core.exchange.marks import (
    EMBEDDER,
    end_of,
    member_name,
    question_of,
    seconds_of,
    verdict_of,
    writers_of,
)
from core.exchange.public import PublicChain, read_public
from core.models import ModelSpec, Usage, added
from core.questions import Question
from core.state import State, fold
from core.store.beside import stamp_of
from core.store.columns import keep, kept
from core.store.log import read_log


class Found(Struct, frozen=True, eq=False):
    """What could be read of several places."""

    table: Table
    problems: tuple[str, ...] = ()
    """One line for each place that could not be."""


class StoppedError(Exception):
    """Reading was stopped, as was asked."""


def read_tables(
    places: Sequence[Path],
    progress: Callable[[int, int], None] = lambda done, of: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Found:
    """The columns of all sessions (folders) and public result files at `places`, as one table.

    It takes a millisecond for a session whose columns are kept, and a second for one of 50 MB that is read for the
    first time. `progress` is told how many places of how many are done. Raises `StoppedError` once `stopped()`.
    """
    tables: list[Table] = []
    problems: list[str] = []
    for done, place in enumerate(places):
        progress(done, len(places))
        if stopped():
            raise StoppedError
        try:
            tables.append(session_table(place) if place.is_dir() else public_table(place))
        except JagstormError as error:
            problems.append(error.message)
    progress(len(places), len(places))
    return Found(together(tables), tuple(problems))


def session_table(folder: Path) -> Table:
    """The columns of one session; kept beside it from now on, where they can be. Raises `SessionUnreadableError`."""
    stamp = stamp_of(folder)
    if stamp and (table := kept(folder, stamp)):
        return table
    plan, record = read_plan(folder), read_log(folder)
    table = table_of(_session_chains(plan, fold(record.events), str(folder), damaged=bool(record.problems)))
    if stamp:
        keep(folder, stamp, table)
    return table


def public_table(path: Path) -> Table:
    """The columns of a public result file. Raises `UsageError`, `NoResultsError`."""
    return _public([public_row(chain, str(path), place) for place, chain in enumerate(read_public(path))])


def keep_public(folder: Path, rows: Sequence[ChainRow]) -> None:
    """Keep the columns of a session that was made of public chains, so that its first profile is there at once."""
    if stamp := stamp_of(folder):
        keep(folder, stamp, _public(rows))


def _public(rows: Sequence[ChainRow]) -> Table:
    writers: dict[str, set[str]] = {}
    for row in rows:
        writers.setdefault(row.model, set()).update(name for idea in row.ideas for name in (idea.author, *idea.offered))
    return table_of([replace(row, is_team=len(writers[row.model]) > 1) for row in rows])


def _session_chains(plan: Plan, state: State, session: str, *, damaged: bool) -> list[ChainRow]:
    members = plan.team.everybody
    alone = len(members) == 1
    named = sorted(f"{member.name}: {_called(member.model)}" for member in members)
    made_of = f"{plan.team.strategy} of {', '.join(named)}"
    # A result file tells neither what a team is made of nor its random seed.
    setting = "" if plan.origin else f"{plan.team.name}, {made_of}\n{plan.random_seed}"
    calls = [idea.call for chain in state.chains.values() for idea in chain.ideas if idea.call]
    thinkers = {call.member for call in calls if call.usage.reasoning_tokens}
    return [
        ChainRow(
            model=_called(members[0].model) if alone else plan.team.name,
            made_of="" if alone or plan.origin else made_of,
            question=Question(chain.question, chain.text, chain.domain, chain.subdomain),
            ideas=[_idea(state, idea, setting, thinks=idea.author in thinkers) for idea in chain.ideas],
            ended=_end(chain.ended.reason if chain.ended else None, len(chain.ideas)),
            censored=chain.ended is None or chain.ended.censored,
            is_team=not alone,
            damaged=damaged,
            session=session,
            place=place,
            rule_coherence=plan.rules.coherence,
            rule_embedding_novelty=plan.rules.embedding_novelty,
            rule_judged_novelty=plan.rules.judged_novelty,
            patience=plan.rules.patience,
            max_ideas=state.max_ideas or plan.rules.max_ideas,
        )
        for place, chain in enumerate(state.chains.values())
    ]


def _end(reason: EndReason | None, ideas: int) -> str:
    if reason is None:
        return UNFINISHED
    return EMPTY if reason == "error" and not ideas else reason


def _called(spec: ModelSpec) -> str:
    """A model by its name, and by how hard it is to think where the name does not say so."""
    effort = spec.effort if spec.effort not in spec.name else ""
    thoughts = f"{spec.thinking_tokens:,} thinking tokens" if spec.thinking_tokens else ""
    more = ", ".join(each for each in (effort, thoughts) if each)
    return f"{spec.name} ({more})" if more else spec.name


def _setting(session: str = "", team: str = "", embedder: str = "", judges: Iterable[str] = ()) -> str:
    """The setting of an idea: its session's, the team that had taken over, whoever scored it."""
    return "\n".join((session, team, embedder, *sorted(judges)))


def _idea(state: State, idea: Idea, setting: str, *, thinks: bool) -> IdeaRow:
    """`setting` is the session's; `thinks`: its author has used reasoning tokens, so that none are known to be none."""
    score = idea.score
    brought = [state.seeds[name].injected for name in idea.seeds if name in state.seeds]
    under = next((injected for injected in brought if injected.seed.lever == "seed"), None)
    usage, cost = _spent(idea)
    return IdeaRow(
        number=idea.number,
        author=idea.author,
        coherence=score.coherence if score else None,
        embedding_novelty=score.embedding_novelty if score else None,
        judged_novelty=score.judged_novelty if score else None,
        scored=score is not None and score.verdict != "unscored",
        counts=not (idea.by_person or idea.removed or idea.original or score is None),
        removed=idea.removed,
        shared=state.forked is not None and idea.added < state.forked.seq,
        failed_rule=(score.failed_rule or "mechanical") if score and idea.failed else None,
        # A call reads and writes something: where that is 0, nobody counted.
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or None,
        reasoning_tokens=usage.reasoning_tokens if usage.output_tokens or thinks else None,
        seconds=usage.seconds or None,
        cost=cost,
        length=len(idea.text),
        embedder=score.embedder if score else "",
        setting=_setting(setting, idea.team, score.embedder if score else "", score.judges if score else ()),
        seed=under.seed.name if under else None,
        seed_distance=under.seed.distance if under else None,
        seed_called=under is not None and not under.set_before,
        offered=tuple(other.member for other in idea.others),
    )


def _spent(idea: Idea) -> tuple[Usage, float | None]:
    """What the step of an idea used: its calls at once, then the choice among what they brought."""
    if idea.call is None:
        return Usage(), None
    calls = (idea.call, *idea.others)
    usage = sum((call.usage for call in calls), Usage())
    usage = replace(usage, seconds=max(call.usage.seconds for call in calls))
    cost = functools.reduce(added, (call.cost for call in calls))
    if idea.chosen is None:
        return usage, cost
    return usage + idea.chosen.usage, added(cost, idea.chosen.cost)


def public_row(chain: PublicChain, session: str = "", place: int = 0) -> ChainRow:
    """A public chain as it counts; whether it is a team's only all chains of its model tell."""
    ended = _end(end_of(chain), chain.responses)
    seconds = seconds_of(chain.answers)
    return ChainRow(
        model=member_name(chain.model),
        question=question_of(chain),
        ideas=[
            _answer(chain, position, seconds=now - before)
            for position, (before, now) in enumerate(pairwise([0.0, *seconds]))
        ],
        ended=ended,
        censored=ended not in RULES,
        patience=chain.patience,
        session=session,
        place=place,
    )


def _answer(chain: PublicChain, position: int, seconds: float) -> IdeaRow:
    answer = chain.answers[position]
    verdict, failed_rule = verdict_of(chain, position)
    author, *offered = writers_of(chain, answer)
    return IdeaRow(
        number=position + 1,
        author=author,
        coherence=answer.coherence,
        embedding_novelty=answer.embedding_novelty,
        judged_novelty=answer.judged_novelty,
        scored=verdict != "unscored",
        failed_rule=failed_rule,
        reasoning_tokens=answer.reasoning_tokens,
        seconds=seconds or None,
        length=len(answer.text),
        embedder=EMBEDDER.name,
        setting=_setting(embedder=EMBEDDER.name),
        offered=tuple(offered),
    )
