"""Models that Ollama serves, on this machine or others, through its own API."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct

from core.errors import ModelUnavailableError, NotPulledError
from core.keys import read_key
from core.models import (
    CallFailedError,
    Chunk,
    EmbedderSpec,
    Finish,
    ModelSpec,
    Prompt,
    Sent,
    Served,
    Usage,
    Vectors,
)
from core.providers import faults
from core.providers.ollama_chat import KEEP_ALIVE, Answer, Part, build_request, parameters
from core.providers.ollama_host import OWN_KEY, is_own, pull_name, server_url
from core.providers.prices import cost_of
from core.providers.progress import Progress
from core.providers.tokens import estimate_tokens
from core.text import clean, clean_line

if TYPE_CHECKING:
    from core.providers.ollama_client import Client, Server

FREE_CALL_SECONDS = 5.0
"""For what a server answers at once."""

REFUSES_TO_CUT = (0, 12, 6)
"""The first version of Ollama that obeys `truncate: false`. Older ones leave the beginning of a long prompt out."""


class OllamaModel(Struct, frozen=True, kw_only=True):
    """What a server says of one of its models."""

    context: int | None
    """The longest context that it was trained for, in tokens."""
    capabilities: tuple[str, ...]
    """Such as `completion`, `thinking`, `embedding`."""
    size: str
    quantization: str


class _Serving(Struct, frozen=True):
    """How a server serves a model."""

    context: int | None
    """In tokens; None if it doesn't say."""
    refuses_to_cut: bool


