"""The SQL that counts dependencies, argument positions and postings of a range of sentences.

Ingestion stores what it yields; ``sentgen db check`` runs it again over everything and compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from sqlalchemy import Connection

from sentgen.schema.base import metadata
from sentgen.schema.engine import raw
from sentgen.schema.tables.counts import FREQUENT

#: Queries that lay out the trees for counting, each read by the following ones under its name.
_STEPS = ("tagged_token", "layer_token", "attachment")
#: Tables that are counted from the steps, each by the query of its name.
COUNTED = ("dependency_event", "argument_count", "sibling_count", "posting")
#: The table that is counted from the postings of a segment once these are there.
PAIRS = "cooccurrence"
#: The sentences that are counted, in the first step.
_RANGE = "token.corpus_id = $corpus\n    and token.sentence_id between $first and $last"


def query(name: str) -> str:
    """Return the text of one counting query."""
    return (files(__package__) / f"{name}.sql").read_text("utf-8")


def count_trees(connection: Connection, segment_id: int, corpus_id: int, first: int, last: int) -> None:
    """Count the trees of the sentences ``first`` to ``last`` of a corpus into a segment."""
    duck = raw(connection)
    for step in _STEPS:
        # DuckDB refuses values that a statement has no parameters for; the later steps read the first.
        values = {"corpus": corpus_id, "first": first, "last": last} if step == _STEPS[0] else None
        duck.execute(f"create or replace temp table {step} as {query(step)}", values)
    for table in COUNTED:
        duck.execute(
            f"insert into {table} by name select {segment_id} as segment_id, * from ({query(table)})"
        )
    for step in _STEPS:
        duck.execute(f"drop table temp.{step}")


def count_pairs(connection: Connection, segment_id: int) -> None:
    """Count, into a segment, which of its frequent words and tags stand together; its postings are there."""
    raw(connection).execute(
        f"insert into {PAIRS} by name select {segment_id} as segment_id, * from ({_pairs(str(segment_id))})"
    )


def _pairs(segment: str) -> str:
    return query(PAIRS).replace("$segment", segment).replace("$frequent", str(FREQUENT))


def counting_query(table: str, chosen: str) -> str:
    """Return a query that counts the trees of chosen sentences.

    Args:
        table: one of `COUNTED`.
        chosen: the condition on rows of `token`.
    """
    steps = {step: _code(query(step)) for step in _STEPS}
    first = _STEPS[0]
    assert _RANGE in steps[first]
    steps[first] = steps[first].replace(_RANGE, chosen)
    listed = ",\n".join(f"{step} as (\n{text}\n)" for step, text in steps.items())
    return f"with {listed}\nselect * from (\n{_code(query(table))}\n)"


def _code(text: str) -> str:
    """Return a query without the lines that describe it."""
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
    # Materialized: each is read more than once, and would be computed as often.
    steps = ",\n".join(f"{step} as materialized (\n{query(step)})" for step in _STEPS)
    # A check is SQL without parameters, and these are numbers of our own.
    sentences = {"$corpus": str(corpus_id), "$first": "0", "$last": str(2**62)}
    for name, value in sentences.items():
        steps = steps.replace(name, value)
    return f"""
with {steps},
expected as (
    select {", ".join(names)} from ({query(table)})
),
stored as (
    select {keys}, sum(count)::bigint as count
    from {table}
    where segment_id in (select id from segment where corpus_id = {corpus_id})
    group by all
)
(from expected except from stored) union all (from stored except from expected)
"""
