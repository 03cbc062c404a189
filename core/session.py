"""A running session: propose → score → verdict, again and again, until a rule, a cap or a person ends it.

What to do next is read from the state alone, so going on after a kill is the same code as going on after an idea.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.annotating import annotate
from core.chain import Chain
from core.clock import Clock, SystemClock
from core.config import Plan
from core.ending import cut_short, question_ended
from core.errors import JagstormError, StoreError, UsageError
from core.events.course import OWN_FIRST, STORAGE, TROUBLE
from core.feed import Listener, Listeners
from core.grading import Grader
from core.lengthening import Lengthener
from core.levers import SeedPolicy
from core.lines import cleaned, with_line
from core.models import YOU, Budget
from core.obeying import obey
from core.providers.calls import Caller
from core.scoring.scorer import Scorer
from core.seeds.policy import Bank, Seeder
from core.state import State, apply
from core.stepping import Stepper
from core.store.log import EventLog
from core.tasking import Tasker
from core.text import shown


class Session:
    """One run of a plan. Everything that happens goes through `emit`; everything a person wants through `send`."""

    def __init__(
        self,
        plan: Plan,
        log: EventLog,
        caller: Caller,
        scorer: Scorer,
        *,
        bank: Bank = tuple,
        history: State | None = None,
        max_ideas: int | None = None,
        budget: Budget | None = None,
        notices: Sequence[str] = (),
        version: str = "",
        clock: Clock | None = None,
    ) -> None:
        """`bank` are the seeds there are; `history` is the state of the session when it is taken up again, `max_ideas`
        and `budget` then replace the plan's.

        `notices` are told once it begins, when whoever follows it can hear them.
        """
        self.plan = plan
        self._log = log
        self._scorer = scorer
        self._state = history or State()
        team = self._state.team or plan.team
        self._clock = clock or SystemClock()
        self._grader = Grader(plan, scorer, self._clock, self.emit, self.elapsed, self._start, self._pause_for)
        self._seeder = Seeder(self._policy, bank, plan.random_seed, self._state, self.emit)
        self._stepper = Stepper(
            team, plan.random_seed, self._state, caller, self._grader, self._seeder, self.emit, self.elapsed
        )
        self._tasker = Tasker(
            lambda: self._stepper.team, plan.random_seed, caller, self._state, self.emit, self.elapsed
        )
        self._lengthener = Lengthener(
            plan, self._state, self._stepper, self._grader, self.emit, self._hold, self.elapsed
        )
        self._max_ideas = max_ideas
        self._budget = budget
        self._notices = notices
        self._version = version
        self._zero = self._clock.monotonic() - self._state.t
        self._listeners = Listeners()
        self._early: list[cmd.AnyCommand] | None = []
        """Commands that came before the start, to be obeyed then; None once it has begun."""
        self._may_go_on = asyncio.Event()
        """Set while the state is not paused."""
        self._may_go_on.set()
        self._group: asyncio.TaskGroup
        self._working = False
        """Whether work can be started beside what is going on."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop: cmd.Stop | None = None
        self._fault: JagstormError | None = None

    @property
    def state(self) -> State:
        return self._state

    @property
    def folder(self) -> Path:
        return self._log.folder

    @property
    def fault(self) -> JagstormError | None:
        """Why it ended, if it ended by a fault."""
        return self._fault

    def elapsed(self) -> float:
        """Seconds since the session's start, now; as it ended, once it has ended."""
        return self._state.t if self._state.ended else self._clock.monotonic() - self._zero

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self._listeners.subscribe(listener)

    def _policy(self) -> SeedPolicy:
        """When seeds come now."""
        return self._state.seed_policy or self.plan.seeds

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def emit(self, event: ev.Event) -> None:
        """Stamp, store, fold, show. What can't be stored is kept for later, and the session pauses and says why."""
        t = round(self.elapsed(), 3)
        trouble = None
        if isinstance(event, ev.ProposalDelta | ev.ScoringProgress):
            event = cleaned(replace(event, t=t))
        else:
            event, line = with_line(replace(event, t=t, seq=self._state.seq + 1, at=self._clock.now()))
            try:
                self._log.append_line(line)
            except StoreError as error:
                trouble = error
        apply(self._state, event)
        self._tasker.heed(event)
        if self._state.paused:
            self._may_go_on.clear()
        else:
            self._may_go_on.set()
        try:
            self._listeners.tell(event)
        finally:
            if trouble and not self._unsaved() and self._state.ended is None:
                self._pause(STORAGE, trouble.message)

    def _unsaved(self) -> bool:
        return self._state.paused is not None and self._state.paused.by == STORAGE

    def _pause(self, by: str, why: str = "") -> None:
        self.emit(ev.Paused(by=by, why=why))

    def _pause_for(self, trouble: str) -> None:
        if self._state.paused is None:
            self._pause(TROUBLE, trouble)

    # ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def send(self, command: cmd.AnyCommand) -> None:
        """Obey a command, one that comes before the start at the start. One that changes nothing does nothing.

        Raises `UsageError` for one that can't be obeyed as things stand; after the end, only ideas can be marked.
        """
        if self._early is not None:
            self._early.append(command)
            return
        if self._state.ended:
            if not isinstance(command, cmd.Stop | cmd.Pause | cmd.Resume | cmd.SaveElsewhere):
                self._mark(command)
            return
        match command:
            case cmd.Stop():
                self._stop = self._stop or command
                self._cancel()
            case cmd.Pause() if self._state.paused is None:
                self._pause(command.by)
            case cmd.Resume() if self._state.paused:
                self._go_on(command.by)
            case cmd.SaveElsewhere():
                self._save_elsewhere(command)
            case cmd.ChangeTeam():
                retry = self._state.retry
                waiting = retry is not None and not retry.scoring and retry.until > self.elapsed()
                self._stepper.change_team(command.team, command.by, waiting=waiting)
                self._lengthener.drop_ahead()
            case cmd.SetPipelining():
                self.emit(ev.PipeliningSet(on=command.on, by=command.by))
            case _:
                self._do(obey(self._state, command, self._policy()))
                if isinstance(command, cmd.DrawSeed):
                    self._start(partial(self._draw, command))

    def _do(self, events: Sequence[ev.Event]) -> None:
        """Tell of what a person did, and have the run take note of it."""
        for event in events:
            self.emit(event)
            match event:
                case ev.TaskGiven():
                    self._start(partial(self._work, event))
                case ev.ProposalChosen():
                    self._stepper.picked.set()
                case ev.IdeaRated() | ev.IdeaCommented():
                    pass
                case _:
                    self._reconsider(event.question if isinstance(event, ev.Deed) else None)

    def _reconsider(self, question: str | None) -> None:
        """What the next prompts hold has changed: ask anew what was asked otherwise, and score what has no scores.

        `question` is the one whose ideas have changed.
        """
        self._lengthener.drop_ahead()
        if self._state.chain and self._state.chain.out_of_date:
            self._stepper.give_up()
        changed = self._state.chains.get(question or "")
        if changed and changed.pending:
            self._start(partial(self._grader.score_pending, changed))

    async def _work(self, task: ev.TaskGiven) -> None:
        if await self._tasker.work(task):
            self._reconsider(task.question)
        self._lengthener.task_over.set()

    async def _draw(self, command: cmd.DrawSeed) -> None:
        chain = self._state.chain
        assert chain
        try:
            drawn = await self._seeder.draw(chain, command.distance, command.field, len(self._state.seeds))
            seed = replace(drawn, style=command.style)
            self._do(obey(self._state, cmd.InjectSeed(seed=seed, steps=command.steps, by=command.by), self._policy()))
        except UsageError as error:
            self.emit(ev.Notice(text=error.message))

    def _mark(self, command: cmd.AnyCommand) -> None:
        """Mark an idea of a session that has ended, as others may have done meanwhile."""
        for event in annotate(self.folder, command, self._clock):
            if event.seq > self._state.seq:
                apply(self._state, event)
                self._listeners.tell(event)

    def _go_on(self, by: str) -> None:
        try:
            self._log.flush()
        except StoreError as error:
            self.emit(ev.Notice(text=f"Still not saved. {error.message}"))
            return
        self._stepper.forget_outage()
        unsaved = self._unsaved()
        self.emit(ev.Resumed(by=by))
        if unsaved:
            self._maybe_own_first()

    def _save_elsewhere(self, command: cmd.SaveElsewhere) -> None:
        from core.store.library import move

        try:
            move(self._log, self.plan, command.folder)
        except JagstormError as error:
            self.emit(ev.Notice(text=error.message))
            return
        self.emit(ev.Notice(text=f"The session now goes on in {shown(self.folder)}"))
        if self._state.paused:
            self._go_on(command.by)

    # ── the run ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(self) -> ev.SessionEnded:
        """Run to the end of the plan, or to where a person stops it. Returns how it ended, as it stands in the log.

        Raises `StoreError` if the end could not be written.
        """
        try:
            self._begin()
            await self._work_off()
            while self._owes() and not self._stop and not self._fault:  # it came at the very end
                await self._work_off()
            self.emit(self._ending())
        finally:
            self._log.close()
        assert self._state.ended is not None
        return self._state.ended

    async def _work_off(self) -> None:
        """Do all there is to do, and what comes meanwhile."""
        async with asyncio.TaskGroup() as self._group:
            self._working = True
            for task in list(self._state.tasks.values()):
                self._start(partial(self._work, task))
            self._obey_early()
            self._start(self._work_through)

    def _begin(self) -> None:
        again = self._state.seq >= 0
        if not self._state.started:
            self.emit(ev.SessionStarted(version=self._version))
        if again or self._max_ideas is not None:
            self.emit(ev.Resumed(by=YOU, max_ideas=self._max_ideas, budget=self._budget))
        for notice in self._notices:
            self.emit(ev.Notice(text=notice))
        self._next_chain()
        self._maybe_own_first()

    def _obey_early(self) -> None:
        """Obey what came before the start. Nobody waits any more to be told what can't be obeyed: the log is."""
        early, self._early = self._early, None
        for command in early or ():
            try:
                self.send(command)
            except UsageError as error:
                self.emit(ev.Notice(text=error.message))

    def _maybe_own_first(self) -> None:
        """Let the person write before the team does, where the plan says so and no step has been taken yet."""
        chain, first = self._state.chain, self.plan.own_first
        if first is None or chain is None or chain.step or chain.ended or len(self._state.chains) > 1:
            return
        if chain.own_first is None:
            self.emit(ev.OwnIdeasFirst(question=chain.question, minutes=first.minutes, shown=first.shown))
        self._pause(OWN_FIRST)

    async def _hold(self) -> None:
        """Come back when the session is not paused."""
        await self._may_go_on.wait()

    def _start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do `work` beside what is going on; whatever ends one for a reason that a person can act on ends all.

        When the session is about to end, it is left for when it is resumed.
        """

        async def guarded() -> None:
            try:
                await work()
            except JagstormError as fault:
                self._fault = self._fault or fault
                self._cancel()

        if self._working and not self._stop and not self._fault:
            task = self._group.create_task(guarded())
            self._tasks.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._working = bool(self._tasks)  # what comes when none is left, waits

    def _cancel(self) -> None:
        for task in list(self._tasks):
            task.cancel()

    def _ending(self) -> ev.SessionEnded:
        chain = self._next_chain()
        if chain is None and not self._state.tasks:
            return ev.SessionEnded(how="finished")
        end = cut_short(self._stop, self._fault)
        if chain:
            troubled = self._stop is not None and self._stop.by in (STORAGE, TROUBLE)
            why = self._state.paused.why if troubled and self._state.paused else end.message
            failed = troubled or end.how == "error"
            self.emit(question_ended(chain, "error", why) if failed else question_ended(chain, "person"))
        return end

    async def _work_through(self) -> None:
        await self._stepper.prepare()
        await self._grader.prepare()
        while chain := self._next_chain():
            await self._lengthener.lengthen(chain)
            while self._unsaved():
                await self._may_go_on.wait()
        for chain in self._state.chains.values():
            while chain.pending:
                await self._hold()
                await self._grader.score_pending(chain)

    def _owes(self) -> bool:
        """Whether a person asked for something, or changed an idea, when nothing was being done any more."""
        return bool(self._state.tasks) or any(chain.pending for chain in self._state.chains.values())

    def _next_chain(self) -> Chain | None:
        """The chain of the first question that has not ended; None when all have."""
        for question in self.plan.questions:
            chain = self._state.chains.get(question.id)
            if chain is None or (chain.ended is None and self._state.current != question.id):
                self.emit(
                    ev.QuestionStarted(
                        question=question.id, text=question.text, domain=question.domain, subdomain=question.subdomain
                    )
                )
            chain = self._state.chains[question.id]
            if chain.ended is None:
                return chain
        return None
