"""The published figures: right, and found under whatever name a model goes by."""

import csv
import statistics
from pathlib import Path

import pytest

from core.exchange.public import read_public
from core.models import Member, ModelSpec
from core.questions import LEAVES
from core.teams.published import published, published_models, published_source
from core.teams.results import Results
from core.teams.vendors import identity, maker_of
from core.teams.weights import weights

FROM_CODE = {"claude-3.7-thinking-16k": 5661, "deepseek-r1": 2771}
"""Totals that are in the public code, and not among the public results."""


def spec(name: str, **settings: object) -> ModelSpec:
    return ModelSpec(**{"name": name, "provider": "openai", "model": name} | settings)  # type: ignore[arg-type]


def named(name: str, **settings: object) -> str:
    found = published(spec(name, **settings))
    return f"{'' if found.itself else 'like '}{found.model.name}" if found else ""


def test_the_figures_are_those_of_the_public_results(public_data: Path) -> None:
    with (public_data / "sciaidanbench" / "golden.csv").open(encoding="utf-8") as file:
        golden = {row["model"]: row for row in csv.DictReader(file) if row["model"] != "top-5-parallel"}
    ours = {model.name: model for model in published_models()}
    assert ours.keys() == golden.keys() | FROM_CODE.keys()
    for name, row in golden.items():
        assert ours[name].total == int(row["responses"])
        assert ours[name].means == tuple(float(row[f"mean {leaf}"]) for leaf in LEAVES)
        assert ours[name].profile.total.runs == int(row["questions"])


@pytest.mark.parametrize("name", ["o1-mini", "o3-high-azure", "codegemma_7b"])
def test_the_deviations_are_those_of_the_public_chains(public_data: Path, name: str) -> None:
    lengths: dict[str, list[int]] = {}
    for chain in read_public(public_data / "sciaidanbench" / "per_model" / f"model_{name}.json"):
        leaf = f"{chain.domain} / {chain.subdomain}" if chain.subdomain else chain.domain
        lengths.setdefault(leaf, []).append(chain.responses)
    model = next(model for model in published_models() if model.name == name.replace("_", ":"))
    assert model.deviations == tuple(round(statistics.stdev(lengths[leaf]), 4) for leaf in LEAVES)


def test_totals_of_the_public_code_have_no_leaves() -> None:
    for model in published_models():
        assert (model.total == FROM_CODE.get(model.name)) == (model.means == ())
        assert model.profile.total.ideas == pytest.approx(model.total, abs=0.05)


def test_the_source_is_said() -> None:
    assert "SciAidanBench" in published_source()
    assert "released code" in published_source()


@pytest.mark.parametrize("model", published_models(), ids=lambda model: model.name)
def test_each_is_found_by_its_public_name(model: object) -> None:
    name = model.name  # type: ignore[attr-defined]
    assert named(name) == name
    recorded = ModelSpec(name=name, provider="recorded", model=f"results/some_file.json#{name}")
    found = published(recorded)
    assert found is not None
    assert found.model == model


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("o3-mini", {}, "o3-mini-medium"),
        ("o3-mini-2025-01-31", {"effort": "high"}, "o3-mini-high"),
        ("openai/o3-mini", {"effort": "minimal"}, "o3-mini-low"),
        ("o3", {}, "o3-medium-azure"),
        ("o3-pro", {}, "like o3-medium-azure"),
        ("o4-mini", {"effort": "low"}, "like o3-mini-low"),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", {}, "claude-3.7"),
        ("anthropic/claude-3.7-sonnet", {"thinking_tokens": 8000}, "claude-3.7-thinking-16k"),
        ("claude-3-7-sonnet-thinking", {}, "claude-3.7-thinking-16k"),
        ("claude-sonnet-4-5", {}, "like claude-3.7"),
        ("claude-sonnet-5-5", {}, "like claude-3.7-thinking-16k"),
        ("claude-3-5-sonnet-latest", {}, "claude-3.5"),
        ("claude-3-5-haiku-latest", {}, ""),
        ("claude-3-opus", {}, ""),
        ("gpt-4o-2024-08-06", {}, "openai/4o"),
        ("gpt-4o-mini", {}, ""),
        ("gpt-4.1", {}, "like openai/4o"),
        ("gpt-6.1-sol", {"effort": "xhigh"}, "like o3-high-azure"),
        ("gpt-oss-120b", {}, ""),
        ("google/gemini-2.5-pro", {}, "abacus-gemini-2-5-pro"),
        ("gemini-4-argon", {}, "like abacus-gemini-2-5-pro"),
        ("deepseek-reasoner", {}, "deepseek-r1"),
        ("deepseek-r1:14b", {}, "deepseek-r1:14b"),
        ("deepseek-r1-distill-llama-70b", {}, "like deepseek-r1:14b"),
        ("deepseek-r1:1.5b", {}, "like deepseek-r1:7b"),
        ("llama-3.3-70b-versatile", {}, "llama3.3:latest"),
        ("qwen2.5-coder:32b", {}, "qwen2.5-coder:32b"),
        ("qwen3:8b", {}, ""),
        ("mistral-large-latest", {}, ""),
        ("kimi-k3", {}, ""),
        ("my-own-model", {}, ""),
        ("demo3", {}, ""),
    ],
)
def test_a_model_is_known_by_its_other_names(name: str, settings: dict[str, object], expected: str) -> None:
    assert named(name, **settings) == expected


