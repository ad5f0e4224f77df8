"""Tables for what aligners learn from gold links."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the tables, without rows."""
    op.create_table(
        "alignment_weight",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("feature", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
    )
    op.create_table(
        "alignment_link_count",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("stem", sa.String(), nullable=False),
        sa.Column("other", sa.String(), nullable=False),
        sa.Column("linked", sa.BigInteger(), nullable=False),
        sa.Column("together", sa.BigInteger(), nullable=False),
    )
