"""Bring a store to the current revision of the schema, or say clearly why not."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, inspect

from sentgen.schema.base import metadata


def prepare(engine: Engine, path: Path, *, read_only: bool) -> None:
    """PLACEHOLDER until the migrations land: create all tables of a new store."""
    from sqlalchemy import insert

    from sentgen.schema import corpus, counts, models, runs  # noqa: F401

    if not read_only and not inspect(engine).get_table_names():
        metadata.create_all(engine)
        with engine.begin() as connection:
            connection.execute(
                insert(corpus.word), [{"id": i, "form": f} for i, f in enumerate(corpus.RESERVED_WORDS)]
            )
            connection.execute(
                insert(corpus.tag), [{"id": i, "name": f} for i, f in enumerate(corpus.RESERVED_TAGS)]
            )
