"""Sessions in the benchmarks' own result layout, so that their dashboards and figure scripts read them.

Those add up `coherence_score` and `embedding_dissimilarity_score` of every answer: where one is missing it is written
as NaN, which is no JSON, but what Python's readers of it take for a number. All else that is missing is left out.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from core import events as ev
from core.chain import Chain, Idea
from core.exchange.marks import end_by
from core.exchange.public import THRESHOLDS
from core.exchange.retelling import RULES
from core.questions import OWN
from core.store.library import StoredSession

STOPS = {
    "coherence": "coherence_threshold",
    "embedding_novelty": "embedding_dissimilarity_threshold",
    "judged_novelty": "llm_dissimilarity_threshold",
}
"""Rules, as the benchmarks call them; one that they don't have keeps its name."""

CUT_SHORT = {"error": "error", "refused": "content_error"}
"""Ends of a chain that they mark the last answer with."""

Answer = dict[str, Any]
"""As a file has it."""


def public_layout(sessions: Iterable[StoredSession]) -> Iterator[str]:
    """All sessions in one file."""
    yield json.dumps(public_results(sessions), ensure_ascii=False, separators=(",", ":"))
    yield "\n"


def public_results(sessions: Iterable[StoredSession]) -> dict[str, Any]:
    """What such a file holds; ideas that were taken out are left out.

    A model that has answered one of the questions at the same temperature before, or under another patience, gets a
    number.
    """
    results: dict[str, Any] = {"domains": {}}
    patience: dict[str, int] = {}
    for session in sessions:
        state = session.state()
        model, temperature = _model(session), _temperature(session)
        calls = [(idea.author, idea.call) for chain in state.chains.values() for idea in chain.ideas if idea.call]
        thinking = {author for author, call in calls if call.thoughts}
        counted = {author for author, call in calls if call.usage.reasoning_tokens}
        for chains in _once_each(state.chains.values()):
            leaves = [_leaf(results, session, chain) for chain in chains]
            taken = {
                name
                for leaf, chain in zip(leaves, chains, strict=True)
                for name, by_temperature in leaf.items()
                if chain.text in by_temperature.get(temperature, {})
            }
            taken |= {name for name, own in patience.items() if own != session.plan.rules.patience}
            numbered = (f"{model} ({number})" if number > 1 else model for number in count(1))
            name = next(name for name in numbered if name not in taken)
            patience[name] = session.plan.rules.patience
            for leaf, chain in zip(leaves, chains, strict=True):
                answers = _answers(session, chain, thinking, counted)
                leaf.setdefault(name, {}).setdefault(temperature, {})[chain.text] = answers
    return results if results["domains"] or "models" not in results else {"models": results["models"]}


def _once_each(chains: Iterable[Chain]) -> list[list[Chain]]:
    """The chains so that in each list every question stands once: a session may ask the same twice."""
    lists: list[list[Chain]] = []
    asked: Counter[tuple[str, str | None, str]] = Counter()
    for chain in chains:
        question = (chain.domain, chain.subdomain, chain.text)
        if asked[question] == len(lists):
            lists.append([])
        lists[asked[question]].append(chain)
        asked[question] += 1
    return lists


def _leaf(results: dict[str, Any], session: StoredSession, chain: Chain) -> dict[str, dict[str, Any]]:
    """The models of a question's leaf; AidanBench has no leaves."""
    if _is_aidanbench(session):
        table = results
    else:
        table = results["domains"].setdefault(chain.domain or OWN, {})
        if chain.subdomain is not None:
            table = table.setdefault(chain.subdomain, {})
    models: dict[str, dict[str, Any]] = table.setdefault("models", {})
    return models


def _is_aidanbench(session: StoredSession) -> bool:
    return session.plan.origin is not None and session.plan.origin.layout == "aidanbench"


def _model(session: StoredSession) -> str:
    if session.plan.origin:
        return session.plan.origin.model
    members = session.plan.team.everybody
    return members[0].model.name if len(members) == 1 else session.plan.team.name


def _temperature(session: StoredSession) -> str:
    """What all members share."""
    if session.plan.origin:
        return session.plan.origin.temperature
    found = {member.model.temperature for member in session.plan.team.everybody}
    if len(found) > 1:
        return "mixed"
    temperature = found.pop()
    return "default" if temperature is None else str(temperature)


