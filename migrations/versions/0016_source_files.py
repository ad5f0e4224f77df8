"""A table for the files of sources, by which `corpora sync` tells whether they have changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Create the table, without rows: what size and time a file had when it was read, nobody knows."""
    op.create_table(
        "source_file",
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("modified", sa.BigInteger(), nullable=True),
        sa.Column("settings", sa.String(), nullable=False),
        sa.Column("checked_at", sa.DateTime(), nullable=False),
    )
