"""Fetching a GGUF file from a hub on loopback, with the hub's own library."""

import asyncio
import errno
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from core.errors import ModelUnavailableError
from core.providers.hub import download
from core.providers.hub import fetch as hub
from core.providers.hub.files import local_models, models_folder, origin_of
from core.providers.progress import Progress
from tests.faults.hub import Hub, content_of, gguf, refused
from tests.faults.server import FaultServer, Handler, html, status

TOKEN = "hf_planted4Q8x2Z9vN1k"


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def repositories(server: FaultServer) -> Hub:
    return Hub(server)


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "PAUSE", 0.0)


async def fetch(name: str, steps: list[Progress] | None = None) -> Path:
    steps = [] if steps is None else steps
    return await asyncio.to_thread(hub.fetch, name, steps.append)


async def failure_of(name: str) -> str:
    with pytest.raises(ModelUnavailableError) as failed:
        await fetch(name)
    message = failed.value.message
    assert "\n" not in message
    assert failed.value.__cause__ is None
    return message


def left_behind() -> list[str]:
    return sorted(path.name for path in models_folder().iterdir())


async def test_a_file_is_fetched_checked_and_offered(repositories: Hub) -> None:
    content = gguf(2_500_000)
    at = repositories.add("anna/tiny-GGUF", "tiny-Q4_K_M.gguf", content)
    steps: list[Progress] = []
    path = await fetch("anna/tiny-GGUF", steps)
    assert path.read_bytes() == content
    assert path.parent == models_folder()
    assert local_models() == [path]
    assert left_behind() == ["tiny-Q4_K_M.gguf", "tiny-Q4_K_M.gguf.json"]
    origin = origin_of(path)
    assert origin is not None
    assert (origin.repository, origin.file) == ("anna/tiny-GGUF", "tiny-Q4_K_M.gguf")
    assert [request.method for request in repositories.server.sent_to(at)] == ["GET"]
    done = [step.done for step in steps if step.total]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 2_500_000)
    assert {step.total for step in steps if step.total} == {2_500_000}


