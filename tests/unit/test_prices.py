"""What a call costs: known prices to the cent, unknown ones as unknown."""

import subprocess
import sys

import pytest

from core.models import Served, Usage
from core.providers.addresses import host_of, is_local, is_loopback, server_of
from core.providers.catalog import Providers
from core.providers.prices import cost_of, is_free, price_words

MILLION = Usage(input_tokens=1_000_000, output_tokens=1_000_000)

OPENROUTER = "https://openrouter.ai/api/v1"


def served(provider: str, model: str, base_url: str = "", base_model: str = "") -> Served:
    return Served(name="m", provider=provider, model=model, base_url=base_url, base_model=base_model)


@pytest.fixture(autouse=True)
def _no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)


def test_input_output_and_cached_tokens_have_their_own_prices() -> None:
    # gpt-4o: $2.50 in, $1.25 cached, $10 out.
    assert cost_of(served("openai", "gpt-4o"), Usage(input_tokens=1000)) == pytest.approx(0.0025)
    assert cost_of(served("openai", "gpt-4o"), Usage(input_tokens=1000, cached_tokens=400)) == pytest.approx(0.0020)
    assert cost_of(served("openai", "gpt-4o"), Usage(output_tokens=1000, reasoning_tokens=900)) == pytest.approx(0.01)
    assert cost_of(served("openai", "gpt-4o"), Usage()) == 0.0


def test_a_server_that_counts_more_cached_than_sent_is_not_believed() -> None:
    assert cost_of(served("openai", "gpt-4o"), Usage(input_tokens=1000, cached_tokens=4000)) == pytest.approx(0.00125)
    assert cost_of(served("openai", "gpt-4o"), Usage(input_tokens=-5)) is None


@pytest.mark.parametrize(
    ("provider", "model", "words"),
    [
        ("openai", "gpt-4o-2024-08-06", "$2.50 / $10 per million"),
        ("azure", "gpt-4o", "$2.50 / $10 per million"),
        ("anthropic", "claude-opus-4-1-20250805", "$15 / $75 per million"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "$3.30 / $16.50 per million"),
        ("openai", "text-embedding-3-large", "$0.13 per million"),
        ("ollama", "qwen3:32b", "free"),
        ("embedded", "", "free"),
        ("openai", "gpt-99-omega", "unknown"),
        ("anthropic", "claude-zeta-99", "unknown"),
        ("azure", "", "unknown"),  # a deployment whose model nobody named
        ("azure", "my-deployment", "unknown"),
        ("openai", "omni-moderation-latest", "unknown"),
        ("ollama", "qwen3-coder:480b-cloud", "unknown"),
        ("somebody-new", "gpt-4o", "unknown"),
    ],
)
def test_prices_in_words(provider: str, model: str, words: str) -> None:
    spec = served(provider, "a-deployment", base_model=model) if provider == "azure" else served(provider, model)
    assert price_words(spec) == words
    cost = cost_of(spec, MILLION)
    assert {"free": cost == 0.0, "unknown": cost is None}.get(words, bool(cost))


def test_a_price_that_rises_with_the_prompt_says_so() -> None:
    assert price_words(served("anthropic", "claude-sonnet-4-5")) == "$3+ / $15+ per million"
    long = cost_of(served("anthropic", "claude-sonnet-4-5"), Usage(input_tokens=400_000))
    short = cost_of(served("anthropic", "claude-sonnet-4-5"), Usage(input_tokens=100_000))
    assert long
    assert short
    assert long > 4 * short


@pytest.mark.parametrize(
    ("model", "base_url", "words"),
    [
        ("anthropic/claude-3-haiku", OPENROUTER, "$0.25 / $1.25 per million"),
        ("meta-llama/llama-3.3-70b-instruct:free", OPENROUTER, "free"),
        ("nobody/knows-9", OPENROUTER, "unknown"),
        ("gemini-2.5-flash", "https://generativelanguage.googleapis.com/v1beta/openai/", "$0.30 / $2.50 per million"),
        ("gemma-3-27b-it", "https://generativelanguage.googleapis.com/v1beta/openai/", "unknown"),
        ("gpt-4o", "https://proxy.example.org/v1", "$2.50 / $10 per million"),
        ("gpt-4o", "http://gpu07:8000/v1", "free"),
        ("Qwen/Qwen3-32B", "http://10.1.2.3:8000/v1", "free"),
        ("Qwen/Qwen3-32B", "https://llm.example.org/v1", "unknown"),
    ],
)
def test_a_compatible_server_is_known_by_its_address(model: str, base_url: str, words: str) -> None:
    assert price_words(served("openai", model, base_url)) == words


