"""How what persons do is said, and what of it is in force."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from core import events as ev
from core.analysis.shares import Share
from core.chain import Chain, Idea, Mark
from core.levers import POLICY, Each, Every, Hand, Lever, Off, Plateau, SeedPolicy
from core.models import YOU
from core.state import State
from core.text import clean_line, counted

LEVERS: dict[Lever, str] = {"seed": "seed", "language": "language", "persona": "persona", "deny": "forbidden"}

Done = ev.Deed | ev.TaskGiven | ev.TeamChanged | ev.PipeliningSet | ev.ProposalChosen
"""What a person can have done."""

LONGEST_NAME = 40
"""Characters of what a person is called."""

TASKS = {"merge": "merging", "develop": "working out", "deny": "naming the mechanism of"}


class Standing(Struct, frozen=True):
    """Something that is in force, as one row."""

    id: str
    """Of the seed or the instruction."""
    kind: str
    text: str
    left: str = ""
    """How long it still stands, where that is not until withdrawn."""

    @property
    def line(self) -> str:
        return " ".join(filter(None, (self.kind, self.text, f"({self.left})" if self.left else "")))


def standing(state: State) -> list[Standing]:
    """What the next prompts hold beside question and ideas."""
    seeds = [
        Standing(one.id, LEVERS[one.seed.lever], clean_line(one.seed.name), _left(state.seeds[one.id].left))
        for one in state.seeds_in_force
    ]
    return seeds + [Standing(added.id, "instruction", f"“{clean_line(added.text)}”") for added in state.steers_in_force]


def _left(ideas: int | None) -> str:
    return "" if ideas is None else f"{counted(ideas, 'idea')} left"


def fork_lines(state: State) -> list[str]:
    """Where a session's past comes from, if it is another's."""
    forked = state.forked
    return [f"forked at idea {forked.idea} of {clean_line(forked.session, 80)}"] if forked else []


def task_lines(state: State) -> list[str]:
    """What the team is asked for beside its steps."""
    return [f"{TASKS[task.task]} {ideas_words(task.ideas)}" for task in state.tasks.values()]


def policy_words(policy: SeedPolicy) -> str:
    """When seeds come, in a few words."""
    match policy:
        case Off():
            return "off"
        case Hand():
            return "by hand"
        case Every(steps=steps):
            return f"{policy.distance}, {'every step' if steps == 1 else f'every {steps} steps'}"
        case Plateau():
            return f"{policy.distance}, at a plateau"
        case Each(seed=seed):
            return f"“{clean_line(seed)}” in every step" if seed else f"{policy.distance}, a fresh one in every step"


def idea_words(number: int) -> str:
    return f"idea {number}"


def ideas_words(numbers: Sequence[int]) -> str:
    """`idea 3`, or `ideas 3, 5 and 9`."""
    if len(numbers) == 1:
        return idea_words(numbers[0])
    return f"ideas {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def doer(idea: Idea, kind: type[Mark]) -> str:
    """Who made the mark of that kind that an idea bears; what was undone, and the undoing, are nobody's."""
    made = [event for event in idea.history if isinstance(event, kind)]
    undone = {event.undoes for event in made}
    standing = [event for event in made if event.undoes is None and event.seq not in undone]
    return clean_line((standing or made)[-1].by, LONGEST_NAME) if made else YOU


def _by(idea: Idea, kind: type[Mark]) -> str:
    name = doer(idea, kind)
    return "" if name == YOU else f" by {name}"


def mark_words(idea: Idea) -> list[str]:
    """What persons made of an idea, a few words each, with the names of others than you."""
    marks = [f"taken out{_by(idea, ev.IdeaRemoved)}"] if idea.removed else []
    marks += [f"pinned{_by(idea, ev.IdeaPinned)}"] if idea.pinned else []
    marks += [f"rated {idea.rating} of 5{_by(idea, ev.IdeaRated)}"] if idea.rating else []
    marks += [f"edited{_by(idea, ev.IdeaEdited)}"] if idea.original else []
    marks += [f"merged of {ideas_words(idea.parents)}"] if idea.parents else []
    marks += ["worked out"] if idea.developments else []
    return marks


_NOTHING: dict[str, str] = {
    "truncated": "the answer was cut off, as it became too long",
    "empty": "the answer held nothing of use",
    "refused": "the model refused",
}
"""Why an answer brought nothing, where no message says so."""


def _scored(event: ev.IdeaEdited, state: State) -> str:
    """Whether somebody scores what an idea says now."""
    idea = state.chains[event.question].idea(event.idea)
    if idea and idea.score:
        return ", with the scores that it had"
    return "; nobody scores it, as the session has ended" if state.ended else " and scored anew"


