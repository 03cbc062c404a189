"""OpenAI, and every server that speaks its APIs: vLLM, llama.cpp, LM Studio, OpenRouter, Gemini's and DeepSeek's…"""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from core.errors import ModelUnavailableError
from core.keys import read_key
from core.models import CallFailedError, Chunk, EmbedderSpec, ModelSpec, Prompt, Sent, Served, Usage, Vectors
from core.providers import faults, openai_chat, openai_responses
from core.providers.addresses import host_of
from core.providers.openai_answer import Events, Json, convert, flat
from core.providers.openai_chat import ChatAnswer
from core.providers.openai_faults import Server
from core.providers.openai_responses import ResponsesAnswer
from core.providers.tokens import estimate_tokens
from core.text import clean, clean_line

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


class OpenAIProvider:
    """Chat completions and responses. Belongs to one event loop."""

    def __init__(self) -> None:
        self._clients: dict[tuple[Server, str], AsyncOpenAI] = {}
        self._opening = asyncio.Lock()

    async def prepare(self, spec: ModelSpec) -> None:
        """Looks at the address and the key; asks nobody. Raises `ModelUnavailableError` with what to do."""
        try:
            server = self._server(spec)
            await self._keys(server)
        except CallFailedError as error:
            raise ModelUnavailableError(str(error)) from None
        if not spec.model and server.own:
            raise ModelUnavailableError(f"{spec.name} has no `model`: name one as {server.name} calls it")

    def endpoint(self, spec: Served) -> str:
        return _name(_url(spec))

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Raises `CallFailedError`."""
        server = self._server(spec)
        client = await self._client(server, spec)
        from core.providers import openai_client as sdk

        call = _call(spec, prompt, random_seed, server)
        parameters = flat(call.request)
        yield Sent(parameters)
        answer = call.answer
        try:
            create = client.responses if call.responses else client.chat.completions
            keys = sdk.key_headers(await self._keys(server))
            raw = await create.with_raw_response.create(**call.request, extra_headers=keys)
            async with aclosing(sdk.events(raw, server)) as events:
                async for event in events:
                    for chunk in answer.read(event):
                        yield chunk
        except sdk.FAILURES as error:
            # What goes wrong after the end takes nothing away from the answer.
            if answer.reason is None:
                sent = {*parameters, *(message.role for message in prompt.messages if message.role == "system")}
                if failed := sdk.failure(error, server=server, model=spec.model, sent=sent):
                    raise failed from None
                answer.reason = "refused"
        if answer.reason is None:
            raise faults.broke_off(server.name)
        yield answer.finish()

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
        """One request; what the server could not put into numbers comes as NaN. Raises `CallFailedError`."""
        server = self._server(spec)
        client = await self._client(server, spec)
        from core.providers import openai_client as sdk

        request: Json = {"model": spec.model, "input": [clean(text) for text in texts], "encoding_format": "float"}
        # Of OpenAI's models only these can be asked for shorter vectors.
        if spec.dims and "text-embedding-3" in (spec.base_model or spec.model):
            request["dimensions"] = spec.dims
        try:
            keys = sdk.key_headers(await self._keys(server))
            raw = await client.embeddings.with_raw_response.create(**request, extra_headers=keys)
            given = sdk.content(raw, _Embeddings, server)
        except sdk.FAILURES as error:
            failed = sdk.failure(error, server=server, model=spec.model, sent=flat(request))
            raise failed or CallFailedError("request", f"A filter of {server.name} is against a text") from None
        return Vectors([row.numbers() for row in sorted(given.data, key=lambda row: row.index)], given.used(texts))

    async def models(self, spec: Served) -> list[str]:
        """The names of the models that the server lists. Raises `CallFailedError`."""
        server = self._server(spec)
        client = await self._client(server, spec)
        from core.providers import openai_client as sdk

        try:
            keys = sdk.key_headers(await self._keys(server))
            raw = await client.models.with_raw_response.list(extra_headers=keys)
            return [clean_line(model.id) for model in sdk.content(raw, _Models, server).data]
        except sdk.FAILURES as error:
            failed = sdk.failure(error, server=server, model=spec.model, sent=())
            raise failed or CallFailedError("request", f"{server.name} does not list its models") from None

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        from core.providers.prices import cost_of

        url = _url(spec)
        return cost_of("openai", spec.model, usage, "" if _is_openai(url) else url)

    async def close(self) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()

    def _server(self, spec: Served) -> Server:
        """Raises `CallFailedError` for an address that is none."""
        url = checked(_url(spec))
        openai = _is_openai(url)
        key = spec.api_key_env
        if not key and (openai or (not spec.base_url and read_key(KEY))):
            key = KEY
        todo = {"todo": "check the network"} if openai else {}
        return Server(url, _name(url), key, own=openai, responses=openai, trusted=openai or not spec.base_url, **todo)

    async def _keys(self, server: Server) -> dict[str, str]:
        """The headers that hold a key. Raises `CallFailedError`."""
        return {"Authorization": f"Bearer {key_in(server.key, server.name)}"} if server.key else {}

    async def _client(self, server: Server, spec: Served) -> "AsyncOpenAI":
        """Opened by whoever asks first, in a thread: it imports the SDK and reads certificates."""
        place = (server, spec.api_version)
        if place not in self._clients:
            async with self._opening:
                if place not in self._clients:
                    self._clients[place] = await asyncio.to_thread(self._open, server, spec)
        return self._clients[place]

    def _open(self, server: Server, spec: Served) -> "AsyncOpenAI":
        from core.providers.openai_client import open_client

        return open_client(server)


class _Call(Struct):
    """A request to one of the two APIs, and what will read its answer."""

    request: Json
    answer: Events
    responses: bool


def _call(spec: ModelSpec, prompt: Prompt, random_seed: int, server: Server) -> _Call:
    if spec.api == "responses" or (not spec.api and server.responses):
        return _Call(openai_responses.request(spec, prompt), ResponsesAnswer(prompt, spec.max_tokens), True)
    return _Call(openai_chat.request(spec, prompt, random_seed, own=server.own), ChatAnswer(prompt), False)


def key_in(variable: str, server: str) -> str:
    """The key that an environment variable holds. Raises `CallFailedError` if there is none."""
    key = read_key(variable)
    if not key:
        raise CallFailedError("denied", f"{variable} is not set: it has to hold the key for {server}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise CallFailedError("denied", f"{variable} holds no key: there are characters in it that no key has")
    return key


def checked(url: str) -> str:
    """`url`, if something can be sent there. Raises `CallFailedError`."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise CallFailedError("address", f"base_url {faults.quoted(url)} is no address: it begins with http(s)://")
    return url


def _url(spec: Served) -> str:
    return spec.base_url.strip() or os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI


def _is_openai(url: str) -> bool:
    host = host_of(url)
    return url.startswith("https://") and (host == "api.openai.com" or host.endswith(".api.openai.com"))


def _name(url: str) -> str:
    return "OpenAI" if _is_openai(url) else name_of(url)


def name_of(url: str) -> str:
    """A server as a person knows it: host and port."""
    return faults.quoted(url.partition("://")[2].partition("/")[0].rpartition("@")[2] or url)


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


class _Listed(Struct):
    id: str


class _Models(Struct):
    data: list[_Listed]