@pytest.mark.parametrize(
    ("address", "host", "loopback", "local"),
    [
        ("http://localhost:8000/v1", "localhost", True, True),
        ("127.0.0.1:11434", "127.0.0.1", True, True),
        ("http://0.0.0.0:11434", "0.0.0.0", True, True),
        ("http://[::1]:8080", "::1", True, True),
        ("http://gpu07:8000/v1", "gpu07", False, True),
        ("http://GPU07.cluster.local.", "gpu07.cluster.local", False, True),
        ("http://192.168.0.7", "192.168.0.7", False, True),
        ("http://8.8.8.8", "8.8.8.8", False, False),
        ("https://api.openai.com/v1", "api.openai.com", False, False),
        ("https://user:secret@api.example.org/v1", "api.example.org", False, False),
        ("http://[::1", "", False, False),
        ("", "", False, False),
    ],
)
def test_whose_server_an_address_is(address: str, host: str, loopback: bool, local: bool) -> None:
    assert (host_of(address), is_loopback(address), is_local(address)) == (host, loopback, local)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://GPU07:8000/v1", "gpu07:8000"),
        ("https://user:secret@api.example.org/v1?key=secret", "api.example.org"),
        ("https://ollama.com:443", "ollama.com"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
        ("gpu07:11434", "gpu07:11434"),
        ("http://x:nonsense", "x"),
        ("", ""),
    ],
)
def test_what_a_person_calls_a_server(address: str, words: str) -> None:
    assert server_of(address) == words


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (served("openai", "lab-gpt", "https://gateway.example.org/v1", "gpt-4o"), "$2.50 / $10 per million"),
        (served("bedrock", "arn:aws:bedrock:us-east-1:1:inference-profile/a1", "", "amazon.nova-pro-v1:0"), "$0.80"),
        (served("anthropic", "our-claude", "https://gateway.example.org", "claude-opus-4-1"), "$15 / $75 per million"),
        (served("azure", "gpt-4o"), "unknown"),
    ],
    ids=["openai", "bedrock", "anthropic", "azure without one"],
)
async def test_the_model_behind_a_name_is_what_is_paid_for_in_lists_and_in_calls_alike(
    spec: Served, words: str
) -> None:
    assert price_words(spec).startswith(words)
    providers = Providers()
    assert (providers.get(spec.provider).cost(spec, MILLION) is None) is (words == "unknown")
    await providers.close()


@pytest.mark.parametrize(
    ("spec", "free"),
    [
        (served("embedded", ""), True),
        (served("ollama", "qwen3:8b"), True),
        (served("ollama", "gpt-oss:120b-cloud"), False),
        (served("ollama", "gpt-oss:120b", "https://ollama.com"), False),
        (served("openai", "m", "http://gpu07:8000/v1"), True),
        (served("openai", "meta-llama/llama-3.3-70b-instruct:free", OPENROUTER), True),
        (served("openai", "gpt-4o"), False),
        (served("bedrock", "m"), False),
    ],
    ids=str,
)
def test_who_sends_no_bill(spec: Served, free: bool) -> None:
    assert is_free(spec) is free
    assert (price_words(spec) == "free") is free


def test_a_server_that_the_environment_names_is_ones_own_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    assert is_free(served("openai", "gpt-4o"))
    monkeypatch.setenv("OLLAMA_HOST", "https://ollama.com")
    assert not is_free(served("ollama", "gpt-oss:120b"))


def test_the_tables_are_read_only_when_a_price_is_asked_for() -> None:
    code = """
import sys
from core.models import Served
from core.providers.prices import price_words
price_words(Served(name="x", provider="ollama"))
print("genai_prices" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
