"""Align abstracts with the documents that they come from, word by word and phrase by phrase."""

from sentgen.alignment.alignment import Aligner, Alignment, Link, PhraseLink, Span
from sentgen.alignment.pair import Pair

__all__ = ["Aligner", "Alignment", "Link", "Pair", "PhraseLink", "Span"]
