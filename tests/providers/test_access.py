"""Where a server is and which key it gets: one answer for calls and lists."""

import pytest

from core.models import CallFailedError, Served
from core.providers.access import SIGN_IN, access_to, key_in, missing_key, server_name
from core.providers.discovery.listing import Ask, ask_for

VARIABLES = (
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
    "OLLAMA_HOST",
    "OLLAMA_API_KEY",
)

AZURE, CLAUDE = "https://x.openai.azure.com", "https://api.anthropic.com"

KEYS = tuple(name for name in VARIABLES if name.endswith(("_KEY", "_TOKEN")))


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def served(provider: str, base_url: str = "", api_key_env: str = "") -> Served:
    return Served(name="m", provider=provider, model="m", base_url=base_url, api_key_env=api_key_env)


@pytest.mark.parametrize(
    ("spec", "name", "url", "variable"),
    [
        (served("openai"), "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        (served("openai", "https://api.openai.com/v1/"), "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        (served("openai", "http://gpu07:8000/v1"), "gpu07:8000", "http://gpu07:8000/v1", ""),
        (served("openai", "http://gpu07:8000/v1", "LAB"), "gpu07:8000", "http://gpu07:8000/v1", "LAB"),
        (served("anthropic"), "Anthropic", CLAUDE, "ANTHROPIC_API_KEY"),
        (served("anthropic", f"{CLAUDE}/v1"), "Anthropic", CLAUDE, "ANTHROPIC_API_KEY"),
        (served("anthropic", "https://gw.example.org/v1"), "gw.example.org", "https://gw.example.org", ""),
        (served("azure", AZURE), "x.openai.azure.com", AZURE, "AZURE_OPENAI_API_KEY"),
        (served("azure", "https://x.example.org"), "x.example.org", "https://x.example.org", ""),
        (served("ollama"), "Ollama on 127.0.0.1:11434", "http://127.0.0.1:11434", ""),
        (served("ollama", "gpu07"), "Ollama on gpu07:11434", "http://gpu07:11434", ""),
        (served("ollama", "https://ollama.com"), "Ollama on ollama.com", "https://ollama.com:443", "OLLAMA_API_KEY"),
    ],
    ids=str,
)  # fmt: skip
def test_each_server_gets_its_own_key_or_none(
    spec: Served, name: str, url: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in KEYS:
        monkeypatch.setenv(key, "planted-0123456789")
    access = access_to(spec)
    assert (access.name, access.url, access.variable) == (name, url, variable)
    assert server_name(spec) == name
    assert missing_key(spec) == ("LAB" if variable == "LAB" else "")
    if spec.provider != "azure" and not missing_key(spec):
        assert ask_for(spec) == Ask(spec.provider, url, variable), "lists are asked for as calls are made"  # type: ignore[arg-type]


@pytest.mark.parametrize(("provider", "start"), [("openai", "OPENAI"), ("anthropic", "ANTHROPIC")])
def test_a_server_that_the_environment_names_gets_the_key_beside_it_if_there_is_one(
    provider: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert missing_key(served(provider)) == f"{start}_API_KEY"
    assert ask_for(served(provider)) is None
    monkeypatch.setenv(f"{start}_BASE_URL", "http://127.0.0.1:4000")
    assert access_to(served(provider)).variable == missing_key(served(provider)) == ""
    monkeypatch.setenv(f"{start}_API_KEY", "planted-0123456789")
    assert access_to(served(provider)).variable == f"{start}_API_KEY"
    assert access_to(served(provider)).trusted
    assert access_to(served(provider, "https://somebody.example.org")).variable == ""
    assert not access_to(served(provider, "https://somebody.example.org")).trusted


def test_azure_signs_in_where_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    own = served("azure", AZURE)
    assert access_to(own).variable == SIGN_IN
    assert missing_key(own) == ""
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "planted-0123456789")
    assert access_to(own).variable == "AZURE_OPENAI_AD_TOKEN"


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (served("openai", "localhost:8080"), "OpenAI"),
        (served("openai", "http://x:0/v1"), "OpenAI"),
        (served("anthropic", "ftp://example.org"), "Anthropic"),
        (served("azure"), "Azure"),
        (served("azure", "http://[::1"), "Azure"),
        (served("ollama", "http://gpu07:many"), "Ollama"),
    ],
    ids=str,
)
def test_what_is_no_address_is_said_to_be_none(spec: Served, name: str) -> None:
    with pytest.raises(CallFailedError) as failed:
        access_to(spec)
    assert failed.value.kind == "address"
    assert "\n" not in str(failed.value)
    assert server_name(spec) == name
    assert ask_for(spec) is None


@pytest.mark.parametrize("value", ["", "   ", "two words", "broken\nin two", "sk-…", "\x1b[2J"])
def test_a_key_that_is_none_is_never_sent_nor_shown(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", value)
    with pytest.raises(CallFailedError, match="LAB_KEY") as failed:
        key_in("LAB_KEY", "gpu07:8000")
    assert failed.value.kind == "denied"
    assert not value.strip() or value not in str(failed.value)


def test_white_space_around_a_key_is_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", " a-key-0123456789\n")
    assert key_in("LAB_KEY", "gpu07:8000") == "a-key-0123456789"
