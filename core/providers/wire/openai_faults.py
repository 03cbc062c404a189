"""What the many servers that speak OpenAI's APIs mean by an error. The wordings are theirs, and so are the codes."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from core.models import CallFailedError
from core.providers import faults
from core.providers.access import Access


class Said(Struct, frozen=True):
    """An error as a server put it."""

    message: str
    code: str = ""
    parameter: str = ""

    @property
    def words(self) -> str:
        """Its message, with its code where that is a word."""
        word = self.code and not self.code.isdecimal() and self.code not in self.message
        return f"{self.message} ({self.code})" if word else self.message


_STATUS = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "insufficient_quota": 429,
    "context_length_exceeded": 400,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "invalid_api_key": 401,
    "overloaded": 503,
    "overloaded_error": 503,
}
"""What the codes of errors in the midst of a stream would be as a status; all others are the server's fault."""

_REFUSED_CODES = {"content_filter", "content_policy_violation", "invalid_prompt", "cyber_policy_violation"}

_OUT_OF_RANGE = re.compile(
    r"too (?:large|long|small|high|low)|at (?:most|least)|m(?:ax|in)imum|(?:less|greater) than|between|range"
)
_UNTAKEN = re.compile(
    r"(?:not?|n't) .{0,20}support|not (?:permitted|allowed|enabled|compatible|available)|forbidden"
    r"|unsupported|unavailable|incompatible|unknown|unrecogni[sz]ed|unexpected|deprecated"
    r"|cannot find|input should be|must alternate"
)
_SYSTEM = re.compile(
    r"system[ _]?(?:role|message|prompt|instruction)|role[^.]{0,60}'system'|'system'[^.]{0,40}role|roles must alternate"
    r"|developer instruction|does not support 'system'"
)
_NO_MODEL = re.compile(r"not a valid model|invalid[ _]model|model_not_found|model.{0,80}(?:not found|does not exist)")
_WORD = re.compile(r"""(['"`]?)([A-Za-z][\w.]*)(['"`]?)""")


def said_by(body: object) -> Said:
    """An error's body, decoded, in any of the shapes that are about."""
    if isinstance(body, list) and body:  # Gemini's
        body = body[0]
    if isinstance(body, dict) and isinstance(inner := body.get("error"), dict | str):
        body = inner
    if not isinstance(body, dict):
        return Said(str(body or ""))
    message = str(body.get("message") or body.get("detail") or body)
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # OpenRouter's, for what the server behind it said
        message = f"{message}: {metadata['raw']}"
    return Said(message, _text(body.get("code") or body.get("type")), _text(body.get("param")))


def from_response(
    status: int,
    text: str,
    said: Said,
    headers: Mapping[str, str],
    *,
    access: Access,
    model: str,
    sent: Collection[str],
) -> CallFailedError:
    """The failure that a response means.

    `text` is the whole body, `sent` are the names of the parameters that were sent, with `system` for such a message.
    """
    folded = said.words.casefold()
    if status in range(300, 400):
        elsewhere = faults.quoted(headers.get("location", "elsewhere"))
        return CallFailedError("address", f"{access.name} sends requests on to {elsewhere}: put that into base_url")
    if is_refusal(status, text, said):
        return faults.FilteredError(access.name)
    if status in (404, 405) and not _is_about_model(folded, model):
        words = f" ({faults.quoted(said.message)})" if said.message and "<" not in said.message else ""
        return CallFailedError("address", f"{access.name} has no such path{words}: {access.hint}")
    if status == 501:  # llama.cpp's, for what it was not started for
        return CallFailedError("request", f"{access.name} can't do this: {faults.quoted(said.message)}")
    if status == 400 and "api key" in folded:  # Gemini's and xAI's
        status = 401
    if status == 400 and _NO_MODEL.search(folded):  # OpenRouter's and Mistral's
        status = 404
    parameter = refused_parameter(said, sent) if status in (400, 422) else ""
    # The page of a proxy tells nothing.
    words = "" if status >= 500 and faults.looks_like_html(said.message) else said.words
    return faults.from_status(
        status,
        words,
        server=access.name,
        model=model,
        key=access.variable,
        headers=headers,
        parameter=parameter,
        whole=text,
    )


def from_stream(said: Said, *, access: Access, model: str, sent: Collection[str]) -> CallFailedError:
    """The same for an error that came in the midst of a stream."""
    status = int(said.code) if said.code.isdecimal() and len(said.code) == 3 else _STATUS.get(said.code, 500)
    if status < 400:
        status = 500
    return from_response(status, said.words, said, {}, access=access, model=model, sent=sent)


def is_refusal(status: int, text: str, said: Said) -> bool:
    """Whether an error is a content filter's, of whichever house."""
    if said.code in _REFUSED_CODES or faults.is_filtered(status, text):
        return True
    return status in (400, 403) and any(words in text.casefold() for words in ("was flagged", "usage policy"))


def refused_parameter(said: Said, sent: Collection[str]) -> str:
    """Which of the parameters that were sent the server does not take; "" if the error is about something else."""
    words = said.message.casefold()
    if "context" in words and "length" in words:
        return ""
    untaken = _UNTAKEN.search(words)
    if untaken and "system" in sent and _SYSTEM.search(words):
        return "system"
    if _OUT_OF_RANGE.search(words):
        return ""
    if said.parameter and (named := _named(said.parameter, sent, quoted=True)):
        return named
    if not untaken:
        return ""
    names = (_named(name, sent, quoted=bool(before and after)) for before, name, after in _WORD.findall(said.message))
    return next(filter(None, names), "")


def _named(word: str, sent: Iterable[str], *, quoted: bool) -> str:
    """The parameter of `sent` that a server calls `word`: in full, by its first part or in the other spelling.

    A first part that is an ordinary word, such as `reasoning` or `text`, counts only if it is quoted.
    """
    asked = _plain(word)
    for name in sent:
        root = name.split(".", 1)[0]
        if asked in (_plain(name), _plain(f"body.{name}")) or (asked == _plain(root) and (quoted or "_" in root)):
            return name
        if quoted and (word.startswith(f"{name}.") or name.startswith(f"{word}.")):
            return name
    return ""


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _is_about_model(folded: str, model: str) -> bool:
    """Whether a 404's body speaks of a model, and not of a path."""
    if "invalid url" in folded:
        return False
    named = len(model) > 3 and model.casefold() in folded
    return named or any(word in folded for word in ("model", "deployment", "no endpoints"))


def _text(value: Any) -> str:
    return "" if value is None else str(value)
