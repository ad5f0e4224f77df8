"""Read every block of a store: DuckDB compares each with its checksum as it reads it.

A query that needs two columns reads the blocks of two columns. So a damaged block is found only by what reads
everything: all values of all columns, long strings and dictionaries with them, and every index from end to
end. The other blocks are free, or hold the catalog, without which the store does not open.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Table

from sentgen.schema.base import metadata, quoted
from sentgen.schema.inspection import VERSION_TABLE
from sentgen.schema.integrity.check import RESTORE, Check
from sentgen.schema.tables import alignment, models, runs, vectors
from sentgen.schema.tables.parses import parse
from sentgen.schema.tables.saved import saved_query

_RETRAIN = "restore a backup; if there is none, train the model again in a new store"
_CURES = {
    **dict.fromkeys(
        (t.name for t in (models.model, models.model_corpus, models.model_parameter, models.model_ngram)),
        "restore a backup; if there is none, build the models again in a new store",
    ),
    models.surprisal.name: "restore a backup; if there is none, apply the models again in a new store",
    models.model_weight.name: "restore a backup; if there is none, tune again in a new store",
    **dict.fromkeys(
        (t.name for t in (vectors.vector_space, *vectors.OF_SPACE)),
        "restore a backup; if there is none, build the vectors again in a new store",
    ),
    **dict.fromkeys((t.name for t in (alignment.alignment_model, *alignment.OF_MODEL)), _RETRAIN),
    **dict.fromkeys(
        (t.name for t in (runs.run, runs.score, runs.output)),
        "restore a backup; if there is none, evaluate again in a new store",
    ),
    saved_query.name: "restore a backup; if there is none, save the queries again in a new store",
    parse.name: "restore a backup; if there is none, parse again in a new store",
}

#: What has an index scanned from end to end: without it, DuckDB reads the table instead, or nothing at all
#: where its statistics say that all rows pass.
_THROUGH_INDEXES = {
    "index_scan_percentage": "1.0",
    "index_scan_max_count": "9223372036854775807",
    "disabled_optimizers": "'statistics_propagation'",
}


def block_checks() -> Iterator[Check]:
    """Yield a check for each table that reads all of it, its indexes too."""
    for table in metadata.sorted_tables:
        yield Check(
            f"blocks of {table.name}",
            "\nunion all\n".join((_all_values(table), *_indexes(table))),
            _CURES.get(table.name, RESTORE),
            settings=_THROUGH_INDEXES,
        )
    yield Check(
        f"blocks of {VERSION_TABLE}",
        _index(VERSION_TABLE, "version_num", "''"),
        RESTORE,
        settings=_THROUGH_INDEXES,
    )


def _all_values(table: Table) -> str:
    """Return a query of all values that yields no row: a sum of hashes is not negative."""
    # A hash reads values whole; counts and minima would come from statistics.
    columns = ", ".join(quoted(column.name) for column in table.columns)
    return f"select 'values' as part, sum(hash({columns})) as found from {table.name} having found < 0"


def _indexes(table: Table) -> Iterator[str]:
    for column in table.columns:
        if column.primary_key or column.unique:
            yield _index(table.name, column.name, "-1" if column.primary_key else "''")


def _index(table: str, column: str, least: str) -> str:
    """Return a query that yields a row if the index of a column does not have all rows."""
    return f"""
        select 'index of {column}', count(*) as found
        from {table}
        where {column} >= {least}
        having found <> (select count(*) from {table})
    """
