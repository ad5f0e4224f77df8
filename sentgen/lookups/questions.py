"""The questions to the counts, by the names of their commands, and how one is checked without its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection

from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.metadata.conditions import both_hold, choose
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.question.lookup import Lookup, Question
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
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
#: A condition on metadata that no sentence meets.
_NOTHING = "length < 0"


def check(connection: Connection, question: Question) -> None:
    """Refuse a question that cannot be asked, as `Question.ask` does.

    It is asked of no sentences, so that all that it names is looked up, and DuckDB plans the statement, but
    finds nothing to read. One about whole corpora, such as keyness, is asked for its first row.

    Raises:
        SentgenError: what asking would raise.
    """
    # What is explained is about whole corpora, and looked up at once.
    explains = isinstance(question, Dependencies | Arguments) and question.explain
    if isinstance(question, Lookup) and not explains:
        if question.where is not None:
            choose(connection, question.where)  # shows a slip in what was written
        nowhere = _NOTHING if question.where is None else both_hold(question.where, _NOTHING)
        question = replace(question, where=nowhere)
    replace(question, limit=1).ask(connection)
