"""The rows of frequency lists, counted in arrays: those of the statement that `frequency_statement` has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Floats
from sentgen.lookups.base.numbers import as_number
from sentgen.lookups.base.statement import Bindings, ResultBudget, Statement
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.question.selection import select_corpora
from sentgen.lookups.search.attributes import Attribute, attribute_of
from sentgen.lookups.statistics.breakdown import Breakdown, of_parts
from sentgen.lookups.statistics.frequency_statement import kind_sizes
from sentgen.lookups.statistics.hit_counts import HitKey, count_hits
from sentgen.lookups.statistics.hit_parts import Parts, documents_of, regions_of
from sentgen.lookups.statistics.listed import ListedTokens, LookedUp
from sentgen.output.rates import PartSizes, time_key
from sentgen.output.tabular import Rows, names_of

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns behind the keys.
_OF_HITS = ("count", "share", "per_million", "parts", "dp", "juilland_d", "part_share")
_OF_TOKENS = ("count", "per_million", "parts", "dp", "coverage", "juilland_d", "part_share")
_MEANS = ("mean", "mean_low", "mean_high")


def frequency_rows(
    connection: Connection, of: Query | ListedTokens, by: Breakdown, limit: int
) -> tuple[pa.Table, bool]:
    """Return the rows of a frequency list, and whether there are more than ``limit``; see its statement."""
    import pyarrow as pa

    parts = regions_of(by) if by.parts else documents_of(connection, by.selection)
    keys = [HitKey(_numbered(by, term), term.label) for term in by.keys.values()]
    if isinstance(of, ListedTokens):
        key = LookedUp(keys[0].attribute)
        keys = [replace(keys[0], attribute=key)]
        find = partial(of.find, connection, key)
    else:
        find = partial(of.find, connection)

    counted = count_hits(find, keys, parts, limit, _number(by))
    measures = counted.groups.measures(parts, counted.hits)
    columns = {name: counted.groups.strings(place) for place, name in enumerate(by.keys)}
    for name in _OF_TOKENS if isinstance(of, ListedTokens) else _OF_HITS:
        columns[by.names.get(name, name)] = pa.array(measures[name], from_pandas=True)
    if by.around:
        size = _sizes(connection, by, parts, [columns[name] for name in by.around])
        columns["per_million_in_part"] = pa.array(1e6 * measures["count"] / size, from_pandas=True)
    for name in _MEANS if by.mean else ():
        columns[name] = pa.array(measures[name], from_pandas=True)
    table = pa.table(columns)
    ResultBudget(connection).add(table)
    return table, counted.more


def _numbered(by: Breakdown, term: Term) -> Attribute:
    bindings = Bindings()
    of_token = by.string(term, "t", bindings)
    return attribute_of(term.attribute, by.conditions(bindings), partial(by.named, term), of_token)


def _number(by: Breakdown) -> HitKey | None:
    """Return the number of which there is a mean."""
    if by.mean is None:
        return None
    conditions = by.conditions(Bindings())
    of_token = as_number(conditions.string(by.mean.attribute, "t"))
    return HitKey(attribute_of(by.mean.attribute, conditions, as_number, of_token), by.mean.label)


def _sizes(connection: Connection, by: Breakdown, parts: Parts, names: list[pa.Array]) -> Floats:
    """Return how many tokens have the same around them as the tokens of groups; NaN for none.

    Labels of one hit may be in different sentences, and no token in what is around both.
    """
    keys = [_numbered(by, term) for term in by.around.values()]
    if parts.documents is not None and all(one.of_documents for one in keys):
        known = Counter[tuple[str, ...]]()
        columns = [one.of_numbers(parts.documents).to_pylist() for one in keys]
        for *key, size in zip(*columns, parts.sizes.tolist(), strict=True):
            known[tuple(key)] += size
    else:
        known = Counter(_kinds(connection, by))
    asked = zip(*(one.to_pylist() for one in names), strict=True)
    return np.array([known.get(key, np.nan) for key in asked], float)


def _kinds(connection: Connection, by: Breakdown) -> dict[tuple[str, ...], int]:
    """Return how many tokens have the same around them, by what that is."""
    bindings = Bindings()
    rows = Statement(kind_sizes(by, bindings), bindings).run(connection).to_pylist()
    return {tuple(row.values())[:-1]: row["kind_size"] for row in rows}


def part_sizes(
    connection: Connection, table: pa.Table | Rows, corpora: Sequence[str], condition: str | None
) -> PartSizes:
    """Return how many tokens the parts of a corpus have that hits were counted by, those without a hit, too.

    There are none where no key is a time.

    Args:
        connection: the store.
        table: the counts.
        corpora: the corpora that they are of.
        condition: what the metadata of their sentences meet.
    """
    keys = names_of(table)[: names_of(table).index("count")]
    if time_key(keys, table.to_pylist()) is None:
        return PartSizes()
    by = of_parts(connection, keys, select_corpora(connection, corpora, condition=condition, sentences=True))
    return PartSizes(list(by.keys), _kinds(connection, by)) if by.keys else PartSizes()
