"""Telling a session something; what it can't obey is said."""

from textual.message_pump import MessagePump

from core import commands as cmd
from core.errors import JagstormError
from core.feed import Feed
from tui.deeds import Standing
from tui.host import host


def tell(node: MessagePump, feed: Feed, command: cmd.AnyCommand) -> bool:
    """Whether `feed` obeys `command`; if not, a toast says why."""
    try:
        feed.send(command)
    except JagstormError as error:
        host(node).say(error.message, severity="warning")
        return False
    return True


def withdrawal(standing: Standing) -> cmd.AnyCommand:
    """What ends something that is in force."""
    if standing.kind == "instruction":
        return cmd.WithdrawSteer(id=standing.id)
    return cmd.WithdrawSeed(id=standing.id)
