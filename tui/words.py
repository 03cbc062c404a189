"""How scores, rules and endings are said to a person, on screen and in print alike."""

from core.chain import Chain, Idea
from core.config import Judging
from core.events import IdeaScored
from core.levers import OwnFirst
from core.models import Budget, Member, Place, TeamSpec
from core.rules import Rules, dollars
from core.state import State

RULES = {
    "coherence": "coherence too low",
    "embedding_novelty": "too like an earlier idea",
    "judged_novelty": "judged too like an earlier idea",
    "mechanical": "an echo, a loop, or no idea",
}

STRATEGIES = {
    "solo": "One member writes every idea",
    "sample": "Each step one member is drawn, by weight",
    "router": "Each domain has its specialist",
    "parallel": "All propose at once, and one proposal is picked",
    "hierarchy": "A lead names directions, the others work them out, and it chooses or merges",
    "bandit": "Learns whose ideas pass, and asks that member more",
}

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
    if score.mark:
        parts.append(f"marked {score.mark}{f' ({score.why})' if score.why else ''}")
    if score.odd:
        from core.exchange.oddities import odd_words

        parts += map(odd_words, score.odd)
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
    limit = f" of {dollars(budget.max_cost)}" if budget.max_cost is not None else ""
    if not state.cost_known:
        return f"{dollars(state.cost)} + unknown{limit}" if state.cost else f"cost unknown{limit}"
    return f"{dollars(state.cost)}{limit}" if state.cost or limit else ""


def bill_words(cost: float | None) -> str:
    """What something cost, in US dollars."""
    return "unknown" if cost is None else dollars(cost) if cost else "free"


def budget_words(budget: Budget) -> str:
    """A budget in one line."""
    parts = [dollars(budget.max_cost) if budget.max_cost is not None else ""]
    parts.append(f"{budget.max_tokens:,} tokens" if budget.max_tokens is not None else "")
    parts.append(f"{budget.max_minutes:g} minutes" if budget.max_minutes is not None else "")
    return ", ".join(filter(None, parts)) or "none"


def own_first_words(own: OwnFirst | None) -> str:
    """Who begins, in one line."""
    if own is None:
        return "the team at once"
    return f"you, about {own.minutes:g} minutes; {'shown to the team' if own.shown else 'the team does not see it'}"


def judging_words(judging: Judging) -> str:
    """Who judges, in one line."""
    if not judging.judges:
        return "nobody"
    names = " + ".join(judge.name for judge in judging.judges)
    return f"{names}, nearest {judging.nearest}" if judging.mode == "nearest" else names


def team_lines(team: TeamSpec) -> list[str]:
    """What a team is, and its members; a model that all of them share is named once."""
    models = dict.fromkeys(member.model.name for member in team.everybody)
    lines = [team.about, "", ", ".join(models), STRATEGIES[team.strategy], *strategy_lines(team)]
    uneven = len({place.weight for place in team.places}) > 1 and team.strategy == "sample"
    for place in team.places:
        lines += _place_lines(place, f", weight {place.weight:g}" if uneven else "", alone=len(models) == 1)
    return lines


def strategy_lines(team: TeamSpec) -> list[str]:
    """How a team's strategy is set, where that says something."""
    match team.strategy:
        case "sample" if team.inverted:
            return ["Inverted: the lighter, the more often"]
        case "parallel":
            picks = "the pick is yours" if team.selector == "me" else f"picked is {selector_words(team)}"
            drafts = f"{team.drafts} proposals each; " if team.drafts > 1 else ""
            line = f"{drafts}{picks}"
            return [line[0].upper() + line[1:]]
        case "hierarchy":
            lead = f"{team.lead or team.places[0].name} leads"
            return [f"{lead}, with {team.directions} directions" if team.directions else lead]
        case "router" if team.routes:
            leaves: dict[str, list[str]] = {}
            for leaf, member in team.routes.items():
                leaves.setdefault(member, []).append("all else" if leaf == "*" else leaf)
            return [f"  {member} for {', '.join(names)}" for member, names in leaves.items()]
        case "bandit" if team.per != "idea":
            return [f"Counted per {team.per}"]
    return []


def selector_words(team: TeamSpec) -> str:
    """Who picks among proposals."""
    if team.selector == "novel":
        return "the one farthest from the chain"
    if team.selector == "random":
        return "any, by chance"
    if team.selector == "me":
        return "you"
    orders = ", asked in two orders" if team.selector_orders == 2 else ""
    return f"what {team.selector.name} finds most promising{orders}"


def _place_lines(place: Place, weight: str, *, alone: bool) -> list[str]:
    if isinstance(place, Member):
        words = member_words(place, alone=alone or place.name == place.model.name)
        return [f"  {place.name}: {words}{weight}"]
    inner = [f"  {line}" for each in place.team.places for line in _place_lines(each, "", alone=alone)]
    return [f"  {place.name}: a team. {STRATEGIES[place.team.strategy]}{weight}", *inner]


def member_words(member: Member, *, alone: bool = False) -> str:
    """How a member is asked; `alone` leaves out the model that all share."""
    model = member.model
    effort = f"thinks {model.effort}" if model.effort else f"thinks up to {model.thinking_tokens:,} tokens"
    parts = ["" if alone else model.name, STYLES[member.style]]
    parts.append(f"temperature {model.temperature:g}" if model.temperature is not None else "")
    parts.append(effort if model.effort or model.thinking_tokens else "")
    return ", ".join(filter(None, parts))


def why_ended(chain: Chain, state: State) -> str:
    """How a chain stands, in one line."""
    unscored = chain.valid - chain.passed
    counts = f"{chain.passed} of {chain.responses} ideas pass{f', {unscored} unscored' if unscored else ''}"
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
