"""Public results as sessions: the events and the plan that they would have if they had been run here."""

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import count
from typing import TypeVar

from msgspec.structs import replace

from core import events as ev
from core.config import Origin, Plan
from core.errors import UsageError
from core.exchange.marks import (
    EMBEDDER,
    FAILED,
    end_of,
    mark_of,
    member_name,
    picked_of,
    proposals_of,
    question_of,
    seconds_of,
    verdict_of,
)
from core.exchange.oddities import Oddities, odd_in, oddity_words
from core.exchange.public import PublicChain, PublicProposal
from core.models import Member, ModelSpec, TeamSpec, Usage
from core.questions import Question, own_question
from core.rules import Rules
from core.text import clean_line

PROVIDER = "imported"
"""What serves the models of imported sessions: nothing does, so that none can be called."""

RULES = Rules(patience=1, mechanical=False)
"""Both benchmarks' own."""

E = TypeVar("E", bound=ev.Event)


class Retelling:
    """One session, told chain by chain; who takes part and what is odd is known at the end.

    Times are the file's: seconds since a chain began, one chain after the other.
    """

    def __init__(self, origin: Origin, at: str) -> None:
        """`at` is when it is told, ISO 8601 with offset."""
        self.origin = origin
        self.oddities = Oddities()
        self.questions: dict[str, Question] = {}
        """By their ids."""
        self.responses = 0
        self.valid = 0
        self.stops: Counter[str] = Counter()
        """Why chains stop, as the file says it."""
        self._members: dict[str, str] = {}
        """Their names, and what the file calls their models."""
        self._choosers: dict[str, None] = {}
        self._chooses = False
        self._patience = RULES.patience
        self._at = at
        self._t = 0.0
        self._seq = -1

    def events(self, chains: Iterable[PublicChain]) -> Iterator[ev.Event]:
        """All of them. Raises `UsageError` for a question that is none."""
        yield self._event(ev.SessionStarted, version=version("jagstorm"))
        for chain in chains:
            yield from self._chain(chain)
        odd = "; ".join(oddity_words(self.oddities))
        yield self._event(ev.Notice, text=f"Imported from {self.origin.file}{f'. In it: {odd}' if odd else ''}")
        yield self._event(ev.SessionEnded, how="finished")

    def plan(self, session: str) -> Plan:
        """`session` is its id."""
        origin = self.origin
        members = self._members or {member_name(origin.model): origin.model}
        team = TeamSpec(
            name=member_name(origin.model),
            strategy="parallel" if self._chooses else "sample" if len(members) > 1 else "solo",
            members=tuple(
                Member(name=name, model=_model(model, origin.temperature)) for name, model in members.items()
            ),
            selector=_model(next(iter(self._choosers)), "") if self._choosers else "novel",
            about=f"Imported from {origin.file}",
        )
        return Plan(
            id=session,
            created=self._at,
            random_seed=0,
            embedder=EMBEDDER,
            questions=tuple(self.questions.values()),
            team=team,
            rules=replace(RULES, patience=self._patience),
            origin=origin,
        )

    def _event(self, kind: type[E], **fields: object) -> E:
        self._seq += 1
        return kind(seq=self._seq, t=self._t, at=self._at, **fields)

    def _chain(self, chain: PublicChain) -> Iterator[ev.Event]:
        question = self._question(chain)
        began = self._t
        yield self._event(
            ev.QuestionStarted,
            question=question.id,
            text=question.text,
            domain=question.domain,
            subdomain=question.subdomain,
        )
        valid = 0
        for position, seconds in enumerate(seconds_of(chain.answers)):
            yield from self._step(question.id, chain, position, until=began + seconds)
            score = self._score(question.id, chain, position)
            valid += score.verdict != "failed"
            yield score
        self._patience = max(self._patience, chain.patience)
        self.stops[chain.stop] += 1
        self.oddities.without_answers += not chain.answers
        self.responses += len(chain.answers)
        self.valid += valid
        if reason := end_of(chain):
            yield self._event(
                ev.QuestionEnded,
                question=question.id,
                reason=reason,
                censored=reason not in FAILED.values(),
                responses=len(chain.answers),
                valid=valid,
                message=_why(chain) if reason in ("error", "refused") else "",
            )

    def _question(self, chain: PublicChain) -> Question:
        """One more, with an id that no other has: a file may ask the same in two of its leaves."""
        try:
            own = own_question(chain.question).id
        except UsageError as error:
            place = clean_line(f"{chain.leaf}, {chain.model}, {chain.temperature}").lstrip(", ")
            raise UsageError(f"{self.origin.file}: {place}: {error.message}") from None
        numbered = (f"{own}-{number}" if number > 1 else own for number in count(1))
        name = next(name for name in numbered if name not in self.questions)
        question = question_of(chain, name)
        self.questions[name] = question
        return question

    def _step(self, question: str, chain: PublicChain, position: int, *, until: float) -> Iterator[ev.Event]:
        """Who was asked, what they wrote, and the idea that came of it; then it is `until`."""
        answer, step = chain.answers[position], position + 1
        proposals = proposals_of(chain, answer)
        slots = self._slots(proposals)
        picked = picked_of(proposals, chain, answer)
        yield self._event(
            ev.StepStarted, question=question, step=step, members=tuple(dict.fromkeys(member for member, _ in slots))
        )
        since, self._t = self._t, until
        usage = Usage(reasoning_tokens=answer.reasoning_tokens or 0, seconds=self._t - since)
        for place, (proposal, (member, draft)) in enumerate(zip(proposals, slots, strict=True)):
            yield self._event(
                ev.ProposalFinished,
                question=question,
                step=step,
                member=member,
                draft=draft,
                text=proposal.text,
                thoughts=proposal.thoughts or (answer.thoughts or "" if place == picked else ""),
                usage=usage if place == picked else Usage(),
            )
        if answer.choice and len(proposals) > 1:
            yield self._chosen(question, step, answer.choice.selection_judge, proposals, slots, picked)
        author, draft = slots[picked]
        yield self._event(
            ev.IdeaAdded, question=question, idea=step, step=step, text=answer.text, author=author, draft=draft
        )

    def _slots(self, proposals: list[PublicProposal]) -> list[tuple[str, int]]:
        """Each proposal's member, and which of its drafts it is."""
        drafts: dict[str, int] = {}
        slots = []
        for proposal in proposals:
            member = member_name(proposal.model)
            self._members.setdefault(member, proposal.model)
            drafts[member] = drafts.get(member, -1) + 1
            slots.append((member, drafts[member]))
        return slots

    def _chosen(
        self,
        question: str,
        step: int,
        chooser: str,
        proposals: list[PublicProposal],
        slots: list[tuple[str, int]],
        picked: int,
    ) -> ev.ProposalChosen:
        self._chooses = True
        if chooser:
            self._choosers[chooser] = None
        names = [ev.slot_of(member, draft) for member, draft in slots]
        order = sorted(range(len(names)), key=lambda place: proposals[place].shuffled_position or 0)
        return self._event(
            ev.ProposalChosen,
            question=question,
            step=step,
            order=tuple(names[place] for place in order),
            pick=names[picked],
            by="selector",
            chooser=chooser,
            cost=None,
        )

    def _score(self, question: str, chain: PublicChain, position: int) -> ev.IdeaScored:
        answer, idea = chain.answers[position], position + 1
        verdict, failed_rule = verdict_of(chain, position)
        odd = odd_in(answer, idea, stops=idea == len(chain.answers) or chain.patience > 1)
        self.oddities.add(odd)
        return self._event(
            ev.IdeaScored,
            question=question,
            idea=idea,
            coherence=answer.coherence,
            embedding_novelty=answer.embedding_novelty,
            judged_novelty=answer.judged_novelty,
            verdict=verdict,
            failed_rule=failed_rule,
            embedder=EMBEDDER.name,
            why=answer.error or "",
            mark="" if failed_rule else mark_of(chain, position),
            odd=odd,
            cost=None,
        )


def _model(name: str, temperature: str) -> ModelSpec:
    """`temperature` as the file names it; what is no temperature is left out."""
    try:
        degrees = float(temperature)
    except ValueError:
        degrees = -1.0
    named = member_name(name)
    return ModelSpec(name=named, provider=PROVIDER, model=named, temperature=degrees if 0 <= degrees <= 2 else None)


def _why(chain: PublicChain) -> str:
    """Why a chain was cut short."""
    if not chain.answers:
        return "it has no answers"
    return chain.answers[-1].error or chain.stop
