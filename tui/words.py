"""How scores, rules and endings are said to a person, on screen and in print alike."""

from core.chain import Chain, Idea
from core.config import Judging
from core.events import IdeaScored
from core.models import Budget
from core.rules import Rules
from core.state import State

RULES = {
    "coherence": "coherence too low",
    "embedding_novelty": "too like an earlier idea",
    "judged_novelty": "judged too like an earlier idea",
    "mechanical": "an echo, a loop, or no idea",
}

STRATEGIES = {"solo": "One member writes every idea", "sample": "Each step one member is drawn, by weight"}

STYLES = {
    "list": "goes on with a list",
    "chat": "is asked anew",
    "turns": "goes on talking",
    "concept": "starts from a concept",
    "tagged": "is asked for one idea",
}

END_WORDS = {"embedding_novelty": "novelty", "judged_novelty": "judged", "mechanical": "no idea"}
"""Reasons that end a chain in a word, where they aren't one already."""

_ENDS = {
    "cap": "reached its cap",
    "budget": "used up its budget",
    "person": "stopped by a person",
    "refused": "refused by the model",
    "error": "ended by an error",
}


def failed_words(score: IdeaScored) -> str:
    """Why an idea failed, in a few words."""
    if score.detail:
        return score.detail
    if score.failed_rule == "embedding_novelty" and score.nearest is not None:
        return f"too like idea {score.nearest}"
    return RULES.get(score.failed_rule or "", "")


def score_words(idea: Idea) -> str:
    """All scores of an idea in one line; what nobody judged says so, and what a judge could not say too."""
    score = idea.score
    if score is None:
        return "scoring"
    missing = "unscored" if score.judges else "not judged"
    parts = [
        f"novelty {score.embedding_novelty:.2f}" if score.embedding_novelty is not None else "novelty unscored",
        f"coherence {score.coherence:.0f}" if score.coherence is not None else f"coherence {missing}",
    ]
    if score.judged_novelty is not None:
        parts.append(f"judged novelty {score.judged_novelty:.2f}")
    elif score.judges:
        parts.append("judged novelty unscored")
    if score.verdict == "failed":
        parts.append(f"failed: {failed_words(score)}")
    return ", ".join(parts)


def vote_lines(score: IdeaScored) -> list[str]:
    """What each judge said, a line each."""
    lines = []
    for vote in score.votes:
        coherence = "no coherence" if vote.coherence is None else f"coherence {vote.coherence}"
        likeness = "" if vote.similarity is None else f", at most {vote.similarity} of 100 like an earlier idea"
        unread = f", {vote.unreadable} unreadable" if vote.unreadable else ""
        why = f" ({vote.why})" if vote.why else ""
        lines.append(f"{vote.judge}, prompt {vote.prompt_version}: {coherence}{likeness}{unread}{why}")
    if score.coherence_spread:
        lines.append(f"The judges' coherence is up to {score.coherence_spread:g} apart; the median counts.")
    return lines


def cost_words(state: State, budget: Budget) -> str:
    """What was spent so far, of how much; "" where nothing costs anything."""
    limit = f" of ${budget.max_cost:.2f}" if budget.max_cost is not None else ""
    if not state.cost_known:
        return f"${state.cost:.2f} + unknown{limit}" if state.cost else f"cost unknown{limit}"
    return f"{dollars(state.cost)}{limit}" if state.cost or limit else ""


def dollars(cost: float) -> str:
    """Cents from ten cents on; below, as many places as say something."""
    return f"${cost:.2f}" if cost >= 0.1 or not cost else f"${cost:.4f}".rstrip("0")


def budget_words(budget: Budget) -> str:
    """A budget in one line."""
    parts = [f"${budget.max_cost:.2f}" if budget.max_cost is not None else ""]
    parts.append(f"{budget.max_tokens:,} tokens" if budget.max_tokens is not None else "")
    parts.append(f"{budget.max_minutes:g} minutes" if budget.max_minutes is not None else "")
    return ", ".join(filter(None, parts)) or "none"


def judging_words(judging: Judging) -> str:
    """Who judges, in one line."""
    if not judging.judges:
        return "nobody"
    names = " + ".join(judge.name for judge in judging.judges)
    return f"{names}, nearest {judging.nearest}" if judging.mode == "nearest" else names


def why_ended(chain: Chain, state: State) -> str:
    """How a chain stands, in one line."""
    counts = f"{chain.valid} of {chain.responses} ideas pass"
    if chain.ended is None:
        return f"Not finished: {counts}."
    reason = chain.ended.reason
    if reason in _ENDS:
        message = f" ({chain.ended.message})" if chain.ended.message else ""
        return f"{_ENDS[reason].capitalize()}{message}: {counts}."
    row = chain.failing_in_row()
    times = "The last idea failed" if row == 1 else f"The last {row} ideas failed"
    return f"{times} ({RULES[reason]}): {counts}."


def rules_words(rules: Rules) -> str:
    """Rules in one line."""
    cap = f", stop at {rules.max_ideas}" if rules.max_ideas else ""
    return f"novelty ≥ {rules.embedding_novelty:g}, patience {rules.patience}{cap}"


def letters(names: tuple[str, ...]) -> dict[str, str]:
    """Anonymous letters for members, in the team's order; a person's own ideas are `you`."""
    return {name: chr(ord("a") + place % 26) for place, name in enumerate(names)} | {"you": "you"}
