"""sentgen: a database-backed corpus and model server for statistical sentence generation."""

__version__ = "0.1.0"
__all__ = ["__version__"]
