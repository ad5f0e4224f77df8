"""What an author of a plug-in imports: the classes that it gives to sentgen, and those that it gets.

A plug-in is any installed package with entry points in one or more of these groups; the name of an entry
point is the name that users give, and what it names is

    sentgen.readers      a `Reader`: a format of corpora, lines in and sentences out
    sentgen.algorithms   an `Algorithm`: a bag of words and phrases in, orders of them out
    sentgen.aligners     a `System`, which makes an `Aligner`: pairs of texts in, links out
    sentgen.scorers      a `Scorer`: sentences in, log-probabilities out

What stands here keeps its meaning within a minor version. Each name is imported when it is first used, so
that a reader does not wait for what algorithms need. `docs/plugins.md` has an example of each.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentgen.alignment.pairs.alignment import Aligner, Alignment, Link, Pair, PhraseLink, Span, System
    from sentgen.corpus.reader import Reader
    from sentgen.corpus.sentence import RawText, Sentence
    from sentgen.errors import InputError, PluginError, Rejection, SentgenError
    from sentgen.generation.bags.problem import (
        LEFT,
        RIGHT,
        ROOT,
        Algorithm,
        NgramSettings,
        Ordering,
        Problem,
        SearchSettings,
        Setting,
        Tree,
        TreeModel,
    )
    from sentgen.models.ngrams.ngram_table import NgramTable, extend, score_words
    from sentgen.models.scorer import Scorer

_MODULES = {
    "sentgen.alignment.pairs.alignment": (
        *("Aligner", "Alignment", "Link", "Pair", "PhraseLink", "Span", "System"),
    ),
    "sentgen.corpus.reader": ("Reader",),
    "sentgen.corpus.sentence": ("RawText", "Sentence"),
    "sentgen.errors": ("InputError", "PluginError", "Rejection", "SentgenError"),
    "sentgen.generation.bags.problem": (
        *("LEFT", "RIGHT", "ROOT", "Algorithm", "NgramSettings", "Ordering", "Problem", "SearchSettings"),
        *("Setting", "Tree", "TreeModel"),
    ),
    "sentgen.models.ngrams.ngram_table": ("NgramTable", "extend", "score_words"),
    "sentgen.models.scorer": ("Scorer",),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "LEFT",
    "RIGHT",
    "ROOT",
    "Algorithm",
    "Aligner",
    "Alignment",
    "InputError",
    "Link",
    "NgramSettings",
    "NgramTable",
    "Ordering",
    "Pair",
    "PhraseLink",
    "PluginError",
    "Problem",
    "RawText",
    "Reader",
    "Rejection",
    "Scorer",
    "SearchSettings",
    "Sentence",
    "SentgenError",
    "Setting",
    "Span",
    "System",
    "Tree",
    "TreeModel",
    "extend",
    "score_words",
]


if not TYPE_CHECKING:  # a type checker would believe that every name is there

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_PLACES[name]), name)

    def __dir__() -> list[str]:
        return __all__
