"""Parses of raw and of tokenized text, so that no parser does the same work twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import duckdb
from sqlalchemy import Boolean, DateTime, Integer, String, Table

from sentgen.schema.base import column, metadata
from sentgen.schema.engine import one_number

if TYPE_CHECKING:
    import pyarrow as pa

parse = Table(
    "parse",
    metadata,
    column("parser", String, "Parser, such as udpipe or spacy:en_core_web_sm."),
    column("version", String, "Version of the parser and its model; for UDPipe, the hash of the model file."),
    column("tokenized", Boolean, "Whether the parser was given tokens; else it split the raw text itself."),
    column("sha256", String, "SHA-256 of the raw text, or of the tokens with a line feed after each."),
    column("sentences", Integer, "Number of sentences."),
    column("tokens", Integer, "Number of tokens."),
    column("result", String, "The sentences as JSON: a list of objects with forms, upos, heads and so on."),
    column("parsed_at", DateTime, "When it was parsed (UTC)."),
    comment="What a parser made of a text; kept until `sentgen parser forget` removes it.",
)


def is_writable(duck: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the store is open for writing; in a lake, the table is a view."""
    query = f"""
        select not readonly and '{parse.name}' in (select table_name from duckdb_tables())
        from duckdb_databases()
        where database_name = current_database()
    """
    return bool(one_number(duck, query))


def find_parses(
    duck: duckdb.DuckDBPyConnection, parser: str, version: str, *, tokenized: bool, sha256: Sequence[str]
) -> dict[str, str]:
    """Return the stored parses, by the hashes of their texts, with one query."""
    import pyarrow as pa

    # DuckDB finds the variable by its name. Grouped, as a parse may be stored twice: the table has no key.
    _wanted = pa.table({"sha256": pa.array(sha256, pa.string())})
    query = """
        select sha256, any_value(result)
        from parse
        semi join _wanted using (sha256)
        where parser = ?
            and version = ?
            and tokenized = ?
        group by sha256
    """
    return dict(duck.execute(query, [parser, version, tokenized]).fetchall())


def keep_parses(duck: duckdb.DuckDBPyConnection, rows: pa.Table) -> None:
    """Add parses, with the columns of the table; the caller has made sure that they are new."""
    _rows = rows
    duck.execute("insert into parse by name select * from _rows")


def count_parses(duck: duckdb.DuckDBPyConnection) -> list[tuple[str, str, int, int, int]]:
    """Return parser, version, and numbers of texts, sentences and tokens of the stored parses."""
    query = """
        select parser, version, count(*), sum(sentences)::bigint, sum(tokens)::bigint
        from parse
        group by parser, version
        order by parser, version
    """
    return duck.execute(query).fetchall()


def remove_parses(duck: duckdb.DuckDBPyConnection, parser: str, version: str | None) -> None:
    """Remove the parses of a parser, of all versions or of one."""
    duck.execute("delete from parse where parser = ? and version = coalesce(?, version)", [parser, version])
