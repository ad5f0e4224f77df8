"""Count the n-grams of corpora again from their tokens, with words that the store has no counts of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from sentgen.errors import ModelError
from sentgen.models.base import sql
from sentgen.models.base.symbols import ITEMS, PHRASE, TAG, Symbols
from sentgen.models.building.recipe import Recipe
from sentgen.schema.tables.corpus import BOS, EOS, ROOT

#: The words that stand around a base noun phrase of two words and more.
OPENING, CLOSING = "<np>", "</np>"

_FILE = "recount.sql"


def recount(
    connection: Connection,
    corpora: Sequence[int],
    settings: Recipe,
    *,
    chosen: bool = False,
    new_words: bool = True,
    progress: Callable[[str], None],
) -> None:
    """Make ``counted_1`` and up: the counts of n-grams in some corpora; new words become words of the store.

    Args:
        connection: of a transaction.
        corpora: ids of the corpora.
        settings: of the model: its order, whether ``<unk:TAG>`` stands for the words that are seen once in
            the corpora together, whether `OPENING` and `CLOSING` stand around base noun phrases, and what
            stands for words.
        chosen: whether the sentences of the table ``chosen`` alone count (`sentgen.models.building.chosen`).
        new_words: whether there may be new words; without, nothing is written to the store.
        progress: called with one line a step.

    Raises:
        ModelError: a corpus has no tags or no base noun phrases, or has brackets or symbols as words.
    """
    ids = ", ".join(map(str, corpora))
    tokens, sentences = f"t.corpus_id in ({ids})", f"s.corpus_id in ({ids})"
    if chosen:
        tokens += " and t.sentence_id in (select id from chosen)"
        sentences += " and s.id in (select id from chosen)"
    if not settings.symbols.are_words:
        progress(f"mapping words to {settings.symbols.over}")
        _find_symbols(connection, tokens, settings.symbols)
    elif settings.unknown == "tag":
        progress("mapping words seen once to their tags")
        _find_classes(connection, tokens)
    else:
        sql.run(connection, _FILE, "no_classes")
    if settings.brackets:
        progress("bracketing base noun phrases")
        _find_brackets(connection, tokens)
    else:
        sql.run(connection, _FILE, "no_brackets")
    if new_words:
        sql.run(connection, _FILE, "add_words")
    leads = ", ".join(f"lead(word_id, {i}) over following as w{i + 1}" for i in range(1, settings.order))
    ends = {"bos": BOS, "eos": EOS}
    sql.run(connection, _FILE, "stream", tokens=tokens, sentences=sentences, leads=leads, **ends)
    for n in range(1, settings.order + 1):
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


def _find_symbols(connection: Connection, tokens: str, symbols: Symbols) -> None:
    """Make ``class``: the tokens for which a symbol stands, and those of phrases that have none."""
    if symbols.over == ITEMS:
        _require_phrases(connection, tokens, f"choose another --over than {ITEMS}")
    sql.run(connection, _FILE, "frequent", tokens=tokens, root=ROOT, kept=symbols.kept)
    found = sql.run(connection, _FILE, "frequent_symbols", tag=TAG, phrase=PHRASE)
    if found:
        raise ModelError(f"the text contains the word {found[0][0]}, which is a symbol; ingest it without it")
    statement = "items" if symbols.over == ITEMS else "tagged"
    sql.run(connection, _FILE, statement, tokens=tokens, tag=TAG, phrase=PHRASE)
    untagged = [str(row[0]) for row in sql.run(connection, _FILE, "untagged")]
    if untagged:
        raise ModelError(
            f"{', '.join(untagged)}: words have no tags there, which a model over {symbols.over} needs; name"
            " treebanks, or parse the text: sentgen ingest FILE --corpus NAME --parser PARSER"
        )


def _require_phrases(connection: Connection, tokens: str, cure: str) -> None:
    """Refuse corpora whose base noun phrases are not known."""
    without = [str(row[0]) for row in sql.run(connection, _FILE, "without_phrases", tokens=tokens)]
    if without:
        raise ModelError(
            f"{', '.join(without)}: base noun phrases are not known there; {cure}, or name treebanks only"
        )


def _find_brackets(connection: Connection, tokens: str) -> None:
    """Make ``bracket``: the places of the brackets, before (0) and behind (2) tokens."""
    _require_phrases(connection, tokens, "build without --brackets")
    names = {"opening": OPENING, "closing": CLOSING}
    if sql.run(connection, _FILE, "bracket_words", tokens=tokens, **names)[0][0]:
        raise ModelError(
            f"the text contains {OPENING} or {CLOSING} as words; replace them and ingest it again, or build"
            " without --brackets"
        )
    sql.run(connection, _FILE, "brackets", tokens=tokens, **names)
