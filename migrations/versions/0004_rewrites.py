"""Rewrite tables with flags instead of strings, which take half the time to store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Replace the columns direction and layer by reverse and stems."""
    op.rename_table("alignment_rewrite", "alignment_rewrite_0003")
    op.create_table(
        "alignment_rewrite",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("reverse", sa.Boolean(), nullable=False),
        sa.Column("stems", sa.Boolean(), nullable=False),
        sa.Column("iteration", sa.SmallInteger(), nullable=False),
        sa.Column("source", sa.BigInteger(), nullable=False),
        sa.Column("target", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("prob", sa.Double(), nullable=False),
    )
    op.execute(
        """
        insert into alignment_rewrite
        select model_id, direction = 'reverse', layer = 'stems', iteration, source, target, kind, prob
        from alignment_rewrite_0003
        order by model_id, direction, layer, iteration, source, target
        """
    )
    op.drop_table("alignment_rewrite_0003")
