"""What the marks and times of public results say in our words: one reading, whether they are counted or retold."""

from collections.abc import Sequence

from core import events as ev
from core.exchange.public import PublicAnswer, PublicChain, PublicProposal
from core.models import YOU, EmbedderSpec
from core.questions import OWN, Question
from core.text import clean_line

FAILED: dict[str, ev.FailedRule] = {
    "coherence_threshold": "coherence",
    "embedding_dissimilarity_threshold": "embedding_novelty",
    "llm_dissimilarity_threshold": "judged_novelty",
    "mechanical": "mechanical",
}
"""The rules, by what the files call them; they have no mechanical one, but files that we wrote may."""

_ENDS: dict[str, ev.EndReason] = {
    **FAILED,
    "content_error": "refused",
    "cap": "cap",
    "budget": "budget",
    "person": "person",
}
"""Ends of a chain, the last of them in files that we wrote; all else that a file may say is an error."""

EMBEDDER = EmbedderSpec(name="text-embedding-3-large", provider="openai", model="text-embedding-3-large")
"""Both benchmarks measure with it."""

NOBODY = "unnamed"
"""A model without a name."""


def member_name(model: str) -> str:
    """No member is called like the person, or not at all."""
    name = clean_line(model)
    return f"{YOU} (a model)" if name == YOU else name or NOBODY


def question_of(chain: PublicChain, own_id: str = "") -> Question:
    """AidanBench has no domains: its questions are nobody's but one's own."""
    return Question(own_id, chain.question, chain.domain or OWN, chain.subdomain)


def end_of(chain: PublicChain) -> ev.EndReason | None:
    """Why a chain ended; None if nothing says why."""
    return end_by(chain.stop)


def end_by(mark: str) -> ev.EndReason | None:
    """Why a chain ended whose last answer is marked so."""
    return _ENDS.get(mark, "error") if mark else None


def mark_of(chain: PublicChain, position: int) -> str:
    """What the answer at `position`, from 0, is marked with; "" for nothing."""
    answer = chain.answers[position]
    last = position == len(chain.answers) - 1
    return chain.stop if last and answer.chain_ended is None else answer.mark or ""


def verdict_of(chain: PublicChain, position: int) -> tuple[ev.VerdictWord, ev.FailedRule | None]:
    """What became of the answer at `position`, from 0, and the rule that it failed.

    One that is marked with anything else, or lacks a score that its benchmark gives, is unscored.
    """
    answer, mark = chain.answers[position], mark_of(chain, position)
    if rule := FAILED.get(mark):
        return "failed", rule
    return "unscored" if mark or None in _scores(chain, answer) else "passed", None


def _scores(chain: PublicChain, answer: PublicAnswer) -> tuple[float | None, ...]:
    """Those that its benchmark gives: AidanBench, which has no domains, gives two."""
    scores = (answer.coherence, answer.embedding_novelty, answer.judged_novelty)
    return scores if chain.domain else scores[:2]


def seconds_of(answers: Sequence[PublicAnswer]) -> list[float]:
    """When each answer was there, in seconds since the chain began; never falling.

    Where the file's own count falls, the benchmark was stopped and counted anew when it went on; where it has none, the
    answer was there with the one before.
    """
    seconds: list[float] = []
    began = before = 0.0
    for answer in answers:
        own = before if answer.seconds is None else answer.seconds
        if own < before:
            began += before
        before = own
        seconds.append(began + own)
    return seconds


def proposals_of(chain: PublicChain, answer: PublicAnswer) -> list[PublicProposal]:
    """Those among which the answer was chosen; the answer's own alone where there was no choice."""
    author = _author(chain, answer)
    own = PublicProposal(model=author, text=answer.text, thoughts=answer.thoughts)
    proposals = list(answer.choice.proposals) if answer.choice else []
    return proposals if any(proposal.model == author for proposal in proposals) else [*proposals, own]


def picked_of(proposals: Sequence[PublicProposal], chain: PublicChain, answer: PublicAnswer) -> int:
    """The place of the one that became the answer."""
    author = _author(chain, answer)
    own = [place for place, proposal in enumerate(proposals) if proposal.model == author]
    return next((place for place in own if proposals[place].text == answer.text), own[0])


def writers_of(chain: PublicChain, answer: PublicAnswer) -> list[str]:
    """The member that wrote the answer, then those that wrote what it was chosen among."""
    if answer.choice is None:
        return [member_name(_author(chain, answer))]
    proposals = proposals_of(chain, answer)
    members = [member_name(proposal.model) for proposal in proposals]
    return [members.pop(picked_of(proposals, chain, answer)), *members]


def _author(chain: PublicChain, answer: PublicAnswer) -> str:
    """What the file calls the model that wrote it."""
    return answer.author or (answer.choice.selected_model if answer.choice else "") or chain.model
