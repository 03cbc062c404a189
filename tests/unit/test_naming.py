"""From the names that people write to models, embedders and teams."""

from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from core.config import config_folder
from core.errors import JagstormError, ModelUnavailableError, UsageError
from core.models import EmbedderSpec, ModelSpec, ProviderName
from core.naming import (
    as_judge,
    broken_teams,
    embedder_named,
    embedder_of,
    judging_of,
    model_named,
    offered_judge,
    offered_team,
    solo_team,
    team_named,
    teams,
)
from core.providers.catalog import Providers
from core.providers.discovery.found import FoundModel, FoundState
from core.providers.known import EMBEDDING, catalogue
from core.settings import Settings, read_settings

NONE = Settings(path=Path("config.toml"))


def config(text: str) -> Settings:
    config_folder().mkdir(parents=True)
    (config_folder() / "config.toml").write_text(text, encoding="utf-8")
    return read_settings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai/gpt-6-luna", ("gpt-6-luna", "openai", "gpt-6-luna", "", "")),
        ("anthropic/claude-opus-5-5", ("claude-opus-5-5", "anthropic", "claude-opus-5-5", "", "")),
        ("ollama/qwen3:8b", ("qwen3:8b", "ollama", "qwen3:8b", "", "")),
        ("ollama/qwen3:8b@http://gpu07:11434", ("qwen3:8b", "ollama", "qwen3:8b", "http://gpu07:11434", "")),
        ("ollama/hf.co/x/Y-GGUF:Q4", ("Y-GGUF:Q4", "ollama", "hf.co/x/Y-GGUF:Q4", "", "")),
        (
            "openai/Qwen/Qwen3-32B@http://gpu07:8000/v1",
            ("Qwen3-32B", "openai", "Qwen/Qwen3-32B", "http://gpu07:8000/v1", ""),
        ),
        ("azure/chem", ("chem", "azure", "chem", "", "")),
        (
            "bedrock/us.anthropic.claude-opus-5-v1:0",
            ("us.anthropic.claude-opus-5-v1:0", "bedrock", "us.anthropic.claude-opus-5-v1:0", "", ""),
        ),
        (
            "openrouter/z-ai/glm-5.3",
            ("glm-5.3", "openai", "z-ai/glm-5.3", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ),
        ("openai/claude@2025", ("claude@2025", "openai", "claude@2025", "", "")),
        (" openai/gpt-5 ", ("gpt-5", "openai", "gpt-5", "", "")),
    ],
)
def test_a_provider_and_a_model(text: str, expected: tuple[str, ...]) -> None:
    spec = model_named(text, NONE)
    assert (spec.name, spec.provider, spec.model, spec.base_url, spec.api_key_env) == expected


def test_what_is_named_is_completed() -> None:
    assert "temperature" in model_named("openai/o3-mini", NONE).refuses


def test_another_servers_address_gets_no_key() -> None:
    spec = model_named("gemini/gemini-3.8-flash@http://gpu07:8000/v1", NONE)
    assert (spec.base_url, spec.api_key_env) == ("http://gpu07:8000/v1", "")


def test_the_variable_that_is_set_is_the_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "x")
    assert model_named("gemini/gemini-3.8-flash", NONE).api_key_env == "GOOGLE_API_KEY"


def test_the_config_file_comes_first() -> None:
    settings = config('[models."openai/gpt-5"]\nprovider = "ollama"\nmodel = "gpt-oss:20b"\n')
    assert model_named("openai/gpt-5", settings).provider == "ollama"


def test_a_gguf_file(tmp_path: Path) -> None:
    file = tmp_path / "Qwen3-4B-Q4_K_M.gguf"
    file.write_bytes(b"GGUF....")
    spec = model_named(str(file), NONE)
    assert (spec.name, spec.provider, spec.model) == ("Qwen3-4B-Q4_K_M", "embedded", str(file))
    file.write_bytes(b"<html>")
    with pytest.raises(ModelUnavailableError, match="is not a GGUF file"):
        model_named(str(file), NONE)
    with pytest.raises(ModelUnavailableError, match="There is no file"):
        model_named(str(tmp_path / "none.gguf"), NONE)


