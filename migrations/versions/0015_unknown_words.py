"""Which tokens a model that was applied does not know."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the column, without values: those of models that were applied before are not known."""
    op.add_column("surprisal", sa.Column("unknown", sa.Boolean(), nullable=True))
