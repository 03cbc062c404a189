"""A request's parameters, as they are recorded and as servers speak of them: by their names on the wire."""

import json
from collections.abc import Mapping
from typing import Any

from core.models import Parameter

Json = dict[str, Any]

_TEXTS = {"model", "modelId", "messages", "input", "system", "stream"}
"""What is no parameter, or long, or a person's own."""


def flat(request: Mapping[str, Any]) -> dict[str, Parameter]:
    """As in `thinking.budget_tokens`; texts are left out, and of a schema there is only that there is one."""
    parameters: dict[str, Parameter] = {}
    for name, value in request.items():
        if name not in _TEXTS:
            parameters |= _flat(name, value)
    return parameters


def _flat(name: str, value: Any) -> dict[str, Parameter]:
    match value:
        case {"type": "json_schema"}:
            return {name: "json_schema"}
        case dict():
            return {f"{name}.{inner}": part for inner, part in flat(value).items()}
        case list():
            return {name: json.dumps(value, ensure_ascii=False)}
    return {name: value}


def names_in(request: Mapping[str, Any]) -> set[str]:
    """Every name that a request gives anything, at whatever depth, but for those of a schema."""
    names = set(request)
    for name, value in request.items():
        if isinstance(value, dict) and name != "schema":
            names |= names_in(value)
    return names
