"""What a person can tell a session that is shown live, whoever runs it."""

from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from core import commands as cmd
from core import events as ev
from core.chain import Chain, Idea
from core.events.course import OWN_FIRST, STORAGE, TROUBLE
from core.feed import LiveFeed
from core.models import YOU, TeamSpec
from core.text import clean_line
from tui.deeds import LONGEST_NAME, said, standing
from tui.host import host
from tui.screens.dialogs import Ask, Choose, Message
from tui.screens.feed import FeedScreen
from tui.screens.idea import IdeaScreen
from tui.screens.idea_keys import IdeaKeys
from tui.screens.own_first import OwnFirstScreen
from tui.screens.steer import SteerScreen
from tui.screens.writing import Scene
from tui.telling import withdrawal
from tui.widgets.chain import ChainList
from tui.widgets.in_force import InForceList
from tui.words import STRATEGIES

WHILE_IT_RUNS = frozenset(
    ("seed", "seed_policy", "withdraw", "steer", "add", "mark", "merge", "develop", "deny", "team", "pipelining")
)
"""What can be done only while the session runs."""


class SteeredIdea(IdeaScreen, IdeaKeys):
    """An idea in full, with everything that can be done to it."""

    HINT = "← →  e edit  p pin  * rate  c comment  d work out  ? all  Esc close"

    def __init__(self, steering: "SteeringScreen", number: int) -> None:
        super().__init__(steering.feed, steering.question, number, steering.letters)
        self._steering = steering

    def fork(self, question: str, number: int) -> None:
        self._steering.fork(question, number)


