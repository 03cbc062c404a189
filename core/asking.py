"""Asking one member for the next idea: its prompt, its call, and what is told of both."""

import asyncio
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from core import events as ev
from core.chain import Chain
from core.context import fit
from core.errors import ModelUnavailableError
from core.levers import InForce
from core.models import CallFailedError, Member, ModelSpec, Outcome, Prompt, Provider
from core.obeying import LONGEST_IDEA
from core.prompts import VERSION, concepts, idea_prompt, read_idea
from core.providers.calls import Call, Caller
from core.randomness import generator
from core.scoring.scorer import Distances
from core.teams.strategy import Proposal

SPARE_TOKENS = 64
"""Room left free: a chat template adds a few tokens to each message, and texts joined take more or less than alone."""

PER_IDEA = 8
"""Tokens that an idea takes beside its text: its number, its line's end, or the turn around it."""


def _standing(chain: Chain) -> dict[int, str]:
    """The ideas that a prompt would show now, by number."""
    return {idea.number: idea.text for idea in chain.ideas if chain.shows(idea)}


class Asker:
    """Asks, and tells `emit` of it; `elapsed` gives the session's seconds."""

    def __init__(
        self,
        random_seed: int,
        caller: Caller,
        distances: Distances,
        emit: Callable[[ev.Event], None],
        elapsed: Callable[[], float],
    ) -> None:
        self._random_seed = random_seed
        self._caller = caller
        self._distances = distances
        self._emit = emit
        self._elapsed = elapsed
        self._counted: dict[ModelSpec, dict[str, int]] = {}
        """The tokens of every idea shown so far, by its text: as many as the session holds anyway."""

    async def ask(
        self, chain: Chain, step: int, member: Member, force: InForce, draft: int = 0, direction: str = ""
    ) -> Proposal:
        """What `member` proposes after the ideas of `chain`, with what is in `force` for this step.

        A proposal that came before a kill is not asked for again.

        Raises `CallFailedError` if the call brought no idea; the log tells why.
        """
        if isinstance(end := chain.outcomes.get(ev.slot_of(member.name, draft)), ev.ProposalFinished):
            return Proposal(member.name, end.text, draft)
        provider = self._caller.provider_for(member.model.provider)
        try:
            started, prompt = await self._prepare(chain, step, member, provider, force, draft, direction)
        except CallFailedError as error:  # before anything was sent
            failed = ev.ProposalFailed(
                question=chain.question,
                step=step,
                member=member.name,
                draft=draft,
                outcome="failed",
                kind=error.kind or "",
                message=str(error),
            )
            self._emit(failed)
            raise
        self._emit(started)

        def show(text: str, thoughts: str) -> None:
            self._emit(
                ev.ProposalDelta(
                    question=chain.question, step=step, member=member.name, draft=draft, text=text, thoughts=thoughts
                )
            )

        def retry(why: str, seconds: float) -> None:
            until = round(self._elapsed() + seconds, 3)
            self._emit(ev.RetryScheduled(question=chain.question, step=step, member=member.name, why=why, until=until))

        call = Call(self._caller, member.model, prompt, started.random_seed, on_delta=show, on_retry=retry)
        try:
            outcome = await call.run()
        except asyncio.CancelledError:
            self._emit(self._failed(started, call, "cancelled"))
            raise
        text = read_idea(prompt, call.answer)[:LONGEST_IDEA] if outcome == "ok" else ""
        if outcome == "ok" and not text:
            outcome = "empty"
        if outcome != "ok":
            self._emit(self._failed(started, call, outcome))
            raise CallFailedError(call.kind, call.message or outcome)
        self._emit(
            ev.ProposalFinished(
                question=chain.question,
                step=step,
                member=member.name,
                draft=draft,
                text=text,
                raw=call.text,
                thoughts=call.thoughts,
                usage=call.usage,
                cost=call.cost,
                trace=call.trace,
                parameters=call.parameters,
                tries=call.tries,
            )
        )
        return Proposal(member.name, text, draft)

    async def _prepare(
        self,
        chain: Chain,
        step: int,
        member: Member,
        provider: Provider,
        force: InForce,
        draft: int,
        direction: str,
    ) -> tuple[ev.ProposalStarted, Prompt]:
        """The prompt, and the event that lets anyone build it again."""
        rng = generator(self._random_seed, chain.question, step, ev.slot_of(member.name, draft))
        concept = str(rng.choice(concepts())) if member.style == "concept" else ""
        asking = partial(
            idea_prompt,
            chain.text,
            style=member.style,
            persona=member.persona,
            concept=concept,
            direction=direction,
            force=force,
        )
        ideas = _standing(chain)
        shown = await self._fitting(chain, ideas, step, member, provider, asking([]))
        while ideas != (standing := _standing(chain)):  # a person, or a score, came while tokens were counted
            ideas = standing
            shown = await self._fitting(chain, ideas, step, member, provider, asking([]))
        prompt = asking([ideas[number] for number in shown])
        held = tuple(idea.text for idea in chain.ideas)
        prompt = replace(prompt, question=chain.text, held=held, draft=draft)
        started = ev.ProposalStarted(
            question=chain.question,
            step=step,
            member=member.name,
            draft=draft,
            direction=direction,
            whole=len(shown) == len(ideas),
            shown=() if len(shown) == len(ideas) else tuple(shown),
            style=member.style,
            persona=member.persona,
            concept=concept,
            prompt_version=VERSION,
            random_seed=int(rng.integers(2**31)),
        )
        return started, prompt

    async def _fitting(
        self, chain: Chain, ideas: dict[int, str], step: int, member: Member, provider: Provider, bare: Prompt
    ) -> list[int]:
        """The ideas, of `ideas` by number, that the member's context has room for beside the `bare` prompt.

        If not all, the log says so.
        """
        model = member.model
        taken = await provider.count_tokens(model, "\n".join(message.text for message in bare.messages))
        room = model.context - model.max_tokens - taken - SPARE_TOKENS
        if room <= 0:
            await self._check_question(chain, member, provider)
            raise CallFailedError(
                "context", f"What is in force takes too much of its {model.context:,} tokens: withdraw some of it"
            )
        counted = self._counted.setdefault(model, {})
        for text in [text for text in ideas.values() if text not in counted]:
            counted[text] = await provider.count_tokens(model, text)
        tokens = {number: counted[text] + PER_IDEA for number, text in ideas.items()}
        shown = fit(tokens, room, [])
        if len(shown) < len(ideas):
            pinned = [idea.number for idea in chain.ideas if idea.pinned]
            shown = fit(tokens, room, await self._distances.most_different(chain), pinned)
            self._emit(
                ev.ContextTrimmed(
                    question=chain.question,
                    step=step,
                    member=member.name,
                    ideas=len(ideas),
                    shown=len(shown),
                    why=f"the context of {model.context:,} tokens is full",
                )
            )
        return shown

    async def _check_question(self, chain: Chain, member: Member, provider: Provider) -> None:
        """Raises `ModelUnavailableError` if the question alone is too long for the member."""
        model = member.model
        alone = idea_prompt(chain.text, [], style=member.style)
        taken = await provider.count_tokens(model, "\n".join(message.text for message in alone.messages))
        if taken >= model.context - model.max_tokens - SPARE_TOKENS:
            raise ModelUnavailableError(
                f"The question takes {taken:,} tokens and {model.name} has room for {model.context:,}: shorten it"
            )

    @staticmethod
    def _failed(started: ev.ProposalStarted, call: Call, outcome: Outcome) -> ev.ProposalFailed:
        return ev.ProposalFailed(
            question=started.question,
            step=started.step,
            member=started.member,
            draft=started.draft,
            outcome=outcome,
            kind=call.kind or "",
            message=call.message,
            text=call.text,
            usage=call.usage,
            cost=call.cost,
            parameters=call.parameters,
            tries=call.tries,
        )
