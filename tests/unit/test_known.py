"""The catalogue of models: known families are called well by whatever name they go, and new members of them too."""

import re
from collections import Counter

import pytest

from core.models import EmbedderSpec, ModelSpec
from core.providers.known import (
    UNKNOWN,
    catalogue,
    completed,
    completed_embedder,
    embedding_of,
    family_of,
    host_for,
)

OPENROUTER = "https://openrouter.ai/api/v1"


def spec(model: str, provider: str = "openai", **settings: object) -> ModelSpec:
    return completed(ModelSpec(name="m", provider=provider, model=model, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "family"),
    [
        (["gpt-5", "gpt-5-mini", "gpt-5-2025-08-07", "openai/gpt-5-nano", "GPT-5-Mini"], "gpt-5"),
        (["gpt-5.1", "gpt-5.2-2025-12-11", "openai/gpt-5.2"], "gpt-5.1 to 5.3"),
        (["gpt-5.5", "gpt-6.1-sol", "global.openai.gpt-6-luna", "gpt-7", "gpt-10-mini"], "gpt-5.5 and later"),
        (["o3-mini", "o3-mini-2025-01-31", "o1", "o5", "openai/o4-mini"], "o-series"),
        (["gpt-4o", "gpt-4o-mini-2024-07-18", "chatgpt-4o-latest"], "gpt-4o"),
        (["gpt-oss:20b", "openai/gpt-oss-120b", "openai.gpt-oss-120b-1:0"], "gpt-oss"),
        (
            [
                "claude-sonnet-4-5",
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "anthropic/claude-sonnet-4.5",
                "claude-opus-4-20250514",
                "claude-opus-4-1@20250805",
                "claude-3-7-sonnet-20250219",
                "arn:aws:bedrock:us-east-1:1234:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
            ],
            "Claude 3.7 to 4.5",
        ),
        (["claude-opus-4-6", "anthropic/claude-sonnet-4.6", "global.anthropic.claude-opus-4-6-v1:0"], "Claude 4.6"),
        (["claude-opus-4-7", "anthropic/claude-opus-4.8"], "Claude 4.7 and 4.8"),
        (["claude-sonnet-5-5", "claude-opus-9", "claude-newline-6-20270101", "eu.anthropic.claude-opus-7"], "Claude"),
        (["claude-3-5-sonnet-20241022", "anthropic.claude-3-haiku-20240307-v1:0"], "Claude 3 and earlier"),
        (["gemini-2.5-pro", "models/gemini-3.8-flash", "google/gemini-9"], "Gemini"),
        (
            ["qwen3:32b", "Qwen/Qwen3-32B", "qwen.qwen3-32b-v1:0", "qwen/qwen3.8-27b", "hf.co/x/Qwen4-8B-GGUF:Q4_K_M"],
            "Qwen3 and later",
        ),
        (["Qwen3-4B-Instruct-2507-Q4_K_M.gguf", "/models/qwen3-coder.gguf"], "Qwen3 without thoughts"),
        (["qwen2.5:7b", "Qwen/Qwen2.5-72B-Instruct"], "Qwen"),
        (
            [
                "deepseek-r1:14b",
                "DeepSeek-R1-Distill-Llama-8B",
                "deepseek.r1-v1:0",
                "deepseek-reasoner",
                "deepseek-r1-distill-qwen-32b",
            ],
            "DeepSeek R1",
        ),
        (["deepseek-chat", "deepseek-v4-pro", "deepseek-ai/DeepSeek-V4.1-Flash"], "DeepSeek"),
        (
            [
                "llama3.3",
                "llama3.1:8b",
                "meta.llama3-1-70b-instruct-v1:0",
                "Meta-Llama-3.1-8B-Instruct",
                "llama4:scout",
            ],
            "Llama 3.1 and later",
        ),
        (["meta.llama3-70b-instruct-v1:0", "llama3:8b", "Meta-Llama-3-8B"], "Llama 3"),
        (["gemma2:9b", "google/gemma-2-27b-it"], "Gemma 1 and 2"),
        (["gemma3:27b", "gemma-4-31b-it", "google.gemma-3-12b-it"], "Gemma"),
        (
            ["mistral-large-latest", "mistral-small-2603", "mistral-large-4-0", "ministral-8b-2512"],
            "Mistral 3 and later",
        ),
        (["mistral:7b", "mistral.mistral-large-2402-v1:0", "mixtral-8x7b"], "Mistral"),
        (["grok-4.7", "x-ai/grok-9"], "Grok"),
        (["SmolLM2-135M-Instruct"], "SmolLM"),
        (["something-new-9b", "my-deployment", ""], "unknown"),
    ],
)
def test_a_model_is_known_by_whatever_name_it_goes(names: list[str], family: str) -> None:
    assert {name: family_of(name).name for name in names} == dict.fromkeys(names, family)


