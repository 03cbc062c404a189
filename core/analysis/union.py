"""Several tables as one."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from core.analysis.table import NAMES, Columns, Ints, Name, Table, distinct, ints, table_of


def together(tables: Sequence[Table]) -> Table:
    """Several tables as one. What has the same name is the same; a question of the same
    leaf and text is, whatever its id."""
    if len(tables) == 1:
        return tables[0]
    tables = tables or [table_of([])]
    united = {column: _united([getattr(table, names) for table in tables]) for column, names in NAMES.items()}
    begins = np.cumsum([0, *(len(table.chains.model) for table in tables)])

    def renumbered(columns: Columns, number: int) -> Columns:
        """The columns of one of the tables, as they stand among all."""
        changed: dict[str, Ints] = {}
        for name in columns.__struct_fields__:
            if name in NAMES:
                own = np.append(united[name][1][number], np.int64(-1))  # at -1, what stands for none
                changed[name] = own[getattr(columns, name)]
            elif name == "chain":
                changed[name] = getattr(columns, name) + begins[number]
        return replace(columns, **changed)

    return Table(
        chains=_joined([renumbered(table.chains, number) for number, table in enumerate(tables)]),
        ideas=_joined([renumbered(table.ideas, number) for number, table in enumerate(tables)]),
        offers=_joined([renumbered(table.offers, number) for number, table in enumerate(tables)]),
        **{names: united[column][0] for column, names in NAMES.items()},
    )


def _joined(columns: Sequence[Columns]) -> Columns:
    names = columns[0].__struct_fields__
    return type(columns[0])(**{name: np.concatenate([getattr(each, name) for each in columns]) for name in names})


def _united(names: Sequence[tuple[Name, ...]]) -> tuple[tuple[Name, ...], list[Ints]]:
    """All of `names`, each once, and for each of the tuples where its own are among them."""
    union, places = distinct([name for each in names for name in each])
    cuts = np.cumsum([len(each) for each in names])[:-1]
    return union, list(np.split(ints(places), cuts))
