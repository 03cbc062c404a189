"""What went wrong with a request, said to a person in one line: which server, what, and what to do."""

import re
import time
from collections.abc import Mapping

from core.keys import scrub
from core.models import CallFailedError, FailureKind
from core.text import clean_line

LONGEST = 300
"""Characters of a server's own words that are shown."""

MOST_SECONDS = 1e9
"""A longer wait is none that anybody meant."""

_CONTEXT = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "too many tokens",
    "input is too long",
)
# Not "billing" or "exceeded your quota": so say some of a limit a minute.
_QUOTA = ("insufficient_quota", "insufficient balance", "credit balance", "out of credits", "billing_hard_limit")
_AGAIN = re.compile(r"try (?:again )?(?:in|after)\s+(?=\d)|retrydelay\W{1,6}(?=\d)")
_SPAN = re.compile(r"\s?(\d+(?:\.\d+)?)(?:\s?(ms|milli|[hms])[a-z]*)?")
_SECONDS = {"ms": 0.001, "milli": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}

_FILTERED = (
    "content_filter",
    "content filtering policy",
    "content management policy",
    "content_policy",
    "responsibleaipolicy",
    "safety system",
)


class FilteredError(CallFailedError):
    """A content filter would not let a text through. In a conversation that is an answer, of the model's side."""

    def __init__(self, server: str) -> None:
        super().__init__("request", f"A content filter of {server} is against the text")


def quoted(text: object) -> str:
    """A server's own words as they can be shown: one line, without keys."""
    return scrub(clean_line(str(text)))[:LONGEST]


def is_filtered(status: int, body: str) -> bool:
    """Whether a refused request is a content filter's refusal, and so an answer of the model's side."""
    return status in (400, 403, 422) and any(word in body.casefold() for word in _FILTERED)


def from_status(
    status: int,
    body: str,
    *,
    server: str,
    model: str,
    key: str = "",
    headers: Mapping[str, str] | None = None,
    parameter: str = "",
    whole: str = "",
) -> CallFailedError:
    """The failure that a response of `status` means.

    `body` is what the server said, `server` and `model` are what a person calls them, `key` is the name of the
    environment variable that holds the key, `parameter` one that the server's answer names as the reason, `whole` all
    of the answer where `body` is only its message.
    """
    said = quoted(body)
    folded = body.casefold()
    words = f": {said}" if said else ""
    again = retry_after(headers or {}, whole or body)
    if looks_like_html(body) and status not in range(500, 600):
        return wrong_address(server)
    if status in (401, 403):
        what = "does not accept the key" if status == 401 else f"does not let this key use {model}"
        todo = f"check {key}" if key else "name the variable that holds its key with api_key_env"
        return CallFailedError("denied", f"{server} {what}: {todo}{' (' + said + ')' if said else ''}")
    if status == 404:
        return CallFailedError(
            "missing",
            f"{server} has no model {model}: `jagstorm models` lists what there is{' (' + said + ')' if said else ''}",
        )
    if status == 429 and again is None and any(word in folded for word in _QUOTA):
        return CallFailedError("quota", f"{server} says that the account has nothing left{words}")
    if status == 402:
        return CallFailedError("quota", f"{server} wants to be paid first{words}")
    if status == 429:
        return CallFailedError("limited", f"{server} is asked too often{words}", retry_after=again)
    if status >= 500:
        what = "is overloaded" if status in (503, 529) else f"failed (status {status})"
        return CallFailedError("server", f"{server} {what}{words}", retry_after=again)
    if status == 408:
        return CallFailedError("timeout", f"{server} took too long{words}")
    if status == 413 or any(word in folded for word in _CONTEXT):
        return CallFailedError("context", f"The prompt is too long for {model} at {server}{words}")
    if parameter:
        return CallFailedError(
            "parameter", f"{model} at {server} does not take {parameter}{words}", parameter=parameter
        )
    return CallFailedError("request", f"{server} did not accept the request (status {status}){words}")


def wrong_address(
    server: str, api: str = "a model API", todo: str = "check base_url (it often ends in /v1)"
) -> CallFailedError:
    """A web page, or anything else that `api` does not answer."""
    return CallFailedError("address", f"{server} answers, but not as {api} does: {todo}")


def no_connection(
    server: str, reason: object, todo: str = "check that it runs and that base_url is right"
) -> CallFailedError:
    """Nobody there: refused, reset, no such name, no TLS."""
    return CallFailedError("connection", f"{server} can't be reached ({quoted(reason) or 'no answer'}): {todo}")


def too_slow(server: str, reason: object = "") -> CallFailedError:
    kind: FailureKind = "timeout"
    return CallFailedError(kind, f"{server} did not answer in time{f' ({quoted(reason)})' if reason else ''}")


def broke_off(server: str, reason: object = "") -> CallFailedError:
    """A stream that ended before its end, or went on with something else."""
    return CallFailedError("unreadable", f"{server} broke off its answer{f' ({quoted(reason)})' if reason else ''}")


def root_cause(error: BaseException) -> str:
    """What led to an error, in its own words: those that came of it only say that there was one, or say it longer."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return str(error) or type(error).__name__


def retry_after(headers: Mapping[str, str], body: str = "", now: float | None = None) -> float | None:
    """Seconds to wait, from `Retry-After` (in seconds or as a date), `retry-after-ms` or what `body` says of it.

    None if nothing tells. `now` is seconds since 1970.
    """
    folded = {name.casefold(): value for name, value in headers.items()}
    if (milliseconds := _number(folded.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    value = folded.get("retry-after", "").strip()
    if (seconds := _number(value)) is not None:
        return seconds
    import email.utils  # seldom needed, and slow to load

    try:
        moment = email.utils.parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return _wait_in(body)
    return max(0.0, moment - (time.time() if now is None else now))


def _wait_in(body: str) -> float | None:
    """Seconds, from words such as `try again in 1m26.4s` or a field such as `"retryDelay": "27s"`."""
    folded = body.casefold()
    if not (named := _AGAIN.search(folded)):
        return None
    seconds, place = 0.0, named.end()
    while part := _SPAN.match(folded, place):
        seconds += float(part[1]) * _SECONDS[part[2] or ""]
        place = part.end()
    return seconds if seconds < MOST_SECONDS else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < MOST_SECONDS else None


def looks_like_html(body: str) -> bool:
    return body.lstrip()[:200].casefold().startswith(("<!doctype html", "<html", "<head"))
