"""What a person has the team do beside its steps: merge ideas, work one out, name a mechanism to forbid it."""

import asyncio
from collections.abc import Callable

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

    async def work(self, task: ev.TaskGiven) -> bool:
        """Have a task done, and tell whether it brought something into prompts. A call that fails is in the log.

        One whose answer came before a kill is not asked for again.
        """
        chain = self._state.chains[task.question]
        done = self._state.answers.get(task.id) or await self._asked(chain, task)
        if done:
            self._bring_in(chain, task, done)
        return done is not None and task.task != "develop"

    async def _asked(self, chain: Chain, task: ev.TaskGiven) -> ev.TaskDone | None:
        if not all(chain.idea(number) for number in task.ideas):  # of a log that has lost lines
            self._emit(
                ev.TaskFailed(question=task.question, id=task.id, member="", outcome="failed", message="no idea")
            )
            return None
        name, model = _worker(self._team())
        seed = int(generator(self._random_seed, chain.question, task.id).integers(2**31))
        call = Call(self._caller, model, self._prompt(chain, task), seed, on_retry=self._say_wait(chain, name))
        try:
            await self._caller.provider_for(model.provider).prepare(model)
            outcome = await call.run()
        except asyncio.CancelledError:
            self._say_failed(task, name, call, "cancelled")
            raise
        except ModelUnavailableError as error:
            self._say_failed(task, name, call, "failed", error.message)
            return None
        text = _read(task, call.answer)[:LONGEST_IDEA] if outcome == "ok" else ""
        if not text:
            self._say_failed(task, name, call, "empty" if outcome == "ok" else outcome)
            return None
        done = ev.TaskDone(
            question=task.question,
            id=task.id,
            text=text,
            member=name,
            thoughts=call.thoughts,
            usage=call.usage,
            cost=call.cost,
        )
        self._emit(done)
        return done

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

    def _say_failed(self, task: ev.TaskGiven, name: str, call: Call, outcome: Outcome, message: str = "") -> None:
        self._emit(
            ev.TaskFailed(
                question=task.question,
                id=task.id,
                member=name,
                outcome=outcome,
                kind=call.kind or "",
                message=message or call.message,
                usage=call.usage,
                cost=call.cost,
            )
        )


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
