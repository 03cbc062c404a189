"""Everything that can happen in a session, one tagged union.

The names and fields are a contract with people's scripts: fields may be added, none renamed or removed. Each event is
one line of `events.jsonl`, but for `proposal_delta` and `scoring_progress`, which are shown and not stored.
"""

from core.events.base import EndReason, Event, FailedRule, Number, VerdictWord, slot_of
from core.events.course import (
    Forked,
    Notice,
    Paused,
    QuestionEnded,
    QuestionStarted,
    Resumed,
    SessionEnded,
    SessionStarted,
    Unknown,
)
from core.events.person import (
    Deed,
    IdeaAdded,
    IdeaCommented,
    IdeaEdited,
    IdeaPinned,
    IdeaRated,
    IdeaRemoved,
    IdeaRestored,
    OwnIdeasFirst,
    PipeliningSet,
    SeedInjected,
    SeedPolicySet,
    SeedWithdrawn,
    SteerAdded,
    SteerWithdrawn,
    TaskDone,
    TaskFailed,
    TaskGiven,
    TeamChanged,
    TeamWanted,
)
from core.events.scores import ControlScored, Given, IdeaScored, JudgingPaid, ScoringProgress, Vote
from core.events.steps import (
    AsideFailed,
    ChoiceHandedOver,
    ChoiceOffered,
    ContextTrimmed,
    DirectionsNamed,
    ProposalChosen,
    ProposalDelta,
    ProposalFailed,
    ProposalFinished,
    ProposalStarted,
    RetryScheduled,
    StepDropped,
    StepStarted,
    Trace,
)

Known = (
    SessionStarted
    | SessionEnded
    | Forked
    | QuestionStarted
    | OwnIdeasFirst
    | StepStarted
    | ProposalStarted
    | ProposalDelta
    | ProposalFinished
    | ProposalFailed
    | ChoiceOffered
    | ChoiceHandedOver
    | ProposalChosen
    | DirectionsNamed
    | AsideFailed
    | StepDropped
    | PipeliningSet
    | IdeaAdded
    | IdeaScored
    | IdeaEdited
    | IdeaRemoved
    | IdeaRestored
    | IdeaPinned
    | IdeaRated
    | IdeaCommented
    | SeedInjected
    | SeedWithdrawn
    | SeedPolicySet
    | SteerAdded
    | SteerWithdrawn
    | TaskGiven
    | TaskDone
    | TaskFailed
    | JudgingPaid
    | ScoringProgress
    | ControlScored
    | TeamWanted
    | TeamChanged
    | ContextTrimmed
    | RetryScheduled
    | Notice
    | Paused
    | Resumed
    | QuestionEnded
)

__all__ = [
    "AsideFailed",
    "ChoiceHandedOver",
    "ChoiceOffered",
    "ContextTrimmed",
    "ControlScored",
    "Deed",
    "DirectionsNamed",
    "EndReason",
    "Event",
    "FailedRule",
    "Forked",
    "Given",
    "IdeaAdded",
    "IdeaCommented",
    "IdeaEdited",
    "IdeaPinned",
    "IdeaRated",
    "IdeaRemoved",
    "IdeaRestored",
    "IdeaScored",
    "JudgingPaid",
    "Known",
    "Notice",
    "Number",
    "OwnIdeasFirst",
    "Paused",
    "PipeliningSet",
    "ProposalChosen",
    "ProposalDelta",
    "ProposalFailed",
    "ProposalFinished",
    "ProposalStarted",
    "QuestionEnded",
    "QuestionStarted",
    "Resumed",
    "RetryScheduled",
    "ScoringProgress",
    "SeedInjected",
    "SeedPolicySet",
    "SeedWithdrawn",
    "SessionEnded",
    "SessionStarted",
    "SteerAdded",
    "SteerWithdrawn",
    "StepDropped",
    "StepStarted",
    "TaskDone",
    "TaskFailed",
    "TaskGiven",
    "TeamChanged",
    "TeamWanted",
    "Trace",
    "Unknown",
    "VerdictWord",
    "Vote",
    "slot_of",
]