class SteeringScreen(FeedScreen, IdeaKeys):
    """A feed that takes commands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "Pause", id="live.pause", tooltip="Hold after the idea under way"),
        Binding(
            "space",
            "go_on",
            "Go on",
            id="live.go_on",
            tooltip="Go on after a pause; if it could not be saved, try that again",
        ),
        Binding("s", "seed", "Seed", id="live.seed", tooltip="Bring in something from another field"),
        Binding(
            "O",
            "seed_policy",
            "When seeds come",
            id="live.seed_policy",
            show=False,
            tooltip="When seeds come by themselves, and which",
        ),
        Binding(
            "W",
            "withdraw",
            "Withdraw",
            id="live.withdraw",
            show=False,
            tooltip="End a seed, another lever or an instruction that is in force",
        ),
        Binding("g", "steer", "Steer", id="live.steer", tooltip="Give the team a standing instruction, or end one"),
        Binding("a", "add", "Add", id="live.add", tooltip="Add an idea of your own; it is scored like any other"),
        Binding("M", "mark", "Mark", id="live.mark", show=False, tooltip="Mark the idea, to merge it with others"),
        Binding("m", "merge", "Merge", id="live.merge", show=False, tooltip="Have the team make one idea of several"),
        Binding(
            "t",
            "team",
            "Team",
            id="live.team",
            show=False,
            tooltip="Other members, weights or strategy from the next step",
        ),
        Binding(
            "z",
            "pipelining",
            "Ask ahead",
            id="live.ahead",
            show=False,
            tooltip="Ask for the next idea while scores come, or not",
        ),
        Binding(
            "b",
            "pick_two",
            "Take two",
            id="live.pick_two",
            show=False,
            tooltip="Take two of the proposals: b, then both numbers",
        ),
        Binding(
            "o",
            "proposals",
            "In full",
            id="live.proposals",
            show=False,
            tooltip="All proposals that you can pick from, in full",
        ),
        Binding(
            "1", "pick(1)", "Take a proposal", id="live.pick", show=False, key_display="1–9", tooltip="By its number"
        ),
        *[Binding(str(place), f"pick({place})", show=False) for place in range(2, 10)],
        Binding(
            "0",
            "pick(0)",
            "Take none",
            id="live.pick_none",
            show=False,
            tooltip="None is good enough: ask the team again",
        ),
    ]

    feed: LiveFeed

    def __init__(self, feed: LiveFeed) -> None:
        super().__init__(feed)
        self._choice: int | None = None
        """The step whose proposals are shown to pick from."""
        self._pair: list[int] | None = None
        """The proposals picked so far, while a person picks two."""
        self._spoke = False
        """Whether a person has said something since the step under way was asked."""

    @property
    def over(self) -> bool:
        """Whether the session runs no more."""
        return self.feed.state.ended is not None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self.feed.state
        if action == "pause":
            return not self.over and state.paused is None
        if action == "go_on":
            return not self.over and state.paused is not None
        if action in WHILE_IT_RUNS:
            return not self.over
        if action in ("pick", "pick_two", "proposals"):
            return state.chain is not None and state.chain.offered is not None
        return super().check_action(action, parameters)

    # ── what has come ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _on_event(self, event: ev.Event) -> None:
        super()._on_event(event)
        if isinstance(event, ev.Paused | ev.Resumed) and event.by not in (YOU, OWN_FIRST, STORAGE, TROUBLE):
            does = "Paused" if isinstance(event, ev.Paused) else "Goes on"
            host(self).say(f"{clean_line(event.by, LONGEST_NAME)}: {does}")
        match event:
            case ev.Notice():
                host(self).say(event.text, severity="warning")
            case ev.Paused() | ev.Resumed() | ev.ChoiceOffered() | ev.ProposalChosen():
                self._pair = None
                self.refresh_bindings()
                self._let_the_person_begin()
            case ev.StepStarted():
                self._spoke = False
            case ev.StepDropped() if self._spoke:
                host(self).say(f"Step {event.step} is asked anew: {event.why}")
            case ev.Deed() | ev.TeamChanged():
                self._spoke = True
        if words := said(event, self.feed.state):
            host(self).say(words)

    def on_screen_resume(self) -> None:
        self._let_the_person_begin()

    def _let_the_person_begin(self) -> None:
        """Where the person writes before the team does, on a screen of its own."""
        paused = self.feed.state.paused
        if paused and paused.by == OWN_FIRST and self.app.screen is self:
            self.app.push_screen(OwnFirstScreen(self.feed))

    def scene(self, chain: Chain) -> Scene:
        asked = "" if self._pair is None else f"pick two: {self._pair[0] if self._pair else '…'} and … · b not two"
        return replace(super().scene(chain), asked=asked)

    def paint(self) -> None:
        super().paint()
        chain = self.feed.state.chain
        self._choice = chain.offered.step if chain and chain.offered else None

    def at_hand(self) -> Idea | None:
        return self.query_one(ChainList).selected

    def idea_screen(self, number: int) -> IdeaScreen:
        return SteeredIdea(self, number)

    # ── the session ───────────────────────────────────────────────────────────────────────────────────────────────────

    def action_pause(self) -> None:
        self.tell(cmd.Pause())

    def action_go_on(self) -> None:
        self.tell(cmd.Resume())

    def action_team(self) -> None:
        teams = {offer.team.name: offer.team for offer in host(self).offers if not offer.trouble}

        def change(name: str | None) -> None:
            if name:
                self._change_team(teams[name])
            elif name is not None:
                self._rearrange()

        rows = [(name, f"{name}   {team.about}" if team.about else name) for name, team in teams.items()]
        rows.append(("", "the one at work, with other members, weights or another strategy …"))
        self.app.push_screen(Choose("Who goes on from the next step?", rows), change)

    def _rearrange(self) -> None:
        from tui.screens.team import TeamScreen

        others = [model.spec for model in host(self).found if model.state == "ready"]
        self.app.push_screen(TeamScreen(self.feed.state.team or self.feed.plan.team, others), self._change_team)

    def _change_team(self, team: TeamSpec | None) -> None:
        if team and self.tell(cmd.ChangeTeam(team=team)):
            host(self).say(f"From the next step on: {team.name}, {STRATEGIES[team.strategy].lower()}")

    def action_pipelining(self) -> None:
        state = self.feed.state
        on = not (self.feed.plan.pipelining if state.pipelining is None else state.pipelining)
        self.tell(cmd.SetPipelining(on=on))

    # ── what pushes it ────────────────────────────────────────────────────────────────────────────────────────────────

    def action_seed(self) -> None:
        from tui.screens.drawer import SeedDrawer

        self.app.push_screen(SeedDrawer(self.feed))

    def action_seed_policy(self) -> None:
        from tui.screens.seed_policy import set_when_seeds_come

        set_when_seeds_come(self, self.feed)

    def action_withdraw(self) -> None:
        """Choose what to withdraw."""
        rows = {row.id: row for row in standing(self.feed.state)}

        def withdraw(name: str | None) -> None:
            if name is not None:
                self.tell(withdrawal(rows[name]))

        if rows:
            options = [(name, row.line) for name, row in rows.items()]
            self.app.push_screen(Choose("Withdraw what?", options, "Enter withdraw   Esc cancel"), withdraw)
        else:
            host(self).say("Nothing is in force")

    def action_steer(self) -> None:
        self.app.push_screen(SteerScreen(self.feed))

    def on_in_force_list_withdrawn(self, event: InForceList.Withdrawn) -> None:
        self.tell(withdrawal(event.standing))

    def action_add(self) -> None:
        def add(text: str | None) -> None:
            if text:
                self.tell(cmd.AddIdea(text=text))

        self.app.push_screen(Ask("Your idea"), add)

    # ── several ideas ─────────────────────────────────────────────────────────────────────────────────────────────────

    def action_mark(self) -> None:
        """Mark the idea under the cursor, or let it go."""
        ideas = self.query_one(ChainList)
        if idea := ideas.selected:
            others = [number for number in ideas.marked if number != idea.number]
            ideas.mark(others if idea.number in ideas.marked else [*others, idea.number])

    def action_merge(self) -> None:
        """Merge the marked ideas; a single one with the one under the cursor."""
        ideas = self.query_one(ChainList)
        chosen = list(ideas.marked)
        if len(chosen) == 1 and ideas.selected and ideas.selected.number not in chosen:
            chosen.append(ideas.selected.number)
        if len(chosen) < 2:
            host(self).say("Mark an idea with M, go to another and press m; or mark several with M first")
        elif self.tell(cmd.MergeIdeas(question=ideas.question, ideas=tuple(chosen))):
            ideas.mark([])

    # ── a person picks ────────────────────────────────────────────────────────────────────────────────────────────────

    def action_pick(self, place: int) -> None:
        picks = [*(self._pair or []), *([place] if place else [])]
        if self._pair is not None and place and len(picks) < 2:
            self._pair = picks
            self.touch()
        elif self.tell(cmd.Choose(picks=tuple(picks) if place else (), step=self._choice)):
            self._pair = None

    def action_pick_two(self) -> None:
        """Begin to pick two; or think again."""
        self._pair = [] if self._pair is None else None
        self.touch()

    def action_proposals(self) -> None:
        chain = self.feed.state.chain
        if chain and chain.offered:
            texts = [f"{place}\n{text}" for place, text in enumerate(self.scene(chain).proposals(), 1)]
            self.app.push_screen(Message("The proposals", "\n\n".join(texts)))
