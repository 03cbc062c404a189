"""What a person does."""

from msgspec.structs import replace

from core import events as ev
from core.chain import Chain, Idea, Mark
from core.levers import POLICY
from core.state.record import SeedAtWork, State, SteerAtWork


def note(state: State, deed: ev.Deed) -> None:
    """Keep what a person can undo."""
    if deed.undoes is not None:
        state.deeds = [earlier for earlier in state.deeds if earlier.seq != deed.undoes]
    elif deed.by != POLICY and not (isinstance(deed, ev.IdeaAdded) and not deed.by_person):
        state.deeds.append(deed)


def idea_changed(state: State, event: Mark) -> None:
    chain = state.chains.get(event.question)
    if chain is None or (before := chain.idea(event.idea)) is None:
        return
    shown = chain.shows(before)
    after = chain.change(event.idea, event)
    assert after
    if after.text != before.text:
        chain.forget_judgements(event.idea)
    if shown and _is_in_prompts(chain, before) and (after.text != before.text or not chain.shows(after)):
        chain.outdate(f"idea {event.idea} {_DONE[type(event)]}")


_DONE: dict[type[ev.Deed], str] = {
    ev.IdeaEdited: "was edited",
    ev.IdeaRemoved: "was taken out",
    ev.IdeaPinned: "is pinned no longer",
}


def _is_in_prompts(chain: Chain, idea: Idea) -> bool:
    """Whether a prompt of the step under way may show it: it was there when that was asked."""
    asked = [prompt.seq for prompt in chain.prompts.values()]
    return bool(asked) and idea.added < max(asked)


def seed_injected(state: State, event: ev.SeedInjected) -> None:
    earlier = state.seeds.get(event.id)
    brought_by = earlier.brought_by if earlier else event.by
    if brought_by == POLICY:
        _end_policys_seeds(state)
    state.seeds[event.id] = SeedAtWork(event, brought_by=brought_by)
    if event.id not in state.at_work:
        state.at_work.append(event.id)
    finish_task(state, event.task)


def seed_withdrawn(state: State, event: ev.SeedWithdrawn) -> None:
    if seed := state.seeds.get(event.id):
        _end_seed(state, event.id)
        for chain in state.chains.values():
            if event.id in chain.seeds:
                chain.outdate(f"the seed {seed.injected.seed.name} was withdrawn")


def seed_policy_set(state: State, event: ev.SeedPolicySet) -> None:
    state.seed_policy = event.new
    ended = _end_policys_seeds(state)
    for chain in state.chains.values():
        if ended & set(chain.seeds):
            chain.outdate("seeds come otherwise now")


def _end_policys_seeds(state: State) -> set[str]:
    """End what a policy brought, and tell which seeds that were, by their ids."""
    ended = {name for name in state.at_work if state.seeds[name].brought_by == POLICY}
    for name in ended:
        _end_seed(state, name)
    return ended


def _end_seed(state: State, name: str) -> None:
    state.seeds[name] = replace(state.seeds[name], withdrawn=True)
    if name in state.at_work:
        state.at_work.remove(name)


def steer_added(state: State, event: ev.SteerAdded) -> None:
    state.steers[event.id] = SteerAtWork(event)


def steer_withdrawn(state: State, event: ev.SteerWithdrawn) -> None:
    if steer := state.steers.get(event.id):
        state.steers[event.id] = replace(steer, withdrawn=True)
        for chain in state.chains.values():
            if event.id in chain.steers:
                chain.outdate("an instruction was withdrawn")


def own_ideas_first(state: State, event: ev.OwnIdeasFirst) -> None:
    if chain := state.chains.get(event.question):
        chain.own_first = event


def task_given(state: State, event: ev.TaskGiven) -> None:
    state.tasks[event.id] = event
    state.tasks_given += 1


def task_done(state: State, event: ev.TaskDone) -> None:
    state.pay_task(event.usage, event.cost)
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
    state.pay_task(event.usage, event.cost)
    if event.outcome != "cancelled":  # what was only cut short is asked for again when the session goes on
        finish_task(state, event.id)


def finish_task(state: State, task: str) -> None:
    state.tasks.pop(task, None)
    state.answers.pop(task, None)


def team_wanted(state: State, event: ev.TeamWanted) -> None:
    state.team_wanted = event.team


def team_changed(state: State, event: ev.TeamChanged) -> None:
    state.team = event.team
    if state.team_wanted == event.team:  # a third one may be wanted by now
        state.team_wanted = None
    state.retry = None
    for chain in state.chains.values():
        chain.barred.clear()
        chain.silent.clear()
        chain.failures = 0


def pipelining_set(state: State, event: ev.PipeliningSet) -> None:
    state.pipelining = event.on
