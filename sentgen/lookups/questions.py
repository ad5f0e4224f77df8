"""The questions to the counts, by the names of their commands."""

from __future__ import annotations

from collections.abc import Mapping

from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.question import Question
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keyness import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus

QUESTIONS: Mapping[str, type[Question]] = {
    "ngrams": Ngrams,
    "deps": Dependencies,
    "args": Arguments,
    "kwic": Kwic,
    "match": Match,
    "freq": Frequencies,
    "collocations": Collocations,
    "sketch": Sketch,
    "thesaurus": Thesaurus,
    "keyness": Keywords,
}