def _answers(session: StoredSession, chain: Chain, thinking: set[str], counted: set[str]) -> list[Answer]:
    """`thinking` are the authors whose thoughts are known, `counted` those whose reasoning tokens are."""
    began = next(
        event.t
        for event in session.record.events
        if isinstance(event, ev.QuestionStarted) and event.question == chain.question
    )
    ideas = [idea for idea in chain.ideas if not idea.removed]
    team = len(session.plan.team.everybody) > 1
    answers = []
    for number, idea in enumerate(ideas, 1):
        answer = _scores(idea, number, began)
        if idea.call and idea.author in thinking:
            answer["thoughts"] = idea.call.thoughts
        if idea.call and idea.author in counted:
            answer["reasoning_tokens"] = idea.call.usage.reasoning_tokens
        if not _is_aidanbench(session):
            answer |= _stop(idea, chain if number == len(ideas) else None, session.plan.rules.patience)
        if team:
            answer["model"] = idea.author
        if idea.call and idea.others:
            answer["parallel_experiment"] = _choice(idea, idea.call, number - 1)
        answers.append(answer)
    return answers


def _scores(idea: Idea, number: int, began: float) -> Answer:
    score = idea.score
    coherence = score.coherence if score else None
    novelty = score.embedding_novelty if score else None
    answer: Answer = {
        "answer_num": number,
        "answer": idea.text,
        "embedding_dissimilarity_score": math.nan if novelty is None else novelty,
        "coherence_score": math.nan if coherence is None else int(coherence) if coherence.is_integer() else coherence,
        "processing_time": (score.t if score else idea.t) - began,
    }
    if score and score.judged_novelty is not None:
        answer["llm_dissimilarity_score"] = score.judged_novelty
    return answer


def _stop(idea: Idea, ended: Chain | None, patience: int) -> Answer:
    """What an answer is marked with; the last one of a chain that `ended` is given that."""
    score, end = idea.score, ended.ended if ended else None
    rule = score.failed_rule if score and idea.failed else None
    mark = (score.mark if score else "") or (STOPS.get(rule, rule) if rule else None)
    message = score.why if score and score.mark else ""
    if end and end.reason in CUT_SHORT and not (score and score.mark):
        mark, message = mark or CUT_SHORT[end.reason], end.message
    answer: Answer = {"stopping_condition": mark}
    if end and mark in THRESHOLDS and mark == STOPS.get(end.reason):
        answer["final_stopping_condition"] = mark
    if ended:
        answer |= _end(end.reason if end else None, mark or "", patience)
    return answer | ({"error_message": message} if message else {})


def _end(reason: ev.EndReason | None, mark: str, patience: int) -> Answer:
    """What ended a chain, where whoever reads the `mark` of its last answer by the benchmark's rules would not know."""
    if (reason, patience) == (end_by(mark), RULES.patience):
        return {}
    return {"chain_ended": STOPS.get(reason or "") or CUT_SHORT.get(reason or "") or reason or "", "patience": patience}


def _choice(idea: Idea, call: ev.ProposalFinished, earlier: int) -> dict[str, Any]:
    """Among what the idea was chosen, in the order in which it came, and as the chooser saw it."""
    offers = sorted((call, *idea.others), key=lambda offer: offer.seq)
    slots = [ev.slot_of(offer.member, offer.draft) for offer in offers]
    order = [slot for slot in (idea.chosen.order if idea.chosen else slots) if slot in slots]
    shuffled = {slot: place for place, slot in enumerate(order, 1)}
    own = ev.slot_of(call.member, call.draft)
    return {
        "all_responses": [
            {
                "model": offer.member,
                "answer": offer.text,
                "thoughts": offer.thoughts or None,
                "original_position": place,
                "shuffled_position": shuffled.get(slot),
            }
            for place, (offer, slot) in enumerate(zip(offers, slots, strict=True))
        ],
        "selected_model": call.member,
        "selected_original_position": slots.index(own),
        "selected_shuffled_position": shuffled.get(own),
        "selection_judge": (idea.chosen.chooser or idea.chosen.by) if idea.chosen else "",
        "shuffle_mapping": [[slots.index(slot), place] for slot, place in shuffled.items()],
        "previous_answers_count": earlier,
    }
