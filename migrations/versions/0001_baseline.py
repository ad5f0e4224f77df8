"""The tables of the first release.

Until then they change here, as `sentgen.schema.tables` declares them; the first migration that comes after it
writes them out here, so that this one stays as it was when stores were made with it.
Comments and views are not here: they are written anew whenever they change (sentgen.schema.migrate).
"""

from __future__ import annotations

from alembic import op

from sentgen.schema import migrate

revision = migrate.REVISIONS[0]
down_revision = None


def upgrade() -> None:
    """Create the tables and the rows that every store has."""
    migrate.make_tables(op.get_bind())
