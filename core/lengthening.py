"""How a chain grows: step, idea, scores, verdict; and the next step asked ahead, while scores are still coming."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct

from core import events as ev
from core.chain import Chain
from core.config import Plan
from core.ending import question_ended
from core.events.course import TROUBLE
from core.grading import Grader
from core.models import Budget, Usage
from core.providers.tokens import estimate_tokens
from core.rules import MAX_UNSCORED, Spent, over_budget
from core.state import State
from core.stepping import OUTAGE_SECONDS, Stepper
from core.teams.strategy import Proposal
from core.together import plain_faults

SAID = "it was asked before you said something"

HEAD_START = 0.002
"""Seconds that scores have before the next step is asked ahead of them: word vectors take one millisecond."""

LOOK_EVERY = 0.5
"""Seconds between two looks, amid a step, whether the budget is used up."""

MAX_FAILURES = 5
"""Calls that fail in a row before a session pauses: something is wrong with whoever writes."""


class Lengthener:
    def __init__(
        self,
        plan: Plan,
        state: State,
        stepper: Stepper,
        grader: Grader,
        emit: Callable[[ev.Event], None],
        hold: Callable[[], Awaitable[None]],
        elapsed: Callable[[], float],
    ) -> None:
        """`hold` comes back when the session is not paused; `elapsed` gives the session's seconds."""
        self._plan = plan
        self._state = state
        self._stepper = stepper
        self._grader = grader
        self._emit = emit
        self._hold = hold
        self._elapsed = elapsed
        self._cut = ""
        """What was used up amid a step, which was cut for it."""
        self._ahead: asyncio.Task[Proposal | None] | None = None
        """The next step, asked while the scores of the last idea are still coming."""
        self.task_over = asyncio.Event()
        """Set whenever something that a person asked for beside the steps has come, or has failed."""
        self._interrupted = False
        """Whether a person did something since it was asked."""

    def drop_ahead(self) -> None:
        """What a person does counts before a step that was only asked ahead."""
        self._interrupted = True
        if self._ahead:
            self._ahead.cancel()

    async def lengthen(self, chain: Chain) -> None:
        """Step after step, until a rule, a cap or a budget ends the chain."""
        while chain.ended is None:
            await self._grader.score_pending(chain)
            if self._state.paused:
                await self._hold()
            elif owed := chain.owed:
                self._take(chain, owed[0].text, owed[0].member, owed[0].draft)
            elif reason := self._reason_to_end(chain):
                await self._end(chain, reason)
            elif used_up := self._cut or self._used_up():
                await self._end(chain, "budget", used_up)
            elif trouble := self._trouble(chain):
                self._emit(ev.Paused(by=TROUBLE, why=trouble))
            else:
                await self._go_on_by_steps(chain)

    async def _go_on_by_steps(self, chain: Chain) -> None:
        """One step; and more, for as long as each was rightly asked before the last idea's verdict was known."""
        proposal = await self._propose(chain)
        while proposal and not chain.out_of_date:  # at this very moment it may be, and is asked anew then
            for taken in (proposal, *proposal.also):
                self._take(chain, taken.text, taken.member, taken.draft)
            proposal = await self._ask_ahead(chain) if self._may_ask_ahead(chain) else None

    def _take(self, chain: Chain, text: str, member: str, draft: int) -> None:
        """Let what a member proposed be the next idea."""
        self._emit(
            ev.IdeaAdded(
                question=chain.question,
                idea=chain.next_number,
                step=chain.step,
                text=text,
                author=member,
                by=member,
                draft=draft,
            )
        )

    def _may_ask_ahead(self, chain: Chain) -> bool:
        """Whether the next step would come for certain, should the last idea pass."""
        on = self._plan.pipelining if self._state.pipelining is None else self._state.pipelining
        capped = (cap := self._cap()) is not None and chain.responses >= cap
        stopping = self._state.paused or self._stepper.changes_team
        person_picks = self._stepper.team.selector == "me"  # who is not to think about what may be asked anew
        return on and not (person_picks or capped or stopping or self._used_up() or self._trouble(chain))

    async def _ask_ahead(self, chain: Chain) -> Proposal | None:
        """Score the last idea, and ask for the next step meanwhile; None if that turns out to be wrong."""
        before = _used(self._state)
        self._interrupted = False
        try:
            with plain_faults():
                async with asyncio.TaskGroup() as group:
                    scoring = group.create_task(self._grader.score_pending(chain))
                    await asyncio.wait({scoring}, timeout=HEAD_START)
                    if scoring.done():
                        return None
                    asking = self._ahead = group.create_task(self._propose(chain))
                    await scoring
                    self._ahead = None
                    if why := self._wrong_ahead(chain, before):
                        asking.cancel()
        finally:
            self._ahead = None
        if not asking.cancelled() and (not why or asking.result() is None):
            return asking.result()
        wasted = _used(self._state).usage - before.usage
        self._stepper.drop(chain, why or SAID, wasted)
        return None

    def _wrong_ahead(self, chain: Chain, before: "_Used") -> str:
        """Why the step that was asked ahead would now be asked otherwise, or not at all."""
        if chain.failed > chain.failed_when_asked:
            return "the last idea failed"
        if self._interrupted:
            return SAID
        if self._stepper.changes_team:
            return "another team takes over"
        if self._reason_to_end(chain) or self._used_up(before) or self._trouble(chain):
            return "the chain ends here"
        return ""

    async def _propose(self, chain: Chain) -> Proposal | None:
        """The next proposal; None if there is none, or if the budget is used up before it has come."""
        if self._budget == Budget():
            return await self._stepper.propose(chain)
        with plain_faults():
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(self._stepper.propose(chain))
                while not (await asyncio.wait({asking}, timeout=LOOK_EVERY))[0]:
                    if used_up := over_budget(self._spent(_writing_tokens(chain)), self._budget):
                        self._cut = used_up
                        asking.cancel()
                        break
        return None if asking.cancelled() else asking.result()

    def _used_up(self, before: "_Used | None" = None) -> str | None:
        """What is used up; with `before`, what has been used since by a step asked ahead not counted."""
        spent = self._spent()
        if before is not None:
            now = _used(self._state)
            ahead = now.usage - before.usage
            tokens = spent.tokens - ahead.input_tokens - ahead.output_tokens
            spent = Spent(spent.cost - now.cost + before.cost, tokens, spent.seconds)
        return over_budget(spent, self._budget)

    def _spent(self, more_tokens: int = 0) -> Spent:
        return Spent(self._state.cost, self._state.tokens + more_tokens, self._elapsed())

    @property
    def _budget(self) -> Budget:
        return self._state.budget or self._plan.budget

    def _cap(self) -> int | None:
        return self._state.max_ideas or self._plan.rules.max_ideas

    def _reason_to_end(self, chain: Chain) -> ev.EndReason | None:
        rules = self._plan.rules
        if chain.failing_in_row() >= rules.patience:
            newest = next(idea for idea in reversed(chain.ideas) if idea.failed and idea.counts)
            assert newest.score
            assert newest.score.failed_rule
            return newest.score.failed_rule
        if (cap := self._cap()) is not None and chain.responses >= cap:
            return "cap"
        refused = any(end.outcome == "refused" for end in chain.outcomes.values())
        if refused and all(idea.by_person for idea in chain.ideas):
            return "refused"
        return None

    def _trouble(self, chain: Chain) -> str | None:
        """Why nothing good would come of going on; None while all is well."""
        for end in chain.barred.values():
            # A prompt that was cut without a word leads to ideas that nobody should trust.
            if end.kind == "context" or chain.barred.keys() >= {member.name for member in self._stepper.team.everybody}:
                return f"{end.member}: {end.message}"
        if chain.failures >= MAX_FAILURES:
            last = [end for end in chain.outcomes.values() if isinstance(end, ev.ProposalFailed)]
            why = f"{last[-1].outcome}: {last[-1].message}" if last else "no answer"
            return f"{chain.failures} calls in a row brought no idea ({why})"
        if self._stepper.outage() >= OUTAGE_SECONDS:
            return f"{self._stepper.outage() / 60:.0f} minutes without anybody to ask"
        if chain.unscored >= MAX_UNSCORED:
            why = next((idea.score.why for idea in reversed(chain.ideas) if idea.score and idea.score.why), "")
            return f"{MAX_UNSCORED} ideas in a row could not be scored{f' ({why})' if why else ''}"
        return None

    async def _end(self, chain: Chain, reason: ev.EndReason, message: str = "") -> None:
        """End the chain; but first wait for an idea that a person has asked for."""
        if any(task.task == "merge" and task.question == chain.question for task in self._state.tasks.values()):
            self.task_over.clear()
            await self.task_over.wait()
        else:
            self._emit(question_ended(chain, reason, message))


def _writing_tokens(chain: Chain) -> int:
    """About as many as have been written of what is being written."""
    return sum(estimate_tokens(writing.text + writing.thoughts) for writing in chain.writing.values())


class _Used(Struct, frozen=True):
    usage: Usage
    cost: float


def _used(state: State) -> _Used:
    """By members, selectors and leads so far: all that steps take but for the judges."""
    aside = state.aside_tokens - state.task_tokens
    usage = Usage(input_tokens=state.input_tokens, output_tokens=state.output_tokens + aside)
    return _Used(usage, state.cost - state.judging_cost - state.task_cost)
