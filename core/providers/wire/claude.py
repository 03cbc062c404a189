"""How Claude is asked, whoever serves it: what it takes, and what its answers say about what it does not take."""

import json
from collections.abc import Mapping
from typing import Literal

from core.models import ModelSpec, Prompt
from core.providers.wire.parameters import Json, names_in
from core.text import clean

LEAST_THINKING = 1024
"""Tokens: Claude takes no smaller budget."""

_NOT_TAKEN = ("not permitted", "n't support", "not support", "unsupported", "deprecated", "may only be", "extraneous")

_KEPT = ("type", "enum", "const", "required", "description", "title", "$ref")
"""Keywords of JSON Schema that Claude's structured output takes as they are."""

THINKING_WORDS = {
    "thinking.type.enabled": "budget_tokens",
    "thinking.display": "thinking.display",
    "thinking.enabled.display": "thinking.display",
    "thinking.adaptive.display": "thinking.display",
    "thinking": "thinking",
    "output_config.effort": "effort",
}
"""What answers call a parameter of thinking, and what requests call it."""

Turn = tuple[Literal["user", "assistant"], str]
"""Who says what."""


def thinking_rule(spec: ModelSpec) -> str:
    """The rule for a thinking budget that `spec` breaks, as Anthropic's models have it; "" if it breaks none."""
    budget = spec.thinking_tokens if takes(spec, "thinking", "thinking_tokens", "budget_tokens") else 0
    if not budget or LEAST_THINKING <= budget < spec.max_tokens:
        return ""
    return (
        f"{spec.name} can't think with a budget of {budget:,} tokens: "
        f"thinking_tokens must be at least {LEAST_THINKING:,} and less than max_tokens, which is {spec.max_tokens:,}"
    )


def takes(spec: ModelSpec, *names: str) -> bool:
    """Whether none of the names of a parameter is among those that the model of `spec` refuses."""
    return not any(name in spec.refuses for name in names)


def thinking(spec: ModelSpec) -> Json | None:
    """How Claude is to think, as it is sent; None to leave that to it."""
    if not takes(spec, "thinking"):
        return None
    if spec.effort == "none" and not spec.thinking_tokens:
        return {"type": "disabled"}
    if spec.thinking_tokens and takes(spec, "thinking_tokens", "budget_tokens"):
        how: Json = {"type": "enabled", "budget_tokens": spec.thinking_tokens}
    elif spec.thinking_tokens or spec.effort:
        how = {"type": "adaptive"}
    else:
        return None
    if takes(spec, "thinking.display"):
        # Newer models would otherwise think without a word, and look as if they had stalled.
        how["display"] = "summarized"
    return how


def effort(spec: ModelSpec) -> str:
    """As Claude knows it; "" to leave it out."""
    if spec.effort == "none" or not takes(spec, "effort", "reasoning_effort"):
        return ""
    return "low" if spec.effort == "minimal" else spec.effort


def stops(prompt: Prompt) -> list[str]:
    """Without those of white space alone, which Anthropic refuses."""
    return [stop for stop in prompt.stop if stop.strip()]


def conversation(spec: ModelSpec, prompt: Prompt) -> tuple[str, list[Turn]]:
    """The system text and the turns; for a model without a system text it opens the first turn."""
    system = "\n\n".join(clean(message.text) for message in prompt.messages if message.role == "system")
    turns = [(message.role, clean(message.text)) for message in prompt.messages if message.role != "system"]
    if system and turns and not takes(spec, "system"):
        role, text = turns[0]
        return "", [(role, f"{system}\n\n{text}"), *turns[1:]]
    return system, turns


def strict_schema(prompt: Prompt) -> Json:
    """The prompt's schema in the part of JSON Schema that Claude takes; the rest is told in descriptions."""
    return _strict(json.loads(prompt.json_schema))


def _strict(schema: Json) -> Json:
    kept: Json = {}
    told = []
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _strict(inner) for name, inner in value.items()}
        elif key == "items":
            kept[key] = _strict(value)
        elif key in ("anyOf", "allOf"):
            kept[key] = [_strict(inner) for inner in value]
        elif key in _KEPT:
            kept[key] = value
        elif key != "additionalProperties":
            told.append(f"{key} {value}")
    if told:
        kept["description"] = " ".join(filter(None, (kept.get("description"), f"({', '.join(told)})")))
    if kept.get("type") == "object":
        kept["additionalProperties"] = False
    return kept


def refused_parameter(said: str, words: Mapping[str, str], request: Json) -> str:
    """Which parameter of `request` an answer says is not taken: the one it mentions first; "" if it says no such thing.

    `words` are what parameters are called in answers, and what they are called in requests.
    """
    folded = said.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    sent = names_in(request)
    words = {word: name for word, name in words.items() if name.rpartition(".")[2] in sent}
    if "cannot both be" in folded and "top_p" in words:
        return words["top_p"]
    if not any(sign in folded for sign in _NOT_TAKEN):
        return ""
    found = [(folded.find(word), -len(word), name) for word, name in words.items() if word in folded]
    return min(found)[2] if found else ""
