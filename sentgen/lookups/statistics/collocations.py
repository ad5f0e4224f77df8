"""Collocations: what occurs with a word more often than chance, in a window or by a dependency relation.

Every pair of a node and a collocate has a table of frequencies (Evert 2008, "Corpora and collocations")::

                      collocate     others
    with the node     o11           r1 - o11       r1
    elsewhere         c1 - o11      ...
                      c1                           n

In a window the things counted are tokens: r1 are the tokens within the window of a node (each once, though
windows may overlap), c1 the tokens that are the collocate, n all tokens. By relation they are the pairs of
head and modifier with that relation: r1 those with the node, c1 those with the collocate, n all of them.
With e11 = r1 c1 / n:

* PMI = log2(o11 / e11) (Church and Hanks 1990, "Word association norms, mutual information, and
  lexicography").
* Log-likelihood G2 = 2 sum o ln(o / e) over the four cells (Dunning 1993, "Accurate methods for the
  statistics of surprise and coincidence"); here it is negative where the collocate is rarer than expected.
* logDice = 14 + log2(2 o11 / (f + c1)) (Rychlý 2008, "A lexicographer-friendly association score"), where f
  is the frequency of the node (window) or r1 (relation). It may pass 14 where the window of a node has
  several of the collocate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import QuestionValue, explained
from sentgen.lookups.concordances.hits import ReadPattern, TokenHits, read_hits
from sentgen.lookups.cql.search import Strategy
from sentgen.lookups.patterns import ATTRIBUTES
from sentgen.lookups.selection import Selection, select_corpora
from sentgen.lookups.statement import Answer, Bindings, Statement, at_least, limit_clause, limited
from sentgen.lookups.statistics.collocation_statements import CollocationStatements


class Measure(StrEnum):
    """What collocates are ranked by."""

    LOGDICE = "logdice"
    PMI = "pmi"
    LOG_LIKELIHOOD = "log-likelihood"
    COUNT = "count"


class Unit(StrEnum):
    """What a collocate is."""

    WORD = "word"
    LEMMA = "lemma"


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens before and after the node."""

    left: int
    right: int


#: Where nothing else is asked for.
AROUND = Window(5, 5)


def read_window(text: str) -> Window:
    """Read ``5`` or ``5,2``.

    Raises:
        InputError: it is neither, or empty.
    """
    parts = text.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise InputError(f"{text!r} is no window; write 5, or 5,2 for five words before and two after")
    sizes = [int(part) for part in parts]
    if not any(sizes):
        raise InputError("a window of no words holds no collocates; write 5, or 5,2")
    return Window(sizes[0], sizes[-1])


#: Measure to its column in the answer; that of the count has another name within the statement.
COLUMN = {Measure.LOGDICE: "logdice", Measure.PMI: "pmi", Measure.LOG_LIKELIHOOD: "log_likelihood"}


def find_collocations(
    connection: Connection,
    word: str = "",
    *,
    cql: str | None = None,
    strategy: Strategy = Strategy.ALL,
    within: Window | str = AROUND,
    by: Unit = Unit.WORD,
    measure: Measure = Measure.LOGDICE,
    min_count: int = 2,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return what occurs with a word, the strongest first, then the most frequent, then alphabetically.

    The columns are ``collocate``; ``count``, how often it occurs with the node (o11); ``frequency``, how
    often in all (c1); ``logdice``, ``pmi`` and ``log_likelihood`` as defined in this module. By relation,
    ``relation`` and ``role`` (whether the collocate is the head or the modifier) come first. Windows end at
    the sentence.

    Args:
        connection: the store.
        word: the node, one token pattern (see `sentgen.lookups.patterns`), or what can only be CQL.
        cql: the node as a query in CQL instead: its hits, of any length; by relation, of one token.
        strategy: which of the spans that a CQL query matches are nodes.
        within: words before and after the node, or a pattern of dependency relations, ``*`` for all.
        by: collocates as words or as lemmas.
        measure: what to rank by.
        min_count: leave out collocates that occur with the node less often.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: take words that differ in capital letters only for one, the node and its collocates.
        limit: rows at most, 0 for all.

    Raises:
        InputError: the node is not one token.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(
        connection, corpora, condition=condition, ignore_case=ignore_case, sentences=True
    )
    node = read_node(connection, word, selection, cql=cql, strategy=strategy)
    asked = word if cql is None else cql
    # What never occurs together has no score: its logarithms are infinite.
    bindings = Bindings(min_count=max(min_count, 1))
    around = within if isinstance(within, str) else (within.left, within.right)
    statements = CollocationStatements(node, around, ATTRIBUTES[by][0], COLUMN.get(measure, "o11"), selection)
    clause, missing = limit_clause(limit, bindings), f"collocate of {asked!r}{at_least(min_count)}"
    values = list(node.values)
    if isinstance(within, str):
        values.append(QuestionValue("deprel", within))
    with statements.asked(connection, bindings) as (text, summed):
        answer = limited(connection, Statement(summed + clause, bindings), limit, missing)
        answer = replace(answer, query=Statement(text + clause, bindings))
        return explained(connection, answer, selection, values)


def read_node(
    connection: Connection,
    word: str,
    selection: Selection,
    *,
    cql: str | None = None,
    strategy: Strategy = Strategy.ALL,
) -> ReadPattern:
    """Read the pattern of one token, or a query in CQL.

    Raises:
        InputError: the pattern is one of several tokens, or of none.
    """
    node = read_hits(connection, word, selection, cql=cql, strategy=strategy)
    if isinstance(node, TokenHits) and len(node.tokens) > 1:
        raise InputError(f"collocations are those of one word, and {word!r} has {len(node.tokens)}")
    return node
