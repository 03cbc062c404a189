"""A session as far as its events tell."""

from msgspec import Struct, field

from core import events as ev
from core.chain import Chain, Idea
from core.levers import POLICY, InForce, SeedPolicy
from core.models import Budget, TeamSpec, Usage


class SeedAtWork(Struct, frozen=True):
    """A seed and what has come of it."""

    injected: ev.SeedInjected
    ideas: int = 0
    """Written under it."""
    withdrawn: bool = False
    brought_by: str = ""
    """Who brought it first; it may have been withdrawn since, and that undone by another."""

    @property
    def left(self) -> int | None:
        """For how many more ideas it is in force; None: until withdrawn."""
        if self.withdrawn:
            return 0
        return None if self.injected.steps is None else max(0, self.injected.steps - self.ideas)

    @property
    def in_force(self) -> bool:
        return self.left != 0


class SteerAtWork(Struct, frozen=True):
    added: ev.SteerAdded
    withdrawn: bool = False


class State(Struct, kw_only=True):
    """A session as far as its events tell."""

    chains: dict[str, Chain] = field(default_factory=dict)
    current: str | None = None
    started: bool = False
    version: str = ""
    seq: int = -1
    t: float = 0.0
    at: str = ""
    input_tokens: int = 0
    """Read by members."""
    output_tokens: int = 0
    """Written by members."""
    generation_seconds: float = 0.0
    tokens_per_second: float = 0.0
    """Of the newest call."""
    cost: float = 0.0
    cost_known: bool = True
    aside_tokens: int = 0
    """Of selectors and leads, read and written, where they write no proposals."""
    judging_tokens: int = 0
    """Of judges and embedder, read and written."""
    judging_cost: float = 0.0
    """The part of `cost` that scores took."""
    max_ideas: int | None = None
    """A cap given when the session was resumed."""
    budget: Budget | None = None
    """A budget given when the session was resumed."""
    team: TeamSpec | None = None
    """The team that took over, if one did."""
    team_wanted: TeamSpec | None = None
    """The team that is to take over at the next step."""
    pipelining: bool | None = None
    """As a person set it; None: as the plan has it."""
    wasted_tokens: int = 0
    """Used by steps that were asked ahead of the scores and dropped; they are in the other counts too."""
    seeds: dict[str, SeedAtWork] = field(default_factory=dict)
    """All that were ever injected, by their ids."""
    at_work: list[str] = field(default_factory=list)
    """The ids of those that are in force, but for a policy's own that were brought for another question."""
    seed_policy: SeedPolicy | None = None
    """When seeds come, as a person set it; None: as the plan has it."""
    steers: dict[str, SteerAtWork] = field(default_factory=dict)
    """All that were ever given, by their ids."""
    tasks: dict[str, ev.TaskGiven] = field(default_factory=dict)
    """Those that the team has not done yet, by their ids."""
    answers: dict[str, ev.TaskDone] = field(default_factory=dict)
    """What a member said to some of them, where what is to come of it has not come yet."""
    tasks_given: int = 0
    task_tokens: int = 0
    """Of those beside the steps; they are in `aside_tokens` too."""
    task_cost: float = 0.0
    """As well, and in `cost`."""
    deeds: list[ev.Deed] = field(default_factory=list)
    """What persons did and can undo, the newest last."""
    forked: ev.Forked | None = None
    """Where its past comes from."""
    controls: int = 0
    """Things of known score that judges were given."""
    controls_passed: int = 0
    paused: ev.Paused | None = None
    ended: ev.SessionEnded | None = None
    retry: ev.RetryScheduled | None = None
    notices: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """The names of events that this version does not know."""

    @property
    def tokens(self) -> int:
        """All that were read and written."""
        return self.input_tokens + self.output_tokens + self.aside_tokens + self.judging_tokens

    @property
    def chain(self) -> Chain | None:
        return self.chains[self.current] if self.current is not None else None

    @property
    def seeds_in_force(self) -> tuple[ev.SeedInjected, ...]:
        seeds = (self.seeds[name] for name in self.at_work)
        return tuple(
            seed.injected for seed in seeds if seed.brought_by != POLICY or seed.injected.question == self.current
        )

    @property
    def steers_in_force(self) -> tuple[ev.SteerAdded, ...]:
        return tuple(steer.added for steer in self.steers.values() if not steer.withdrawn)

    @property
    def in_force(self) -> InForce:
        """What the next prompts hold beside question and ideas."""
        return InForce(
            tuple(injected.seed for injected in self.seeds_in_force),
            tuple(added.text for added in self.steers_in_force),
        )

    def was_in_force(self, idea: Idea) -> InForce:
        """What the prompt of an idea held beside question and ideas."""
        return InForce(
            tuple(self.seeds[seed].injected.seed for seed in idea.seeds if seed in self.seeds),
            tuple(self.steers[steer].added.text for steer in idea.steers if steer in self.steers),
        )

    @property
    def resumable(self) -> bool:
        """Whether there is something to go on with as things stand; a chain at its cap needs a higher one first."""
        if self.ended:
            return self.ended.how != "finished" or bool(self.tasks)
        ends = [chain.ended for chain in self.chains.values()]
        return not ends or any(end is None or end.reason in ("person", "error") for end in ends)

    def pay(self, cost: float | None) -> None:
        if cost is None:
            self.cost_known = False
        else:
            self.cost += cost

    def pay_judges(self, usage: Usage, cost: float | None) -> None:
        self.pay(cost)
        self.judging_tokens += usage.input_tokens + usage.output_tokens
        self.judging_cost += cost or 0.0

    def pay_task(self, usage: Usage, cost: float | None) -> None:
        self.pay_aside(usage, cost)
        self.task_tokens += usage.input_tokens + usage.output_tokens
        self.task_cost += cost or 0.0

    def pay_aside(self, usage: Usage, cost: float | None) -> None:
        self.pay(cost)
        self.aside_tokens += usage.input_tokens + usage.output_tokens
