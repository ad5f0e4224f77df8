"""Tables for vectors of words."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the tables, without rows."""
    op.create_table(
        "vector_space",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        _column("name", sa.String(), unique=True),
        _column("corpora", sa.String()),
        _column("contexts", sa.String()),
        *(_column(name, sa.Integer()) for name in ("reach", "dimensions", "min_count")),
        *(_column(name, sa.Double()) for name in ("smoothing", "shift", "power")),
        _column("seed", sa.Integer()),
        *(_column(name, sa.BigInteger()) for name in ("tokens", "words", "cells")),
        _column("created_at", sa.DateTime()),
    )
    op.create_table(
        "word_vector",
        _column("space_id", sa.Integer()),
        _column("rank", sa.Integer()),
        _column("form", sa.String()),
        _column("count", sa.BigInteger()),
        _column("components", sa.ARRAY(sa.REAL())),
    )


def _column(name: str, kind: sa.types.TypeEngine[Any], *, unique: bool = False) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, unique=unique)
