"""Align abstracts with the documents that they come from, word by word and phrase by phrase."""

from sentgen.alignment.pairs.alignment import Aligner, Alignment, Link, Pair, PhraseLink, Span

__all__ = ["Aligner", "Alignment", "Link", "Pair", "PhraseLink", "Span"]
