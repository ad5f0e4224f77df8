"""A sentgen that knows one more revision than this one has, so that upgrades are proven."""

from __future__ import annotations

import shutil
from pathlib import Path

from sentgen.schema import migrate

#: The revision that this sentgen makes stores of, and the one after it.
NEWEST, NEXT = migrate.REVISIONS[-1], "9998_next"
#: More than the rows that DuckDB writes into the file before a transaction commits.
ROWS = 150_000
_MIGRATION = '''"""A migration that is not there yet."""
import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
    op.execute("create table later as select range as x from range({rows})")
    op.add_column("corpus", sa.Column("note", sa.String(), nullable=True))
    op.execute("update corpus set note = 'of ' || name, name = 'renamed ' || name")
'''


def write(folder: Path) -> Path:
    """Write all migrations and one more into a new folder."""
    shutil.copytree(migrate.script_location(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = _MIGRATION.format(revision=NEXT, before=NEWEST, rows=ROWS)
    (folder / "versions" / f"{NEXT}.py").write_text(text)
    return folder


def know(folder: Path) -> None:
    """Let the sentgen of this process have the migrations of the folder; for processes of tests alone."""
    migrate.script_location = lambda: folder
    revisions: tuple[str, ...] = (*migrate.REVISIONS, NEXT)
    migrate.REVISIONS = revisions  # type: ignore[assignment]
