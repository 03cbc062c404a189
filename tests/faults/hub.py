"""A model hub on loopback: the few routes that looking up and fetching a file takes."""

import hashlib
from typing import Any

from aiohttp import web

from tests.faults.server import FaultServer, Handler, status

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def gguf(size: int = 300_000, seed: int = 0) -> bytes:
    """What begins as a GGUF file does, and is different for each seed."""
    block = hashlib.sha256(str(seed).encode()).digest()
    return (b"GGUF" + block * (size // len(block) + 1))[:size]


class Hub:
    """Repositories at a `FaultServer`."""

    def __init__(self, server: FaultServer) -> None:
        self.server = server
        self._files: dict[str, list[dict[str, Any]]] = {}

    def add(self, repository: str, file: str, content: bytes, *, sha256: str = "", cut_at: int | None = None) -> str:
        """Have a file; `sha256` is what the hub claims. Gives the path at which it is fetched."""
        digest = sha256 or hashlib.sha256(content).hexdigest()
        entry = {
            "rfilename": file,
            "size": len(content),
            "lfs": {"size": len(content), "sha256": digest, "pointerSize": 134},
        }
        files = self._files.setdefault(repository, [])
        files[:] = [*(other for other in files if other["rfilename"] != file), entry]
        self.server.route(f"/api/models/{repository}", _described(repository, files))
        path = f"/{repository}/resolve/{COMMIT}/{file}"
        self.server.route(path, content_of(content, digest, cut_at=cut_at))
        return path


def refused(code: int, error: str, message: str = "No.") -> Handler:
    """As the hub refuses: `error` is `GatedRepo`, `RepoNotFound`, `EntryNotFound` or nothing."""
    return status(code, {"error": message}, {"X-Error-Message": message, **({"X-Error-Code": error} if error else {})})


def content_of(content: bytes, digest: str, *, cut_at: int | None = None, ranges: bool = True) -> Handler:
    """A file's bytes, from where they are asked for; with `cut_at` the connection breaks after so many."""

    async def handle(request: web.Request) -> web.StreamResponse:
        asked = request.http_range.start or 0 if ranges else 0
        rest = content[asked:]
        response = web.StreamResponse(
            status=206 if asked else 200,
            headers={
                "ETag": f'"{digest}"',
                "X-Linked-Etag": f'"{digest}"',
                "X-Linked-Size": str(len(content)),
                "X-Repo-Commit": COMMIT,
                "Content-Type": "application/octet-stream",
                **({"Content-Range": f"bytes {asked}-{len(content) - 1}/{len(content)}"} if asked else {}),
            },
        )
        response.content_length = len(rest)
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        await response.write(rest[:cut_at])
        if cut_at is not None and cut_at < len(rest):
            assert request.transport
            request.transport.close()
        else:
            await response.write_eof()
        return response

    return handle


def _described(repository: str, files: list[dict[str, Any]]) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        assert "blobs" in request.query
        return web.json_response({"id": repository, "modelId": repository, "sha": COMMIT, "siblings": files})

    return handle
