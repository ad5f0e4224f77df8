"""Alembic migrations of the store; sentgen.schema.migrate runs them."""
