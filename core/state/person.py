"""What a person does."""

from msgspec.structs import replace

from core import events as ev
from core.chain import Idea
from core.levers import POLICY
from core.state.record import SeedAtWork, State, SteerAtWork


def note(state: State, deed: ev.Deed) -> None:
    """Keep what a person can undo."""
    if deed.undoes is not None:
        state.deeds = [earlier for earlier in state.deeds if earlier.seq != deed.undoes]
    elif deed.by != POLICY and not (isinstance(deed, ev.IdeaAdded) and not deed.by_person):
        state.deeds.append(deed)


def idea_edited(state: State, event: ev.IdeaEdited) -> None:
    chain = state.chains.get(event.question)
    if chain and (idea := chain.change(event.idea, event)):
        chain.given.pop(event.idea, None)
        _leave_out(state, event.question, idea, "was edited")


def idea_removed(state: State, event: ev.IdeaRemoved) -> None:
    chain = state.chains.get(event.question)
    if chain and (idea := chain.idea(event.idea)):
        _leave_out(state, event.question, idea, "was taken out")
        chain.change(event.idea, event)


def idea_restored(state: State, event: ev.IdeaRestored) -> None:
    if chain := state.chains.get(event.question):
        chain.change(event.idea, event)


def idea_pinned(state: State, event: ev.IdeaPinned) -> None:
    if chain := state.chains.get(event.question):
        chain.change(event.idea, event)


def idea_marked(state: State, event: ev.IdeaRated | ev.IdeaCommented) -> None:
    if chain := state.chains.get(event.question):
        chain.change(event.idea, event)


def _leave_out(state: State, question: str, idea: Idea, what: str) -> None:
    """If the step under way shows the idea, what its prompts hold stands no longer."""
    chain = state.chains[question]
    asked = [prompt.seq for prompt in chain.prompts.values()]
    if chain.step_open and asked and idea.added < max(asked) and chain.shows(idea):
        chain.out_of_date = f"idea {idea.number} {what}"


def seed_injected(state: State, event: ev.SeedInjected) -> None:
    state.seeds[event.id] = SeedAtWork(event)
    finish_task(state, event.task)


def seed_withdrawn(state: State, event: ev.SeedWithdrawn) -> None:
    if seed := state.seeds.get(event.id):
        state.seeds[event.id] = replace(seed, withdrawn=True)
        for chain in state.chains.values():
            if chain.step_open and event.id in chain.seeds:
                chain.out_of_date = f"the seed {seed.injected.seed.name} was withdrawn"


def seed_policy_set(state: State, event: ev.SeedPolicySet) -> None:
    state.seed_policy = event.new


def steer_added(state: State, event: ev.SteerAdded) -> None:
    state.steers[event.id] = SteerAtWork(event)


def steer_withdrawn(state: State, event: ev.SteerWithdrawn) -> None:
    if steer := state.steers.get(event.id):
        state.steers[event.id] = replace(steer, withdrawn=True)
        for chain in state.chains.values():
            if chain.step_open and event.id in chain.steers:
                chain.out_of_date = "an instruction was withdrawn"


def own_ideas_first(state: State, event: ev.OwnIdeasFirst) -> None:
    if chain := state.chains.get(event.question):
        chain.own_first = event


def task_given(state: State, event: ev.TaskGiven) -> None:
    state.tasks[event.id] = event
    state.tasks_given += 1


def task_done(state: State, event: ev.TaskDone) -> None:
    state.pay_aside(event.usage, event.cost)
    task = state.tasks.get(event.id)
    chain = state.chains.get(event.question)
    if task is None or chain is None:
        return
    if task.task == "develop":
        state.tasks.pop(event.id)
        for number in task.ideas:
            chain.develop(number, event)
    else:
        state.answers[event.id] = event


def task_failed(state: State, event: ev.TaskFailed) -> None:
    state.pay_aside(event.usage, event.cost)
    if event.outcome != "cancelled":  # what was only cut short is asked for again when the session goes on
        finish_task(state, event.id)


def finish_task(state: State, task: str) -> None:
    state.tasks.pop(task, None)
    state.answers.pop(task, None)


def team_changed(state: State, event: ev.TeamChanged) -> None:
    state.team = event.team
    state.retry = None
    for chain in state.chains.values():
        chain.barred.clear()
        chain.silent.clear()
        chain.failures = 0


def pipelining_set(state: State, event: ev.PipeliningSet) -> None:
    state.pipelining = event.on
