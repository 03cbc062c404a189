"""How soon the command answers and the app paints, and how much memory it takes by then."""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from tests.benchmarks.figures import interleaved, median, megabytes, ms, show, timed, title
from tests.terminal.screen import JAGSTORM, ROOT, Terminal
from tests.terminal.walks import AT_SETUP

BARE = (sys.executable, "-m", "tests.benchmarks.bare_apps", "bare")
HEAVY = ("textual", "numpy", "openai", "anthropic", "boto3", "ollama", "xllamacpp", "wordllama", "plotext", "scipy")


def run(*command: str) -> float:
    return timed(lambda: subprocess.run(command, capture_output=True, check=True, cwd=ROOT))


class Paints:
    """Seconds to the first byte, to the first painted screen, and to one with all that is read for it."""

    def __init__(self, command: tuple[str, ...], complete: str, sessions: str) -> None:
        self.command = command
        self.complete = complete
        self.sessions = sessions
        self.bytes: list[float] = []
        self.first: list[float] = []
        self.full: list[float] = []

    def once(self) -> float:
        with Terminal(self.command, 100, 30, env={"JAGSTORM_SESSIONS": self.sessions}) as terminal:
            while not terminal.pump(0.001):
                pass
            self.bytes.append(monotonic() - terminal.began)
            terminal.wait_for("Jagstorm")
            self.first.append(monotonic() - terminal.began)
            terminal.wait_for(self.complete)
            self.full.append(monotonic() - terminal.began)
        return self.full[-1]


def main() -> None:
    title("Start")
    help_, click = interleaved(15, lambda: run(JAGSTORM, "--help"), lambda: run(sys.executable, "-c", "import click"))
    show("jagstorm --help", ms(median(help_)), "ms")
    show("python -c 'import click'", ms(median(click)), "ms")
    show("ratio", median(help_) / median(click), "×", 2)
    show("heavy packages imported by --help", len(heavy_imports()), "", 0)
    with tempfile.TemporaryDirectory() as sessions:
        app, bare = Paints((JAGSTORM,), AT_SETUP, sessions), Paints(BARE, "Jagstorm", sessions)
        interleaved(9, app.once, bare.once)
        for name, of in (("app", app), ("bare Textual app", bare)):
            show(f"{name}: first byte", ms(median(of.bytes)), "ms")
            show(f"{name}: first paint", ms(median(of.first)), "ms")
        show("app: with the questions read", ms(median(app.full)), "ms")
        show("ratio of first bytes", median(app.bytes) / median(bare.bytes), "×")
        show("ratio of first paints", median(app.first) / median(bare.first), "×", 1.7)
        show("ratio with the questions read", median(app.full) / median(bare.first), "×")
        if Path("/proc/self/smaps_rollup").exists():
            memory(sessions)


def heavy_imports() -> list[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", JAGSTORM, "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    return sorted(names & set(HEAVY))


def memory(sessions: str) -> None:
    with Terminal([JAGSTORM], 100, 30, env={"JAGSTORM_SESSIONS": sessions}) as terminal:
        terminal.wait_for(AT_SETUP)
        terminal.settle()
        resident, proportional = megabytes(terminal.child)
        show("app at setup: resident memory", resident, "MB", 70)
        show("app at setup: its share of what is shared", proportional, "MB")
        show("the parent that waits: resident memory", megabytes(terminal.process.pid)[0], "MB")
    with Terminal(BARE, 100, 30) as terminal:
        terminal.wait_for("Jagstorm")
        terminal.settle()
        show("bare app: resident memory", megabytes(terminal.process.pid)[0], "MB")
