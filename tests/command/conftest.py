"""The command, run in this process as a shell would run it."""

from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

import pytest

from core.providers import catalog
from tests.faults.server import FaultServer
from tests.scripted import ScriptedProvider, varied
from tui.cli import run_command


class Result(NamedTuple):
    code: int
    out: str
    err: str


Jagstorm = Callable[..., Result]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> ScriptedProvider:
    """A scripted model in the place of the embedded one."""
    scripted = ScriptedProvider(varied)
    monkeypatch.setattr(catalog, "_make", lambda name: scripted)
    return scripted


@pytest.fixture
def jagstorm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sessions: object) -> Jagstorm:
    """`jagstorm(*words)` with sessions in a folder of the test's own."""
    monkeypatch.setenv("JAGSTORM_SESSIONS", str(sessions))

    def run(*words: str) -> Result:
        monkeypatch.setattr("sys.argv", ["jagstorm", *words])
        with pytest.raises(SystemExit) as left:
            run_command()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        code = left.value.code
        assert isinstance(code, int)
        return Result(code, out, err)

    return run


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    """A real one, that answers as it is told."""
    async with FaultServer() as server:
        yield server
