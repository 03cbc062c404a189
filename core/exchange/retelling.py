"""Public results as sessions: the events and the plan that they would have if they had been run here."""

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import count
from typing import TypeVar

from core import events as ev
from core.config import Origin, Plan
from core.errors import UsageError
from core.exchange.public import PublicAnswer, PublicChain, PublicProposal
from core.exchange.totals import Oddities, odd_in, oddity_words
from core.models import YOU, EmbedderSpec, Member, ModelSpec, TeamSpec, Usage
from core.questions import OWN, Question, own_question
from core.rules import Rules
from core.text import clean_line

PROVIDER = "imported"
"""What serves the models of imported sessions: nothing does, so that none can be called."""

EMBEDDER = EmbedderSpec(name="text-embedding-3-large", provider="openai", model="text-embedding-3-large")
"""Both benchmarks measure with it."""

RULES = Rules(patience=1, mechanical=False)
"""Both benchmarks' own."""

_FAILED: dict[str, ev.FailedRule] = {
    "coherence_threshold": "coherence",
    "embedding_dissimilarity_threshold": "embedding_novelty",
    "llm_dissimilarity_threshold": "judged_novelty",
    "mechanical": "mechanical",
}
_ENDS: dict[str, ev.EndReason] = {**_FAILED, "content_error": "refused"}
"""How we call what the files call so; all else is an error."""

NOBODY = "unnamed"
"""A model without a name."""

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
        members = self._members or {_member_name(origin.model): origin.model}
        team = TeamSpec(
            name=_member_name(origin.model),
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
            rules=RULES,
            origin=origin,
        )

    def _event(self, kind: type[E], **fields: object) -> E:
        self._seq += 1
        return kind(seq=self._seq, t=self._t, at=self._at, **fields)

    def _chain(self, chain: PublicChain) -> Iterator[ev.Event]:
        question = self._question(chain)
        began, before = self._t, 0.0
        yield self._event(
            ev.QuestionStarted,
            question=question.id,
            text=question.text,
            domain=question.domain,
            subdomain=question.subdomain,
        )
        valid = 0
        for place, answer in enumerate(chain.answers, 1):
            last = place == len(chain.answers)
            seconds = before if answer.seconds is None else answer.seconds
            if seconds < before:  # the benchmark was stopped there, and counted anew when it went on
                began = self._t
            before = seconds
            yield from self._step(question.id, place, chain, answer, until=began + seconds)
            score = self._score(question.id, place, chain, answer, last=last)
            valid += score.verdict != "failed"
            yield score
        self.stops[chain.stop] += 1
        self.oddities.without_answers += not chain.answers
        self.responses += len(chain.answers)
        self.valid += valid
        if chain.stop:
            reason = _ENDS.get(chain.stop, "error")
            yield self._event(
                ev.QuestionEnded,
                question=question.id,
                reason=reason,
                censored=reason not in _FAILED.values(),
                responses=len(chain.answers),
                valid=valid,
                message="" if chain.stop in _FAILED else _why(chain),
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
        question = Question(name, chain.question, chain.domain or OWN, chain.subdomain)
        self.questions[name] = question
        return question

    def _step(
        self, question: str, step: int, chain: PublicChain, answer: PublicAnswer, *, until: float
    ) -> Iterator[ev.Event]:
        """Who was asked, what they wrote, and the idea that came of it; then it is `until`."""
        proposals = _proposals(chain, answer)
        slots = self._slots(proposals)
        picked = _picked(proposals, answer)
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
            member = _member_name(proposal.model)
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

    def _score(
        self, question: str, idea: int, chain: PublicChain, answer: PublicAnswer, *, last: bool
    ) -> ev.IdeaScored:
        stop = chain.stop if last else answer.mark or ""
        failed = _FAILED.get(stop)
        odd = odd_in(answer, idea, last=last)
        self.oddities.add(odd)
        scores = (answer.coherence, answer.embedding_novelty, answer.judged_novelty)
        missing = None in (scores if self.origin.layout == "sciaidanbench" else scores[:2])
        return self._event(
            ev.IdeaScored,
            question=question,
            idea=idea,
            coherence=answer.coherence,
            embedding_novelty=answer.embedding_novelty,
            judged_novelty=answer.judged_novelty,
            verdict="failed" if failed else "unscored" if stop or missing else "passed",
            failed_rule=failed,
            embedder=EMBEDDER.name,
            why=answer.error or "",
            mark="" if failed else stop,
            odd=odd,
            cost=None,
        )


def _proposals(chain: PublicChain, answer: PublicAnswer) -> list[PublicProposal]:
    """Those among which the answer was chosen; the answer's own alone where there was no choice."""
    author = answer.author or (answer.choice.selected_model if answer.choice else "") or chain.model
    own = PublicProposal(model=author, text=answer.text, thoughts=answer.thoughts)
    proposals = list(answer.choice.proposals) if answer.choice else []
    return proposals if any(proposal.model == author for proposal in proposals) else [*proposals, own]


def _picked(proposals: list[PublicProposal], answer: PublicAnswer) -> int:
    """The place of the one that became the answer."""
    author = answer.author or (answer.choice.selected_model if answer.choice else "") or proposals[-1].model
    own = [place for place, proposal in enumerate(proposals) if proposal.model == author]
    return next((place for place in own if proposals[place].text == answer.text), own[0])


def _member_name(model: str) -> str:
    """No member is called like the person, or not at all."""
    name = clean_line(model)
    return f"{YOU} (a model)" if name == YOU else name or NOBODY


def _model(name: str, temperature: str) -> ModelSpec:
    """`temperature` as the file names it; what is no temperature is left out."""
    try:
        degrees = float(temperature)
    except ValueError:
        degrees = -1.0
    named = _member_name(name)
    return ModelSpec(name=named, provider=PROVIDER, model=named, temperature=degrees if 0 <= degrees <= 2 else None)


def _why(chain: PublicChain) -> str:
    """Why a chain was cut short."""
    if not chain.answers:
        return "it has no answers"
    return chain.answers[-1].error or chain.stop