def test_a_weight_is_a_total() -> None:
    places = [
        Member(name=str(place), model=model)
        for place, model in enumerate(
            [
                spec("o3-mini-high"),
                spec("claude-3-7-sonnet", provider="anthropic", thinking_tokens=16_000),
                ModelSpec(name="chem", provider="azure", model="chem", base_model="o1"),
                spec("SmolLM2-135M-Instruct", provider="embedded"),
            ]
        )
    ]
    found = weights(places, Results)
    assert [weight.value for weight in found[:3]] == [4452.0, 5661.0, 4485.0]
    assert found[3].source == "mean", "nothing is published of it"


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("anthropic/claude-sonnet-5.5", "Anthropic"),
        ("us.anthropic.claude-opus-5-v1:0", "Anthropic"),
        ("openai.gpt-oss-120b-1:0", "OpenAI"),
        ("o3-mini", "OpenAI"),
        ("deepseek-r1-distill-qwen-14b", "DeepSeek"),
        ("nvidia/llama-3.3-nemotron-super-49b", "NVIDIA"),
        ("global.amazon.nova-2-lite-v1:0", "Amazon"),
        ("codellama:13b", "Meta"),
        ("z-ai/glm-5.3", "Z.ai"),
        ("some-lab/wonder-9b", "some-lab"),
    ],
)
def test_a_maker_is_who_made_it_and_not_who_serves_it(name: str, maker: str) -> None:
    served = ModelSpec(name="x", provider="openai", model=name, base_url="https://openrouter.ai/api/v1")
    assert maker_of(served) == maker


def test_a_model_without_a_makers_word_is_whose_server_it_is_on() -> None:
    assert maker_of(ModelSpec(name="x", provider="openai", model="brand-new")) == "OpenAI"
    assert maker_of(ModelSpec(name="mine", provider="embedded", model="/models/wonder.gguf")) == "mine"


@pytest.mark.parametrize(
    "names",
    [
        ("anthropic/claude-opus-4.5", "us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5@20251101"),
        ("openai/gpt-oss-120b", "openai.gpt-oss-120b-1:0"),
        ("mistral:latest", "mistral"),
        ("gpt-4o-2024-08-06", "openai/gpt-4o"),
    ],
)
def test_one_model_is_one_wherever_it_is_served(names: tuple[str, ...]) -> None:
    assert len({identity(spec(name)) for name in names}) == 1


def test_sizes_and_versions_tell_models_apart() -> None:
    names = ("qwen3:8b", "qwen3:14b", "deepseek-v3", "deepseek-v4", "o3-mini-high", "o3-mini-low")
    assert len({identity(spec(name)) for name in names}) == len(names)
