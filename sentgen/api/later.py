"""What methods of a `Database` need that takes long to import: each name is, when a method first needs it."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentgen.alignment import systems as systems
    from sentgen.api.building import built as built
    from sentgen.api.building import built_vectors as built_vectors
    from sentgen.api.generating import generated as generated
    from sentgen.api.hits import Hits as Hits
    from sentgen.api.language_models import LanguageModel as LanguageModel
    from sentgen.api.lines import line_set as line_set
    from sentgen.api.lines import line_sets_of as line_sets_of
    from sentgen.api.lines import new_line_set as new_line_set
    from sentgen.api.texts import aligned as aligned
    from sentgen.api.texts import checked as checked
    from sentgen.corpus.parsers import open_parser as open_parser
    from sentgen.counts import ingestion as ingestion
    from sentgen.generation import algorithms as algorithms
    from sentgen.models import registry as registry
    from sentgen.models.vectors import near as near
    from sentgen.models.vectors import registry as _vectors
    from sentgen.schema import citation as citation
    from sentgen.schema import snapshots as snapshots

    vectors = _vectors

_PLACES = {
    "Hits": "sentgen.api.hits:Hits",
    "LanguageModel": "sentgen.api.language_models:LanguageModel",
    "algorithms": "sentgen.generation.algorithms",
    "aligned": "sentgen.api.texts:aligned",
    "built": "sentgen.api.building:built",
    "built_vectors": "sentgen.api.building:built_vectors",
    "checked": "sentgen.api.texts:checked",
    "citation": "sentgen.schema.citation",
    "generated": "sentgen.api.generating:generated",
    "ingestion": "sentgen.counts.ingestion",
    "line_set": "sentgen.api.lines:line_set",
    "line_sets_of": "sentgen.api.lines:line_sets_of",
    "near": "sentgen.models.vectors.near",
    "new_line_set": "sentgen.api.lines:new_line_set",
    "open_parser": "sentgen.corpus.parsers:open_parser",
    "registry": "sentgen.models.registry",
    "snapshots": "sentgen.schema.snapshots",
    "systems": "sentgen.alignment.systems",
    "vectors": "sentgen.models.vectors.registry",
}


def __getattr__(name: str) -> object:
    """Import what is asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = resolve_name(_PLACES[name])
    globals()[name] = found
    return found
