"""What Textual itself costs: an app with one line of text, and one that writes tokens into a plain widget."""

import asyncio
import sys

from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.scripted import WORDS


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("Jagstorm")


class PerToken(App[None]):
    """400 tokens, 100 a second, a `Static` updated for each."""

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def on_mount(self) -> None:
        self.run_worker(self.write())

    async def write(self) -> None:
        text = ""
        for place in range(400):
            text += f" {WORDS[place * 7 % 30]}"
            self.query_one(Static).update(text)
            await asyncio.sleep(0.01)
        self.query_one(Static).update("the end")


if __name__ == "__main__":
    {"bare": Bare, "per-token": PerToken}[sys.argv[1]]().run()