async def test_nobody_is_told_who_asks(repositories: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants
    from huggingface_hub.utils import _headers

    # What the library tells unless it is told not to.
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    monkeypatch.setattr(_headers, "detect_agent", lambda: "somebody")
    repositories.add("anna/tiny", "tiny.gguf", gguf())
    await fetch("anna/tiny")
    for request in repositories.server.requests:
        assert "somebody" not in request.headers["user-agent"]
        assert "authorization" not in request.headers
    assert {request.path.split("/")[1] for request in repositories.server.requests} == {"api", "anna"}


async def test_a_model_that_is_there_is_not_fetched_again(repositories: Hub) -> None:
    at = repositories.add("anna/tiny", "tiny.gguf", gguf())
    first = await fetch("anna/tiny")
    assert await fetch("hf.co/anna/tiny") == first
    assert len(repositories.server.sent_to(at)) == 1


async def test_a_new_version_takes_the_place_of_the_old(repositories: Hub) -> None:
    repositories.add("anna/tiny", "tiny.gguf", gguf(seed=1))
    await fetch("anna/tiny")
    repositories.add("anna/tiny", "tiny.gguf", gguf(seed=2))
    assert (await fetch("anna/tiny")).read_bytes() == gguf(seed=2)
    assert len(local_models()) == 1


async def test_another_ones_file_of_the_same_name_is_left_alone(repositories: Hub) -> None:
    repositories.add("anna/tiny", "model.gguf", gguf(seed=1))
    repositories.add("bert/tiny", "model.gguf", gguf(seed=2))
    first, second = await fetch("anna/tiny"), await fetch("bert/tiny")
    assert first.read_bytes() == gguf(seed=1)
    assert second.read_bytes() == gguf(seed=2)
    models_folder().joinpath("own.gguf").write_bytes(gguf(seed=3))
    repositories.add("cleo/tiny", "own.gguf", gguf(seed=4))
    assert (await fetch("cleo/tiny")).name == "cleo_tiny_own.gguf"
    assert models_folder().joinpath("own.gguf").read_bytes() == gguf(seed=3)


# Cut, stopped, damaged.


async def test_a_connection_that_breaks_is_taken_up_where_it_broke(repositories: Hub) -> None:
    content = gguf()
    at = repositories.add("anna/tiny", "tiny.gguf", content, cut_at=100_000)
    path = await fetch("anna/tiny")
    assert path.read_bytes() == content
    ranges = [request.headers.get("range") for request in repositories.server.sent_to(at)]
    assert ranges == [None, "bytes=100000-", "bytes=200000-"]


class _StopError(Exception):
    pass


async def test_what_was_interrupted_goes_on_at_the_next_try(repositories: Hub) -> None:
    content = gguf(1_000_000)
    at = repositories.add("anna/tiny", "tiny.gguf", content)

    def stop(progress: Progress) -> None:
        if progress.done > 200_000:
            raise _StopError

    with pytest.raises(_StopError):
        await asyncio.to_thread(hub.fetch, "anna/tiny", stop)
    assert local_models() == []
    [part] = models_folder().glob("*.part")
    had = part.stat().st_size
    assert 200_000 < had < 1_000_000
    assert (await fetch("anna/tiny")).read_bytes() == content
    assert repositories.server.sent_to(at)[-1].headers["range"] == f"bytes={had}-"
    assert len(left_behind()) == 2


async def test_a_server_that_knows_no_ranges_sends_it_all_again(repositories: Hub) -> None:
    content = gguf()
    at = repositories.add("anna/tiny", "tiny.gguf", content, cut_at=100_000)
    plain = content_of(content, "x", ranges=False)
    broken = content_of(content, "x", cut_at=100_000)

    async def handle(request: web.Request) -> web.StreamResponse:
        return await (plain if "range" in request.headers else broken)(request)

    repositories.server.route(at, handle)
    assert (await fetch("anna/tiny")).read_bytes() == content


async def test_a_connection_that_brings_nothing_is_given_up(repositories: Hub) -> None:
    at = repositories.add("anna/tiny", "tiny.gguf", gguf(), cut_at=0)
    message = await failure_of("anna/tiny")
    assert "can't be reached" in message
    assert "the next try goes on" in message
    assert len(repositories.server.sent_to(at)) == download.TRIES


async def test_a_wrong_checksum_removes_the_file_and_says_so(repositories: Hub) -> None:
    repositories.add("anna/tiny", "tiny.gguf", gguf(), sha256="0" * 64)
    message = await failure_of("anna/tiny")
    assert "checksum" in message
    assert "removed" in message
    assert local_models() == []
    assert [name for name in left_behind() if "gguf" in name and not name.endswith(".lock")] == []


async def test_what_is_no_gguf_is_removed_too(repositories: Hub) -> None:
    repositories.add("anna/tiny", "tiny.gguf", b"PK\x03\x04 a picture")
    assert "not a GGUF file" in await failure_of("anna/tiny")
    assert local_models() == []


async def test_a_full_disk(repositories: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    repositories.add("anna/tiny", "tiny.gguf", gguf())
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    message = await failure_of("anna/tiny")
    assert "make room" in message
    assert "1 kB are free" in message
    monkeypatch.undo()


async def test_a_disk_that_fills_meanwhile(repositories: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    repositories.add("anna/tiny", "tiny.gguf", gguf())

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download._Growing, "add", full)
    assert "No space left on device" in await failure_of("anna/tiny")


async def test_two_at_once_do_not_write_into_one_file(repositories: Hub) -> None:
    content = gguf()
    at = repositories.add("anna/tiny", "tiny.gguf", content)
    began, go = asyncio.Event(), asyncio.Event()
    whole = content_of(content, "x")

    async def handle(request: web.Request) -> web.StreamResponse:
        began.set()
        await go.wait()
        return await whole(request)

    repositories.server.route(at, handle)
    first = asyncio.create_task(fetch("anna/tiny"))
    await began.wait()
    assert "already" in await failure_of("anna/tiny")
    go.set()
    assert (await first).read_bytes() == content


# Refused.


async def test_a_repository_that_is_not_there(server: FaultServer) -> None:
    server.route("/api/models/anna/tiny", refused(401, "", "Invalid username or password."))
    message = await failure_of("anna/tiny")
    assert "no model anna/tiny" in message
    assert "HF_TOKEN" in message
    server.route("/api/models/anna/tiny", refused(404, "RepoNotFound"))
    assert "no model anna/tiny" in await failure_of("anna/tiny")


async def test_a_file_that_is_not_there(repositories: Hub) -> None:
    at = repositories.add("anna/tiny", "tiny-Q8_0.gguf", gguf())
    assert "no other.gguf: choose of Q8_0" in await failure_of("anna/tiny/other.gguf")
    repositories.server.route(at, refused(404, "EntryNotFound"))
    assert "has no anna/tiny/tiny-Q8_0.gguf" in await failure_of("anna/tiny/tiny-Q8_0.gguf")


async def test_a_repository_whose_terms_must_be_agreed_to(repositories: Hub) -> None:
    at = repositories.add("anna/tiny", "tiny.gguf", gguf())
    repositories.server.route(at, refused(401, "GatedRepo", "Access is restricted."))
    message = await failure_of("anna/tiny")
    assert "agreed to its terms" in message
    assert "HF_TOKEN" in message


async def test_a_hub_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        message = await failure_of("anna/tiny")
    assert "127.0.0.1 can't be reached" in message
    assert "HF_ENDPOINT" in message


@pytest.mark.parametrize("answer", [html(), status(200, "[]"), status(200, {"siblings": [{"no": "name"}]})])
async def test_what_is_no_hub(server: FaultServer, answer: Handler) -> None:
    server.route("/api/models/anna/tiny", answer)
    assert "does not answer as a model hub does" in await failure_of("anna/tiny")


async def test_a_hub_in_trouble(server: FaultServer) -> None:
    server.route("/api/models/anna/tiny", status(503, {"error": "Down for \x1b[31mrepair"}))
    message = await failure_of("anna/tiny")
    assert "status 503: Down for [31mrepair" in message


async def test_a_token_goes_to_the_hub_and_not_on_to_where_the_files_are(
    repositories: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    content = gguf()
    at = repositories.add("anna/tiny", "tiny.gguf", content, cut_at=100_000)
    async with FaultServer(content_of(content, "x", cut_at=200_000)) as elsewhere:

        async def handle(_: web.Request) -> web.StreamResponse:
            raise web.HTTPFound(f"{elsewhere.url}/blobs/7")

        repositories.server.route(at, handle)
        await fetch("anna/tiny")
        assert {request.headers["authorization"] for request in repositories.server.requests} == {f"Bearer {TOKEN}"}
        assert [request.headers.get("range") for request in elsewhere.requests] == [None, "bytes=200000-"]
        assert all("authorization" not in request.headers for request in elsewhere.requests)
    repositories.server.route(at, refused(500, "", f"bad token {TOKEN}"))
    shutil.rmtree(models_folder())
    assert TOKEN not in await failure_of("anna/tiny")


# Names.


async def test_a_model_in_parts_is_fetched_whole(repositories: Hub) -> None:
    parts = [gguf(100_000, seed=number) for number in range(3)]
    for number, content in enumerate(parts, 1):
        repositories.add("anna/big", f"big-Q4_K_M-{number:05}-of-00003.gguf", content)
    steps: list[Progress] = []
    path = await fetch("anna/big", steps)
    assert path.name == "big-Q4_K_M-00001-of-00003.gguf"
    assert local_models() == [path]
    assert steps[-1].done == steps[-1].total == 300_000
    assert [file.read_bytes() for file in sorted(models_folder().glob("*.gguf"))] == parts
    path.with_name("big-Q4_K_M-00002-of-00003.gguf").unlink()
    assert local_models() == []


@pytest.mark.parametrize("name", ["..gguf", "-x.gguf", ".hidden.gguf", "a\x1b[2Jb.gguf", "a\\b.gguf"])
async def test_a_hubs_names_are_no_paths_here(repositories: Hub, name: str) -> None:
    repositories.add("anna/tiny", name, gguf())
    assert "is no name for a file here" in await failure_of("anna/tiny")


async def test_a_file_far_down_in_a_repository_lies_flat_here(repositories: Hub) -> None:
    repositories.add("anna/tiny", "../../../deep/tiny.gguf", gguf())
    assert "no GGUF files" in await failure_of("anna/tiny")
    repositories.add("anna/small", "deep/down/small.gguf", gguf())
    assert (await fetch("anna/small")).parent == models_folder()


def test_no_folder_is_no_models() -> None:
    assert local_models() == []
