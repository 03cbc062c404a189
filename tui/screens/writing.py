"""What is being written, in words: who writes, what a person can pick from, what is waited for, or how it stands."""

import re
from collections.abc import Callable, Iterator
from zlib import crc32

from msgspec import Struct

from core import events as ev
from core.chain import Chain, Writing
from core.models import ModelSpec, TeamSpec
from core.state import State
from core.text import clean_line
from tui.widgets.panes import Pane
from tui.words import why_ended

_TAG = re.compile(r"</?(?:idea|answer)>")

MOST_PICKED = 9
"""Proposals that have a key each."""


class Scene(Struct, frozen=True):
    """A chain as it is now, for somebody who sees members as `name_of` calls them; "" for who shall not be seen."""

    state: State
    chain: Chain
    team: TeamSpec
    seconds: float
    name_of: Callable[[str], str]
    named: bool = False
    """Whether members are shown by name, even where a person is to pick."""
    asked: str = ""
    """What a person who has begun to pick is asked for next."""

    @property
    def several(self) -> bool:
        """Whether proposals are seen beside each other."""
        return len(self._slots) > 1

    @property
    def choosing(self) -> bool:
        """Whether a person is to pick."""
        return self.chain.offered is not None and self._open

    def title(self, *, tabbed: bool = False) -> str:
        """One line. `tabbed`: there is room for one proposal only, and keys show the others."""
        if self.choosing:
            return f"{self.chain.next_number} ── {self._pick_words(' · , . next' if tabbed else '')}"
        if self.several:
            tabs = "   , . another" if tabbed else ""
            return f"{self.chain.next_number} ── {self._step_words()}{self._picked()}{tabs}"
        if self._waiting:
            return f"{self.chain.next_number} ── {self._retry_words()}"
        if writing := self._writing:
            return f"{self.chain.next_number} ── {self._writing_words(writing)}{self._picked()}"
        if self.chain.ended:
            return why_ended(self.chain, self.state)
        return "paused" if self.state.paused else ""

    def panes(self) -> list[Pane]:
        """What is written, or what there is to say instead."""
        if self.choosing:
            return list(self._offered())
        if self.several:
            return [self._pane(slot) for slot in self._slots]
        if self._waiting and self.state.retry:
            return [Pane("", self.state.retry.why)]
        if writing := self._writing:
            return [Pane("", _written(writing))]
        paused = self.state.paused
        return [Pane("", self.chain.ended.message if self.chain.ended else paused.why if paused else "")]

    # ── one who writes ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _open(self) -> bool:
        return self.chain.step_open and not self.chain.ended

    @property
    def _writing(self) -> Writing | None:
        return next(iter(self.chain.writing.values()), None)

    @property
    def _waiting(self) -> bool:
        return self.state.retry is not None and not any(w.text or w.thoughts for w in self.chain.writing.values())

    def _retry_words(self) -> str:
        retry = self.state.retry
        assert retry
        seconds = max(0, round(retry.until - self.seconds))
        name = retry.member if retry.scoring else self.name_of(retry.member)
        return f"{name} is asked again {f'in {seconds} s' if seconds else 'now'}"

    def _writing_words(self, writing: Writing) -> str:
        prompt = self.chain.prompts[ev.slot_of(writing.member, writing.draft)]
        start = f" from “{prompt.concept}”" if prompt.concept else ""
        start += f" on “{prompt.direction}”" if prompt.direction else ""
        trimmed = self.chain.trimmed
        sees = f" · sees {len(prompt.shown)} ideas" if trimmed and trimmed.step == self.chain.step else ""
        does = "is writing" if writing.text or not writing.thoughts else "is thinking"
        return f"{self.name_of(writing.member)} {does}{start}{self._under()}{sees}"

    def _under(self) -> str:
        """The seeds that the step's prompts hold."""
        names = [self.state.seeds[seed].injected.seed.name for seed in self.chain.seeds if seed in self.state.seeds]
        return f" ── under {', '.join(clean_line(name, 60) for name in names)}" if names else ""

    # ── several ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _slots(self) -> list[str]:
        """The proposals of the step under way, in the order in which their members were asked, not in which they begin.

        Where a person is to pick blind, in an order that tells nothing of who writes.
        """
        if not self._open:
            return []
        if self._blind:
            return sorted(self.chain.prompts, key=lambda slot: crc32(f"{self.chain.step} {slot}".encode()))

        def place(slot: str) -> tuple[int, int]:
            started = self.chain.prompts[slot]
            asked = started.member.partition("/")[0]
            return self.chain.asked.index(asked) if asked in self.chain.asked else len(self.chain.asked), started.draft

        return sorted(self.chain.prompts, key=place)

    @property
    def _blind(self) -> bool:
        return self.team.strategy == "parallel" and self.team.selector == "me" and not self.named

    def _step_words(self) -> str:
        """How a step stands in which several propose."""
        ready = sum(slot in self.chain.outcomes for slot in self._slots)
        doing = f"{ready} of {len(self._slots)} proposals" if ready < len(self._slots) else "choosing"
        return f"{doing}{self._under()}"

    def _picked(self) -> str:
        """What was picked last, and from how many."""
        last = self.chain.ideas[-1] if self.chain.ideas else None
        if last is None or last.chosen is None or len(last.chosen.order) < 2:
            return ""
        return f"   ({last.number}: {self.name_of(last.author)} of {len(last.chosen.order)})"

    def _pane(self, slot: str) -> Pane:
        """One proposal, as far as it has come."""
        prompt, end = self.chain.prompts[slot], self.chain.outcomes.get(slot)
        name = "·" if self._blind else self._slot_name(slot)
        direction = f" {prompt.direction}" if prompt.direction else ""
        if isinstance(end, ev.ProposalFinished):
            return Pane(f"✓ {name}{direction}", end.text)
        if end:
            return Pane(f"× {name} {end.outcome}", end.message)
        writing = self.chain.writing.get(slot)
        return Pane(f"  {name}{direction}", _written(writing) if writing else "")

    def _slot_name(self, slot: str) -> str:
        prompt = self.chain.prompts.get(slot)
        if prompt is None:
            return slot
        return self.name_of(prompt.member) + (f"·{prompt.draft + 1}" if prompt.draft else "")

    # ── a person picks ────────────────────────────────────────────────────────────────────────────────────────────────

    def proposals(self) -> list[str]:
        """What there is to pick from, whole, in the order of its numbers."""
        offered = self.chain.offered
        ends = [self.chain.outcomes.get(slot) for slot in offered.order] if offered else []
        return [end.text if isinstance(end, ev.ProposalFinished) else "" for end in ends]

    def _offered(self) -> Iterator[Pane]:
        assert self.chain.offered
        for number, (slot, text) in enumerate(zip(self.chain.offered.order, self.proposals(), strict=True), 1):
            yield Pane(f"{number} {self._slot_name(slot)}" if self.named else f"{number}", text, from_start=True)

    def _pick_words(self, tabs: str) -> str:
        offered = self.chain.offered
        assert offered
        last = min(len(offered.order), MOST_PICKED)
        keys = f"pick 1–{last} · b two · 0 none" if last > 1 else "1 takes it · 0 does not"
        words = self.asked or f"{keys} · o full{tabs}"
        if offered.until is None:
            return words
        seconds = max(0, round(offered.until - self.seconds))
        return f"{words}   (in {seconds} s: {self._instead_words()})"

    def _instead_words(self) -> str:
        instead = self.team.instead
        if isinstance(instead, ModelSpec):
            return f"{clean_line(instead.name, 40)} picks"
        return "the farthest" if instead == "novel" else "any"


def _written(writing: Writing) -> str:
    """What there is to see of a proposal so far, without the tags that it was asked to stand between."""
    return _TAG.sub("", writing.text) or writing.thoughts
