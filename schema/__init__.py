"""The database, declared once: tables by area, views, the data dictionary, and the store that holds them."""

from sentgen.schema.base import metadata
from sentgen.schema.store import Store, default_path

__all__ = ["Store", "default_path", "metadata"]