def test_a_fetched_file_goes_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.providers.hub.files import models_folder

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    models_folder().mkdir(parents=True)
    (models_folder() / "Qwen3-4B-Q4_K_M.gguf").write_bytes(b"GGUF")
    for name in ("Qwen3-4B-Q4_K_M", "Qwen3-4B-Q4_K_M.gguf"):
        assert model_named(name, NONE).model == str(models_folder() / "Qwen3-4B-Q4_K_M.gguf")


def test_the_embedded_model() -> None:
    assert (model_named("embedded", NONE).provider, model_named("embedded", NONE).model) == ("embedded", "")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("lunar", "the nearest: luna"),
        ("gpt-6-luna", "the nearest: openai/gpt-6-luna"),
        ("opnai/gpt-6-luna", "openai/gpt-6-luna"),
        ("Qwen/Qwen3-32B", "give a name in config.toml, PROVIDER/MODEL"),
        ("openai/", "give a name"),
        ("", "give a name"),
        ("/", "give a name"),
        ("sessions", "There is no model 'sessions': give a name"),
        ("openai/x@http://me:pw@host/v1", "must hold no password"),
        ("openai/x@http://host/v1?key=abc", "must hold no password"),
        ("\x1b[2Jx", "There is no model '[2Jx'"),
    ],
)
def test_no_such_model(text: str, near: str) -> None:
    settings = config('[models.luna]\nprovider = "openai"\nmodel = "gpt-6-luna"\n')
    with pytest.raises(UsageError) as caught:
        model_named(text, settings)
    assert near in caught.value.message
    assert "pw" not in caught.value.message


def test_embedders() -> None:
    settings = config('[embedders.large]\nprovider = "openai"\nmodel = "text-embedding-3-large"\nthreshold = 0.2\n')
    assert embedder_named("", NONE) == embedder_named("wordllama", NONE) == "wordllama"
    large = embedder_named("large", settings)
    assert isinstance(large, EmbedderSpec)
    assert (large.threshold, large.longest) == (0.2, 8191)
    nomic = embedder_named("ollama/nomic-embed-text@http://gpu07:11434", NONE)
    assert isinstance(nomic, EmbedderSpec)
    assert (nomic.base_url, nomic.longest) == ("http://gpu07:11434", 2000)
    for wrong in ("lage", "embedded"):
        with pytest.raises(UsageError, match="There is no embedder"):
            embedder_named(wrong, settings)
    with pytest.raises(UsageError, match="the nearest: openai/text-embedding-3-large"):
        embedder_named("text-embeding-3-large", NONE)


@pytest.mark.parametrize("name", ["anthropic/claude", "bedrock/amazon.titan-embed-text-v2:0"])
def test_who_can_embed_is_said_of_those_who_cannot(name: str) -> None:
    with pytest.raises(UsageError, match="openai, azure, ollama and servers that speak OpenAI's API can"):
        embedder_named(name, NONE)


async def test_those_who_can_embed_are_those_who_do() -> None:
    providers = Providers()
    names = [name for name in get_args(ProviderName) if name != "recorded"]
    assert [name for name in names if hasattr(providers.get(name), "embed")] == list(EMBEDDING)
    assert {host.provider for host in catalogue().hosts if host.embedder} <= set(EMBEDDING)
    await providers.close()


TEAMS = """
default_team = "pair"
embedder = "ollama/nomic-embed-text"
[models.luna]
provider = "openai"
model = "gpt-6-luna"
[teams.pair]
about = "Two of us"
members = ["luna", "luna", { model = "ollama/qwen3:8b", name = "q", weight = 0.5, style = "chat", persona = "A poet" }]
judges = []
[teams.one]
members = ["embedded"]
embedder = "wordllama"
[teams.broken]
members = ["lunar"]
[teams.twins]
members = [{ model = "luna", name = "a" }, { model = "luna", name = "a" }]
[teams.embedded-solo]
members = ["luna"]
[judging]
judges = ["luna"]
mode = "nearest"
"""


