"""The fold: events → what a screen, a report or a resumed run needs.

`apply` is the only way a `State` changes, in a live run, a resumed run, a replay and a report alike.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from core import events as ev
from core.state import course, person, scores, steps
from core.state.course import reopens
from core.state.record import SeedAtWork, State, SteerAtWork

__all__ = ["SeedAtWork", "State", "SteerAtWork", "apply", "fold", "reopens", "snapshot"]


def fold(history: Iterable[ev.Event]) -> State:
    state = State()
    for event in history:
        apply(state, event)
    return state


def apply(state: State, event: ev.Event) -> None:
    """Change `state` by one event. For a question that never started only the clock and the totals change."""
    if event.seq >= 0:
        state.seq = max(state.seq, event.seq)
        state.at = event.at
    state.t = max(state.t, event.t)
    if isinstance(event, ev.Deed):
        person.note(state, event)
    _HANDLERS[type(event)](state, event)


def snapshot(state: State) -> State:
    """A copy that later events leave as it is. Ideas are shared: they never change."""
    copy = replace(
        state,
        notices=list(state.notices),
        unknown=list(state.unknown),
        seeds=dict(state.seeds),
        at_work=list(state.at_work),
        steers=dict(state.steers),
        tasks=dict(state.tasks),
        answers=dict(state.answers),
        deeds=list(state.deeds),
    )
    copy.chains = {
        name: replace(
            chain,
            ideas=list(chain.ideas),
            writing=dict(chain.writing),
            prompts=dict(chain.prompts),
            outcomes=dict(chain.outcomes),
            barred=dict(chain.barred),
            silent=dict(chain.silent),
            given=dict(chain.given),
        )
        for name, chain in state.chains.items()
    }
    return copy


_HANDLERS: dict[type[ev.Event], Callable[[State, Any], None]] = {
    ev.SessionStarted: course.session_started,
    ev.SessionEnded: course.session_ended,
    ev.Forked: course.forked,
    ev.QuestionStarted: course.question_started,
    ev.Notice: course.notice,
    ev.Paused: course.paused,
    ev.Resumed: course.resumed,
    ev.QuestionEnded: course.question_ended,
    ev.Unknown: course.unknown,
    ev.StepStarted: steps.step_started,
    ev.ProposalStarted: steps.proposal_started,
    ev.ProposalDelta: steps.proposal_delta,
    ev.ProposalFinished: steps.proposal_finished,
    ev.ProposalFailed: steps.proposal_failed,
    ev.ChoiceOffered: steps.choice_offered,
    ev.ChoiceHandedOver: steps.choice_handed_over,
    ev.ProposalChosen: steps.proposal_chosen,
    ev.DirectionsNamed: steps.directions_named,
    ev.AsideFailed: steps.aside_failed,
    ev.StepDropped: steps.step_dropped,
    ev.ContextTrimmed: steps.context_trimmed,
    ev.RetryScheduled: steps.retry_scheduled,
    ev.IdeaAdded: steps.idea_added,
    ev.IdeaScored: scores.idea_scored,
    ev.JudgingPaid: scores.judging_paid,
    ev.ScoringProgress: scores.scoring_progress,
    ev.ControlScored: scores.control_scored,
    ev.IdeaEdited: person.idea_changed,
    ev.IdeaRemoved: person.idea_changed,
    ev.IdeaRestored: person.idea_changed,
    ev.IdeaPinned: person.idea_changed,
    ev.IdeaRated: person.idea_changed,
    ev.IdeaCommented: person.idea_changed,
    ev.SeedInjected: person.seed_injected,
    ev.SeedWithdrawn: person.seed_withdrawn,
    ev.SeedPolicySet: person.seed_policy_set,
    ev.SteerAdded: person.steer_added,
    ev.SteerWithdrawn: person.steer_withdrawn,
    ev.OwnIdeasFirst: person.own_ideas_first,
    ev.TaskGiven: person.task_given,
    ev.TaskDone: person.task_done,
    ev.TaskFailed: person.task_failed,
    ev.TeamChanged: person.team_changed,
    ev.TeamWanted: person.team_wanted,
    ev.PipeliningSet: person.pipelining_set,
}
