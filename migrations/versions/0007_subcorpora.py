"""Named subcorpora: sentences that are chosen by their metadata."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the table of subcorpora; a store has none yet."""
    op.create_table(
        "subcorpus",
        sa.Column("name", sa.String(), nullable=False, unique=True),
        sa.Column("corpora", sa.String(), nullable=False),
        sa.Column("expression", sa.String(), nullable=False),
        sa.Column("defined_at", sa.DateTime(), nullable=False),
    )
