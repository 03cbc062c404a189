"""What a person's command does to a session, as events. Pure functions: whoever has a state can tell what would come.

Commands that steer the run itself (pause, stop, another team) are the session's own.
"""

from collections.abc import Callable, Collection
from typing import Any

from core import commands as cmd
from core import events as ev
from core.chain import Chain, Idea, Mark
from core.errors import UsageError
from core.levers import Hand, Off, Seed, SeedPolicy
from core.models import YOU
from core.state import State
from core.text import clean, clean_line
from core.undoing import undo

LONGEST_IDEA = 20_000
"""The longest idea, in characters."""

LONGEST_REMARK = 2_000
"""The longest comment or instruction, in characters."""


def obey(state: State, command: cmd.AnyCommand, policy: SeedPolicy) -> list[ev.Event]:
    """The events by which `command` is obeyed; none where it changes nothing. `policy` is when seeds come now.

    Raises `UsageError` for a command that can't be obeyed as things stand.
    """
    match command:
        case cmd.SetSeeds():
            return _set_seeds(state, command, policy)
        case cmd.Undo():
            return [undo(state, command.by, policy)]
        case cmd.DrawSeed() | cmd.InjectSeed() if _brings_seed(command) and isinstance(policy, Off):
            raise UsageError("Seeds are off in this session: set when they come first")
    handler = _HANDLERS.get(type(command))
    return handler(state, command) if handler else []


def marks(state: State, command: cmd.AnyCommand) -> list[ev.Event]:
    """The events by which `command` marks an idea of a session that nobody runs.

    Raises `UsageError` for one that can't be obeyed, and for one that needs a running session.
    """
    if isinstance(command, _MARKING):
        events = obey(state, command, state.seed_policy or Hand())
        if all(isinstance(event, Mark) for event in events):
            return events
    raise UsageError("The session has ended: its ideas can be marked; for more, resume it first")


def _chain(state: State) -> Chain:
    if state.chain is None:
        raise UsageError("The session has not begun yet")
    return state.chain


def _chain_of(state: State, command: cmd.IdeaCommand) -> Chain:
    if not command.question:
        return _chain(state)
    if (chain := state.chains.get(command.question)) is None:
        raise UsageError(f"There is no question {clean_line(command.question, 80)!r} in this session")
    return chain


def _idea(chain: Chain, number: int) -> Idea:
    idea = chain.idea(number)
    if idea is None:
        last = chain.ideas[-1].number if chain.ideas else 0
        raise UsageError(f"There is no idea {number}: " + (f"the last is {last}" if last else "there is none yet"))
    return idea


def _standing_idea(chain: Chain, number: int) -> Idea:
    """Raises `UsageError` for one that was taken out, too."""
    idea = _idea(chain, number)
    if idea.removed:
        raise UsageError(f"Idea {number} was taken out: bring it back first")
    return idea


def _text(text: str, longest: int, what: str) -> str:
    """`text` clean. Raises `UsageError` for an empty or a longer one: nobody's words are cut without a word."""
    cleaned = clean(text).strip()
    if not cleaned:
        raise UsageError(f"{what} needs some words")
    if len(cleaned) > longest:
        raise UsageError(f"{what} can have {longest:,} characters, not {len(cleaned):,}")
    return cleaned


# ── ideas ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add(state: State, command: cmd.AddIdea) -> list[ev.Event]:
    chain = _open(_chain(state))
    text = _text(command.text, LONGEST_IDEA, "An idea")
    added = ev.IdeaAdded(
        question=chain.question, idea=chain.next_number, step=chain.step, text=text, author=YOU, by=command.by
    )
    return [added]


def _open(chain: Chain) -> Chain:
    if chain.ended:
        raise UsageError("This chain has ended: nothing more comes into it")
    return chain


def _edit(state: State, command: cmd.EditIdea) -> list[ev.Event]:
    chain = _chain_of(state, command)
    idea = _idea(chain, command.idea)
    text = _text(command.text, LONGEST_IDEA, "An idea")
    if text == idea.text:
        return []
    return [ev.IdeaEdited(question=chain.question, idea=idea.number, old=idea.text, new=text, by=command.by)]


