"""Parses of texts, kept so that no parser does the same work twice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table of parses."""
    op.create_table(
        "parse",
        sa.Column("parser", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("tokenized", sa.Boolean(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("sentences", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("result", sa.String(), nullable=False),
        sa.Column("parsed_at", sa.DateTime(), nullable=False),
    )
