"""Alembic's entry: run the migrations over the connection that sentgen.schema.migrate hands in."""

from __future__ import annotations

from alembic import context
from alembic.ddl.postgresql import PostgresqlImpl

from sentgen.schema.base import metadata


class DuckDBImpl(PostgresqlImpl):
    """DuckDB speaks PostgreSQL's dialect of DDL."""

    __dialect__ = "duckdb"


context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
