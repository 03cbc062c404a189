"""`jagstorm` as it is, but that every model follows a script: quick, and the same each time.

`JAGSTORM_SCRIPT` is `varied:0.02` (the script, seconds before each word) or `long:0.01:400` (an answer of 400 words).
"""

import os

from core.models import ModelSpec, Prompt
from core.providers import catalog
from tests.scripted import WORDS, ScriptedProvider, varied
from tui import cli


def _long(words: int) -> str:
    return " ".join(WORDS[place * 7 % 30] for place in range(words))


def provider() -> ScriptedProvider:
    script, delay, *rest = os.environ.get("JAGSTORM_SCRIPT", "varied:0.02").split(":")
    if script == "varied":
        return ScriptedProvider(varied, delay=float(delay))
    answer = _long(int(rest[0]))

    def same_long(spec: ModelSpec, prompt: Prompt, seed: int) -> str:
        return answer

    return ScriptedProvider(same_long, delay=float(delay))


def main() -> None:
    made = provider()
    catalog._make = lambda name: made
    cli.run_command()


if __name__ == "__main__":
    main()
