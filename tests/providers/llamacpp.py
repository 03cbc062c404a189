"""The embedded llama.cpp as an HTTP server on loopback: OpenAI's and Anthropic's APIs, for real."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from core.providers.embedded import weights_path

SLOTS = 2
"""Calls at once; they share the context."""

CONTEXT = 2048 * SLOTS


class LlamaCpp(Struct):
    """A server that runs. `url` has no path: OpenAI's API is below `/v1`, Anthropic's is at `/v1/messages`."""

    url: str
    key: str
    server: Any


def start(*, embeddings: bool = False) -> LlamaCpp:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights_path(""))
    params.n_ctx = CONTEXT
    params.n_parallel = SLOTS
    params.n_batch = params.n_ubatch = 512 if embeddings else 64
    # More threads than idle cores wait for each other at every layer.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.ctx_shift = False
    params.warmup = False
    params.verbosity = 0
    params.ui = False
    params.embedding = embeddings
    if embeddings:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    key = secrets.token_urlsafe(32)
    params.api_keys = [key]
    server = xllamacpp.Server(params)
    if embeddings:
        server.handle_embeddings({"input": " "})
    else:
        # A server freed before its loop has begun waits for itself for ever. Once it has answered, the loop has begun.
        server.handle_completions({"prompt": " ", "max_tokens": 1}, lambda _: True)
    return LlamaCpp(str(server.listening_address), key, server)


@pytest.fixture(scope="session")
def llamacpp_server() -> Iterator[LlamaCpp]:
    """For answers."""
    running = start()
    yield running
    running.server = None


@pytest.fixture(scope="session")
def llamacpp_embedding_server() -> Iterator[LlamaCpp]:
    """For vectors: a server does one or the other."""
    running = start(embeddings=True)
    yield running
    running.server = None