class OllamaProvider:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str], Client] = {}
        """By address and the variable that holds the key."""
        self._serving: dict[tuple[str, str, int], _Serving] = {}
        """By address, model and the context that was asked for."""

    def endpoint(self, spec: Served) -> str:
        try:
            return _words(server_url(spec.base_url))
        except ValueError:
            return "Ollama"

    async def prepare(self, spec: ModelSpec) -> None:
        """The server answers and has the model. Raises `ModelUnavailableError` with what to do."""
        if not spec.model:
            raise ModelUnavailableError(f"Which of Ollama's models is {clean_line(spec.name)}? Name it with `model`")
        try:
            found = await self.details(spec)
        except CallFailedError as error:
            if error.kind == "unreadable":
                return  # it answers and knows the model; old versions say less of it
            if error.kind == "missing":
                raise NotPulledError(str(error), pull_name(spec.model, spec.base_url)) from None
            raise ModelUnavailableError(str(error)) from None
        if found.capabilities and "completion" not in found.capabilities:
            raise ModelUnavailableError(
                f"{clean_line(spec.model)} at {self.endpoint(spec)} writes no text: it is for "
                + clean_line(", ".join(found.capabilities), 100)
            )

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Raises `CallFailedError`: of kind `context` too for the answer to a prompt that the server has cut."""
        client, server = await self._client(spec)
        from core.providers.ollama_client import StatusError, explained

        request = build_request(spec, prompt, random_seed)
        yield Sent(parameters(request))
        answer = Answer(prompt)
        try:
            with explained(server, answering=lambda: answer.last is not None):
                async with aclosing(client.lines("/api/chat", request)) as lines:
                    async for line in lines:
                        part = msgspec.json.decode(line, type=Part)
                        if part.error:
                            raise StatusError(part.status or 0, str(part.error), {})
                        for chunk in answer.take(part):
                            yield chunk
        except CallFailedError as error:
            if error.kind is not None:
                raise
            yield Finish("refused", Usage())
            return
        finish = answer.finish(server.words)
        await self._check_whole(client, server, spec, answer)
        yield finish

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        """Estimated: Ollama counts tokens only of what it answers."""
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        try:
            url = server_url(spec.base_url)
        except ValueError:
            url = spec.base_url
        return cost_of("ollama", spec.model, usage, url)

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
        """One request; a text that is too long is an error, never a shortened text. Raises `CallFailedError`."""
        client, server = await self._client(spec)
        from core.providers.ollama_client import explained

        began = monotonic()
        with explained(server):
            response = await client.embed(
                spec.model,
                [clean(text) for text in texts],
                truncate=False,
                dimensions=spec.dims,
                options={"num_ctx": spec.longest},
                keep_alive=KEEP_ALIVE,
            )
        counted = response.prompt_eval_count
        return Vectors(
            rows=[list(row) for row in response.embeddings],
            usage=Usage(
                input_tokens=sum(map(estimate_tokens, texts)) if counted is None else counted,
                seconds=monotonic() - began,
                estimated=counted is None,
            ),
        )

    async def models(self, spec: Served) -> list[str]:
        """The names of the models that the server has. Raises `CallFailedError`."""
        client, server = await self._client(spec)
        from core.providers.ollama_client import explained

        with explained(server):
            async with asyncio.timeout(FREE_CALL_SECONDS):
                listed = await client.list()
        return [clean_line(row.model, 200) for row in listed.models if row.model]

    async def details(self, spec: Served) -> OllamaModel:
        """What the server says of a model. Raises `CallFailedError`."""
        client, server = await self._client(spec)
        from core.providers.ollama_client import explained

        with explained(server):
            async with asyncio.timeout(FREE_CALL_SECONDS):
                shown = await client.show(spec.model)
        lengths = [
            value
            for name, value in (shown.modelinfo or {}).items()
            if name.endswith(".context_length") and isinstance(value, int)
        ]
        return OllamaModel(
            context=max(lengths, default=None),
            capabilities=tuple(clean_line(name, 40) for name in shown.capabilities or ()),
            size=clean_line((shown.details and shown.details.parameter_size) or "", 40),
            quantization=clean_line((shown.details and shown.details.quantization_level) or "", 40),
        )

    async def pull(self, base_url: str, name: str) -> AsyncGenerator[Progress, None]:
        """Let the server fetch a model; what it has fetched already stays there. Raises `CallFailedError`."""
        client, server = await self._client(Served(name=name, provider="ollama", model=name, base_url=base_url))
        from core.providers.ollama_client import explained

        layers: dict[str, tuple[int, int]] = {}
        status = ""
        with explained(server, answering=lambda: bool(status)):
            parts = cast("AsyncGenerator[Any, None]", await client.pull(name, stream=True))
            async with aclosing(parts):
                async for part in parts:
                    status = clean_line(part.status or "", 100)
                    if part.digest and part.total:
                        layers[part.digest] = (part.completed or 0, part.total)
                    done, total = (sum(numbers) for numbers in zip(*layers.values(), strict=True)) if layers else (0, 0)
                    yield Progress("pulling" if part.digest else status, done, total)
        if status != "success":
            raise faults.broke_off(server.words)

    async def close(self) -> None:
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def _client(self, spec: Served) -> "tuple[Client, Server]":
        """Raises `CallFailedError`: `address` or, where a key is needed and there is none, `denied`."""
        try:
            url = server_url(spec.base_url)
        except ValueError as error:
            written = faults.quoted(spec.base_url) or "$OLLAMA_HOST"
            raise CallFailedError("address", f"{written} is no address of an Ollama server: {error}") from None
        variable = spec.api_key_env or (OWN_KEY if is_own(url) else "")
        key = read_key(variable) if variable else ""
        if variable and not key:
            raise CallFailedError("denied", f"{_words(url)} needs a key: put it into the variable {variable}")
        client = self._clients.get((url, variable))
        if client is None:
            made = await asyncio.to_thread(_connect, url, key)
            client = self._clients.setdefault((url, variable), made)
            if client is not made:
                await made.close()
        from core.providers.ollama_client import Server

        pulling = pull_name(spec.model, spec.base_url)
        return client, Server(_words(url), clean_line(spec.model, 200), variable, pulling)

    async def _check_whole(self, client: "Client", server: "Server", spec: ModelSpec, answer: "Answer") -> None:
        """Raises `CallFailedError` of kind `context` if the model may not have seen the whole prompt to the end."""
        serving = await self._how_served(client, server, spec)
        window = serving.context or spec.context
        if not answer.may_be_to_a_cut_prompt(window, refuses_to_cut=serving.refuses_to_cut):
            return
        if window < spec.context:
            todo = f"set this model's context to {window}, or let the server give it more (OLLAMA_CONTEXT_LENGTH)"
        else:
            todo = f"give this model a larger context than {window}"
        raise CallFailedError(
            "context",
            f"{server.words} cut the prompt (about {answer.asked} tokens) to the {window} for prompt and answer that "
            f"it serves {server.model} with, so the answer does not count: {todo}",
        )

    async def _how_served(self, client: "Client", server: "Server", spec: ModelSpec) -> _Serving:
        """Asked for after the first answer, when the model is loaded. If the server won't say, nothing is assumed."""
        place = (server.words, spec.model, spec.context)
        if place not in self._serving:
            from core.providers.ollama_client import explained

            try:
                with explained(server):
                    async with asyncio.timeout(FREE_CALL_SECONDS):
                        version = await client.version()
                        loaded = (await client.ps()).models
            except CallFailedError:
                return _Serving(context=None, refuses_to_cut=False)
            contexts = [row.context_length for row in loaded if _full_name(row.model or "") == _full_name(spec.model)]
            self._serving[place] = _Serving(next(iter(contexts), None), _number(version) >= REFUSES_TO_CUT)
        return self._serving[place]


def _connect(url: str, key: str) -> "Client":
    """Imports the SDK, and reads certificates: half a second, in a thread."""
    from core.providers.ollama_client import Client

    return Client(url, key)


def _words(url: str) -> str:
    """What a person calls the server."""
    return "Ollama on " + url.split("://", 1)[1].removesuffix(":443")


def _full_name(model: str) -> str:
    """`llama3` and `llama3:latest` are one model."""
    name = model.casefold()
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def _number(version: str) -> tuple[int, ...]:
    """Of `0.12.6-rc1` 0, 12 and 6."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)
