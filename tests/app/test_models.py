"""Models, judges, budgets and servers, as a person meets them in the app."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import ClassVar

import pytest
from aiohttp import web

from core.models import CallFailedError, Chunk, ModelSpec, Prompt, Served, Usage
from core.opening import begin
from core.providers.catalog import Providers
from core.providers.discovery import found
from core.providers.discovery.found import FoundModel
from tests.app.screens import text_of, until, until_shown
from tests.conftest import make_plan
from tests.faults.ollama_wire import OllamaWire, missing, pulled, shown
from tests.faults.server import FaultServer
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.form import FormScreen
from tui.screens.live import LiveScreen

QUESTION = ("slash", *"forgets its shape", "enter")


class Everyone(ScriptedProvider):
    """Writes, and judges too: coherence 88, likeness 40. One can be made to fail."""

    def __init__(self) -> None:
        super().__init__(self._say, delay=0.01)
        self.gone: set[str] = set()
        self.mute = False
        self.price: float | None = 0.01

    def _say(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        if prompt.tag != "score":
            return varied(spec, prompt, random_seed)
        if self.mute:
            return "I would rather not."
        both = "Second" in prompt.messages[-1].text or "two" in prompt.messages[-1].text
        return "<score>40</score>" if both else "<score>88</score>"

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        if spec.name in self.gone:
            raise CallFailedError("connection", "gpu07 can't be reached: check that it runs")
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return self.price


def configured(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "config" / "jagstorm"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")


PAID = """
default_team = "mine"
[models.sol]
provider = "openai"
model = "gpt-5-mini"
[teams.mine]
members = ["sol"]
judges = ["sol"]
[teams.other]
about = "The others"
members = ["embedded"]
"""


@pytest.fixture
def everyone() -> Everyone:
    return Everyone()


def app_with(sessions: Path, everyone: Everyone) -> JagstormApp:
    return JagstormApp(str(sessions), providers=Providers({"openai": everyone, "embedded": everyone}))


async def test_a_team_that_costs_money_asks_for_a_limit_once(
    sessions: Path, tmp_path: Path, everyone: Everyone
) -> None:
    configured(tmp_path, PAID)
    app = app_with(sessions, everyone)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until_shown(pilot, "Judge   sol")
        await pilot.press(*QUESTION)
        await until_shown(pilot, "exactly ten uses")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        await until_shown(pilot, "Somebody here sends a bill")
        await until_shown(pilot, "Most US dollars")
        app.screen.query_one("#max_cost").value = "0.05"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until_shown(pilot, "Used up its budget ($0.05 spent)")
        await until_shown(pilot, "of $0.05")
        await pilot.press("q")
        await until_shown(pilot, "Budget  $0.05")


async def test_where_no_price_is_known_tokens_are_limited_and_it_is_said_why(
    sessions: Path, tmp_path: Path, everyone: Everyone
) -> None:
    configured(tmp_path, PAID)
    everyone.price = None
    app = app_with(sessions, everyone)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until_shown(pilot, "Judge   sol")
        await pilot.press("b")
        await until_shown(pilot, "The price of sol is unknown")
        await pilot.press("escape", *QUESTION)
        await until_shown(pilot, "exactly ten uses")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        await until_shown(pilot, "Somebody here sends a bill")
        await until_shown(pilot, "The price of sol is unknown")
        assert [app.screen.query_one(f"#{name}").value for name in ("max_cost", "max_tokens")] == ["", "200000"]  # type: ignore[attr-defined]
        app.screen.query_one("#max_tokens").value = "1000"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until_shown(pilot, "Used up its budget (1,000 tokens used)")


async def test_judges_have_their_columns_and_what_they_said_can_be_read(
    sessions: Path, tmp_path: Path, everyone: Everyone
) -> None:
    configured(tmp_path, PAID + "[budget]\nmax_cost = 1.0\n")
    app = app_with(sessions, everyone)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Judge   sol")
        await pilot.press(*QUESTION)
        await until_shown(pilot, "exactly ten uses")
        await pilot.press("enter")
        await until_shown(pilot, "jud coh")
        await until(pilot, lambda: " 88" in text_of(app) and " .60" in text_of(app))
        await until_shown(pilot, "coherence 88, judged novelty")
        await pilot.press("space", "enter")
        await until_shown(pilot, "sol (openai:gpt-5-mini)")
        await until_shown(pilot, "at most 40 of 100 like an earlier idea")
        await until_shown(pilot, "Asked with")


async def test_unscored_is_not_not_judged(sessions: Path, tmp_path: Path, everyone: Everyone) -> None:
    configured(tmp_path, PAID + "[budget]\nmax_cost = 1.0\n")
    everyone.mute = True
    app = app_with(sessions, everyone)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Judge   sol")
        await pilot.press(*QUESTION)
        await until_shown(pilot, "exactly ten uses")
        await pilot.press("enter")
        await until_shown(pilot, "coherence unscored")
        await until_shown(pilot, "?   1")
        await until_shown(pilot, "5 ideas in a row could not be scored")


async def test_a_server_that_is_gone_is_counted_down_and_another_team_can_take_over(
    sessions: Path, tmp_path: Path, everyone: Everyone
) -> None:
    configured(tmp_path, PAID + "[budget]\nmax_cost = 1.0\n")
    everyone.gone.add("sol")
    app = app_with(sessions, everyone)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Judge   sol")
        await pilot.press(*QUESTION)
        await until_shown(pilot, "exactly ten uses")
        await pilot.press("enter")
        await until_shown(pilot, "a is asked again in 5 s")
        await until_shown(pilot, "gpu07 can't be reached")
        await until_shown(pilot, "waiting for a server · t another team")
        await until_shown(pilot, "a is asked again in 3 s")
        await pilot.press("t")
        await until_shown(pilot, "Who goes on from the next step?")
        await until_shown(pilot, "other   The others")
        await pilot.press("down", "enter")
        await until_shown(pilot, "b is writing")
        await until(pilot, lambda: "idea 1" in text_of(app))


async def test_what_was_found_is_the_team_of_whoever_has_not_chosen_one(
    sessions: Path, everyone: Everyone, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [
        FoundModel(
            name=f"openai/{name}",
            spec=ModelSpec(name=name, provider="openai", model=name),
            where="OPENAI_API_KEY",
            recommended=True,
            judge=name == "gpt-small",
        )
        for name in ("gpt-large", "gpt-small")
    ]

    async def find_models(settings: object, providers: object) -> list[FoundModel]:
        return models

    monkeypatch.setattr(found, "find_models", find_models)
    app = app_with(sessions, everyone)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "embedded")
        await until_shown(pilot, "found  2")
        await until_shown(pilot, "gpt-large")
        await until_shown(pilot, "What was found here: gpt-large,")
        await until_shown(pilot, "Judge   gpt-small")
        await pilot.press("j", "enter")
        await until_shown(pilot, "Judge   nobody")


async def test_what_was_chosen_before_anything_was_found_stays_chosen(
    sessions: Path, everyone: Everyone, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = asyncio.Event()
    model = FoundModel(
        name="openai/gpt-large",
        spec=ModelSpec(name="gpt-large", provider="openai", model="gpt-large"),
        where="OPENAI_API_KEY",
        recommended=True,
    )

    async def find_models(settings: object, providers: object) -> list[FoundModel]:
        await looked.wait()
        return [model]

    monkeypatch.setattr(found, "find_models", find_models)
    app = app_with(sessions, everyone)
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "embedded-solo")
        await pilot.press("t", "down")
        await until_shown(pilot, "writes every idea")
        looked.set()
        await until_shown(pilot, "gpt-large")
        await until_shown(pilot, "One small model that runs on this machine")


async def test_the_keys_of_an_env_file_are_there_before_a_session_is_taken_up(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Keyed(ScriptedProvider):
        keys: ClassVar[list[str | None]] = []

        async def prepare(self, spec: ModelSpec) -> None:
            self.keys.append(os.environ.get("OPENAI_API_KEY"))

    monkeypatch.setattr(os, "environ", os.environ.copy())
    os.environ.pop("OPENAI_API_KEY", None)
    monkeypatch.chdir(tmp_path)
    session = begin(sessions, make_plan(max_ideas=1), Providers({"scripted": ScriptedProvider(varied)}))
    await session.run()
    Path(".env").write_text("OPENAI_API_KEY=sk-planted-0123456789\n", encoding="utf-8")
    providers = Providers({"scripted": Keyed(varied)})
    app = JagstormApp(str(sessions), first=lambda app: app.resume_session(session.folder, 2), providers=providers)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(Keyed.keys))
    assert set(Keyed.keys) == {"sk-planted-0123456789"}


async def test_the_theme_is_remembered_and_comments_stay(sessions: Path, tmp_path: Path, everyone: Everyone) -> None:
    configured(tmp_path, "# mine\n" + PAID)
    app = app_with(sessions, everyone)
    async with app.run_test(size=(80, 24)) as pilot:
        await until_shown(pilot, "Judge   sol")
        before = app.theme
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.theme != before)
    text = (tmp_path / "config" / "jagstorm" / "config.toml").read_text(encoding="utf-8")
    assert text.startswith("# mine\n")
    assert f'theme = "{app.theme}"' in text
    assert app_with(sessions, everyone).theme == app.theme


async def test_a_model_that_is_not_pulled_is_offered_fetched_and_used(sessions: Path, tmp_path: Path) -> None:
    async with FaultServer() as server:
        wire = OllamaWire()
        wire.spec(server)
        server.route("/api/show", missing())
        server.otherwise = wire.answer("<idea>Let the ice say when it will crack.</idea>")
        fetch = pulled(
            {"status": "pulling manifest"},
            {"status": "pulling a1b2", "digest": "sha256:a1b2", "total": 100, "completed": 60},
            {"status": "success"},
        )

        async def fetched(request: web.Request) -> web.StreamResponse:
            server.route("/api/show", shown())
            return await fetch(request)

        server.route("/api/pull", fetched)
        model = f'[models.tiny]\nprovider = "ollama"\nmodel = "tiny"\nbase_url = "{server.url}"\n'
        configured(tmp_path, f'default_team = "mine"\n{model}[teams.mine]\nmembers = ["tiny"]\n')
        app = JagstormApp(str(sessions))
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await until_shown(pilot, "mine")
            await pilot.press(*QUESTION)
            await until_shown(pilot, "exactly ten uses")
            await pilot.press("enter")
            await until_shown(pilot, "A model is not there yet")
            await pilot.press("enter")
            await until_shown(pilot, "Let the ice say when it will crack.")
            await pilot.press("q")
            await until(pilot, lambda: not app.runs.under_way)


async def test_while_a_model_comes_it_can_be_stopped_and_after_a_fault_tried_again(
    sessions: Path, tmp_path: Path
) -> None:
    async with FaultServer() as server:
        OllamaWire().spec(server)
        server.route("/api/show", missing())
        halfway, go_on = asyncio.Event(), asyncio.Event()

        async def fetched(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            await response.write(
                b'{"status": "pulling a1b2", "digest": "sha256:a1b2", "total": 100, "completed": 40}\n'
            )
            halfway.set()
            await go_on.wait()
            await response.write(b'{"error": "no space left on [/device]"}\n')
            return response

        server.route("/api/pull", fetched)
        model = f'[models.tiny]\nprovider = "ollama"\nmodel = "tiny"\nbase_url = "{server.url}"\n'
        configured(tmp_path, f'default_team = "mine"\n{model}[teams.mine]\nmembers = ["tiny"]\n')
        app = JagstormApp(str(sessions))
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await until_shown(pilot, "mine")
            await pilot.press(*QUESTION)
            await until_shown(pilot, "exactly ten uses")
            await pilot.press("enter")
            await until_shown(pilot, "Enter pull it now")
            await pilot.press("enter")
            await asyncio.wait_for(halfway.wait(), 10)
            await until_shown(pilot, "Esc stop")
            await until_shown(pilot, "40%")
            assert "Enter pull" not in text_of(app)
            go_on.set()
            await until_shown(pilot, "no space left on [/device]")
            await until_shown(pilot, "Enter try again")
            await pilot.press("escape")
            await until(pilot, lambda: "not there yet" not in text_of(app))


@pytest.mark.parametrize(
    ("default", "said"),
    [("top-5", "The default team can't be chosen. top-5 needs"), ("nope", "There is no team 'nope'")],
)
async def test_a_default_team_that_is_not_there_is_missed_aloud(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, default: str, said: str
) -> None:
    async def nothing(*_: object) -> list[FoundModel]:
        return []

    monkeypatch.setattr(found, "find_models", nothing)
    configured(tmp_path, f'default_team = "{default}"\n')
    app = JagstormApp(str(sessions))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: any(said in toast.message for toast in app._notifications))
