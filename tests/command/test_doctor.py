"""`doctor`: what works, what to do about the rest, and nothing that must not be pasted in public."""

import getpass
import os
import re
import socket
import stat
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.config import config_folder
from core.doctor import Report, examine
from core.machine import Check, native, sessions_checks, terminal
from core.masking import Mask
from core.providers.catalog import Providers
from core.providers.known import catalogue
from tests.command.conftest import Jagstorm
from tests.faults.server import FaultServer, status
from tui.doctor import report_lines

KEY = "sk-planted-9f8e7d6c5b4a"

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = sys.modules["core.providers.discovery.found"]
    monkeypatch.setattr(found, "catalogue", lambda: replace(catalogue(), ports=()))
    names = {name for host in catalogue().hosts for name in host.keys}
    for name in names | {"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "AWS_PROFILE", "JAGSTORM_CONFIG", "TMUX", "STY"}:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without loading native code, which takes most of a second."""

    async def loads(_: str) -> str:
        return ""

    monkeypatch.setattr("core.doctor.native", loads)


def config(text: str) -> None:
    config_folder().mkdir(parents=True, exist_ok=True)
    (config_folder() / "config.toml").write_text(text, encoding="utf-8")


async def look(sessions: Path | None = None) -> Report:
    providers = Providers()
    try:
        return await examine(None, str(sessions or Path("sessions")), providers)
    finally:
        await providers.close()


def of(report: Report, topic: str) -> list[Check]:
    return [check for check in report.checks if check.topic == topic]


def printed(report: Report) -> str:
    return "\n".join(report_lines(report))


def test_on_a_fresh_machine_a_session_can_run(jagstorm: Jagstorm) -> None:
    code, out, err = jagstorm("doctor")
    assert (code, err) == (0, "")
    assert "A session can run." in out
    assert "llama.cpp loads" in out
    assert re.search(r"^note +models +only the built-in one", out, re.MULTILINE)
    assert all(len(line) <= 80 for line in out.splitlines())
    assert not Path("sessions").exists(), "nothing is left behind"
    assert "\x1b" not in out


@pytest.mark.usefixtures("_quick")
async def test_keys_are_named_and_never_shown(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.route("/v1/models", status(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    Path(".env").write_text(f"MISTRAL_API_KEY={KEY}2\nHTTPS_PROXY=http://me:{KEY}@proxy.example\n")
    config(f"[models.lab]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}/v1'\napi_key_env = 'LAB_KEY'\n")
    try:
        report = await look()
    finally:
        os.environ.pop("MISTRAL_API_KEY", None)
    [keys, risky] = of(report, "keys")
    assert keys.words == "MISTRAL_API_KEY (from .env), OPENAI_API_KEY"
    assert risky.words.startswith("HTTPS_PROXY in a .env file: not taken")
    assert KEY not in printed(report)
    assert any("lab: needs a key" in check.words and check.todo == "set LAB_KEY" for check in of(report, "models"))


@pytest.mark.usefixtures("_quick")
async def test_no_names_of_people_or_machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home" / "jdoe"
    (home / "files").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("USER", "jdoe")
    monkeypatch.setenv("LOGNAME", "jdoe")
    monkeypatch.setattr(socket, "gethostname", lambda: "secretbox.lab.example")
    monkeypatch.setenv("OLLAMA_HOST", "http://gpu07.lab.example:9")
    config(
        "[models.a]\nprovider = 'ollama'\nmodel = 'x'\nbase_url = 'http://10.9.8.7:9'\n"
        f"[models.b]\nmodel = '{home}/files/none.gguf'\n[models.c]\nmodel = '/scratch/jdoe/none.gguf'\n"
    )
    report = await look(home / "sessions")
    text = printed(report) + repr(report)
    for private in ("jdoe", "gpu07", "lab.example", "10.9.8.7", "secretbox", str(home)):
        assert private not in text
    assert "~/files/none.gguf" in text
    assert "/scratch/<user>/none.gguf" in text
    assert "<host 2>" in text
    assert of(report, "sessions")[0].words == "~/sessions can be written"


@pytest.mark.usefixtures("_quick")
async def test_a_config_that_cannot_be_read_is_said_and_the_rest_is_looked_at() -> None:
    config("[models.a]\ntemperature = 'hot'\n")
    report = await look()
    [broken] = of(report, "config")
    assert (broken.health, report.can_run) == ("bad", False)
    assert "[models.a] temperature: expected `float`, got `str`" in broken.words
    assert of(report, "sessions")[0].health == "ok"
    assert "No session can run before what is BAD is put right." in printed(report)


@pytest.mark.usefixtures("_quick")
async def test_what_is_odd_in_the_config_is_noted() -> None:
    config(
        "themes = 'x'\ndefault_team = 'none'\n[teams.t]\nmembers = ['nobody']\n"
        "[judging]\njudges = ['openai/gpt-6-luna']\n"
    )
    report = await look()
    notes = [check.words for check in of(report, "config") if check.health == "note"]
    assert any("themes: no key of ours; did you mean theme?" in note for note in notes)
    assert any("config.toml: [teams.t] members[0]: There is no model 'nobody'" in note for note in notes)
    assert any("default_team: There is no team 'none'" in note for note in notes)
    assert [check.todo for check in of(report, "judges") if check.health == "bad"] == ["set OPENAI_API_KEY"]
    assert report.can_run, "a judge that is missing ends no session"


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize(
    ("embedder", "health", "words"),
    [
        ("wordllama", "ok", "WordLlama"),
        ("openai/text-embedding-3-large", "bad", "novelty of 0.15"),
        ("ollama/nomic-embed-text", "note", "nomic-embed-text"),
        ("nonsense", "bad", "There is no embedder 'nonsense'"),
    ],
)
async def test_the_embedder(embedder: str, health: str, words: str) -> None:
    config(f"embedder = '{embedder}'\n")
    report = await look()
    [check] = of(report, "embedder")
    assert check.health == health
    assert words in check.words
    assert report.can_run is (health != "bad")


@pytest.mark.usefixtures("_quick")
async def test_models_that_are_ready_and_servers_that_are_down(server: FaultServer) -> None:
    config(f"[models.a]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}/v1'\n")
    server.route("/v1/models", status(200, {"data": []}))
    report = await look()
    models = of(report, "models")
    assert (models[0].health, models[0].words) == ("ok", "1 from config.toml")
    assert models[1].words == "ollama/MODEL: server down"
    assert "127.0.0.1" in models[1].todo


def test_a_sessions_folder_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    [can, disk] = sessions_checks(tmp_path / "new" / "sessions")
    assert (can.health, disk.health) == ("ok", "ok")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    [bad] = sessions_checks(tmp_path / "file" / "sessions")
    assert bad.health == "bad"
    assert "is not a folder" in bad.words


def test_a_sessions_folder_that_cannot_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        tmp_path = Path("/proc")  # where not even root may write
    else:
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    [bad] = sessions_checks(tmp_path / "sessions")
    assert bad.health == "bad"
    assert "--sessions" in bad.todo


@pytest.mark.parametrize(
    ("settings", "health", "words"),
    [
        ({}, "ok", "256 colours, UTF-8"),
        ({"TERM": "dumb"}, "note", "dumb"),
        ({"TERM": ""}, "note", "no TERM"),
        ({"TERM": "x\x1b]52;c;evil\x07"}, "ok", "16 colours"),
        ({"COLORTERM": "truecolor"}, "ok", "16 million colours"),
        ({"LC_ALL": "C"}, "note", "not UTF-8"),
        ({"SSH_CONNECTION": "10.0.0.1 22"}, "ok", "over SSH"),
    ],
)
async def test_the_terminal(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], health: str, words: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    [check] = await terminal()
    assert check.health == health
    assert words in check.words
    assert "\x1b" not in check.words


@pytest.mark.parametrize(("option", "health"), [("on", "ok"), ("external", "note"), ("off", "note")])
async def test_tmux_and_the_clipboard(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str, health: str
) -> None:
    tool = tmp_path / "bin" / "tmux"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\necho {option}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    [_, tmux] = await terminal()
    assert tmux.health == health
    assert ("set-clipboard on" in tmux.todo) is (health == "note")


async def test_native_code_is_loaded_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "crashes.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n")
    (tmp_path / "raises.py").write_text("raise ImportError('libgomp.so.1: cannot open \\x1b[2J shared object file')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert await native("json") == ""
    assert await native("crashes") == "it crashed while loading (signal 4): it was built for another processor"
    assert await native("raises") == "ImportError: libgomp.so.1: cannot open [2J shared object file"
    assert "No module named" in await native("no_such_module_here")


def test_the_mask() -> None:
    mask = Mask(["http://gpu07.cluster.example:8000/v1", "http://localhost:1", "https://api.mistral.ai/v1"])
    assert mask(f"{Path.home()}/x {Path.home()}2") == f"~/x {Path.home()}2"
    assert mask("gpu07.cluster.example and GPU07, not gpu071") == "<host 2> and <host 2>, not gpu071"
    assert mask("http://other.example/x at 10.0.0.7:8000") == "http://<host 3>/x at <host 4>:8000"
    assert mask("localhost:11434 127.0.0.1 api.mistral.ai api.openai.com") == (
        "localhost:11434 127.0.0.1 api.mistral.ai api.openai.com"
    )
    assert KEY not in mask(f"Bearer {KEY}")
    assert Mask([], ["acme-prod", ""])("Bedrock as acme-prod") == "Bedrock as <account>"
    user = getpass.getuser()
    assert user == "root" or f"/scratch/{user}" not in mask(f"/scratch/{user}/x")
