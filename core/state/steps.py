"""How steps go: who is asked, what comes back, what is chosen, the idea that it brings."""

from msgspec.structs import replace

from core import events as ev
from core.chain import LASTING, Chain, Idea, Writing
from core.state.person import finish_task
from core.state.record import State


def step_started(state: State, event: ev.StepStarted) -> None:
    if chain := state.chains.get(event.question):
        if event.step != chain.step:
            _forget_step(chain)
        chain.step = event.step
        chain.step_open = True
        chain.asked = event.members
        chain.failed_when_asked = event.failed
        chain.seeds = event.seeds
        chain.steers = event.steers
        chain.out_of_date = ""
        chain.writing.clear()


def _forget_step(chain: Chain) -> None:
    """What came of the step under way."""
    chain.prompts.clear()
    chain.outcomes.clear()
    chain.writing.clear()
    chain.directions = None
    chain.chosen = None
    chain.offered = None
    chain.out_of_date = ""


def step_dropped(state: State, event: ev.StepDropped) -> None:
    state.wasted_tokens += event.usage.input_tokens + event.usage.output_tokens
    if chain := state.chains.get(event.question):
        _forget_step(chain)


def proposal_started(state: State, event: ev.ProposalStarted) -> None:
    if chain := state.chains.get(event.question):
        slot = ev.slot_of(event.member, event.draft)
        chain.prompts[slot] = event
        chain.writing[slot] = Writing(member=event.member, step=event.step, draft=event.draft, since=event.t)


def proposal_delta(state: State, event: ev.ProposalDelta) -> None:
    chain = state.chains.get(event.question)
    slot = ev.slot_of(event.member, event.draft)
    if chain and (writing := chain.writing.get(slot)):
        _stop_waiting(state, event.member)
        chain.writing[slot] = replace(
            writing, text=writing.text + event.text, thoughts=writing.thoughts + event.thoughts
        )


def _stop_waiting(state: State, member: str) -> None:
    if state.retry and state.retry.member == member and not state.retry.scoring:
        state.retry = None


def proposal_finished(state: State, event: ev.ProposalFinished) -> None:
    _account(state, event)
    if chain := state.chains.get(event.question):
        slot = ev.slot_of(event.member, event.draft)
        chain.writing.pop(slot, None)
        chain.outcomes[slot] = event
        chain.failures = 0
        chain.barred.pop(event.member, None)


def proposal_failed(state: State, event: ev.ProposalFailed) -> None:
    _account(state, event)
    if chain := state.chains.get(event.question):
        slot = ev.slot_of(event.member, event.draft)
        chain.writing.pop(slot, None)
        if event.outcome != "cancelled":
            chain.outcomes[slot] = event
            if event.kind in LASTING:
                chain.barred[event.member] = event
            elif event.kind != "connection":  # a server that is gone is waited for
                chain.failures += 1


def _account(state: State, event: ev.ProposalFinished | ev.ProposalFailed) -> None:
    _stop_waiting(state, event.member)
    state.pay(event.cost)
    state.input_tokens += event.usage.input_tokens
    state.output_tokens += event.usage.output_tokens
    state.generation_seconds += event.usage.seconds
    state.tokens_per_second = event.usage.tokens_per_second or state.tokens_per_second


def choice_offered(state: State, event: ev.ChoiceOffered) -> None:
    if chain := state.chains.get(event.question):
        chain.offered = event


def choice_handed_over(state: State, event: ev.ChoiceHandedOver) -> None:
    if chain := state.chains.get(event.question):
        chain.offered = None


def proposal_chosen(state: State, event: ev.ProposalChosen) -> None:
    state.pay_aside(event.usage, event.cost)
    if chain := state.chains.get(event.question):
        chain.chosen = event
        chain.offered = None
        if not event.pick:
            chain.step_open = False


def directions_named(state: State, event: ev.DirectionsNamed) -> None:
    state.pay_aside(event.usage, event.cost)
    if chain := state.chains.get(event.question):
        chain.directions = event


def aside_failed(state: State, event: ev.AsideFailed) -> None:
    state.pay_aside(event.usage, event.cost)
    chain = state.chains.get(event.question)
    if chain and event.kind in LASTING:
        chain.silent[event.model] = event


def idea_added(state: State, event: ev.IdeaAdded) -> None:
    chain = state.chains.get(event.question)
    if chain is None:
        return
    idea = Idea(
        number=event.idea,
        step=event.step,
        text=event.text,
        author=event.author,
        t=event.t,
        added=event.seq,
        by_person=event.by_person,
        parents=event.parents,
        team=state.team.name if state.team else "",
    )
    if done := state.answers.get(event.task):
        idea = replace(idea, seeds=done.seeds, steers=done.steers)
    if not event.by_person:
        idea = _from_step(chain, idea, ev.slot_of(event.author, event.draft))
        if chain.step_open:  # a second one that a person took from the same step is under the same seeds
            _use_seeds(state, chain)
        chain.step_open = False
        chain.writing.clear()
    chain.ideas.append(idea)
    finish_task(state, event.task)


def _from_step(chain: Chain, idea: Idea, slot: str) -> Idea:
    """`idea` with what is known of how the step under way brought it."""
    outcome = chain.outcomes.get(slot)
    return replace(
        idea,
        seeds=chain.seeds,
        steers=chain.steers,
        call=outcome if isinstance(outcome, ev.ProposalFinished) else None,
        prompt=chain.prompts.get(slot),
        chosen=chain.chosen,
        others=tuple(
            end for name, end in chain.outcomes.items() if isinstance(end, ev.ProposalFinished) and name != slot
        ),
    )


def _use_seeds(state: State, chain: Chain) -> None:
    for name in chain.seeds:
        if seed := state.seeds.get(name):
            state.seeds[name] = seed = replace(seed, ideas=seed.ideas + 1)
            if not seed.in_force and name in state.at_work:
                state.at_work.remove(name)


def context_trimmed(state: State, event: ev.ContextTrimmed) -> None:
    if chain := state.chains.get(event.question):
        chain.trimmed = event


def retry_scheduled(state: State, event: ev.RetryScheduled) -> None:
    state.retry = event
    chain = state.chains.get(event.question)
    if chain and not event.scoring and (writing := chain.writing.get(event.member)):
        chain.writing[event.member] = replace(writing, text="", thoughts="")
