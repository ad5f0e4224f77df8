"""Tables for regions: paragraphs, speakers and whatever else a source marks.

What an earlier sentgen did not keep comes with `sentgen ingest --replace`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Create the tables, without rows."""
    op.create_table(
        "region",
        *_begin(),
        _column("kind", sa.String()),
        _column("position", sa.Integer()),
        _column("last_sentence_id", sa.BigInteger()),
        _column("last_position", sa.Integer()),
    )
    op.create_table("region_meta", *_begin(), _column("key", sa.String()), _column("value", sa.String()))


def _begin() -> list[sa.Column[Any]]:
    return [
        _column("corpus_id", sa.Integer()),
        _column("sentence_id", sa.BigInteger()),
        _column("place", sa.Integer()),
    ]


def _column(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)