@pytest.mark.parametrize(
    "name",
    ["text-embedding-3-large", "nomic-embed-text", "whisper-1", "gpt-image-2", "gpt-4o-realtime-preview", "sora-2",
     "gpt-4o-mini-tts", "omni-moderation-latest", "llama-guard-4-12b", "gpt-5-search-api", "gpt-5.3-codex",
     "gemini-2.5-flash-image", "mistral-ocr-latest", "amazon.nova-sonic-v1:0", "embeddinggemma:300m"],
)  # fmt: skip
def test_what_is_for_something_else_is_no_chat_model(name: str) -> None:
    assert not family_of(name).chat


@pytest.mark.parametrize("name", ["gpt-6.1-sol", "claude-opus-5-5", "olmo-3", "command-a", "deepseek-chat", "glm-5.3"])
def test_what_converses_is(name: str) -> None:
    assert family_of(name).chat


def test_reasoning_models_are_not_sent_what_they_refuse() -> None:
    assert {"temperature", "top_p", "stop", "max_tokens"} <= set(spec("o3-mini").refuses)
    assert {"temperature", "top_p"} <= set(spec("gpt-5-mini", effort="minimal").refuses)
    assert {"temperature", "top_p"} <= set(spec("claude-opus-5-5", "anthropic").refuses)
    assert "temperature" not in spec("gpt-4o").refuses
    assert "temperature" not in spec("claude-sonnet-4-5", "anthropic").refuses
    assert "system" in spec("gemma2:9b", "ollama").refuses


def test_the_longest_answer_is_renamed_only_at_openai() -> None:
    assert "max_tokens" in spec("gpt-6-luna").refuses
    assert "max_tokens" in spec("chem", "azure", base_model="gpt-6-luna").refuses
    assert "max_tokens" not in spec("global.openai.gpt-6-luna", "bedrock").refuses
    assert "max_tokens" in spec("global.openai.gpt-6-luna", "bedrock", refuses=("max_tokens",)).refuses


def test_a_temperature_is_refused_only_while_it_thinks_where_that_is_how_it_is() -> None:
    assert "temperature" not in spec("gpt-5.2").refuses, "it does not think unless asked to"
    assert "temperature" in spec("gpt-5.2", effort="low").refuses
    assert "temperature" in spec("gpt-6-luna").refuses, "it thinks unless asked not to"
    assert "temperature" not in spec("gpt-6-luna", effort="none").refuses
    assert "temperature" in spec("claude-sonnet-4-5", "anthropic", thinking_tokens=2048).refuses


def test_thinking_is_asked_for_in_the_form_that_the_family_takes() -> None:
    effort_for_budget = spec("claude-sonnet-4-5", "anthropic", effort="medium")
    assert (effort_for_budget.effort, effort_for_budget.thinking_tokens) == ("", 8192)
    assert effort_for_budget.max_tokens > 8192, "thoughts are part of the answer"
    budget_for_effort = spec("claude-opus-5-5", "anthropic", thinking_tokens=16_000)
    assert (budget_for_effort.effort, budget_for_effort.thinking_tokens) == ("high", 0)
    assert spec("claude-sonnet-4-5", "anthropic", effort="none").thinking_tokens == 0


def test_thoughts_get_room() -> None:
    assert spec("gpt-4o").max_tokens == 4096
    assert spec("gpt-6-luna").max_tokens == 16_384
    assert spec("claude-sonnet-5-5", "anthropic").max_tokens == 16_384
    assert spec("gpt-4").context == 8192


def test_what_a_person_set_stays() -> None:
    mine = spec("qwen3:32b", "openai", temperature=0.1, max_tokens=77, context=5000, refuses=("seed",), top_p=0.5)
    assert (mine.temperature, mine.max_tokens, mine.context, mine.refuses, mine.top_p) == (
        (0.1, 77, 5000, ("seed",), 0.5)
    )
    default_on_purpose = completed(
        ModelSpec(name="m", provider="openai", model="gpt-6-luna"), {"context", "max_tokens"}
    )
    assert (default_on_purpose.context, default_on_purpose.max_tokens) == (8192, 2048)