def said(event: ev.Event, state: State) -> str:
    """What came of a deed, and when it takes effect; "" for what a screen shows by itself. `state` holds it already."""
    if isinstance(event, ev.TaskFailed) and event.outcome != "cancelled":
        return f"The team could not do what was asked: {event.message or _NOTHING.get(event.outcome, event.outcome)}"
    if not isinstance(event, Done) or (by := _said_by(event)) in (POLICY, ""):
        return ""
    if isinstance(event, ev.IdeaRated | ev.IdeaCommented | ev.ProposalChosen) and by == YOU and not _undoes(event):
        return ""
    words = sentence(event, state)
    return words if by == YOU or not words else f"{clean_line(by, LONGEST_NAME)}: {words}"


def sentence(event: Done, state: State) -> str:
    """What came of a deed, and when it takes effect, whoever did it; "" for an idea that YOU added."""
    words = _done(event, state)
    return f"Undone: {words}" if words and _undoes(event) else words[:1].upper() + words[1:]


def _undoes(event: Done) -> bool:
    return isinstance(event, ev.Deed) and event.undoes is not None


def _said_by(event: Done) -> str:
    """Who did it; "" for what no person did."""
    if isinstance(event, ev.ProposalChosen):
        return event.chooser or YOU if event.by == "person" else ""
    return event.by


def _done(event: Done, state: State) -> str:
    match event:
        case ev.SeedInjected():
            lasts = f", for {counted(event.steps, 'idea')}" if event.steps else ""
            return f"{LEVERS[event.seed.lever]} “{clean_line(event.seed.name, 80)}” from step {event.step} on{lasts}"
        case ev.SeedWithdrawn():
            seed = state.seeds[event.id].injected.seed
            return f"{LEVERS[seed.lever]} “{clean_line(seed.name, 80)}” is withdrawn{_effect(event, state)}"
        case ev.SeedPolicySet():
            return f"seeds: {policy_words(event.new)}"
        case ev.SteerAdded():
            return f"instruction in force{_effect(event, state)}"
        case ev.SteerWithdrawn():
            return f"instruction withdrawn{_effect(event, state)}"
        case ev.TaskGiven():
            return f"{TASKS[event.task]} {ideas_words(event.ideas)}"
        case ev.TeamChanged():
            return f"team {clean_line(event.team.name, 80)} goes on{_from_step(state.chain)}"
        case ev.PipeliningSet():
            ahead = "the next idea is asked for while scores come"
            return ahead if event.on else "each idea waits for the last one's scores"
        case ev.ProposalChosen():
            places = [str(event.order.index(slot) + 1) for slot in (event.pick, *event.also) if slot in event.order]
            if len(places) > 1:
                return f"proposals {' and '.join(places)} of step {event.step} are taken"
            return f"{f'proposal {places[0]}' if places else 'no proposal'} of step {event.step} is taken"
        case _:
            return _done_to_idea(event, state)


def _done_to_idea(event: ev.Deed, state: State) -> str:
    match event:
        case ev.IdeaAdded():
            return _joined(event)
        case ev.IdeaEdited():
            return f"idea {event.idea} is edited{_scored(event, state)}{_effect(event, state)}"
        case ev.IdeaRemoved():
            return f"idea {event.idea} is taken out{_effect(event, state)}"
        case ev.IdeaRestored():
            return f"idea {event.idea} is back{_effect(event, state)}"
        case ev.IdeaPinned():
            return f"idea {event.idea} is {'pinned' if event.new else 'no longer pinned'}{_effect(event, state)}"
        case ev.IdeaRated():
            return f"idea {event.idea} {f'has {event.new} of 5' if event.new else 'has no rating'}"
        case ev.IdeaCommented():
            return f"idea {event.idea} has {'a comment' if event.new else 'no comment'}"
    return ""


def _joined(event: ev.IdeaAdded) -> str:
    if event.parents:
        return f"{ideas_words(event.parents)} are merged: idea {event.idea}"
    return f"idea {event.idea} is added" if event.author == YOU and event.by != YOU else ""


def _effect(event: ev.Deed, state: State) -> str:
    return _from_step(state.chains.get(event.question))


def _from_step(chain: Chain | None) -> str:
    """The first step whose prompts show what was just done: the one under way, if that is asked anew for it."""
    if chain is None or chain.ended:
        return ""
    ahead = any(idea.score is None and not (idea.by_person or idea.original) for idea in chain.ideas[-1:])
    anew = chain.step_open and (ahead or bool(chain.out_of_date))
    return f", from step {chain.step if anew else chain.step + 1} on"


def share_lines(found: Iterable[Share]) -> list[str]:
    """Whose ideas the person pinned and rated; nothing where there is no mark."""
    lines = []
    for share in found:
        whose = "yours" if share.author == YOU else f"by {clean_line(share.author, 60)}"
        mean = f", {share.mean_rating:.1f} of 5 on average" if share.mean_rating is not None else ""
        lines.append(f"{share.marked} {whose} ({share.of_marked:.0%}, of {counted(share.ideas, 'idea')}{mean})")
    return [f"Pinned and rated: {'; '.join(lines)}"] if lines else []
