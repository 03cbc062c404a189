"""Taking back what a person did: the opposite of their newest deed that still stands. Pure functions, as obeying is."""

from typing import Any

from core import events as ev
from core.chain import Idea
from core.errors import UsageError
from core.levers import SeedPolicy
from core.state import State


def undo(state: State, by: str, policy: SeedPolicy) -> ev.Event:
    """The event that takes back what `by` did last. `policy` is when seeds come now.

    A deed that has come to nothing since, as somebody did otherwise or a seed was used up, is passed over: what others
    did is not ours to take back. Raises `UsageError` if nothing is left.
    """
    own = [deed for deed in reversed(state.deeds) if deed.by == by]
    standing = next((deed for deed in own if _stands(state, deed, policy)), None)
    if standing is None:
        raise UsageError(f"There is nothing to undo{': others have changed it since' if own else ''}")
    return _opposite(state, standing, by)


def _stands(state: State, deed: ev.Deed, policy: SeedPolicy) -> bool:
    """Whether all is still as the deed made it."""
    match deed:
        case ev.SeedInjected() | ev.SeedWithdrawn():
            return state.seeds[deed.id].in_force == isinstance(deed, ev.SeedInjected)
        case ev.SteerAdded() | ev.SteerWithdrawn():
            return state.steers[deed.id].withdrawn == isinstance(deed, ev.SteerWithdrawn)
        case ev.SeedPolicySet():
            return policy == deed.new
        case ev.IdeaAdded():
            return (idea := _idea(state, deed)) is not None and not idea.removed
        case ev.IdeaRemoved() | ev.IdeaRestored():
            return _is_newest(state, deed, ev.IdeaRemoved | ev.IdeaRestored)
        case ev.IdeaPinned() | ev.IdeaRated() | ev.IdeaCommented() | ev.IdeaEdited():
            return _is_newest(state, deed, type(deed))
    raise AssertionError(f"{type(deed).__name__} is no deed that can be undone")


def _idea(state: State, deed: Any) -> Idea | None:
    return state.chains[deed.question].idea(deed.idea)


def _is_newest(state: State, deed: Any, kind: Any) -> bool:
    """Whether `deed` is the last of its kind that changed its idea, but for what was undone since."""
    idea = _idea(state, deed)
    newest: Any = next((change for change in reversed(idea.history if idea else ()) if isinstance(change, kind)), None)
    if newest is None or newest.seq == deed.seq:
        return newest is not None
    undone = newest.undoes is not None and type(newest) is type(deed)
    return undone and getattr(newest, "new", None) == getattr(deed, "new", None)


def _opposite(state: State, deed: ev.Deed, by: str) -> ev.Event:
    said: dict[str, Any] = {"question": deed.question, "by": by, "undoes": deed.seq}
    match deed:
        case ev.IdeaPinned() | ev.IdeaRated() | ev.IdeaCommented() | ev.IdeaEdited():
            return type(deed)(idea=deed.idea, old=deed.new, new=deed.old, **said)  # type: ignore[arg-type]
        case ev.IdeaAdded() | ev.IdeaRestored():
            return ev.IdeaRemoved(idea=deed.idea, **said)
        case ev.IdeaRemoved():
            return ev.IdeaRestored(idea=deed.idea, **said)
        case ev.SeedInjected():
            return ev.SeedWithdrawn(id=deed.id, **said)
        case ev.SeedWithdrawn():
            seed = state.seeds[deed.id]
            steps = seed.injected.steps
            left = None if steps is None else max(1, steps - seed.ideas)
            step = state.chains[deed.question].step + 1
            return ev.SeedInjected(id=deed.id, seed=seed.injected.seed, steps=left, step=step, **said)
        case ev.SeedPolicySet():
            return ev.SeedPolicySet(old=deed.new, new=deed.old, **said)
        case ev.SteerAdded():
            return ev.SteerWithdrawn(id=deed.id, **said)
        case ev.SteerWithdrawn():
            return ev.SteerAdded(id=deed.id, text=state.steers[deed.id].added.text, **said)
    raise AssertionError(f"{type(deed).__name__} is no deed that can be undone")
