"""Count the n-grams of corpora again from their tokens, with words that the store has no counts of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from sentgen.errors import ModelError
from sentgen.models import sql
from sentgen.schema.tables.corpus import BOS, EOS, ROOT

#: The words that stand around a base noun phrase of two words and more.
OPENING, CLOSING = "<np>", "</np>"

_FILE = "recount.sql"


def recount(
    connection: Connection,
    corpora: Sequence[int],
    *,
    order: int,
    classes: bool,
    brackets: bool,
    chosen: bool = False,
    new_words: bool = True,
    progress: Callable[[str], None],
) -> None:
    """Make ``counted_1`` and up: the counts of n-grams in some corpora; new words become words of the store.

    Args:
        connection: of a transaction.
        corpora: ids of the corpora.
        order: highest order.
        classes: whether ``<unk:TAG>`` stands for the words that are seen once in the corpora together.
        brackets: whether `OPENING` and `CLOSING` stand around base noun phrases.
        chosen: whether the sentences of the table ``chosen`` alone count (see `sentgen.models.chosen`).
        new_words: whether there may be new words; without, nothing is written to the store.
        progress: called with one line a step.

    Raises:
        ModelError: a corpus has no tags or no base noun phrases, or has brackets as words.
    """
    ids = ", ".join(map(str, corpora))
    tokens, sentences = f"t.corpus_id in ({ids})", f"s.corpus_id in ({ids})"
    if chosen:
        tokens += " and t.sentence_id in (select id from chosen)"
        sentences += " and s.id in (select id from chosen)"
    if classes:
        progress("mapping words seen once to their tags")
        _find_classes(connection, tokens)
    else:
        sql.run(connection, _FILE, "no_classes")
    if brackets:
        progress("bracketing base noun phrases")
        _find_brackets(connection, tokens)
    else:
        sql.run(connection, _FILE, "no_brackets")
    if new_words:
        sql.run(connection, _FILE, "add_words")
    leads = ", ".join(f"lead(word_id, {i}) over following as w{i + 1}" for i in range(1, order))
    ends = {"bos": BOS, "eos": EOS}
    sql.run(connection, _FILE, "stream", tokens=tokens, sentences=sentences, leads=leads, **ends)
    for n in range(1, order + 1):
        progress(f"counting order {n}")
        sql.run(connection, _FILE, "count_stream", n=n, words=sql.words(n))


def _find_classes(connection: Connection, tokens: str) -> None:
    """Make ``class``: those of the tokens whose words are seen once among them, with ``<unk:TAG>``."""
    sql.run(connection, _FILE, "singletons", tokens=tokens, root=ROOT)
    sql.run(connection, _FILE, "classes", tokens=tokens)
    untagged = [str(row[0]) for row in sql.run(connection, _FILE, "untagged")]
    if untagged:
        raise ModelError(
            f"{', '.join(untagged)}: words seen once have no tags there; choose another --unknown than tag"
        )


def _find_brackets(connection: Connection, tokens: str) -> None:
    """Make ``bracket``: the places of the brackets, before (0) and behind (2) tokens."""
    without = [str(row[0]) for row in sql.run(connection, _FILE, "without_phrases", tokens=tokens)]
    if without:
        raise ModelError(
            f"{', '.join(without)}: base noun phrases are not known there; build without --brackets, or from"
            " treebanks only"
        )
    names = {"opening": OPENING, "closing": CLOSING}
    if sql.run(connection, _FILE, "bracket_words", tokens=tokens, **names)[0][0]:
        raise ModelError(
            f"the text contains {OPENING} or {CLOSING} as words; replace them and ingest it again, or build"
            " without --brackets"
        )
    sql.run(connection, _FILE, "brackets", tokens=tokens, **names)
