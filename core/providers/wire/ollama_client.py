"""Ollama's SDK as it is used here, and what its errors mean. Imports the SDK: import this where it is first used."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import ollama

from core.models import CallFailedError, Served
from core.providers import faults
from core.providers.access import CONNECT_SECONDS, TOO_LATE, Access
from core.providers.addresses import goes_direct
from core.providers.ollama_host import pull_name
from core.text import clean_line

_CONTEXT = ("exceed_context_size", "available context size", "context length")
_PARAMETER = re.compile(r"field (?:Chat|Embed)Request\.(?:options\.)?(\w+)|option \"(\w+)\"")


class StatusError(Exception):
    """A response that is an error, or a web page."""

    def __init__(self, status: int, body: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.headers = headers


class Client(ollama.AsyncClient):
    """One server. Its errors keep the status, the headers and the words of the server."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__(
            url,
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            event_hooks={"response": [_check]},
            trust_env=not goes_direct(url),
        )
        # The SDK gives $OLLAMA_API_KEY to every server that it talks to.
        self._client.headers.pop("authorization", None)
        if key:
            self._client.headers["authorization"] = f"Bearer {key}"

    async def lines(self, path: str, request: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """The lines of a streamed answer, as they come.

        The SDK's own `chat` takes no `truncate` and no `shift`, and mends broken text in silence.
        """
        rest = b""
        async with self._client.stream("POST", path, json=request) as response:
            async for piece in response.aiter_bytes():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    if line.strip():
                        yield line
        if rest.strip():
            yield rest

    async def close(self) -> None:
        await self._client.aclose()

    async def version(self) -> str:
        response = await self._client.get("/api/version")
        return str(response.json().get("version", ""))


async def _check(response: httpx.Response) -> None:
    if response.is_error or "text/html" in response.headers.get("content-type", ""):
        await response.aread()
        raise StatusError(response.status_code, response.text, response.headers)


@contextmanager
def explained(
    access: Access, spec: Served, *, answering: Callable[[], bool] = lambda: False
) -> Generator[None, None, None]:
    """Errors of the SDK inside become `CallFailedError`s; `answering` tells whether an answer has begun by then."""
    try:
        yield
    except StatusError as error:
        raise failure(error.status, error.body, access, spec, error.headers) from None
    except ollama.ResponseError as error:
        raise failure(error.status_code, error.error, access, spec, {}) from None
    except httpx.ConnectTimeout:
        raise faults.no_connection(access.name, TOO_LATE, access.todo) from None
    except (TimeoutError, httpx.TimeoutException):
        raise faults.too_slow(access.name) from None
    except (ConnectionError, httpx.ConnectError, httpx.ProxyError) as error:
        # The SDK's own words for it leave the reason out.
        raise faults.no_connection(access.name, error.__context__ or error, access.todo) from None
    except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
        raise CallFailedError("address", f"{access.name} can't be asked ({faults.quoted(error)})") from None
    except httpx.HTTPError as error:
        reason = error if str(error) else "the connection was lost"
        if answering():
            raise faults.broke_off(access.name, reason) from None
        raise faults.no_connection(access.name, reason, access.todo) from None
    except (ValueError, TypeError, AttributeError):
        # JSON that is none, or is not of the agreed form.
        raise faults.broke_off(access.name, "what came is not what Ollama sends") from None


def failure(status: int, body: str, access: Access, spec: Served, headers: Mapping[str, str]) -> CallFailedError:
    """What an error means. A `status` below 100 is inside an answer."""
    said = _said(body)
    folded = said.casefold()
    words = f": {faults.quoted(said)}" if said.strip() else ""
    model = clean_line(spec.model, 200)
    if faults.is_filtered(status, body):
        return faults.FilteredError(access.name)
    if any(mark in folded for mark in _CONTEXT):
        return CallFailedError("context", f"The prompt is too long for {model} at {access.name}{words}")
    if "file does not exist" in folded:
        return CallFailedError("missing", f"Ollama's library has no model {model}: ollama.com/library lists them")
    if status < 100:
        return CallFailedError("server", f"{access.name} failed{words}")
    if status < 500 and (faults.looks_like_html(body) or (status in (200, 404, 405) and said == body)):
        return faults.wrong_address(access.name, "Ollama", access.hint)
    if status == 404 and "model" in folded:
        todo = f"`jagstorm models pull {pull_name(spec.model, spec.base_url)}`"
        return CallFailedError("missing", f"{access.name} has no model {model}: {todo}")
    if "does not support chat" in folded or "support embeddings" in folded:
        return CallFailedError("missing", f"{model} at {access.name} is a model of another kind{words}")
    return faults.from_status(
        status,
        said or body,
        server=access.name,
        model=model,
        key=access.variable,
        headers=headers,
        parameter=_parameter(said) if status in (400, 422) else "",
    )


def _said(body: str) -> str:
    """The words of an error; llama.cpp's own come as JSON inside Ollama's."""
    try:
        said = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError):
        return body
    if isinstance(said, dict):
        return str(said.get("message") or said)
    return _said(said) if isinstance(said, str) and said.startswith("{") else str(said)


def _parameter(said: str) -> str:
    """The parameter that an error names as its reason."""
    if "thinking" in said or "think value" in said:
        return "think"
    if found := _PARAMETER.search(said):
        return found[1] or found[2]
    return "format" if "invalid format" in said or "JSON schema in format" in said else ""
