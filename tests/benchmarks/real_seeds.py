"""Whether seeds help the embedded team, for real: none, and far ones, on three questions of the bank, the same budget.

python -m tests.benchmarks.real_seeds
"""

import subprocess
from tempfile import TemporaryDirectory

from tests.terminal.screen import JAGSTORM, ROOT

QUESTIONS = ("shape-memory-ten-uses", "sexless-rotifers", "two-infrared-photons")
CALLS = 14
REPEATS = 4


def main() -> None:
    with TemporaryDirectory() as sessions:
        named = [word for question in QUESTIONS for word in ("--question-id", question)]
        team = ("--team", "embedded", "--seeds", "off,far")
        budget = ("--budget", "calls", str(CALLS), "--repeats", str(REPEATS), "--patience", "9")
        for words in (("compare", *named, *team, *budget, "-q"), ("seeds", "effect")):
            subprocess.run((JAGSTORM, *words, "--sessions", sessions), check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
