"""Smoothed n-gram language models: build them from counts, import, export, list and query them."""

from sentgen.models.arpa import export_arpa, import_arpa
from sentgen.models.base.registry import ModelInfo, find, list_models, remove
from sentgen.models.build_request import build

__all__ = [
    "ModelInfo",
    "build",
    "export_arpa",
    "find",
    "import_arpa",
    "list_models",
    "remove",
]
