"""OpenAI, and every server that speaks its APIs: vLLM, llama.cpp, LM Studio, OpenRouter, Gemini's and DeepSeek's…"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from msgspec import Struct

from core.errors import ModelUnavailableError
from core.models import CallFailedError, Chunk, EmbedderSpec, ModelSpec, Prompt, Sent, Served, Usage, Vectors
from core.providers import faults
from core.providers.access import Access, access_to, key_in, server_name
from core.providers.prices import cost_of
from core.providers.tokens import estimate_tokens
from core.providers.wire import openai_chat, openai_responses
from core.providers.wire.openai_answer import Events, convert
from core.providers.wire.openai_chat import ChatAnswer
from core.providers.wire.openai_responses import ResponsesAnswer
from core.providers.wire.parameters import Json, flat
from core.text import clean

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIProvider:
    """Chat completions and responses. Belongs to one event loop."""

    def __init__(self) -> None:
        self._clients: dict[tuple[Access, str], AsyncOpenAI] = {}
        self._opening = asyncio.Lock()

    async def prepare(self, spec: Served) -> None:
        """Looks at the address and the key; asks nobody. Raises `ModelUnavailableError` with what to do."""
        try:
            access = access_to(spec)
            await self._keys(access)
        except CallFailedError as error:
            raise ModelUnavailableError(str(error)) from None
        if not spec.model and access.own:
            raise ModelUnavailableError(f"{spec.name} has no `model`: name one as {access.name} calls it")

    def endpoint(self, spec: Served) -> str:
        return server_name(spec)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Raises `CallFailedError`."""
        access = access_to(spec)
        client = await self._client(access, spec)
        from core.providers.wire import openai_client as sdk

        call = _call(spec, prompt, random_seed, access)
        parameters = flat(call.request)
        yield Sent(parameters)
        answer = call.answer
        try:
            create = client.responses if call.responses else client.chat.completions
            keys = sdk.key_headers(await self._keys(access))
            raw = await create.with_raw_response.create(**call.request, extra_headers=keys)
            async with aclosing(sdk.events(raw, access)) as events:
                async for event in events:
                    for chunk in answer.read(event):
                        yield chunk
        except sdk.FAILURES as error:
            # What goes wrong after the end takes nothing away from the answer.
            if answer.reason is None:
                sent = {*parameters, *(message.role for message in prompt.messages if message.role == "system")}
                failed = sdk.failure(error, access=access, model=spec.model, sent=sent)
                if not isinstance(failed, faults.FilteredError):
                    raise failed from None
                answer.reason = "refused"
        if answer.reason is None:
            raise faults.broke_off(access.name)
        yield answer.finish()

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
        """One request; what the server could not put into numbers comes as NaN. Raises `CallFailedError`."""
        access = access_to(spec)
        client = await self._client(access, spec)
        from core.providers.wire import openai_client as sdk

        request: Json = {"model": spec.model, "input": [clean(text) for text in texts], "encoding_format": "float"}
        # Of OpenAI's models only these can be asked for shorter vectors.
        if spec.dims and "text-embedding-3" in (spec.base_model or spec.model):
            request["dimensions"] = spec.dims
        request = {name: value for name, value in request.items() if name not in spec.refuses}
        try:
            keys = sdk.key_headers(await self._keys(access))
            raw = await client.embeddings.with_raw_response.create(**request, extra_headers=keys)
            given = sdk.content(raw, _Embeddings, access)
        except sdk.FAILURES as error:
            raise sdk.failure(error, access=access, model=spec.model, sent=flat(request)) from None
        return Vectors([row.numbers() for row in sorted(given.data, key=lambda row: row.index)], given.used(texts))

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return cost_of(spec, usage)

    async def close(self) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()

    async def _keys(self, access: Access) -> dict[str, str]:
        """The headers that hold a key. Raises `CallFailedError`."""
        return {"Authorization": f"Bearer {key_in(access.variable, access.name)}"} if access.variable else {}

    async def _client(self, access: Access, spec: Served) -> "AsyncOpenAI":
        """Opened by whoever asks first, in a thread: it imports the SDK and reads certificates."""
        place = (access, spec.api_version)
        if place not in self._clients:
            async with self._opening:
                if place not in self._clients:
                    self._clients[place] = await asyncio.to_thread(self._open, access, spec)
        return self._clients[place]

    def _open(self, access: Access, spec: Served) -> "AsyncOpenAI":
        from core.providers.wire.openai_client import open_client

        return open_client(access)


class _Call(Struct):
    """A request to one of the two APIs, and what will read its answer."""

    request: Json
    answer: Events
    responses: bool


def _call(spec: ModelSpec, prompt: Prompt, random_seed: int, access: Access) -> _Call:
    if spec.api == "responses" or (not spec.api and spec.provider == "openai" and access.own):
        return _Call(openai_responses.request(spec, prompt), ResponsesAnswer(prompt, spec.max_tokens), True)
    return _Call(openai_chat.request(spec, prompt, random_seed, own=access.own), ChatAnswer(prompt), False)


class _Row(Struct):
    embedding: list[float | None]
    index: int = 0

    def numbers(self) -> list[float]:
        """llama.cpp writes null for what is not a number."""
        return [float("nan") if number is None else number for number in self.embedding]


class _EmbeddingUsage(Struct):
    prompt_tokens: int


class _Embeddings(Struct):
    data: list[_Row]
    usage: object = None

    def used(self, texts: Sequence[str]) -> Usage:
        if usage := convert(self.usage, _EmbeddingUsage):
            return Usage(input_tokens=usage.prompt_tokens)
        return Usage(input_tokens=sum(map(estimate_tokens, texts)), estimated=True)
