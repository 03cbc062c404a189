"""Who wrote the ideas of a session."""

from core.events import TeamChanged
from core.models import Member
from core.store.library import StoredSession


def authors(session: StoredSession) -> dict[str, Member]:
    """Everybody who ever was in its team, by name; of two with one name, the later."""
    teams = [session.plan.team, *(event.team for event in session.record.events if isinstance(event, TeamChanged))]
    return {member.name: member for team in teams for member in team.everybody}
