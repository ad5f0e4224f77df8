"""From text in many formats to sentences."""

from sentgen.corpus.base_np import base_nps, function_heads, mark_base_nps
from sentgen.corpus.formats import READERS, Reader, detect
from sentgen.corpus.sentence import RESERVED, Sentence
from sentgen.corpus.sources import LineReader, Source, expand, source_at
from sentgen.corpus.validation import CHECKS, LIMITS, Limits, check

__all__ = [
    "CHECKS",
    "LIMITS",
    "READERS",
    "RESERVED",
    "Limits",
    "LineReader",
    "Reader",
    "Sentence",
    "Source",
    "base_nps",
    "check",
    "detect",
    "expand",
    "function_heads",
    "mark_base_nps",
    "source_at",
]
