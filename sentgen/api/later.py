"""What methods of a `Database` need that takes long to import: each name is, when a method first needs it."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentgen.alignment import systems as systems
    from sentgen.alignment.stored import application as application
    from sentgen.alignment.stored import extraction as extraction
    from sentgen.alignment.stored import model_report as model_report
    from sentgen.alignment.stored.model_store import list_models as _list_alignment_models
    from sentgen.alignment.stored.model_store import remove_model as _remove_alignment_model
    from sentgen.alignment.stored.stored_pairs import list_pairs as list_pairs
    from sentgen.alignment.stored.stored_pairs import stored_pairs as stored_pairs
    from sentgen.api import saved_query as saved_query
    from sentgen.api.aligning import applied as applied
    from sentgen.api.aligning import trained as trained
    from sentgen.api.aligning import tuned as tuned
    from sentgen.api.building import applied_model as applied_model
    from sentgen.api.building import built as built
    from sentgen.api.building import built_vectors as built_vectors
    from sentgen.api.building import compared as compared
    from sentgen.api.building import ingested_pairs as ingested_pairs
    from sentgen.api.building import made as made
    from sentgen.api.fusing import fused as fused
    from sentgen.api.generating import generated as generated
    from sentgen.api.hits import Hits as Hits
    from sentgen.api.language_models import LanguageModel as LanguageModel
    from sentgen.api.lines import line_set as line_set
    from sentgen.api.lines import line_sets_of as line_sets_of
    from sentgen.api.lines import new_line_set as new_line_set
    from sentgen.api.texts import aligned as aligned
    from sentgen.api.texts import checked as checked
    from sentgen.corpus.parsers import forget_parses as forget_parses
    from sentgen.corpus.parsers import open_parser as open_parser
    from sentgen.corpus.parsers import parse_rows as parse_rows
    from sentgen.counts import exports as exports
    from sentgen.counts import ingestion as ingestion
    from sentgen.counts import sync as sync
    from sentgen.generation import algorithms as algorithms
    from sentgen.models import caches as caches
    from sentgen.models import mix as mix
    from sentgen.models import plugin_scorers as plugin_scorers
    from sentgen.models import prune as prune
    from sentgen.models.arpa import import_arpa as import_arpa
    from sentgen.models.base import registry as registry
    from sentgen.models.checks import model_checks as model_checks
    from sentgen.models.vectors import near as near
    from sentgen.models.vectors import registry as _vectors
    from sentgen.output.files import whole_file as whole_file
    from sentgen.schema import citation as citation
    from sentgen.schema import maintenance as maintenance
    from sentgen.schema import snapshots as snapshots
    from sentgen.schema.durability.repair import repair as repair

    vectors = _vectors
    list_alignment_models = _list_alignment_models
    remove_alignment_model = _remove_alignment_model

_PLACES = {
    "algorithms": "sentgen.generation.algorithms",
    "aligned": "sentgen.api.texts:aligned",
    "application": "sentgen.alignment.stored.application",
    "applied": "sentgen.api.aligning:applied",
    "applied_model": "sentgen.api.building:applied_model",
    "built": "sentgen.api.building:built",
    "built_vectors": "sentgen.api.building:built_vectors",
    "caches": "sentgen.models.caches",
    "checked": "sentgen.api.texts:checked",
    "citation": "sentgen.schema.citation",
    "exports": "sentgen.counts.exports",
    "extraction": "sentgen.alignment.stored.extraction",
    "forget_parses": "sentgen.corpus.parsers:forget_parses",
    "fused": "sentgen.api.fusing:fused",
    "compared": "sentgen.api.building:compared",
    "generated": "sentgen.api.generating:generated",
    "Hits": "sentgen.api.hits:Hits",
    "import_arpa": "sentgen.models.arpa:import_arpa",
    "ingested_pairs": "sentgen.api.building:ingested_pairs",
    "ingestion": "sentgen.counts.ingestion",
    "line_set": "sentgen.api.lines:line_set",
    "line_sets_of": "sentgen.api.lines:line_sets_of",
    "LanguageModel": "sentgen.api.language_models:LanguageModel",
    "list_alignment_models": "sentgen.alignment.stored.model_store:list_models",
    "list_pairs": "sentgen.alignment.stored.stored_pairs:list_pairs",
    "maintenance": "sentgen.schema.maintenance",
    "model_checks": "sentgen.models.checks:model_checks",
    "model_report": "sentgen.alignment.stored.model_report",
    "made": "sentgen.api.building:made",
    "mix": "sentgen.models.mix",
    "near": "sentgen.models.vectors.near",
    "new_line_set": "sentgen.api.lines:new_line_set",
    "open_parser": "sentgen.corpus.parsers:open_parser",
    "parse_rows": "sentgen.corpus.parsers:parse_rows",
    "plugin_scorers": "sentgen.models.plugin_scorers",
    "prune": "sentgen.models.prune",
    "registry": "sentgen.models.base.registry",
    "remove_alignment_model": "sentgen.alignment.stored.model_store:remove_model",
    "repair": "sentgen.schema.durability.repair:repair",
    "saved_query": "sentgen.api.saved_query",
    "snapshots": "sentgen.schema.snapshots",
    "stored_pairs": "sentgen.alignment.stored.stored_pairs:stored_pairs",
    "sync": "sentgen.counts.sync",
    "systems": "sentgen.alignment.systems",
    "trained": "sentgen.api.aligning:trained",
    "tuned": "sentgen.api.aligning:tuned",
    "vectors": "sentgen.models.vectors.registry",
    "whole_file": "sentgen.output.files:whole_file",
}


def __getattr__(name: str) -> object:
    """Import what is asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = resolve_name(_PLACES[name])
    globals()[name] = found
    return found
