"""`jagstorm models pull`: what it prints, how it ends, and that it goes on where it was stopped."""

import asyncio
import io
import os
import signal
import sys
from pathlib import Path

import pytest
from aiohttp import web

from core.providers.progress import Progress
from tests.command.conftest import Result
from tests.faults.hub import Hub, gguf
from tests.faults.ollama_wire import missing, pulled
from tests.faults.server import FaultServer
from tui.pulling import ProgressLine

RUN = "import sys; from tui.cli import leave; from tui.pulling import pull; leave(lambda: pull(sys.argv[1]))"


async def started(server: FaultServer, tmp_path: Path, name: str) -> asyncio.subprocess.Process:
    env = {
        **os.environ,
        "HF_ENDPOINT": server.url,
        "OLLAMA_HOST": server.url,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(sys.executable, "-c", RUN, name, env=env, stdout=pipe, stderr=pipe)


async def ended(process: asyncio.subprocess.Process) -> Result:
    async with asyncio.timeout(20):
        out, err = await process.communicate()
    assert process.returncode is not None
    assert b"Traceback" not in err
    return Result(process.returncode, out.decode(), err.decode())


async def pull(server: FaultServer, tmp_path: Path, name: str) -> Result:
    return await ended(await started(server, tmp_path, name))


async def test_a_file_of_the_hub_stopped_and_gone_on_with(server: FaultServer, tmp_path: Path) -> None:
    content = gguf(500_000)
    at = Hub(server).add("anna/tiny", "tiny-Q4_K_M.gguf", content)
    whole = server._routes[at]
    half_way = asyncio.Event()

    async def stalls(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_length = len(content)
        await response.prepare(request)
        await response.write(content[:250_000])
        half_way.set()
        await asyncio.sleep(3600)
        return response

    server.route(at, stalls)
    process = await started(server, tmp_path, "anna/tiny")
    await half_way.wait()
    assert process.stderr
    while b"50 %" not in (await process.stderr.readline()):
        pass
    process.send_signal(signal.SIGINT)
    stopped = await ended(process)
    assert stopped.code == 4
    assert "goes on from there" in stopped.err
    assert stopped.out == ""
    server.route(at, whole)
    done = await pull(server, tmp_path, "anna/tiny")
    path = tmp_path / "cache" / "jagstorm" / "models" / "tiny-Q4_K_M.gguf"
    assert done.code == 0
    assert done.out == f"It is there. Use it with: jagstorm --model {path}\n"
    assert path.read_bytes() == content
    assert server.sent_to(at)[-1].headers["range"] == "bytes=250000-"


async def test_a_model_of_ollamas(server: FaultServer, tmp_path: Path) -> None:
    layer = {"status": "pulling aa", "digest": "sha256:aa", "total": 1000}
    steps = [{**layer, "completed": done} for done in range(0, 1001, 5)]
    server.say(pulled({"status": "pulling manifest"}, *steps, {"status": "success"}))
    done = await pull(server, tmp_path, "ollama/qwen3:4b")
    assert done.code == 0
    assert done.out == "It is there. Use it with: jagstorm --model ollama/qwen3:4b\n"
    lines = done.err.splitlines()
    assert lines[0] == "pulling manifest"
    assert [line.split()[0] for line in lines if line.endswith("  pulling")] == [
        str(share) for share in range(0, 101, 10)
    ]
    assert "\r" not in done.err


async def test_a_model_at_another_host(server: FaultServer, tmp_path: Path) -> None:
    server.say(pulled({"status": "success"}))
    host = server.url.removeprefix("http://")
    done = await pull(server, tmp_path, f"ollama/qwen3:4b@{host}")
    assert done.out == f"It is there. Use it with: jagstorm --model ollama/qwen3:4b@{server.url}\n"


async def test_an_ollama_model_elsewhere_interrupted(server: FaultServer, tmp_path: Path) -> None:
    server.say(pulled({"status": "pulling manifest"}, then="stall"))
    process = await started(server, tmp_path, f"ollama/qwen3:4b@{server.url}")
    assert process.stderr
    await process.stderr.readline()
    process.send_signal(signal.SIGINT)
    stopped = await ended(process)
    assert stopped.code == 4
    assert "goes on from there" in stopped.err


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("ollama/nothing", 3, "no model nothing"),
        ("ollama/nothing@127.0.0.1:1", 3, "ollama serve"),
        ("ollama/", 2, "ollama/NAME"),
        ("nothing", 2, "OWNER/REPO"),
    ],
)
async def test_what_can_not_be_pulled_is_said_in_one_line(
    server: FaultServer, tmp_path: Path, name: str, code: int, said: str
) -> None:
    server.say(missing("nothing"))
    failed = await pull(server, tmp_path, name)
    assert failed.code == code
    assert failed.out == ""
    assert said in failed.err
    assert failed.err.count("\n") == 1
    assert failed.err.startswith("jagstorm: ")


# The line itself.


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_terminals_line_changes_four_times_a_second_at_most() -> None:
    out, clock = io.StringIO(), _Clock()
    line = ProgressLine(out, terminal=True, now=clock)
    for step in range(1000):
        clock.now = step / 100
        line.show(Progress("fetching tiny.gguf", step * 1_000_000, 999_000_000))
    line.end()
    painted = out.getvalue().split("\r")[1:]
    assert 38 <= len(painted) <= 42
    assert painted[20].startswith(" 50 %  500.0 MB of 999.0 MB")
    assert "100.0 MB/s" in painted[20]
    assert "5 s left" in painted[20]
    assert painted[-1].startswith("100 %")
    assert painted[-1].endswith("\n")
    assert "\x1b" not in out.getvalue()


def test_speed_is_of_what_comes_now_and_not_of_what_was_there() -> None:
    out, clock = io.StringIO(), _Clock()
    line = ProgressLine(out, terminal=True, now=clock)
    line.show(Progress("fetching", 900_000_000, 1_000_000_000))
    clock.now = 2.0
    line.show(Progress("fetching", 910_000_000, 1_000_000_000))
    assert "5.0 MB/s  18 s left" in out.getvalue()


def test_a_line_stays_within_the_terminal_and_leaves_nothing_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = io.StringIO()
    line = ProgressLine(out, terminal=True)
    line.show(Progress("fetching " + "long" * 30, 1, 10))
    line.show(Progress("done"))
    first, second = out.getvalue().split("\r")[1:]
    assert len(first) == len(second) == 39
    assert second.strip() == "done"


def test_nothing_foreign_reaches_the_terminal() -> None:
    out = io.StringIO()
    ProgressLine(out, terminal=True).show(Progress("pull\x1b]52;c;eA==\x07ing\r\nx"))
    assert out.getvalue() == "\rpull]52;c;eA==ing x"


async def test_keys_and_addresses_of_an_env_file_count_here_too(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub(server).add("anna/tiny", "tiny-Q4_K_M.gguf", gguf(5000))
    (tmp_path / ".env").write_text("HF_TOKEN=hf_planted4Q8x2Z9vN1k\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    result = await pull(server, tmp_path, "anna/tiny")
    assert result.code == 0
    assert {request.headers.get("authorization") for request in server.requests} == {"Bearer hf_planted4Q8x2Z9vN1k"}
