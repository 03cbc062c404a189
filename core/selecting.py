"""Choosing among proposals, and what a lead is asked: calls beside those that write, each with its event."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from core import events as ev
from core.chain import LASTING, Chain
from core.levers import InForce
from core.models import CallFailedError, Chooser, ModelSpec, Prompt, TeamSpec, Usage, added
from core.prompts import concepts, framed
from core.providers.calls import Call, Caller
from core.scoring.scorer import Distances
from core.teams.prompts import (
    choice_or_merge_prompt,
    choice_prompt,
    directions_prompt,
    read_choice,
    read_directions,
    read_merged,
)
from core.teams.strategy import Proposal
from core.together import together

if TYPE_CHECKING:
    from numpy.random import Generator

By = Literal["draw", "selector", "novelty", "lead", "person"]

TRIES = 2
"""Replies that a model may give, until one says clearly what it chooses."""


class NonePickedError(Exception):
    """A person liked none of the proposals: the next step asks again."""


class Choice(Struct):
    """What a model chose, and what that took."""

    place: int | None = None
    """In the order that it was shown; None: it did not say so clearly."""
    merged: str = ""
    why: str = ""
    usage: Usage = Usage()
    cost: float | None = 0.0


class Selecting:
    """Asks selectors and leads for one step. `rng(what)` is the generator for one choice in it."""

    def __init__(
        self,
        chain: Chain,
        step: int,
        caller: Caller,
        distances: Distances,
        emit: Callable[[ev.Event], None],
        elapsed: Callable[[], float],
        rng: "Callable[[str], Generator]",
        force: InForce,
        picked: asyncio.Event,
    ) -> None:
        """`picked` is set whenever a person has picked."""
        self._chain = chain
        self._step = step
        self._caller = caller
        self._distances = distances
        self._emit = emit
        self._elapsed = elapsed
        self._rng = rng
        self._question = framed(chain.text, force)
        self._picked = picked

    async def pick(self, team: TeamSpec, proposals: Sequence[Proposal]) -> Proposal:
        """What the team's selector likes best. A pick from before a kill stands.

        Raises `NonePickedError` if a person likes none of them.
        """
        if len(proposals) == 1 and team.selector != "me":
            return proposals[0]
        if earlier := self._picked_before(proposals):
            return earlier
        shuffled = self._shuffled(proposals, "shuffle")
        if team.selector == "me":
            return await self._picked_by_person(team, shuffled)
        return await self._picked_by(team.selector, team.selector_orders, shuffled)

    async def directions(self, name: str, lead: ModelSpec, count: int) -> tuple[str, ...]:
        """Where the lead called `name` wants to look; drawn, if it does not say so clearly.

        Those named before a kill stand. Raises `CallFailedError`.
        """
        if self._chain.directions and self._chain.directions.member == name:
            return self._chain.directions.directions
        usage = Usage()
        cost: float | None = 0.0
        named: tuple[str, ...] = ()
        for attempt in range(TRIES):
            call = await self._call(lead, directions_prompt(self._question, self._ideas(), count), attempt)
            usage, cost = usage + call.usage, added(cost, call.cost)
            if named := read_directions(call.answer, count):
                break
        found = named or tuple(map(str, self._rng("directions").choice(concepts(), count, replace=False)))
        self._emit(
            ev.DirectionsNamed(
                question=self._chain.question,
                step=self._step,
                member=name,
                directions=found,
                by="lead" if named else "draw",
                usage=usage,
                cost=cost,
            )
        )
        return found

    async def pick_or_merge(self, name: str, lead: ModelSpec, proposals: Sequence[Proposal]) -> Proposal:
        """The lead's choice, or what it made of several."""
        if len(proposals) == 1:
            return proposals[0]
        if earlier := self._picked_before(proposals):
            return earlier
        shuffled = self._shuffled(proposals, "shuffle")
        texts = [proposal.text for proposal in shuffled]
        prompt = choice_or_merge_prompt(self._question, self._ideas(), texts)
        choice = await self._choice(lead, prompt, len(shuffled), merges=True)
        if choice.merged:
            merged = Proposal(name, choice.merged)
            self._say_chosen(shuffled, merged, "lead", "merged of several", choice, lead)
            return merged
        if choice.place is None:
            return self._drawn(shuffled, choice.why, choice, lead)
        self._say_chosen(shuffled, shuffled[choice.place], "lead", "", choice, lead)
        return shuffled[choice.place]

    # ── ways to choose ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _picked_by(self, selector: ModelSpec | Chooser, orders: int, shuffled: Sequence[Proposal]) -> Proposal:
        if selector == "novel":
            return await self._most_novel(shuffled)
        if selector == "random":
            return self._drawn(shuffled, "as the team says", Choice())
        return await self._chosen_by(selector, orders, shuffled)

    async def _picked_by_person(self, team: TeamSpec, shuffled: Sequence[Proposal]) -> Proposal:
        """What a person picks; what somebody else does, once they have had the time that the team gives them."""
        until = None if team.selector_seconds is None else round(self._elapsed() + team.selector_seconds, 3)
        order = tuple(proposal.slot for proposal in shuffled)
        self._picked.clear()
        self._emit(ev.ChoiceOffered(question=self._chain.question, step=self._step, order=order, until=until))
        if not await self._in_time(team.selector_seconds):
            to = team.instead if isinstance(team.instead, str) else team.instead.name
            self._emit(ev.ChoiceHandedOver(question=self._chain.question, step=self._step, to=to))
            return await self._picked_by(team.instead, team.selector_orders, shuffled)
        picked = self._picked_before(shuffled)
        assert picked
        return picked

    async def _in_time(self, seconds: float | None) -> bool:
        """Whether a person picks within so many seconds."""
        picking = asyncio.create_task(self._picked.wait())
        waits: list[asyncio.Task[Any]] = [picking]
        if seconds is not None:
            waits.append(asyncio.ensure_future(self._caller.clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return self._picked.is_set()
        finally:
            for wait in waits:
                wait.cancel()

    async def _most_novel(self, shuffled: Sequence[Proposal]) -> Proposal:
        """The one farthest from the chain by embedding."""
        novelties = await self._distances.novelties(self._chain, [proposal.text for proposal in shuffled])
        known = [-1.0 if novelty is None else novelty for novelty in novelties]
        best = known.index(max(known))
        self._say_chosen(shuffled, shuffled[best], "novelty", f"{known[best]:.2f} from the chain", Choice())
        return shuffled[best]

    async def _chosen_by(self, selector: ModelSpec, orders: int, shuffled: Sequence[Proposal]) -> Proposal:
        """What a model chooses; in two orders, what it chooses in both."""
        seen = [shuffled, shuffled[::-1]][:orders]
        choices = await together(self._choose_from(selector, order) for order in seen)
        used = Choice(usage=choices[0].usage, cost=choices[0].cost)
        for choice in choices[1:]:
            used = replace(used, usage=used.usage + choice.usage, cost=added(used.cost, choice.cost))
        picks = [order[choice.place] for order, choice in zip(seen, choices, strict=True) if choice.place is not None]
        if not picks:
            return self._drawn(shuffled, choices[0].why, used, selector)
        if len({pick.slot for pick in picks}) > 1:
            return self._drawn(picks, "the two orders disagree", used, selector, order=shuffled)
        why = "" if len(picks) == orders else "only one of its replies said a number"
        self._say_chosen(shuffled, picks[0], "selector", why, used, selector)
        return picks[0]

    async def _choose_from(self, selector: ModelSpec, order: Sequence[Proposal]) -> Choice:
        prompt = choice_prompt(self._question, self._ideas(), [proposal.text for proposal in order])
        return await self._choice(selector, prompt, len(order))

    async def _choice(self, model: ModelSpec, prompt: Prompt, count: int, *, merges: bool = False) -> Choice:
        """What `model` says; asked again where it does not say it clearly, and no choice if it never does."""
        choice = Choice()
        for attempt in range(TRIES):
            try:
                call = await self._call(model, prompt, attempt)
            except CallFailedError as error:
                choice.why = str(error)
                return choice
            choice.usage, choice.cost = choice.usage + call.usage, added(choice.cost, call.cost)
            choice.place = read_choice(call.answer, count)
            choice.merged = read_merged(call.answer) if merges and choice.place is None else ""
            if choice.place is not None or choice.merged:
                return choice
        choice.why = "no number in its reply"
        return choice

    def _drawn(
        self,
        among: Sequence[Proposal],
        why: str,
        used: Choice,
        model: ModelSpec | None = None,
        *,
        order: Sequence[Proposal] = (),
    ) -> Proposal:
        pick = among[int(self._rng("pick").integers(len(among)))]
        self._say_chosen(order or among, pick, "draw", why, used, model)
        return pick

    # ── what is told ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _say_chosen(
        self,
        order: Sequence[Proposal],
        pick: Proposal,
        by: By,
        why: str,
        used: Choice,
        model: ModelSpec | None = None,
    ) -> None:
        self._emit(
            ev.ProposalChosen(
                question=self._chain.question,
                step=self._step,
                order=tuple(proposal.slot for proposal in order),
                pick=pick.slot,
                by=by,
                why=why,
                chooser=model.name if model else "",
                text=pick.text if pick not in order else "",
                usage=used.usage,
                cost=used.cost,
            )
        )

    async def _call(self, model: ModelSpec, prompt: Prompt, attempt: int) -> Call:
        """One call. One that is cancelled or fails for good is told of too, so that it is counted.

        Raises `CallFailedError`, without a call where one has failed in a way that only a person can mend.
        """
        if failed := self._chain.silent.get(model.name):
            raise CallFailedError(None, failed.message)

        def retry(why: str, seconds: float) -> None:
            self._emit(
                ev.RetryScheduled(
                    question=self._chain.question,
                    step=self._step,
                    member=model.name,
                    why=why,
                    until=round(self._elapsed() + seconds, 3),
                )
            )

        seed = int(self._rng(f"call {prompt.tag} {attempt}").integers(2**31))
        call = Call(self._caller, model, prompt, seed, on_retry=retry)
        try:
            outcome = await call.run()
        except asyncio.CancelledError:
            self._emit(self._lost(model, call, "cancelled"))
            raise
        if outcome == "failed":
            self._emit(self._lost(model, call, outcome))
            if call.kind in LASTING:
                self._emit(ev.Notice(text=f"{model.name} is not asked to choose any more: {call.message}"))
            raise CallFailedError(call.kind, call.message)
        return call

    def _lost(self, model: ModelSpec, call: Call, outcome: Literal["cancelled", "failed"]) -> ev.AsideFailed:
        return ev.AsideFailed(
            question=self._chain.question,
            step=self._step,
            model=model.name,
            outcome=outcome,
            kind=call.kind or "",
            message=call.message,
            usage=call.usage,
            cost=call.cost,
        )

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _ideas(self) -> list[str]:
        return [idea.text for idea in self._chain.ideas if self._chain.shows(idea)]

    def _shuffled(self, proposals: Sequence[Proposal], what: str) -> list[Proposal]:
        return [proposals[int(place)] for place in self._rng(what).permutation(len(proposals))]

    def _picked_before(self, proposals: Sequence[Proposal]) -> Proposal | None:
        """What was chosen before a kill, if it was chosen from the same proposals."""
        chosen = self._chain.chosen
        slots = {proposal.slot: proposal for proposal in proposals}
        if chosen is None or set(chosen.order) != slots.keys():
            return None
        if not chosen.pick:
            raise NonePickedError
        if chosen.text:
            return Proposal(chosen.pick, chosen.text)
        picked = slots.get(chosen.pick)
        return picked and replace(picked, also=tuple(slots[slot] for slot in chosen.also if slot in slots))
