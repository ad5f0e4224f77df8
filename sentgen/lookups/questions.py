"""Questions by the names of their commands: how each is checked without its answer, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.metadata import Condition, both_hold
from sentgen.lookups.base.question import Lookup, Question
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.frequency_rows import part_sizes
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.measures import measure_column
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.output.plots import frequency_plot, places_plot, score_plot, sketch_plot
from sentgen.output.rates import PartSizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    It is asked with a condition that no sentence meets: corpora, keys and patterns are looked up, and DuckDB
    plans the statement, but reads no tokens. A question about whole corpora, such as `Keywords`, takes no
    condition, and is asked for its first row.

    Raises:
        SentgenError: the error that asking would raise.
    """
    # Explanations are about whole corpora, and are quick anyway.
    explains = isinstance(question, Dependencies | Arguments) and question.explain
    if isinstance(question, Lookup) and not explains:
        if question.where is not None:
            # So that an error quotes this condition, not the joined one.
            Condition.read(connection, question.where)
        nowhere = _NOTHING if question.where is None else both_hold(question.where, _NOTHING)
        question = replace(question, where=nowhere)
    replace(question, limit=1).ask(connection)


#: How many documents to draw, those with most hits.
_DOCUMENTS = 20
#: Characters of a query in a title at most.
_QUERY = 36


def figure_of(connection: Connection, question: Question, answer: Answer) -> Figure:
    """Draw an answer that has rows to a question of a class in `FIGURES`.

    The store is read for what the rows lack, such as sizes of parts.

    Raises:
        InputError: the rows are too many for a figure, or cannot be drawn.
    """
    return FIGURES[type(question)](connection, question, answer)


def _frequencies(connection: Connection, question: Frequencies, answer: Answer) -> Figure:
    title = question.query or f"{question.pattern} by {', '.join(question.by)}"
    return _rates(connection, question, answer, title)


def _match(connection: Connection, question: Match, answer: Answer) -> Figure:
    if question.count:
        raise InputError(
            f"one number is no plot; leave {spell('count')} out, or count the hits with {spell('key')} KEY"
        )
    if not question.is_count:
        return _places(question.places(connection, _DOCUMENTS), question.request)
    return _rates(connection, question, answer, question.request)


def _rates(connection: Connection, question: Frequencies | Match, answer: Answer, title: str) -> Figure:
    # Sizes are drawn with all rows only.
    whole = not answer.truncated
    sizes = part_sizes(connection, answer.rows, question.corpus, question.where) if whole else PartSizes()
    return frequency_plot(answer.rows, title, whole=whole, sizes=sizes)


def _kwic(connection: Connection, question: Kwic, answer: Answer) -> Figure:
    if not question.places:
        # The lines are only some of the hits; the figure needs the places of all.
        answer = replace(question, places=True, count=False, sort="none", show=[], limit=_DOCUMENTS).ask(
            connection
        )
    return _places(answer, question.cql or question.pattern)


def _places(answer: Answer, query: str) -> Figure:
    # A short query leaves room in the title for the numbers of the remarks.
    short = query if len(query) <= _QUERY else f"{query[: _QUERY - 1]}…"
    remarks = "; ".join(answer.remarks)
    more = (answer.total or 0) - answer.rows.num_rows
    return places_plot(answer.rows, f"{short}: {remarks}", more)


def _collocations(connection: Connection, question: Collocations, answer: Answer) -> Figure:
    return score_plot(
        answer.rows, measure_column(question.measure), f"Collocates of {question.word or question.cql}"
    )


def _keywords(connection: Connection, question: Keywords, answer: Answer) -> Figure:
    sides = [
        f"{', '.join(names)}{f' where {where}' if where else ''}"
        for names, where in ((question.corpus, question.where), (question.against, question.against_where))
    ]
    return score_plot(answer.rows, measure_column(question.measure), " against ".join(sides))


def _sketch(connection: Connection, question: Sketch, answer: Answer) -> Figure:
    words = [question.word, *([question.against] if question.against else [])]
    return sketch_plot(
        answer.rows, measure_column(question.measure), f"Sketch of {' and '.join(words)}", words
    )


#: Class of a question to the function that draws its answer.
FIGURES: dict[type, Callable[[Connection, Any, Answer], Figure]] = {
    Collocations: _collocations,
    Frequencies: _frequencies,
    Keywords: _keywords,
    Kwic: _kwic,
    Match: _match,
    Sketch: _sketch,
}
