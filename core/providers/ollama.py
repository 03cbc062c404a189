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
from core.models import CallFailedError, Chunk, EmbedderSpec, Finish, ModelSpec, Prompt, Sent, Served, Usage, Vectors
from core.providers import faults
from core.providers.access import Access, access_to, key_in, server_name
from core.providers.ollama_host import pull_name
from core.providers.prices import cost_of
from core.providers.progress import Progress
from core.providers.tokens import estimate_tokens
from core.providers.wire.ollama_chat import KEEP_ALIVE, ChatAnswer, Part, build_request, parameters
from core.text import clean, clean_line

if TYPE_CHECKING:
    from core.providers.wire.ollama_client import Client

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
        self._clients: dict[Access, Client] = {}
        self._serving: dict[tuple[str, str, int], _Serving] = {}
        """By address, model and the context that was asked for."""

    def endpoint(self, spec: Served) -> str:
        return server_name(spec)

    async def prepare(self, spec: ModelSpec | EmbedderSpec) -> None:
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
        wanted, does = (
            ("embedding", "makes no vectors") if isinstance(spec, EmbedderSpec) else ("completion", "writes no text")
        )
        if found.capabilities and wanted not in found.capabilities:
            raise ModelUnavailableError(
                f"{clean_line(spec.model)} at {self.endpoint(spec)} {does}: it is for "
                + clean_line(", ".join(found.capabilities), 100)
            )

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Raises `CallFailedError`: of kind `context` too for the answer to a prompt that the server has cut."""
        access = access_to(spec)
        client = await self._client(access)
        from core.providers.wire.ollama_client import StatusError, explained

        request = build_request(spec, prompt, random_seed)
        yield Sent(parameters(request))
        answer = ChatAnswer(prompt)
        try:
            with explained(access, spec, answering=lambda: answer.last is not None):
                async with aclosing(client.lines("/api/chat", request)) as lines:
                    async for line in lines:
                        part = msgspec.json.decode(line, type=Part)
                        if part.error:
                            raise StatusError(part.status or 0, str(part.error), {})
                        for chunk in answer.take(part):
                            yield chunk
        except faults.FilteredError:
            yield Finish("refused", Usage())
            return
        finish = answer.end(access.name)
        await self._check_whole(client, access, spec, answer)
        yield finish

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        """Estimated: Ollama counts tokens only of what it answers."""
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return cost_of(spec, usage)

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
        """One request; a text that is too long is an error, never a shortened text. Raises `CallFailedError`."""
        access = access_to(spec)
        client = await self._client(access)
        from core.providers.wire.ollama_client import explained

        began = monotonic()
        with explained(access, spec):
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

    async def details(self, spec: Served) -> OllamaModel:
        """What the server says of a model. Raises `CallFailedError`."""
        access = access_to(spec)
        client = await self._client(access)
        from core.providers.wire.ollama_client import explained

        with explained(access, spec):
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
        spec = Served(name=name, provider="ollama", model=name, base_url=base_url)
        access = access_to(spec)
        client = await self._client(access)
        from core.providers.wire.ollama_client import explained

        layers: dict[str, tuple[int, int]] = {}
        status = ""
        with explained(access, spec, answering=lambda: bool(status)):
            parts = cast("AsyncGenerator[Any, None]", await client.pull(name, stream=True))
            async with aclosing(parts):
                async for part in parts:
                    status = clean_line(part.status or "", 100)
                    if part.digest and part.total:
                        layers[part.digest] = (part.completed or 0, part.total)
                    done, total = (sum(numbers) for numbers in zip(*layers.values(), strict=True)) if layers else (0, 0)
                    yield Progress("pulling" if part.digest else status, done, total)
        if status != "success":
            raise faults.broke_off(access.name)

    async def close(self) -> None:
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def _client(self, access: Access) -> "Client":
        """Raises `CallFailedError` of kind `denied` where a key is needed and there is none."""
        key = key_in(access.variable, access.name) if access.variable else ""
        client = self._clients.get(access)
        if client is None:
            made = await asyncio.to_thread(_connect, access.url, key)
            client = self._clients.setdefault(access, made)
            if client is not made:
                await made.close()
        return client

    async def _check_whole(self, client: "Client", access: Access, spec: ModelSpec, answer: ChatAnswer) -> None:
        """Raises `CallFailedError` of kind `context` if the model may not have seen the whole prompt to the end."""

        def is_cut(serving: _Serving) -> bool:
            window = serving.context or spec.context
            return answer.may_be_to_a_cut_prompt(window, refuses_to_cut=serving.refuses_to_cut)

        place = (access.url, spec.model, spec.context)
        serving = None if answer.loaded_anew or answer.is_counted_oddly else self._serving.get(place)
        # What was so earlier condemns no answer: somebody may have had the model loaded in another way meanwhile.
        if serving is None or is_cut(serving):
            serving = self._serving[place] = await _how_served(client, access, spec)
            if serving.context is None:
                del self._serving[place]
        if not is_cut(serving):
            return
        window = serving.context or spec.context
        if window < spec.context:
            todo = f"set this model's context to {window}, or let the server give it more (OLLAMA_CONTEXT_LENGTH)"
        else:
            todo = f"give this model a larger context than {window}"
        raise CallFailedError(
            "context",
            f"{access.name} cut the prompt (about {answer.asked} tokens) to the {window} for prompt and answer that "
            f"it serves {clean_line(spec.model, 200)} with, so the answer does not count: {todo}",
        )


async def _how_served(client: "Client", access: Access, spec: ModelSpec) -> _Serving:
    """Asked for after an answer, when the model is loaded. If the server won't say, nothing is assumed."""
    from core.providers.wire.ollama_client import explained

    try:
        with explained(access, spec):
            async with asyncio.timeout(FREE_CALL_SECONDS):
                version = await client.version()
                loaded = (await client.ps()).models
    except CallFailedError:
        return _Serving(context=None, refuses_to_cut=False)
    contexts = [row.context_length for row in loaded if _full_name(row.model or "") == _full_name(spec.model)]
    return _Serving(next(iter(contexts), None), _number(version) >= REFUSES_TO_CUT)


def _connect(url: str, key: str) -> "Client":
    """Imports the SDK, and reads certificates: half a second, in a thread."""
    from core.providers.wire.ollama_client import Client

    return Client(url, key)


def _full_name(model: str) -> str:
    """`llama3` and `llama3:latest` are one model."""
    name = model.casefold()
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def _number(version: str) -> tuple[int, ...]:
    """Of `0.12.6-rc1` 0, 12 and 6."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)
