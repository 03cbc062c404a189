"""A real HTTP server that answers as it is told, request by request, and remembers what it was sent."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, Self

from aiohttp import web
from msgspec import Struct

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Recorded(Struct):
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """`time.monotonic()` when it came."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class FaultServer:
    """`async with FaultServer() as server: server.say(handler, handler)`; each request takes the next handler.

    When none is left, `otherwise` answers.
    """

    def __init__(self, otherwise: Handler | None = None) -> None:
        self.requests: list[Recorded] = []
        self.otherwise = otherwise or status(599, "the test has no more answers")
        self._script: deque[Handler] = deque()
        self._routes: dict[str, Handler] = {}
        self._runner: web.AppRunner | None = None
        self.port = 0
        self.under_way = 0
        """Requests being answered now."""
        self.most_under_way = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def say(self, *handlers: Handler) -> None:
        self._script.extend(handlers)

    def route(self, path: str, handler: Handler) -> None:
        """Always answer requests to `path` so; these take nothing from the script and are recorded too."""
        self._routes[path] = handler

    def sent_to(self, path: str) -> list[Recorded]:
        return [request for request in self.requests if request.path == path]

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner
        await self._runner.cleanup()

    async def start(self) -> None:
        """Listen (again, on the same port)."""
        assert self._runner
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=2048)
        await site.start()
        self._site = site
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Be gone: connections are refused until `start`."""
        await self._site.stop()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(Recorded(request.method, request.path, headers, await request.read(), monotonic()))
        handler = self._routes.get(request.path) or (self._script.popleft() if self._script else self.otherwise)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await handler(request)
        finally:
            self.under_way -= 1


def status(code: int, body: str | Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Handler:
    """A whole answer of that status: JSON for a mapping, plain text (or HTML) for a string."""

    async def handle(_: web.Request) -> web.StreamResponse:
        if isinstance(body, str):
            kind = "text/html" if body.lstrip().startswith("<") else "text/plain"
            return web.Response(status=code, text=body, content_type=kind, headers=headers)
        return web.json_response(body, status=code, headers=headers)

    return handle


def html() -> Handler:
    """What a wrong base_url leads to."""
    return status(200, "<!DOCTYPE html><html><body><h1>It works!</h1></body></html>")


def reset() -> Handler:
    """The connection is reset before anything is answered."""

    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.transport
        request.transport.abort()
        await asyncio.sleep(10)
        return web.Response()

    return handle


def stream(
    pieces: list[bytes],
    *,
    content_type: str = "text/event-stream",
    then: str = "end",
    pause: float = 0.0,
    headers: Mapping[str, str] | None = None,
) -> Handler:
    """Bytes one after the other, `pause` seconds between them; `then` the stream ends, is `cut`, or will `stall`."""

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": content_type, **(headers or {})})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
            await asyncio.sleep(pause)
        if then == "stall":
            await asyncio.sleep(3600)
        if then == "cut":
            assert request.transport
            request.transport.abort()
            return response
        await response.write_eof()
        return response

    return handle


class Watched:
    """A handler that tells when it begins and when it ends."""

    def __init__(self, handler: Handler) -> None:
        self.began, self.ended = asyncio.Event(), asyncio.Event()
        self._handler = handler

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.began.set()
        try:
            return await self._handler(request)
        finally:
            self.ended.set()