def _remove(state: State, command: cmd.RemoveIdea) -> list[ev.Event]:
    chain = _chain_of(state, command)
    idea = _idea(chain, command.idea)
    return [] if idea.removed else [ev.IdeaRemoved(question=chain.question, idea=idea.number, by=command.by)]


def _restore(state: State, command: cmd.RestoreIdea) -> list[ev.Event]:
    chain = _chain_of(state, command)
    idea = _idea(chain, command.idea)
    return [ev.IdeaRestored(question=chain.question, idea=idea.number, by=command.by)] if idea.removed else []


def _pin(state: State, command: cmd.PinIdea) -> list[ev.Event]:
    chain = _chain_of(state, command)
    idea = _standing_idea(chain, command.idea) if command.on else _idea(chain, command.idea)
    pinned = ev.IdeaPinned(question=chain.question, idea=idea.number, old=idea.pinned, new=command.on, by=command.by)
    return [] if idea.pinned == command.on else [pinned]


def _rate(state: State, command: cmd.RateIdea) -> list[ev.Event]:
    chain = _chain_of(state, command)
    idea = _idea(chain, command.idea)
    rated = ev.IdeaRated(question=chain.question, idea=idea.number, old=idea.rating, new=command.stars, by=command.by)
    return [] if idea.rating == command.stars else [rated]


def _comment(state: State, command: cmd.CommentIdea) -> list[ev.Event]:
    chain = _chain_of(state, command)
    idea = _idea(chain, command.idea)
    text = _text(command.text, LONGEST_REMARK, "A comment") if command.text.strip() else ""
    commented = ev.IdeaCommented(question=chain.question, idea=idea.number, old=idea.comment, new=text, by=command.by)
    return [] if text == idea.comment else [commented]


# ── tasks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _merge(state: State, command: cmd.MergeIdeas) -> list[ev.Event]:
    chain = _open(_chain_of(state, command))
    if len(set(command.ideas)) < 2:
        raise UsageError("Two different ideas are needed to merge")
    for number in command.ideas:
        _standing_idea(chain, number)
    return [_task(state, chain, "merge", tuple(dict.fromkeys(command.ideas)), command.by)]


def _develop(state: State, command: cmd.DevelopIdea) -> list[ev.Event]:
    chain = _chain_of(state, command)
    return [_task(state, chain, "develop", (_standing_idea(chain, command.idea).number,), command.by)]


def _deny(state: State, command: cmd.DenyMechanism) -> list[ev.Event]:
    chain = _open(_chain_of(state, command))
    if command.text.strip():
        name = _text(command.text, 500, "A mechanism")
        return [injected(state, chain, Seed(name=clean_line(name), lever="deny"), None, command.by)]
    standing = [idea.number for idea in chain.ideas if not idea.removed]
    if command.idea is None and not standing:
        raise UsageError("There is no idea yet whose mechanism could be forbidden")
    number = standing[-1] if command.idea is None else _idea(chain, command.idea).number
    return [_task(state, chain, "deny", (number,), command.by)]


def _task(state: State, chain: Chain, task: Any, ideas: tuple[int, ...], by: str) -> ev.TaskGiven:
    return ev.TaskGiven(question=chain.question, id=f"t{state.tasks_given + 1}", task=task, ideas=ideas, by=by)


# ── seeds and instructions ────────────────────────────────────────────────────────────────────────────────────────────


def injected(
    state: State,
    chain: Chain,
    seed: Seed,
    steps: int | None,
    by: str,
    *,
    why: str = "",
    task: str = "",
) -> ev.SeedInjected:
    """`seed` in the prompts from the next step on."""
    return ev.SeedInjected(
        question=chain.question,
        id=new_id("s", state.seeds),
        seed=seed,
        steps=steps,
        step=chain.step + 1,
        by=by,
        why=why,
        task=task,
    )


def new_id(prefix: str, taken: Collection[str]) -> str:
    """One more than there are; a damaged log may lack some."""
    number = len(taken) + 1
    while f"{prefix}{number}" in taken:
        number += 1
    return f"{prefix}{number}"


