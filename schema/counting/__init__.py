"""The SQL that counts dependencies, argument positions and postings of a range of sentences, into segments.

Ingestion stores the counts; ``sentgen db check`` counts all sentences again and compares. Segments are
merged, so that many small additions become one sorted block of counts with the same sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from sqlalchemy import Connection

from sentgen.schema.base import metadata, now, quote_identifier
from sentgen.schema.engine import raw
from sentgen.schema.tables.counts import FREQUENT

#: Queries that prepare the trees for counting; each is a table of its name for the following queries.
_STEPS = ("tagged_token", "layer_token", "attachment")
#: Tables of counts, each counted from the steps by the query of its name.
COUNTED = ("dependency_event", "argument_count", "sibling_count", "posting")
#: The table that is counted from the stored postings of a segment.
PAIRS = "cooccurrence"
#: The condition in the first step that selects the sentences to count.
_RANGE = "token.corpus_id = $corpus\n    and token.sentence_id between $first and $last"


def _query(name: str) -> str:
    return (files(__package__) / f"{name}.sql").read_text("utf-8")


def count_trees(connection: Connection, segment_id: int, corpus_id: int, first: int, last: int) -> None:
    """Count the trees of the sentences ``first`` to ``last`` of a corpus into a segment."""
    duck = raw(connection)
    for step in _STEPS:
        # Only the first step has parameters, and DuckDB refuses values for others.
        values = {"corpus": corpus_id, "first": first, "last": last} if step == _STEPS[0] else None
        duck.execute(f"create or replace temp table {step} as {_query(step)}", values)
    for table in COUNTED:
        duck.execute(
            f"insert into {table} by name select {segment_id} as segment_id, * from ({_query(table)})"
        )
    for step in _STEPS:
        duck.execute(f"drop table temp.{step}")


def count_pairs(connection: Connection, segment_id: int) -> None:
    """Count co-occurrences of the frequent words and tags of a segment, from its stored postings."""
    raw(connection).execute(
        f"insert into {PAIRS} by name select {segment_id} as segment_id, * from ({_pairs(str(segment_id))})"
    )


def _pairs(segment: str) -> str:
    return _query(PAIRS).replace("$segment", segment).replace("$frequent", str(FREQUENT))


def counting_query(table: str, chosen: str) -> str:
    """Return a query that counts the trees of chosen sentences.

    Args:
        table: one of `COUNTED`.
        chosen: the condition on rows of `token`.
    """
    steps = {step: _code(_query(step)) for step in _STEPS}
    first = _STEPS[0]
    assert _RANGE in steps[first]
    steps[first] = steps[first].replace(_RANGE, chosen)
    listed = ",\n".join(f"{step} as (\n{text}\n)" for step, text in steps.items())
    return f"with {listed}\nselect * from (\n{_code(_query(table))}\n)"


def _code(text: str) -> str:
    """Return a query without its comments."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def recount_pairs(segment_ids: Sequence[int]) -> str:
    """Return a query whose rows are the pairs of segments that differ from a recount of their postings."""
    names = ", ".join(c.name for c in metadata.tables[PAIRS].columns if c.name != "segment_id")
    return " union all ".join(
        f"""
        (
            with expected as (
                select {names} from ({_pairs(str(number))})
            ),
            stored as (
                select {names} from {PAIRS} where segment_id = {number}
            )
            (from expected except all from stored) union all (from stored except all from expected)
        )
        """
        for number in segment_ids
    )


def recount(table: str, corpus_id: int) -> str:
    """Return a query whose rows are the counts of a corpus that differ from a recount of its tokens."""
    names = [column.name for column in metadata.tables[table].columns if column.name != "segment_id"]
    keys = ", ".join(name for name in names if name != "count")
    return f"""
with expected as (
    select {", ".join(names)} from ({counting_query(table, f"token.corpus_id = {corpus_id}")})
),
stored as (
    select {keys}, sum(count)::bigint as count
    from {table}
    where segment_id in (select id from segment where corpus_id = {corpus_id})
    group by all
)
(from expected except from stored) union all (from stored except from expected)
"""


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
# For `occurrence`: a token is in one segment only, so that there are no counts to sum up.
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
    return [name for name in segment_tables() if "count" in metadata.tables[name].columns]


def merge_segments(connection: Connection, ids: Sequence[int] | None = None) -> None:
    """Merge segments of the same corpus, all of them or the given ones, into the one with the lowest id.

    Negative counts, of removed sentences, are subtracted so; rows with a sum of 0 are dropped.
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
        # Sorted again, so that queries can skip row groups.
        duck.execute(f"insert into {table} by name select * from merged order by segment_id, {keys}")
    duck.execute("drop table if exists merged")
    duck.execute(_SIZES, {"now": now(exact=True)})
    duck.execute(
        "delete from segment where id in (select segment_id from merging where segment_id <> target)"
    )
    # Co-occurrences are counted again, as other words are frequent in a larger segment.
    duck.execute(f"delete from {PAIRS} where segment_id in (select segment_id from merging)")
    for (target,) in duck.execute("select distinct target from merging order by target").fetchall():
        count_pairs(connection, target)
    duck.execute("drop table merging")
