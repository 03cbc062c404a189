"""The seed bank: enough concepts of every field, each said once and plainly; and a person's own files of them."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from core.config import own_seed_files
from core.errors import UsageError
from core.questions import LEAVES
from core.seeds.bank import Concept, SeedBank

BANK = SeedBank.built_in()

MARKUP = re.compile(r"[\[\]<>{}*_`#\\$|\"]|https?:")

GOOD = """\
domain = "Geology"
subdomain = "Caves"

[[seeds]]
name = "Drip clock"
kind = "phenomenon"
text = "Each drop leaves a film of calcite, so that a stalagmite keeps the years as layers."
"""

DRIP_CLOCK = Concept(
    name="Drip clock",
    text="Each drop leaves a film of calcite, so that a stalagmite keeps the years as layers.",
    kind="phenomenon",
    domain="Geology",
    subdomain="Caves",
    source="file",
)


def load(folder: Path, content: str | bytes, name: str = "own.toml") -> SeedBank:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return SeedBank.from_files([path])


# ── the built-in bank ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_leaf_is_well_stocked_and_in_its_order() -> None:
    count = Counter(seed.leaf for seed in BANK.seeds)
    assert BANK.leaves() == list(LEAVES)
    assert {leaf: count[leaf] for leaf in LEAVES if count[leaf] < 40} == {}
    assert len(BANK) >= 360
    assert BANK.problems == ()


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_leaf_has_seeds_of_many_kinds(leaf: str) -> None:
    seeds = BANK.search(domain=leaf)
    count = Counter(seed.kind for seed in seeds)
    assert None not in count
    assert len(count) >= 4
    assert max(count.values()) < len(seeds) / 2


def test_a_name_stands_for_one_seed_whatever_its_case() -> None:
    count = Counter(seed.name.casefold() for seed in BANK.seeds)
    assert [name for name, number in count.items() if number > 1] == []


def test_no_two_say_the_same() -> None:
    assert len({seed.text for seed in BANK.seeds}) == len(BANK)


def test_names_are_short_and_plain() -> None:
    assert [seed.name for seed in BANK.seeds if not 3 <= len(seed.name) < 40] == []
    assert [seed.name for seed in BANK.seeds if MARKUP.search(seed.name) or not seed.name.isprintable()] == []


@pytest.mark.parametrize("seed", BANK.seeds, ids=lambda seed: seed.name)
def test_a_text_is_a_sentence_or_two_of_plain_words(seed: Concept) -> None:
    assert 80 <= len(seed.text) < 300
    assert seed.text.endswith(".")
    assert seed.text.isprintable()
    assert not MARKUP.search(seed.text)
    assert len(re.findall(r"[.?!](?= [A-Z]|$)", seed.text)) <= 2


def test_texts_do_not_all_begin_alike() -> None:
    for leaf in LEAVES:
        openings = Counter(seed.text.split()[0] for seed in BANK.search(domain=leaf))
        assert max(openings.values()) <= len(BANK.search(domain=leaf)) // 5, leaf


def test_nothing_is_read_before_it_is_asked_for() -> None:
    code = (
        "import core.seeds.bank as bank, sys\n"
        "print(bank._built_in.cache_info().currsize, *({'numpy', 'rapidfuzz', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]


# ── finding one ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_search_wants_every_word_in_name_text_kind_or_leaf() -> None:
    assert [seed.name for seed in BANK.search("SYMMETRY conserved")] == ["Noether's theorem"]
    assert {seed.kind for seed in BANK.search("organism", "nanoscience")} >= {"organism"}
    assert BANK.search("symmetry zzz") == []
    assert BANK.search() == list(BANK.seeds)


def test_a_domain_holds_its_subdomains() -> None:
    assert {seed.leaf for seed in BANK.search(domain="physics")} == {leaf for leaf in LEAVES if "Physics" in leaf}


def test_accents_need_not_be_typed() -> None:
    assert "Mössbauer effect" in [seed.name for seed in BANK.search("mossbauer")]
    assert BANK.search("mössbauer") == BANK.search("mossbauer")
    assert BANK.get("mossbauer EFFECT").name == "Mössbauer effect"


def test_a_mistyped_name_tells_the_nearest_and_obeys_nothing() -> None:
    with pytest.raises(UsageError, match="'Noethers theorem'; the nearest: Noether's theorem"):
        BANK.get("Noethers theorem")
    with pytest.raises(UsageError) as caught:
        BANK.get("\x1b[2Jqqqq\u202e" + "x" * 500)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 200


# ── a person's own files ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    bank = load(tmp_path, b"\xef\xbb\xbf" + GOOD.encode())
    assert bank == SeedBank((DRIP_CLOCK,))
    assert bank.leaves() == ["Geology / Caves"]
    assert (BANK | bank).leaves() == [*LEAVES, "Geology / Caves"]


def test_domain_and_kind_may_be_left_out(tmp_path: Path) -> None:
    [seed] = load(tmp_path, '[[seeds]]\nname = "Silt"\ntext = "It settles."\n').seeds
    assert seed == Concept(name="Silt", text="It settles.", domain="Own", source="file")


def test_ones_own_seed_takes_the_place_of_one_with_its_name(tmp_path: Path) -> None:
    own = load(tmp_path, '[[seeds]]\nname = "NOETHER\'S theorem"\ntext = "My own words."\n')
    both = BANK | own
    assert len(both) == len(BANK)
    assert both.get("Noether's theorem").text == "My own words."


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"a = '\xe9'\n", "own.toml: is not UTF-8 text (byte 5)"),
        ('[[seeds]]\nname = "Silt\n', "own.toml: not TOML: Illegal character '\\n' (at line 2, column 13)"),
        ("a = " + "[" * 5000, "own.toml: not TOML: "),
        ("seeds = 3\n", "own.toml:1: has no [[seeds]] tables"),
        ('[[questions]]\ntext = "Why?"\n', "own.toml:1: has no [[seeds]] tables"),
        ("domain = 3\n" + GOOD.replace('domain = "Geology"', ""), "own.toml:1: `domain` and `subdomain` must be text"),
        ('seeds = ["Silt"]\n', 'own.toml:1: a seed needs `name = "..."`'),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path: Path, content: str | bytes, why: str) -> None:
    bank = load(tmp_path, content)
    assert bank.seeds == ()
    [problem] = bank.problems
    assert problem.startswith(f"{tmp_path}/{why}")
    assert problem.isprintable()


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('text = "It settles."', 'a seed needs `name = "..."`'),
        ('name = 3\ntext = "It settles."', 'a seed needs `name = "..."`'),
        ('name = " \\u0000"\ntext = "It settles."', 'a seed needs `name = "..."`'),
        ('name = "Silt"', 'a seed needs `text = "..."`, which says how it works'),
        ('name = "Silt"\ntext = ["It settles."]', 'a seed needs `text = "..."`, which says how it works'),
        (f'name = "Silt"\ntext = "{"x" * 2001}"', "`text` has 2,001 characters; 2,000 is the most"),
        (
            'name = "Silt"\ntext = "It settles."\nkind = "mud"',
            "`kind` must be one of phenomenon, method, material, organism, formal",
        ),
        (
            'name = "Silt"\ntext = "It settles."\nkind = ["method"]',
            "`kind` must be one of phenomenon, method, material, organism, formal",
        ),
        ('name = "drip CLOCK"\ntext = "It drips."', "the name 'drip CLOCK' is taken by another seed: choose another"),
    ],
)
def test_one_bad_seed_is_named_by_its_line_and_the_rest_load(tmp_path: Path, entry: str, why: str) -> None:
    last = '\n[[seeds]]\nname = "Last"\ntext = "It comes at the end."\n'
    bank = load(tmp_path, f"{GOOD}\n[[seeds]]\n{entry}\n{last}")
    assert [seed.name for seed in bank.seeds] == ["Drip clock", "Last"]
    [problem] = bank.problems
    assert problem.startswith(f"{tmp_path}/own.toml:9: {why}")


def test_files_that_are_not_there_leave_the_others(tmp_path: Path) -> None:
    good = tmp_path / "good.toml"
    good.write_text(GOOD, encoding="utf-8")
    bank = SeedBank.from_files([tmp_path / "gone.toml", tmp_path, good, good])
    assert bank.seeds == (DRIP_CLOCK,)
    assert bank.problems == (
        f"{tmp_path}/gone.toml: can't be read: No such file or directory",
        f"{tmp_path}: can't be read: Is a directory",
    )


def test_escapes_in_a_file_never_get_further(tmp_path: Path) -> None:
    content = (
        'domain = "Geo\\u001b[2Jlogy"\nsubdomain = "\\u202e"\n[[seeds]]\nname = "a\\u0007\\nb"\n'
        'text = "It \\u009ba \\u001b]0;x\\u0007 [/bold]."'
    )
    [seed] = load(tmp_path, content).seeds
    assert seed == Concept(name="a b", text="It a ]0;x [/bold].", domain="Geo[2Jlogy", source="file")


def test_the_config_folder_holds_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jagstorm"
    monkeypatch.setattr("core.config.config_folder", lambda: folder)
    assert own_seed_files() == []
    (folder / "seeds" / "not-a-file.toml").mkdir(parents=True)
    named = [folder / name for name in ("seeds.toml", "seeds/a.toml", "seeds/b.toml")]
    for path in [*named, folder / "seeds.txt", folder / "seeds" / "notes.md"]:
        path.touch()
    assert own_seed_files() == named
