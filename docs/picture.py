"""Draws the README's picture: the live screen, made by the app itself from the example session.

python docs/picture.py docs/live.svg
"""

import asyncio
import sys
from pathlib import Path

from core.store.library import example_folder, load
from core.store.replay import Replay
from tui.app import JagstormApp
from tui.screens.replay import ReplayScreen

SIZE = (118, 36)
IDEA = 18
"""Where in the session: just after this idea came, while the next is being written."""


async def draw(path: Path) -> None:
    stored = load(example_folder())
    app = JagstormApp()
    app.theme = "jagstorm-dark"
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        replay = Replay(stored.plan, stored.record.events)
        screen = ReplayScreen(replay)
        await app.push_screen(screen)
        replay.pause()
        replay.seek_idea(IDEA)
        replay.seek(replay.seconds + 0.8)
        screen.paint()
        await pilot.press("end")
        await pilot.pause(0.5)
        path.write_text(app.export_screenshot(title="jagstorm replay example"), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(draw(Path(sys.argv[1])))
