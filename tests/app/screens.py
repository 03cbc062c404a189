"""How tests look at a screen: as the text that a person reads."""

from collections.abc import Callable

from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot


def text_of(app: App[int]) -> str:
    """Every line of the screen, as painted."""
    width, height = app.size
    strips = app.screen._compositor.render_strips(app.size)
    assert Region(0, 0, width, height)
    return "\n".join(strip.text for strip in strips)


async def until(pilot: Pilot[int], condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Let the app run until `condition` holds."""
    for _ in range(round(seconds / 0.02)):
        if condition():
            await pilot.pause()
            return
        await pilot.pause(0.02)
    raise AssertionError(f"it did not come to that; on screen:\n{text_of(pilot.app)}")


async def until_shown(pilot: Pilot[int], text: str, seconds: float = 10.0) -> None:
    await until(pilot, lambda: text in text_of(pilot.app), seconds)


async def painted_through(pilot: Pilot[int]) -> None:
    """Come back when a dialog is painted over what is beneath it: its first frame may be over nothing yet."""
    pilot.app.screen.refresh()
    await pilot.pause()
