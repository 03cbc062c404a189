"""What a name means on a hub, and which of its files that is."""

import pytest

from core.errors import ModelUnavailableError, UsageError
from core.providers.hub.names import HubFile, Wanted, choose, read_name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("anna/tiny-GGUF", Wanted("anna/tiny-GGUF")),
        ("hf.co/anna/tiny:Q4_K_M", Wanted("anna/tiny", kind="Q4_K_M")),
        ("hf:anna/tiny/tiny.gguf", Wanted("anna/tiny", file="tiny.gguf")),
        ("hf:anna/tiny/deep/tiny.GGUF", Wanted("anna/tiny", file="deep/tiny.GGUF")),
        ("huggingface.co/anna/tiny", Wanted("anna/tiny")),
        ("https://huggingface.co/anna/tiny/blob/main/tiny.gguf", Wanted("anna/tiny", file="tiny.gguf")),
        ("https://huggingface.co/anna/tiny/resolve/main/a/tiny.gguf?download=true", Wanted("anna/tiny", "a/tiny.gguf")),
        ("https://huggingface.co/anna/tiny/tree/main", Wanted("anna/tiny")),
    ],
)
def test_a_name_in_all_the_ways_that_people_write_it(name: str, wanted: Wanted) -> None:
    assert read_name(name) == wanted


@pytest.mark.parametrize(
    "name", ["", "tiny", "anna/", "anna/../tiny", "anna/tiny/../../x.gguf", "anna/tiny/x.bin", "anna/tiny:", "a b/c"]
)
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(UsageError, match="is no model on a hub"):
        read_name(name)


def named(*names: str) -> list[HubFile]:
    """Of sizes that fall with the place."""
    return [HubFile(name, 1000 - place) for place, name in enumerate(names)]


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        (["t-Q8_0.gguf", "t-Q4_K_M.gguf", "t-Q4_0.gguf"], "t-Q4_K_M.gguf"),
        (["t.q8_0.gguf", "t.q5_k_m.gguf", "t.q2_k.gguf"], "t.q5_k_m.gguf"),
        (["t-F16.gguf", "t-IQ3_XS.gguf"], "t-F16.gguf"),
        (["t-Q3_K_L.gguf", "t-Q2_K.gguf"], "t-Q3_K_L.gguf"),
        (["Qwen2.5-7B.gguf", "mmproj-F16.gguf", "README.md", "imatrix.gguf"], "Qwen2.5-7B.gguf"),
        (["a/t-UD-Q4_K_M.gguf", "t-BF16.gguf"], "a/t-UD-Q4_K_M.gguf"),
    ],
)
def test_the_best_of_what_there_is(there: list[str], chosen: str) -> None:
    assert [file.path for file in choose(named(*there), Wanted("anna/tiny"))] == [chosen]


def test_a_kind_is_found_whatever_its_letters_case() -> None:
    files = named("t-Q8_0.gguf", "t-Q4_K_M.gguf")
    assert choose(files, Wanted("anna/tiny", kind="q8_0"))[0].path == "t-Q8_0.gguf"


@pytest.mark.parametrize(
    ("there", "wanted", "said"),
    [
        (["t.safetensors"], Wanted("anna/tiny"), "no GGUF files"),
        (["t-Q8_0.gguf", "t-Q2_K.gguf"], Wanted("anna/tiny", kind="Q6_K"), "no Q6_K: choose of Q2_K, Q8_0"),
        (["one.gguf", "two.gguf"], Wanted("anna/tiny"), "several models: choose of one.gguf, two.gguf"),
        (["t-Q4_K_M-00001-of-00002.gguf"], Wanted("anna/tiny"), "lacks parts"),
    ],
)
def test_when_nothing_can_be_chosen_it_says_what_there_is(there: list[str], wanted: Wanted, said: str) -> None:
    with pytest.raises(ModelUnavailableError, match=said):
        choose(named(*there), wanted)
