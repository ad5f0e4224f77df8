"""The SQL that counts dependencies, argument positions and postings of a range of sentences.

Ingestion stores what it yields; ``sentgen db check`` runs it again over everything and compares.
"""

from __future__ import annotations

from importlib.resources import files

from sqlalchemy import Connection

from sentgen.schema.store import raw

_STEPS = ("tagged_token", "layer_token", "attachment")
#: Tables that these queries fill, each by the query of its name.
COUNTED = ("dependency_event", "argument_count", "posting")


def query(name: str) -> str:
    """Return the text of one counting query."""
    return (files(__package__) / f"{name}.sql").read_text()


def prepare(connection: Connection, corpus_id: int, first: int, last: int) -> int:
    """Lay out the sentences ``first`` to ``last`` of a corpus for counting; return the number of attachments."""
    duck = raw(connection)
    duck.execute(query(_STEPS[0]), {"corpus": corpus_id, "first": first, "last": last})
    for step in _STEPS[1:]:
        duck.execute(query(step))
    found = duck.execute("select count(*) from attachment").fetchone()
    return int(found[0]) if found else 0


def count_trees(connection: Connection, segment_id: int, corpus_id: int, first: int, last: int) -> int:
    """Count the trees of the sentences ``first`` to ``last`` into a segment; return the number of attachments."""
    attachments = prepare(connection, corpus_id, first, last)
    for table in COUNTED if attachments else ():
        raw(connection).execute(
            f"insert into {table} by name select {segment_id} as segment_id, * from ({query(table)})"
        )
    drop(connection)
    return attachments


def drop(connection: Connection) -> None:
    """Remove the temporary tables of `prepare`."""
    for step in _STEPS:
        raw(connection).execute(f"drop table if exists temp.{step}")
