"""Seeds and other levers as a person chooses among them, and how a prompt reads with one."""

from collections.abc import Iterator, Sequence
from functools import partial
from os.path import commonprefix

from textual.content import Content

from core.feed import Feed
from core.levers import Hand, InForce, Lever, Off, Seed, SeedPolicy
from core.prompts import idea_prompt
from core.seeds.bank import folded
from core.seeds.sources import levers
from tui.deeds import LEVERS, policy_words
from tui.widgets.seeds import Row

TYPED: dict[Lever, tuple[str, str]] = {
    "language": ("another language …", "Think in which language?"),
    "persona": ("somebody else …", "Who are they to be? You are …"),
    "deny": ("a mechanism that you name …", "Which mechanism may not be used again?"),
}
"""Levers that a person can type: the row that offers it, and what is asked."""

NEWEST = Row(name="the newest idea's mechanism, which the team names", about=LEVERS["deny"], lever="deny")


def policy_now(feed: Feed) -> SeedPolicy:
    """When seeds come: as a person set it last, or as the plan has it."""
    policy = feed.state.seed_policy
    return feed.plan.seeds if policy is None else policy


def seeds_words(policy: SeedPolicy) -> str:
    """When seeds come and which, in one line."""
    if isinstance(policy, Off | Hand):
        return policy_words(policy)
    field = f", {policy.field}" if policy.field else ""
    lasts = f", {policy.lasts} ideas each" if policy.lasts > 1 else ""
    return f"{policy_words(policy)}{field}, as {policy.style}{lasts}"


def lever_rows(words: Sequence[str]) -> Iterator[Row]:
    """Levers other than seeds; of those that come with Jagstorm the ones that hold all of `words`."""
    for lever, (name, _) in TYPED.items():
        yield Row(name=name, about=LEVERS[lever], lever=lever)
    yield NEWEST
    for seed in levers():
        if holds(seed, words):
            yield Row(name=seed.name, about=LEVERS[seed.lever], seed=seed, lever=seed.lever)


def holds(seed: Seed, words: Sequence[str]) -> bool:
    """Whether it holds every one of `words`, which are folded as text is: without case and accents."""
    text = folded(f"{seed.name} {seed.text} {seed.field} {seed.lever}")
    return all(word in text for word in words)


def prompt_with(seed: Seed, feed: Feed, question: str) -> Content:
    """How the next prompt will read with `seed`, as far as it reads otherwise than without; what is new stands out."""
    state = feed.state
    member = (state.team or feed.plan.team).everybody[0]
    ask = partial(idea_prompt, question, (), style=member.style, persona=member.persona)
    force = state.in_force
    before = ask(force=force).messages
    after = ask(force=InForce((*force.seeds, seed), force.steers)).messages
    changed = [(new.text, old.text) for new, old in zip(after, before, strict=True) if new != old]
    return Content("\n\n").join([_marked(new, old) for new, old in changed])


def first_new_line(prompt: Content, width: int) -> int:
    """The line on which what is new begins, where `prompt` is shown in `width` cells."""
    start = min((span.start for span in prompt.spans), default=0)
    return len(prompt[:start].wrap(max(width, 1))) - 1


def _marked(new: str, old: str) -> Content:
    """`new` with the words that it has more than `old` in another colour."""
    start = len(commonprefix([new, old]))
    while start and not new[start - 1].isspace():  # a word that only begins alike is another word
        start -= 1
    end = len(new) - len(commonprefix([new[start:][::-1], old[start:][::-1]]))
    while end < len(new) and not (new[end - 1].isspace() or new[end].isspace()):
        end += 1
    return Content(new).stylize("$accent", start, end)
