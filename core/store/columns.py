"""The columns of a session, kept beside its log: a profile of many sessions is then there at once.

What is kept counts only as long as neither the log nor the plan has changed, and only if it is whole; it is made anew
from these whenever it is not there. It holds numbers and names, and nothing that could be run.
"""

from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from core.analysis.table import NAMES, RULES, Columns, Ints, Table, table_of
from core.files import read_file
from core.questions import Question
from core.store.beside import Stamp, keep_file
from core.text import clean, clean_all

COLUMNS_FILE = "columns.msgpack"

FORMAT = 2
"""Of the file: with another number all are made anew."""

_NO_CHAINS = table_of([])


class _Kept(Struct, frozen=True, kw_only=True):
    """The file. Columns are bytes, of the kind that each has in memory, the lowest first."""

    format: int
    stamp: Stamp
    writers: tuple[str, ...]
    questions: tuple[Question, ...]
    ends: tuple[str, ...]
    authors: tuple[str, ...]
    embedders: tuple[str, ...]
    settings: tuple[str, ...]
    seeds: tuple[str, ...]
    chains: dict[str, bytes]
    ideas: dict[str, bytes]
    offers: dict[str, bytes]


_decoder = msgspec.msgpack.Decoder(_Kept)


def kept(folder: Path, stamp: Stamp) -> Table | None:
    """What is kept of a session that still has this stamp; None if nothing is, or nothing that can be used."""
    try:
        found = _decoder.decode(read_file(folder / COLUMNS_FILE))
        if (found.format, found.stamp) != (FORMAT, stamp):
            return None
        table = Table(
            writers=_clean(found.writers),
            questions=tuple(Question(*clean_all(astuple(each))) for each in found.questions),
            sessions=(str(folder),),
            ends=_clean(found.ends),
            authors=_clean(found.authors),
            embedders=_clean(found.embedders),
            settings=_clean(found.settings),
            seeds=_clean(found.seeds),
            chains=_columns(_NO_CHAINS.chains, found.chains),
            ideas=_columns(_NO_CHAINS.ideas, found.ideas),
            offers=_columns(_NO_CHAINS.offers, found.offers),
        )
        _check(table)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError, KeyError, ValueError):
        return None
    return table


def keep(folder: Path, stamp: Stamp, table: Table) -> None:
    """Keep the columns of a session that had this stamp before they were made; where they can't be, let it be."""
    content = msgspec.msgpack.encode(
        _Kept(
            format=FORMAT,
            stamp=stamp,
            writers=table.writers,
            questions=table.questions,
            ends=table.ends,
            authors=table.authors,
            embedders=table.embedders,
            settings=table.settings,
            seeds=table.seeds,
            chains=_bytes(table.chains),
            ideas=_bytes(table.ideas),
            offers=_bytes(table.offers),
        )
    )
    keep_file(folder / COLUMNS_FILE, content)


def _clean(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean(name) for name in names)


def _bytes(columns: Struct) -> dict[str, bytes]:
    return {name: getattr(columns, name).tobytes() for name in columns.__struct_fields__}


def _columns(like: Columns, stored: dict[str, bytes]) -> Columns:
    """Raises KeyError, ValueError."""
    return type(like)(
        **{name: np.frombuffer(stored[name], getattr(like, name).dtype) for name in like.__struct_fields__}
    )


def _check(table: Table) -> None:
    """Raises ValueError if the columns can't be those of a table."""
    for part in (table.chains, table.ideas, table.offers):
        columns = {name: getattr(part, name) for name in part.__struct_fields__}
        if len({len(column) for column in columns.values()}) != 1:
            raise ValueError("columns of different lengths")
        for name, column in columns.items():
            if column.dtype == np.bool_ and column.view(np.uint8).max(initial=0) > 1:
                raise ValueError(f"{name} is not of yes and no")
            if name in NAMES:
                _check_places(column, len(getattr(table, NAMES[name])), least=-1 if name == "seed" else 0)
    _check_places(table.ideas.failed_rule, len(RULES), least=-1)
    for chain in (table.ideas.chain, table.offers.chain):
        _check_places(chain, len(table.chains.model), least=0)
        if (np.diff(chain) < 0).any():
            raise ValueError("ideas out of order")


def _check_places(places: Ints, count: int, least: int) -> None:
    if places.min(initial=0) < least or places.max(initial=-1) >= count:
        raise ValueError("a place among names that there is not")
