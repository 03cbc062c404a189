"""How scores, rules and endings are said to a person, on screen and in print alike."""

from core.events import IdeaScored
from core.rules import Rules
from core.state import Chain, Idea, State

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
    """All scores of an idea in one line; what nobody judged says so."""
    score = idea.score
    if score is None:
        return "scoring"
    parts = [
        f"novelty {score.embedding_novelty:.2f}" if score.embedding_novelty is not None else "novelty unscored",
        f"coherence {score.coherence:.0f}" if score.coherence is not None else "coherence not judged",
    ]
    if score.judged_novelty is not None:
        parts.append(f"judged novelty {score.judged_novelty:.2f}")
    if score.verdict == "failed":
        parts.append(f"failed: {failed_words(score)}")
    return ", ".join(parts)


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
