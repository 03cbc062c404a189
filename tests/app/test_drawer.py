"""The drawer of seeds: what it offers, what it puts into the prompts, and what it says of what is in force."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static, Tabs

from core import commands as cmd
from core import events as ev
from core.errors import ModelUnavailableError
from core.levers import POLICY, InForce, Off, Seed
from core.prompts import idea_prompt
from core.scoring import embeddings
from core.seeds import ranking
from core.seeds.bank import SeedBank
from core.seeds.sources import stock_of_bank
from core.store import library
from tests.app.screens import text_of, until, until_shown
from tests.app.test_live import app_with, begin, ideas_of
from tests.app.told import Told, ToldScreen, begun, steered
from tests.conftest import QUESTION, make_plan
from tests.scripted import ScriptedProvider, varied
from tests.unit.test_at_odd_moments import WING
from tui.app import JagstormApp
from tui.screens.drawer import SeedDrawer
from tui.screens.live import LiveScreen
from tui.screens.seed_policy import SeedPolicyScreen
from tui.widgets.seeds import Row, SeedList

LAST = ("Ideas", "Questions", "Any", "Levers")

HOSTILE = "[/x] [bold]no[/bold] [@click=app.quit]way[/]"


async def opened(pilot: Pilot[int], feed: Told) -> SeedDrawer:
    """The drawer over a session that stands still, with the whole bank and its distances."""
    await until_shown(pilot, "Physics / Fundamental")
    await pilot.app.push_screen(ToldScreen(feed))
    await until_shown(pilot, "s Seed")  # its footer, which is not made while another screen is in front
    drawer = SeedDrawer(feed)
    await pilot.app.push_screen(drawer)
    await until(pilot, lambda: any(seed.distance for seed in seeds_of(drawer)))
    return drawer


def rows_of(drawer: SeedDrawer) -> list[Row]:
    return list(drawer.query_one(SeedList).rows)


def seeds_of(drawer: SeedDrawer) -> list[Seed]:
    return [row.seed for row in rows_of(drawer) if row.seed]


def preview_of(drawer: SeedDrawer) -> str:
    return str(drawer.query_one("#preview-text", Static).content)


async def on_tab(pilot: Pilot[int], drawer: SeedDrawer, name: str) -> None:
    tabs = drawer.query_one(Tabs)
    for _ in range(40):
        if tabs.active_tab is not None and tabs.active_tab.label_text == name:
            return
        await pilot.press("left" if name in LAST else "right")
        await pilot.pause()
    raise AssertionError(f"no tab {name}")


def feed_with(**changes: object) -> Told:
    return Told(begun(), replace(make_plan(), **changes))


# ── what it offers ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_when_the_next_question_begins_distances_and_what_is_in_force_are_its_own(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(begun())
        drawer = await opened(pilot, feed)
        feed.come([ev.SeedInjected(question=QUESTION.id, id="s1", seed=Seed(name="tides"), steps=50, by=POLICY)])
        await until_shown(pilot, "seed tides (50 ideas left)")
        feed.come([ev.QuestionStarted(question=WING.id, text=WING.text, domain=WING.domain)])
        expected = await ranking.ranked(WING.text, stock_of_bank().seeds, embeddings.WordLlamaEmbedder())
        await until(pilot, lambda: set(seeds_of(drawer)) == set(expected))
        assert "seed tides" not in text_of(app)


async def test_the_whole_bank_stands_there_the_farthest_first(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, Told(begun()))
        distances = [seed.distance or 0.0 for seed in seeds_of(drawer)]
        assert len(distances) == len(SeedBank.built_in())
        assert distances == sorted(distances, reverse=True)
        await pilot.press("d")
        await until(pilot, lambda: seeds_of(drawer)[0].distance == min(distances))


async def test_a_tab_shows_one_field(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, Told(begun()))
        await on_tab(pilot, drawer, "Chemistry")
        await until(pilot, lambda: {seed.field for seed in seeds_of(drawer)} == {"Chemistry"})


async def test_search_leaves_what_holds_all_the_words(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, Told(begun()))
        await pilot.press("slash", *"oscillator chemistry", "enter")
        await until(pilot, lambda: "Belousov-Zhabotinsky oscillator" in [row.name for row in rows_of(drawer)])
        assert {seed.field for seed in seeds_of(drawer)} == {"Chemistry"}
        await pilot.press("escape")
        await until(pilot, lambda: len(rows_of(drawer)) == len(SeedBank.built_in()))
        await pilot.press("slash", *"MOSSBAUER", "enter")
        await until(pilot, lambda: "Mössbauer effect" in [row.name for row in rows_of(drawer)])
        await pilot.press("escape", "slash", *"no such words", "enter")
        await until_shown(pilot, "Nothing here holds all these words")


async def test_a_persons_own_files_have_a_tab_of_their_field(app: JagstormApp, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "jagstorm" / "seeds"
    folder.mkdir(parents=True)
    (folder / "caves.toml").write_text(
        'domain = "Caves"\n[[seeds]]\nname = "Drip clock"\ntext = "Each drop leaves a film of calcite."\n'
        '[[seeds]]\nname = "Nothing said"\n'
    )
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        drawer = await opened(pilot, Told(begun()))
        await until(pilot, lambda: any("a seed needs `text" in each.message for each in app._notifications))
        await on_tab(pilot, drawer, "Caves")
        await until(pilot, lambda: [row.name for row in rows_of(drawer)] == ["Drip clock"])


async def test_ideas_of_earlier_sessions_are_seeds_those_that_a_person_marked_first(
    app: JagstormApp, sessions: Path
) -> None:
    plan = make_plan()
    log = library.create(sessions, plan)
    recorder = steered()
    recorder.add(ev.IdeaEdited(question=QUESTION.id, idea=4, old="", new=HOSTILE))
    for event in recorder.events:
        if not isinstance(event, ev.ProposalDelta):
            log.append(event)
    log.close()
    async with app.run_test(size=(160, 45)) as pilot:
        drawer = await opened(pilot, Told(begun()))
        await on_tab(pilot, drawer, "Ideas")
        await until(pilot, lambda: any(seed.distance for seed in seeds_of(drawer)))
        marks = [row.mark for row in rows_of(drawer)]
        assert marks == ["*", "*", " ", " "], "pinned and rated; what failed or was taken out is not there"
        assert {seed.source for seed in seeds_of(drawer)} == {"idea"}
        assert HOSTILE in text_of(app)


async def test_questions_of_other_domains_are_seeds(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, Told(begun()))
        await on_tab(pilot, drawer, "Questions")
        await until(pilot, lambda: any(seed.distance for seed in seeds_of(drawer)))
        fields = {seed.field for seed in seeds_of(drawer)}
        assert "Chemistry" in fields
        assert not any(field.startswith(QUESTION.domain) for field in fields)


async def test_without_the_embedder_it_says_why_there_are_no_distances(
    app: JagstormApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise ModelUnavailableError("The embedder WordLlama is not installed")

    monkeypatch.setattr(ranking, "_vectors", {})
    monkeypatch.setattr(embeddings, "_load", refuse)
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.app.push_screen(SeedDrawer(feed))
        await until(pilot, lambda: any("WordLlama is not installed" in each.message for each in app._notifications))
        await pilot.press("enter")
        assert isinstance(feed.sent[0], cmd.InjectSeed)


# ── what it puts into the prompts ─────────────────────────────────────────────────────────────────────────────────────


async def test_enter_injects_what_the_cursor_is_on_for_the_next_idea(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        second = seeds_of(drawer)[1]
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, ToldScreen))
        assert feed.sent == [cmd.InjectSeed(seed=second, steps=1)]


async def test_for_how_many_ideas_and_in_which_style_can_be_set(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, feed)
        await pilot.press("plus", "plus", "minus", "plus", "y", "y")
        await until_shown(pilot, "as constraint (y)   for 3 ideas")
        await pilot.press("enter")
        [sent] = feed.sent
        assert isinstance(sent, cmd.InjectSeed)
        assert (sent.steps, sent.seed.style) == (3, "constraint")


async def test_k_keeps_it_until_it_is_withdrawn(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        first = seeds_of(drawer)[0]
        await pilot.press("k")
        assert feed.sent == [cmd.InjectSeed(seed=first, steps=None)]


async def test_r_has_the_session_draw_a_far_one_of_the_tabs_field(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        await on_tab(pilot, drawer, "Biology")
        await pilot.press("plus", "y", "r")
        assert feed.sent == [cmd.DrawSeed(distance="far", field="Biology", steps=2, style="mention")]


async def test_r_draws_a_far_one_of_what_else_is_listed(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        await on_tab(pilot, drawer, "Questions")
        await until(pilot, lambda: any(seed.distance for seed in seeds_of(drawer)))
        farthest = seeds_of(drawer)[: -(-len(seeds_of(drawer)) // 3)]
        await pilot.press("r")
        [sent] = feed.sent
        assert isinstance(sent, cmd.InjectSeed)
        assert sent.seed in farthest


async def test_the_preview_is_the_prompt_that_will_be_asked(app: JagstormApp) -> None:
    feed = Told(steered())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        await pilot.press("y")
        seed = replace(seeds_of(drawer)[0], style="mention")
        force = feed.state.in_force
        style = feed.plan.team.everybody[0].style
        prompt = idea_prompt(QUESTION.text, (), style=style, force=InForce((*force.seeds, seed), force.steers))
        assert preview_of(drawer) in [message.text for message in prompt.messages]
        assert seed.name in preview_of(drawer)
        assert "prefer what a student can test" in preview_of(drawer)


async def test_a_line_of_ones_own_is_a_seed(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, feed)
        await pilot.press("n", *"Whale song: low notes [b]carry[/b] far", "enter")
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [cmd.InjectSeed(seed=Seed(name="Whale song", text="low notes [b]carry[/b] far"))]


async def test_what_the_session_refuses_is_said_and_the_drawer_stays(app: JagstormApp) -> None:
    feed = Told(begun())
    feed.refusal = "The chain has ended"
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, feed)
        await pilot.press("enter")
        await until_shown(pilot, "The chain has ended")
        assert isinstance(app.screen, SeedDrawer)


async def test_a_double_click_injects(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        third = seeds_of(drawer)[2]
        await pilot.click(SeedList, offset=(4, 2), times=2)
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [cmd.InjectSeed(seed=third)]


# ── other levers ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_language_is_a_lever_and_the_preview_says_so(app: JagstormApp) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        await on_tab(pilot, drawer, "Levers")
        await pilot.press("slash", *"swahili", "enter", "end")
        await until(pilot, lambda: "Think about it in Swahili" in preview_of(drawer))
        await pilot.press("enter")
        assert feed.sent == [cmd.InjectSeed(seed=Seed(name="Swahili", lever="language", source="bank"))]


@pytest.mark.parametrize(
    ("place", "sent"),
    [
        (0, cmd.InjectSeed(seed=Seed(name="old Norse", lever="language"))),
        (1, cmd.InjectSeed(seed=Seed(name="old Norse", lever="persona"))),
        (2, cmd.DenyMechanism(text="old Norse")),
    ],
)
async def test_levers_can_be_typed(app: JagstormApp, place: int, sent: cmd.Command) -> None:
    feed = Told(begun())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        await on_tab(pilot, drawer, "Levers")
        await pilot.press(*["down"] * place, "enter")
        await until(pilot, lambda: app.screen is not drawer)
        await pilot.press(*"old Norse", "enter")
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [sent]


async def test_the_team_can_be_asked_to_name_and_forbid_the_newest_ideas_mechanism(app: JagstormApp) -> None:
    feed = Told(steered())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        await on_tab(pilot, drawer, "Levers")
        await pilot.press("down", "down", "down", "enter")
        assert feed.sent == [cmd.DenyMechanism()]


# ── what is in force ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_is_in_force_is_listed_and_can_be_withdrawn(app: JagstormApp) -> None:
    feed = Told(steered())
    async with app.run_test(size=(120, 40)) as pilot:
        drawer = await opened(pilot, feed)
        for said in ("seed error-correcting codes (1 idea left)", "forbidden magnetotaxis", "prefer what a student"):
            assert said in text_of(app)
        await pilot.press("w")
        assert feed.sent == [cmd.WithdrawSeed(id="s1")]
        assert app.screen is drawer
        feed.come([ev.SeedWithdrawn(question=QUESTION.id, id="s1")])
        await until(pilot, lambda: "error-correcting codes (1" not in text_of(app))
        await pilot.press("w")
        assert feed.sent[-1] == cmd.WithdrawSeed(id="s2")


async def test_where_seeds_are_off_it_says_so_and_offers_to_change_it(app: JagstormApp) -> None:
    feed = feed_with(seeds=Off())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, feed)
        await until_shown(pilot, "Seeds are off in this session. o sets when they come.")
        await pilot.press("enter")
        assert feed.sent == []
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, SeedPolicyScreen))
        await pilot.press("enter", "down", "enter")
        await until_shown(pilot, "When you bring one")
        await pilot.click("#done")
        await until(pilot, lambda: isinstance(app.screen, SeedDrawer))
        assert isinstance(feed.sent[0], cmd.SetSeeds)
        feed.come([ev.SeedPolicySet(question=QUESTION.id, old=Off(), new=feed.sent[0].policy)])
        await until_shown(pilot, "come by hand")
        await pilot.press("enter")
        assert isinstance(feed.sent[1], cmd.InjectSeed)


async def test_the_live_screen_goes_on_beneath(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.01))
    async with app.run_test(size=(120, 40)) as pilot:
        live = await begin(pilot, max_ideas=4000, patience=1000)
        await until(pilot, lambda: ideas_of(live))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, SeedDrawer))
        assert live in app._background_screens
        await until(pilot, lambda: app.screen.query_one(".drawer").region.x >= 40)  # the chain is seen beside it
        before = len(ideas_of(live))
        await until(pilot, lambda: len(ideas_of(live)) > before + 2)
        await pilot.press("y", "r")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until(pilot, lambda: any(idea.seeds for idea in live.feed.state.chain.ideas))  # type: ignore[union-attr]
        [at_work] = live.feed.state.seeds.values()
        assert (at_work.injected.seed.source, at_work.injected.seed.style) == ("bank", "mention")
