"""What is kept beside a session: it is there at once, and only as long as it holds."""

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from core.lines import EVENTS_FILE
from core.scoring.account import Account
from core.scoring.embeddings import Embedding, WordLlamaEmbedder
from core.store import tables
from core.store.columns import COLUMNS_FILE
from core.store.library import example_folder
from core.store.log import EventLog, Record, read_log
from core.store.tables import public_table, read_tables, session_table
from core.store.vectors import embed_ideas
from tests.unit.test_analysis_table import columns

VECTORS_FILE = "vectors-wordllama.msgpack"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Path(shutil.copytree(example_folder(), tmp_path / "session"))


@pytest.fixture
def read_anew(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The sessions whose logs were read."""
    read: list[Path] = []

    def noting(folder: Path) -> Record:
        read.append(folder)
        return read_log(folder)

    monkeypatch.setattr(tables, "read_log", noting)
    return read


def test_the_log_is_read_once_and_the_same_comes_of_it(session: Path, read_anew: list[Path]) -> None:
    first, second = session_table(session), session_table(session)
    assert read_anew == [session]
    assert columns(first) == columns(second)
    assert os.stat(session / COLUMNS_FILE).st_mode & 0o777 == 0o600
    assert sorted(path.name for path in session.iterdir()) == [COLUMNS_FILE, EVENTS_FILE, "session.toml"]


@pytest.mark.parametrize("name", [EVENTS_FILE, "session.toml"])
def test_a_session_that_has_changed_is_read_again(session: Path, read_anew: list[Path], name: str) -> None:
    session_table(session)
    with (session / name).open("ab") as file:
        file.write(b"\n")
    session_table(session)
    session_table(session)
    assert read_anew == [session] * 2


def damaged(session: Path, change: Callable[[dict[str, object]], None]) -> None:
    path = session / COLUMNS_FILE
    content = msgspec.msgpack.decode(path.read_bytes())
    change(content)
    path.write_bytes(msgspec.msgpack.encode(content))


def numbers(*values: int) -> bytes:
    return np.array(values, dtype=np.int64).tobytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept.update(format=999),
        lambda kept: kept.pop("chains"),
        lambda kept: kept["ideas"].pop("number"),
        lambda kept: kept["ideas"].update(number=b"seven b"),
        lambda kept: kept["ideas"].update(number=numbers(1)),
        lambda kept: kept["ideas"].update(scored=b"\x07" * len(kept["ideas"]["scored"])),
        lambda kept: kept["chains"].update(model=numbers(9)),
        lambda kept: kept["chains"].update(model=numbers(-1)),
        lambda kept: kept["ideas"].update(failed_rule=numbers(*[4] * 23)),
        lambda kept: kept["ideas"].update(chain=numbers(*[1] * 23)),
        lambda kept: kept.update(authors=["only one"]),
    ],
)
def test_what_can_t_be_right_is_read_again(
    session: Path, read_anew: list[Path], change: Callable[[dict[str, object]], None]
) -> None:
    right = columns(session_table(session))
    damaged(session, change)
    assert columns(session_table(session)) == right
    assert read_anew == [session] * 2


@pytest.mark.parametrize("content", [b"", b"\x80", b"\xff" * 100, b"\xc1not msgpack"])
def test_rubbish_is_read_again(session: Path, read_anew: list[Path], content: bytes) -> None:
    session_table(session)
    (session / COLUMNS_FILE).write_bytes(content)
    assert session_table(session).lengths.tolist() == [23]
    assert read_anew == [session] * 2


def test_names_in_it_are_clean(session: Path) -> None:
    session_table(session)
    damaged(session, lambda kept: kept.update(writers=["\x1b[2Jm"], authors=["a\x9b", "b", "c", "d"]))
    table = session_table(session)
    assert (table.models, table.authors[0]) == (("[2Jm",), "a")


def test_where_nothing_can_be_kept_nothing_is_missing(session: Path, read_anew: list[Path]) -> None:
    (session / COLUMNS_FILE).mkdir()
    assert session_table(session).lengths.tolist() == [23]
    assert session_table(session).lengths.tolist() == [23]
    assert read_anew == [session] * 2
    assert [path.name for path in session.iterdir() if path.name.startswith(".")] == []


def test_nothing_is_kept_of_a_session_that_is_being_written_and_of_the_example(session: Path) -> None:
    log, _ = EventLog.reopen(session)
    session_table(session)
    log.close()
    session_table(example_folder())
    assert not (session / COLUMNS_FILE).exists()
    assert not (example_folder() / COLUMNS_FILE).exists()


# ── vectors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class CountingEmbedder:
    """WordLlama, and how many texts it was given; it may lose some, or take its time."""

    name = "wordllama"

    def __init__(self, of: WordLlamaEmbedder, *, lost: bool = False, slow: bool = False) -> None:
        self._of = of
        self._lost = lost
        self._slow = slow
        self.texts = 0

    async def prepare(self) -> None:
        await self._of.prepare()

    async def embed(self, texts: Sequence[str], account: Account) -> list[Embedding]:
        self.texts += len(texts)
        if self._slow:
            await asyncio.sleep(60)
        found = await self._of.embed(texts, account)
        return [Embedding(None, lost=True), *found[1:]] if self._lost else found


async def test_ideas_are_embedded_once_in_the_order_of_the_table(session: Path, embedder: WordLlamaEmbedder) -> None:
    counting = CountingEmbedder(embedder)
    table = session_table(session)
    told: list[tuple[int, int]] = []
    first = await embed_ideas(table, counting, progress=lambda done, of: told.append((done, of)))
    second = await embed_ideas(table, counting)
    assert counting.texts == 23
    assert first.shape == (23, 256)
    assert first.dtype == np.float32
    assert np.array_equal(first, second, equal_nan=True)
    assert told == [(23, 23)]
    # A chain's novelty can be computed again from them.
    own = first[1] @ first[:1].T
    assert table.ideas.embedding_novelty[1] == pytest.approx(1 - own.max(), abs=1e-5)


async def test_of_a_part_of_a_session_all_is_kept_and_the_part_comes(
    session: Path, embedder: WordLlamaEmbedder, tmp_path: Path
) -> None:
    other = Path(shutil.copytree(session, tmp_path / "other"))
    both = read_tables([session, other]).table
    every = await embed_ideas(both, embedder)
    part = await embed_ideas(both.only(np.array([False, True])), CountingEmbedder(embedder))
    assert np.array_equal(every[23:], part, equal_nan=True)
    assert np.array_equal(every[:23], part, equal_nan=True)


async def test_texts_that_were_lost_have_none_and_nothing_is_kept(session: Path, embedder: WordLlamaEmbedder) -> None:
    found = await embed_ideas(session_table(session), CountingEmbedder(embedder, lost=True))
    assert np.isnan(found[0]).all()
    assert not np.isnan(found[2]).any()
    assert not (session / VECTORS_FILE).exists()


async def test_cancelled_it_stops_at_once(session: Path, embedder: WordLlamaEmbedder) -> None:
    job = asyncio.ensure_future(embed_ideas(session_table(session), CountingEmbedder(embedder, slow=True)))
    await asyncio.sleep(0.05)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert not (session / VECTORS_FILE).exists()


@pytest.mark.parametrize("content", [b"", b"\xff" * 50])
async def test_vectors_that_can_t_be_read_are_made_anew(
    session: Path, embedder: WordLlamaEmbedder, content: bytes
) -> None:
    table = session_table(session)
    right = await embed_ideas(table, embedder)
    (session / VECTORS_FILE).write_bytes(content)
    assert np.array_equal(await embed_ideas(table, embedder), right, equal_nan=True)


async def test_ideas_that_are_gone_since_have_none(session: Path, embedder: WordLlamaEmbedder) -> None:
    table = session_table(session)
    log = session / EVENTS_FILE
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: next(n for n, line in enumerate(lines) if b'"idea":21' in line)]))
    found = await embed_ideas(table, embedder)
    assert [number for number, row in enumerate(found, 1) if np.isnan(row).all()] == [21, 22, 23]


async def test_result_files_are_embedded_too_and_nothing_is_put_beside_them(
    tmp_path: Path, embedder: WordLlamaEmbedder
) -> None:
    answers = [{"answer_num": n, "answer": text} for n, text in enumerate(["Listen to ice.", "Sing to it."], 1)]
    path = tmp_path / "results.json"
    path.write_bytes(msgspec.json.encode({"models": {"m": {"0.7": {"How to hear ice?": answers}}}}))
    found = await embed_ideas(public_table(path), embedder)
    assert found.shape == (2, 256)
    assert [each.name for each in tmp_path.glob("*.msgpack")] == []
