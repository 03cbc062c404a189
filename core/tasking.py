"""What a person has the team do beside its steps: merge ideas, work one out, name a mechanism to forbid it."""

import asyncio
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from core import events as ev
from core.chain import Chain
from core.errors import ModelUnavailableError
from core.levers import Seed
from core.models import Member, ModelSpec, Outcome, Prompt, TeamSpec
from core.obeying import LONGEST_IDEA, injected
from core.providers.calls import Call, Caller
from core.randomness import generator
from core.state import State
from core.task_prompts import (
    develop_prompt,
    mechanism_prompt,
    merge_prompt,
    read_development,
    read_mechanism,
    read_merged,
)
from core.together import being_cancelled

ROOM = {"merge": 400, "develop": 900, "deny": 60}
"""Tokens that an answer may have at least, by task: members that write short ideas have less room of their own."""


class Tasker:
    """Does tasks, and tells `emit` of it; `team` is the team at work, `elapsed` gives the session's seconds."""

    def __init__(
        self,
        team: Callable[[], TeamSpec],
        random_seed: int,
        caller: Caller,
        state: State,
        emit: Callable[[ev.Event], None],
        elapsed: Callable[[], float],
    ) -> None:
        self._team = team
        self._random_seed = random_seed
        self._caller = caller
        self._state = state
        self._emit = emit
        self._elapsed = elapsed
        self._asking: dict[str, _Asking] = {}
        """By their tasks."""

    async def work(self, task: ev.TaskGiven) -> bool:
        """Have a task done, and tell whether it brought something into prompts. A call that fails is in the log.

        One whose answer came before a kill is not asked for again.
        """
        chain = self._state.chains[task.question]
        done = self._state.answers.get(task.id)
        while done is None and task.id in self._state.tasks:
            done = await self._ask(chain, task)
        if done:
            self._bring_in(chain, task, done)
        return done is not None and task.task != "develop"

    def heed(self, event: ev.Event) -> None:
        """Ask anew what was asked with something that stands no longer since `event`, or of a team that has left."""
        for asking in self._asking.values():
            if self._takes_back(event, asking):
                asking.outdated = True
                asking.call.cancel()

    def _takes_back(self, event: ev.Event, asking: "_Asking") -> bool:
        match event:
            case ev.TeamChanged():
                return True
            case ev.IdeaEdited() | ev.IdeaRemoved():
                return event.question == asking.task.question and event.idea in asking.task.ideas
            case ev.SeedWithdrawn() | ev.SeedPolicySet():
                return any(self._state.seeds[seed].withdrawn for seed in asking.seeds)
            case ev.SteerWithdrawn():
                return event.id in asking.steers
        return False

    async def _ask(self, chain: Chain, task: ev.TaskGiven) -> ev.TaskDone | None:
        """One call; None if it brought nothing. Where it is to be asked for again, the task is still there."""
        name, model = _worker(self._team())
        model = replace(model, max_tokens=max(model.max_tokens, min(ROOM[task.task], model.context // 3)))
        try:
            await self._caller.provider_for(model.provider).prepare(model)
        except ModelUnavailableError as error:
            self._emit(_failed(task, name, "failed", error.message))
            return None
        if why := _impossible(chain, task):
            self._emit(_failed(task, name, "failed", why))
            return None
        seed = int(generator(self._random_seed, chain.question, task.id).integers(2**31))
        call = Call(self._caller, model, self._prompt(chain, task), seed, on_retry=self._say_wait(chain, name))
        asking = self._asking[task.id] = self._with_force(task, asyncio.ensure_future(call.run()))
        try:
            outcome = await asking.call
        except asyncio.CancelledError:
            self._emit(_failed(task, name, "cancelled", call.message, call))
            if asking.outdated and not being_cancelled():
                return None
            raise
        finally:
            del self._asking[task.id]
        if asking.outdated:  # it came at the very moment
            self._emit(_failed(task, name, "cancelled", "cancelled", call))
            return None
        text = _read(task, call.answer)[:LONGEST_IDEA] if outcome == "ok" or _is_of_use(task, outcome) else ""
        if not text:
            self._emit(_failed(task, name, "empty" if outcome == "ok" else outcome, call.message, call))
            return None
        done = ev.TaskDone(
            question=task.question,
            id=task.id,
            text=text,
            member=name,
            thoughts=call.thoughts,
            seeds=asking.seeds,
            steers=asking.steers,
            usage=call.usage,
            cost=call.cost,
        )
        self._emit(done)
        return done

    def _with_force(self, task: ev.TaskGiven, call: "asyncio.Task[Outcome]") -> "_Asking":
        """As `core.prompts.framed` tells of it; what names a mechanism is told of nothing."""
        if task.task == "deny":
            return _Asking(task, call)
        seeds = tuple(each.id for each in self._state.seeds_in_force if each.seed.lever == "language")
        return _Asking(task, call, seeds, tuple(steer.id for steer in self._state.steers_in_force))

    def _prompt(self, chain: Chain, task: ev.TaskGiven) -> Prompt:
        texts = [idea.text for number in task.ideas if (idea := chain.idea(number))]
        match task.task:
            case "merge":
                return merge_prompt(chain.text, texts, self._state.in_force)
            case "develop":
                return develop_prompt(chain.text, texts[0], self._state.in_force)
            case "deny":
                return mechanism_prompt(texts[0])

    def _bring_in(self, chain: Chain, task: ev.TaskGiven, done: ev.TaskDone) -> None:
        """What comes of a task beside its text: a new idea, or a mechanism that is forbidden from now on."""
        if task.task == "merge":
            self._emit(
                ev.IdeaAdded(
                    question=chain.question,
                    idea=chain.next_number,
                    step=chain.step,
                    text=done.text,
                    author=done.member,
                    parents=task.ideas,
                    task=task.id,
                    by=task.by,
                )
            )
        elif task.task == "deny":
            lever = Seed(name=done.text, lever="deny", source="idea")
            self._emit(injected(self._state, chain, lever, None, task.by, task=task.id))

    def _say_wait(self, chain: Chain, name: str) -> Callable[[str, float], None]:
        def retry(why: str, seconds: float) -> None:
            until = round(self._elapsed() + seconds, 3)
            self._emit(ev.RetryScheduled(question=chain.question, step=chain.step, member=name, why=why, until=until))

        return retry


class _Asking(Struct):
    """A call under way, and what its prompt holds."""

    task: ev.TaskGiven
    call: "asyncio.Task[Outcome]"
    seeds: tuple[str, ...] = ()
    steers: tuple[str, ...] = ()
    outdated: bool = False


def _failed(task: ev.TaskGiven, name: str, outcome: Outcome, message: str, call: Call | None = None) -> ev.TaskFailed:
    failed = ev.TaskFailed(question=task.question, id=task.id, member=name, outcome=outcome, message=message)
    return failed if call is None else replace(failed, kind=call.kind or "", usage=call.usage, cost=call.cost)


def _is_of_use(task: ev.TaskGiven, outcome: Outcome) -> bool:
    """Whether what was cut off is something all the same."""
    return outcome == "truncated" and task.task == "develop"


def _impossible(chain: Chain, task: ev.TaskGiven) -> str:
    """Why a task can't be done any more, if it can't."""
    for number in task.ideas:
        idea = chain.idea(number)
        if idea is None:  # of a log that has lost lines
            return f"there is no idea {number}"
        if idea.removed and task.task != "deny":
            return f"idea {number} was taken out"
    return ""


def _worker(team: TeamSpec) -> tuple[str, ModelSpec]:
    """Who is asked, by name: the model that picks, or the one that leads, or the member of the greatest weight."""
    if team.strategy == "parallel" and isinstance(team.selector, ModelSpec):
        return team.selector.name, team.selector
    everybody = team.everybody
    lead = [member for member in everybody if team.strategy == "hierarchy" and member.name == team.lead]
    best: Member = (lead or sorted(everybody, key=lambda member: -member.weight))[0]
    return best.name, best.model


def _read(task: ev.TaskGiven, answer: str) -> str:
    match task.task:
        case "merge":
            return read_merged(answer)
        case "develop":
            return read_development(answer)
        case "deny":
            return read_mechanism(answer)