def test_memory_of_ones_own_is_spared() -> None:
    assert spec("llama3.3", "ollama").context == 8192
    assert spec("qwen3:32b", "ollama").context == 16_384
    assert spec("/x/Qwen3-4B.gguf", "embedded").context == 16_384
    assert spec("meta-llama/Llama-3.3-70B-Instruct", base_url="http://gpu07:8000/v1").context == 32_768
    assert spec("meta-llama/Llama-3.3-70B-Instruct", base_url=OPENROUTER).context == 128_000
    for model in (spec("qwen3:32b", "ollama"), spec("llama3.3", "ollama"), spec("something-new", "ollama")):
        assert model.max_tokens <= model.context // 2


def test_the_model_behind_a_deployment_says_how_to_call_it() -> None:
    assert "temperature" in spec("chem-lab", "azure", base_model="o3-mini").refuses
    assert spec("chem-lab", "azure").refuses == ()
    assert spec("arn:aws:bedrock:x:application-inference-profile/ab12", "bedrock", base_model="claude-opus-5").refuses


def test_an_unknown_model_gets_safe_settings() -> None:
    unknown = spec("something-new-9b", base_url=OPENROUTER)
    assert (unknown.temperature, unknown.refuses, unknown.effort) == (None, (), "")
    assert unknown.max_tokens == UNKNOWN.max_tokens


@pytest.mark.parametrize("model", ["gpt-6-luna", "claude-sonnet-4-5", "qwen3:32b", "something-new", "o3-mini"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama", "embedded"])
def test_completing_twice_changes_nothing(model: str, provider: str) -> None:
    once = spec(model, provider, effort="medium")
    assert completed(once) == once


def test_a_servers_own_refusals_come_with_its_address() -> None:
    assert "seed" in spec("mistral-large-latest", base_url="https://api.mistral.ai/v1").refuses
    assert "seed" not in spec("mistral-large-latest", base_url="http://gpu07:8000/v1").refuses


def test_who_serves_a_model() -> None:
    def host(provider: str, base_url: str = "") -> str | None:
        found = host_for(ModelSpec(name="m", provider=provider, base_url=base_url))
        return found.name if found else None

    assert host("openai") == "openai"
    assert host("openai", "https://OpenRouter.ai/api/v1/") == "openrouter"
    assert host("openai", "http://gpu07:8000/v1") is None
    assert host("anthropic") == "anthropic"
    assert host("ollama") is None


@pytest.mark.parametrize(
    ("name", "known", "threshold", "longest"),
    [
        ("text-embedding-3-large", "text-embedding-3-large", 0.15, 8191),
        ("openai/text-embedding-3-small", "text-embedding-3-small", 0.15, 8191),
        ("nomic-embed-text:latest", "Nomic", 0.15, 2000),
        ("mxbai-embed-large", "mxbai", 0.15, 500),
        ("amazon.titan-embed-text-v2:0", "Titan", 0.15, 8000),
        ("cohere.embed-english-v3", "Cohere", 0.15, 500),
        ("BAAI/bge-large-en-v1.5", "512 tokens", 0.15, 500),
        ("BAAI/bge-m3", "BGE M3", 0.15, 8000),
        ("something-new", "unknown", 0.15, 500),
    ],
)
def test_embedding_models(name: str, known: str, threshold: float, longest: int) -> None:
    embedding = embedding_of(name)
    assert (embedding.name, embedding.threshold, embedding.longest) == (known, threshold, longest)
    assert embedding.calibrated == (known == "text-embedding-3-large"), "nobody has measured the others"


def test_an_embedder_keeps_what_a_person_set() -> None:
    open_spec = EmbedderSpec(name="e", provider="openai", model="text-embedding-3-large")
    assert completed_embedder(open_spec).longest == 8191
    assert completed_embedder(open_spec).dims is None, "how many is asked for only if a person wants fewer"
    mine = EmbedderSpec(name="e", provider="ollama", model="nomic-embed-text", threshold=0.3, batch=7, longest=900)
    assert completed_embedder(mine) == mine
    assert completed_embedder(open_spec, {"longest"}).longest == 8000


def test_the_catalogue_holds_together() -> None:
    known = catalogue()
    for group in (known.families, known.hosts, known.embeddings):
        names = Counter(each.name for each in group)
        assert max(names.values()) == 1, names
    for family in known.families:
        assert re.compile(family.match)
        assert family.max_tokens * 2 <= max(family.context, 8192), family.name
        assert bool(family.efforts) <= (family.thinking in ("effort", "adaptive")), family.name
    for host in known.hosts:
        assert host.name == "bedrock" or host.keys
        for model in (*host.models, *filter(None, [host.judge])):
            assert family_of(model) is not UNKNOWN, model
            assert family_of(model).chat, model
            assert not family_of(model).aside, model
        assert not host.embedder or embedding_of(host.embedder).name != "unknown"
