"""Dependency parsers: one small interface, an adapter each, and a store that remembers what they said."""

from sentgen.corpus.parsers.cache import CachedParser
from sentgen.corpus.parsers.parser import Parser, open_parser
from sentgen.corpus.parsers.reading import read_parsed

__all__ = ["CachedParser", "Parser", "open_parser", "read_parsed"]
