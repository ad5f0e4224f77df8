"""How many tokens the parts of a corpus have that metadata make, those without a hit among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sentgen.lookups.grew.matches import Match
from sentgen.lookups.statistics.frequencies import ALL_TOKENS, Frequencies
from sentgen.output.rates import PartSizes, time_key
from sentgen.output.tabular import Rows, names_of

if TYPE_CHECKING:
    import pyarrow as pa


def part_sizes(connection: Connection, asked: Frequencies | Match, table: pa.Table | Rows) -> PartSizes:
    """Return the sizes of the parts that hits were counted by; nothing where none of the keys is a time.

    Args:
        connection: the store.
        asked: what was counted.
        table: the counts.
    """
    keys = names_of(table)[: names_of(table).index("count")]
    if time_key(keys, table.to_pylist()) is None:
        return PartSizes()
    # It counts hits in arrays, which a list of parts does without.
    from sentgen.lookups.statistics.hit_frequencies import parts_by

    by = parts_by(connection, ",".join(keys))
    if not by:
        return PartSizes()
    attributes = list(dict.fromkeys(by.values()))
    whole = Frequencies(query=ALL_TOKENS, by=attributes, corpus=asked.corpus, where=asked.where, limit=0)
    rows: list[dict[str, Any]] = whole.ask(connection).found.to_pylist()
    # Two keys may be the same attribute, of different labels.
    tokens = {tuple(str(row[one]) for one in by.values()): row["count"] for row in rows}
    return PartSizes(list(by), tokens)