def test_a_persons_teams_come_first_and_may_take_a_presets_place() -> None:
    found = teams(config(TEAMS))
    assert list(found) == ["pair", "one", "embedded-solo", "embedded", "embedded-parallel", "embedded-bandit"]
    pair = found["pair"]
    assert (pair.strategy, pair.about) == ("sample", "Two of us")
    assert [member.name for member in pair.members] == ["luna", "luna-2", "q"]
    assert (pair.members[2].weight, pair.members[2].style, pair.members[2].persona) == (0.5, "chat", "A poet")
    assert pair.members[0].style == "tagged"
    assert (found["one"].strategy, found["one"].members[0].style) == ("solo", "list")
    assert found["embedded-solo"].members[0].name == "luna"


def test_a_broken_team_says_why_and_leaves_the_others() -> None:
    settings = config(TEAMS)
    assert broken_teams(settings).keys() == {"broken", "twins"}
    with pytest.raises(JagstormError, match=r"config\.toml: \[teams\.broken\] members\[0\]: There is no model 'lunar'"):
        team_named("broken", settings)
    with pytest.raises(JagstormError, match="Two members are called 'a'"):
        team_named("twins", settings)
    with pytest.raises(UsageError, match="There is no team 'par'; the nearest: pair; there are: pair, one, "):
        team_named("par", settings)
    assert team_named("embedded", settings).name == "embedded"


def test_judges_and_embedder_of_a_team() -> None:
    settings = config(TEAMS)
    assert judging_of("pair", settings).judges == ()
    assert [judge.name for judge in judging_of("one", settings).judges] == ["luna"]
    assert judging_of("embedded", settings).mode == "nearest"
    assert embedder_of("one", settings) == "wordllama"
    assert isinstance(embedder_of("pair", settings), EmbedderSpec)
    assert embedder_of("embedded", NONE) == "wordllama"


def test_a_team_of_one_is_named_after_its_model() -> None:
    team = solo_team(ModelSpec(name="luna", provider="openai", model="gpt-6-luna"))
    assert (team.name, team.strategy, team.members[0].name, team.members[0].style) == ("luna", "solo", "luna", "tagged")
    assert solo_team(ModelSpec(name="x", provider="embedded")).members[0].style == "list"
    assert solo_team(ModelSpec(name="you", provider="openai")).members[0].name != "you"


def found(
    name: str, where: str, state: FoundState = "ready", recommended: bool = True, judge: bool = False
) -> FoundModel:
    spec = ModelSpec(name=name, provider="openai", model=name)
    return FoundModel(name=name, spec=spec, where=where, state=state, recommended=recommended, judge=judge)


def test_a_team_is_offered_from_what_was_found() -> None:
    models = [
        found("a1", "A"),
        found("a2", "A"),
        found("a3", "A"),
        found("b1", "B", state="server down"),
        found("c1", "C"),
        found("a1", "D"),
        found("d2", "D", recommended=False, judge=True),
        found("e1", "E", state="needs a key", judge=True),
    ]
    team = offered_team(models)
    assert team is not None
    assert [member.name for member in team.members] == ["a1", "c1", "a1-2", "a2", "a3"], "different servers first"
    assert (team.strategy, team.members[0].style) == ("sample", "tagged")
    judge = offered_judge(models)
    assert judge is not None
    assert judge.name == "d2"
    assert offered_team([found("embedded", "built in", recommended=False)]) is None
    assert offered_judge([]) is None


def test_a_judge_is_asked_for_what_is_likeliest_unless_it_thinks_first() -> None:
    spec = ModelSpec(name="haiku", provider="anthropic", model="haiku-9", temperature=0.8)
    assert as_judge(spec).temperature == 0.0
    assert as_judge(replace(spec, effort="none")).temperature == 0.0
    assert as_judge(replace(spec, effort="high")).temperature == 0.8, "then the temperature is not ours to set"
    assert as_judge(replace(spec, thinking_tokens=2000)).temperature == 0.8


def test_an_address_without_its_scheme_is_no_part_of_a_models_name() -> None:
    with pytest.raises(UsageError, match="begins with http:// or https://"):
        model_named("openai/foo@localhost:8080", Settings(path=Path("config.toml")))


def test_a_judge_that_means_nothing_is_named_with_its_file_and_table() -> None:
    settings = Settings(path=Path("config.toml"), judges=("embeded",))
    with pytest.raises(UsageError, match=r"^config.toml: \[judging\] judges: There is no model 'embeded'"):
        judging_of("any", settings)