def _inject(state: State, command: cmd.InjectSeed) -> list[ev.Event]:
    chain = _open(_chain(state))
    _text(command.seed.name, 500, "A seed")
    return [injected(state, chain, command.seed, command.steps, command.by)]


def _draw(state: State, _: cmd.DrawSeed) -> list[ev.Event]:
    """Nothing yet: whoever has the bank draws, and injects what was drawn."""
    _open(_chain(state))
    return []


def _withdraw_seed(state: State, command: cmd.WithdrawSeed) -> list[ev.Event]:
    chain = _chain(state)
    seed = state.seeds.get(command.id)
    if seed is None:
        raise UsageError(f"There is no seed {clean_line(command.id, 80)!r}{_known(state.seeds)}")
    return [ev.SeedWithdrawn(question=chain.question, id=command.id, by=command.by)] if seed.in_force else []


def _brings_seed(command: cmd.DrawSeed | cmd.InjectSeed) -> bool:
    """Whether it brings a seed, and not another lever."""
    return isinstance(command, cmd.DrawSeed) or command.seed.lever == "seed"


def _set_seeds(state: State, command: cmd.SetSeeds, policy: SeedPolicy) -> list[ev.Event]:
    chain = _chain(state)
    changed = ev.SeedPolicySet(question=chain.question, old=policy, new=command.policy, by=command.by)
    return [] if command.policy == policy else [changed]


def _steer(state: State, command: cmd.AddSteer) -> list[ev.Event]:
    chain = _chain(state)
    text = _text(command.text, LONGEST_REMARK, "An instruction")
    return [ev.SteerAdded(question=chain.question, id=new_id("g", state.steers), text=text, by=command.by)]


def _withdraw_steer(state: State, command: cmd.WithdrawSteer) -> list[ev.Event]:
    chain = _chain(state)
    steer = state.steers.get(command.id)
    if steer is None:
        raise UsageError(f"There is no instruction {clean_line(command.id, 80)!r}{_known(state.steers)}")
    return [] if steer.withdrawn else [ev.SteerWithdrawn(question=chain.question, id=command.id, by=command.by)]


def _known(names: dict[str, Any]) -> str:
    return f": there are {', '.join(names)}" if names else ": there is none yet"


# ── choosing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _choose(state: State, command: cmd.Choose) -> list[ev.Event]:
    chain = _chain(state)
    if chain.offered is None:
        raise UsageError("There is nothing to pick from now")
    if command.step is not None and command.step != chain.offered.step:
        raise UsageError("That choice is over, and another one is there: look, and pick again")
    order = chain.offered.order
    if wrong := [pick for pick in command.picks if pick > len(order)]:
        raise UsageError(f"There is no proposal {wrong[0]}: pick from 1 to {len(order)}, or none")
    picked = [order[place - 1] for place in dict.fromkeys(command.picks)]
    chosen = ev.ProposalChosen(
        question=chain.question,
        step=chain.offered.step,
        order=order,
        pick=picked[0] if picked else "",
        also=tuple(picked[1:]),
        by="person",
        why="" if picked else "none was good enough",
        chooser=command.by,
    )
    return [chosen]


_MARKING = cmd.Undo | cmd.EditIdea | cmd.RemoveIdea | cmd.RestoreIdea | cmd.PinIdea | cmd.RateIdea | cmd.CommentIdea

_HANDLERS: dict[type[cmd.Command], Callable[[State, Any], list[ev.Event]]] = {
    cmd.AddIdea: _add,
    cmd.EditIdea: _edit,
    cmd.RemoveIdea: _remove,
    cmd.RestoreIdea: _restore,
    cmd.PinIdea: _pin,
    cmd.RateIdea: _rate,
    cmd.CommentIdea: _comment,
    cmd.MergeIdeas: _merge,
    cmd.DevelopIdea: _develop,
    cmd.DenyMechanism: _deny,
    cmd.InjectSeed: _inject,
    cmd.DrawSeed: _draw,
    cmd.WithdrawSeed: _withdraw_seed,
    cmd.AddSteer: _steer,
    cmd.WithdrawSteer: _withdraw_steer,
    cmd.Choose: _choose,
}
