"""Merge segments: many small additions become one sorted block of counts with the same sums."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from sentgen.schema.base import metadata, now, quote_identifier
from sentgen.schema.counting import PAIRS, count_pairs
from sentgen.schema.engine import raw

_MERGING = """
create or replace temp table merging as
select id as segment_id, min(id) over (partition by corpus_id) as target
from segment
where $all or id in (select unnest($ids::integer[]))
qualify count(*) over (partition by corpus_id) > 1
"""
_MERGED = """
create or replace temp table merged as
select m.target as segment_id, {keys}, sum(count)::bigint as count
from {table}
join merging m using (segment_id)
group by all
having sum(count) <> 0
"""
# A token is in one segment, and has nothing to be summed.
_MOVED = """
create or replace temp table merged as
select m.target as segment_id, {keys}
from {table}
join merging m using (segment_id)
"""
_SIZES = """
update segment
set sentences = t.sentences, tokens = t.tokens, created_at = $now
from (
    select m.target, sum(s.sentences)::bigint as sentences, sum(s.tokens)::bigint as tokens
    from segment s
    join merging m on m.segment_id = s.id
    group by m.target
) t
where segment.id = t.target
"""


def segment_tables() -> list[str]:
    """Return the tables whose rows belong to segments: those of counts, and that of occurrences."""
    return [name for name, table in metadata.tables.items() if "segment_id" in table.columns]


def counted_tables() -> list[str]:
    """Return the tables of counts: those with a segment and a count."""
    return [
        name
        for name, table in metadata.tables.items()
        if {"segment_id", "count"} <= set(table.columns.keys())
    ]


def merge(connection: Connection, ids: Sequence[int] | None = None) -> None:
    """Merge segments of the same corpus, all of them or the given ones, into the one with the lowest id.

    Counts below zero are taken from the others, and what is left with none has no row.
    """
    duck = raw(connection)
    duck.execute(_MERGING, {"all": ids is None, "ids": list(ids or ())})
    counts = counted_tables()
    for table in (name for name in segment_tables() if name != PAIRS):
        names = [
            quote_identifier(c.name)
            for c in metadata.tables[table].columns
            if c.name not in ("segment_id", "count")
        ]
        keys = ", ".join(names)
        duck.execute((_MERGED if table in counts else _MOVED).format(keys=keys, table=table))
        duck.execute(f"delete from {table} where segment_id in (select segment_id from merging)")
        # Sorted anew, as the pruning of row groups wants it.
        duck.execute(f"insert into {table} by name select * from merged order by segment_id, {keys}")
    duck.execute("drop table if exists merged")
    duck.execute(_SIZES, {"now": now(exact=True)})
    duck.execute(
        "delete from segment where id in (select segment_id from merging where segment_id <> target)"
    )
    # Which words are frequent changes with the segment: pairs are counted anew.
    duck.execute(f"delete from {PAIRS} where segment_id in (select segment_id from merging)")
    for (target,) in duck.execute("select distinct target from merging order by target").fetchall():
        count_pairs(connection, target)
    duck.execute("drop table merging")
