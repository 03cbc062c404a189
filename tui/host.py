"""The app as its screens know it: what starts sessions, says things, copies, and shows faults."""

from typing import TYPE_CHECKING, cast

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from tui.app import JagstormApp


def host(node: MessagePump) -> "JagstormApp":
    """`node.app`, typed."""
    return cast("JagstormApp", node.app)
