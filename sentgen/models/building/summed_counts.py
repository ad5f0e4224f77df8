"""The counts of a model's corpora, summed in tables of the connection, from which it is estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from sentgen.errors import ModelError, spell
from sentgen.models.base import sql
from sentgen.models.base.symbols import ITEMS, PHRASE, TAG, Symbols
from sentgen.models.building.recipe import BuiltFrom, Recipe
from sentgen.options import TRAIN
from sentgen.schema.tables.corpus import BOS, EOS, ROOT, UNK

#: The words that stand around a base noun phrase of two words and more.
OPENING, CLOSING = "<np>", "</np>"

#: Where statements are: of counting again, and of building.
_RECOUNT, _BUILD = "recount.sql", "build.sql"
Progress = Callable[[str], None]


def _recount(
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
        chosen: whether the sentences of the table ``chosen`` alone count (`sentgen.models.building.recipe`).
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
        sql.run(connection, _RECOUNT, "no_classes")
    if settings.brackets:
        progress("bracketing base noun phrases")
        _find_brackets(connection, tokens)
    else:
        sql.run(connection, _RECOUNT, "no_brackets")
    if new_words:
        sql.run(connection, _RECOUNT, "add_words")
    leads = ", ".join(f"lead(word_id, {i}) over following as w{i + 1}" for i in range(1, settings.order))
    ends = {"bos": BOS, "eos": EOS}
    sql.run(connection, _RECOUNT, "stream", tokens=tokens, sentences=sentences, leads=leads, **ends)
    for n in range(1, settings.order + 1):
        progress(f"counting order {n}")
        sql.run(connection, _RECOUNT, "count_stream", n=n, words=sql.words(n))


def _find_classes(connection: Connection, tokens: str) -> None:
    """Make ``class``: those of the tokens whose words are seen once among them, with ``<unk:TAG>``."""
    sql.run(connection, _RECOUNT, "singletons", tokens=tokens, root=ROOT)
    sql.run(connection, _RECOUNT, "classes", tokens=tokens)
    untagged = [str(row[0]) for row in sql.run(connection, _RECOUNT, "untagged")]
    if untagged:
        raise ModelError(
            f"{', '.join(untagged)}: words seen once have no tags there; choose another"
            f" {spell('unknown')} than tag"
        )


def _find_symbols(connection: Connection, tokens: str, symbols: Symbols) -> None:
    """Make ``class``: the tokens for which a symbol stands, and those of phrases that have none."""
    if symbols.over == ITEMS:
        _require_phrases(connection, tokens, f"choose another {spell('over')} than {ITEMS}")
    sql.run(connection, _RECOUNT, "frequent", tokens=tokens, root=ROOT, kept=symbols.kept)
    found = sql.run(connection, _RECOUNT, "frequent_symbols", tag=TAG, phrase=PHRASE)
    if found:
        raise ModelError(f"the text contains the word {found[0][0]}, which is a symbol; ingest it without it")
    statement = "items" if symbols.over == ITEMS else "tagged"
    sql.run(connection, _RECOUNT, statement, tokens=tokens, tag=TAG, phrase=PHRASE)
    untagged = [str(row[0]) for row in sql.run(connection, _RECOUNT, "untagged")]
    if untagged:
        raise ModelError(
            f"{', '.join(untagged)}: words have no tags there, which a model over {symbols.over} needs; name"
            f" treebanks, or tag the text ({TRAIN}): sentgen ingest FILE --corpus NAME --parser PARSER"
        )


def _require_phrases(connection: Connection, tokens: str, cure: str) -> None:
    """Refuse corpora whose base noun phrases are not known."""
    without = [str(row[0]) for row in sql.run(connection, _RECOUNT, "without_phrases", tokens=tokens)]
    if without:
        raise ModelError(
            f"{', '.join(without)}: base noun phrases are not known there; {cure}, or name treebanks only"
        )


def _find_brackets(connection: Connection, tokens: str) -> None:
    """Make ``bracket``: the places of the brackets, before (0) and behind (2) tokens."""
    _require_phrases(connection, tokens, f"build without {spell('brackets')}")
    names = {"opening": OPENING, "closing": CLOSING}
    if sql.run(connection, _RECOUNT, "bracket_words", tokens=tokens, **names)[0][0]:
        raise ModelError(
            f"the text contains {OPENING} or {CLOSING} as words; replace them and ingest it again, or build"
            f" without {spell('brackets')}"
        )
    sql.run(connection, _RECOUNT, "brackets", tokens=tokens, **names)


def check_corpora(corpora: Sequence[BuiltFrom], settings: Recipe) -> None:
    """Refuse corpora that do not make such a model.

    Raises:
        ModelError: there are none, or they are empty or not counted to its order.
    """
    if not corpora:
        raise ModelError(f"a model needs a corpus; give {spell('corpus')} NAME")
    for each in corpora:
        if each.max_order < settings.order:
            raise ModelError(
                f"corpus {each.name!r} is counted up to order {each.max_order}, not {settings.order}; "
                f"choose {spell('order')} {each.max_order}, or ingest it again with {spell('order')}"
                f" {settings.order}"
            )
    if not sum(each.sentences for each in corpora):
        raise ModelError(f"no sentences in {', '.join(each.name for each in corpora)}; ingest some first")


def count(
    connection: Connection,
    corpora: Sequence[BuiltFrom],
    settings: Recipe,
    report: Progress,
    *,
    new_words: bool = True,
    first_words: tuple[int, int] | None = None,
    chosen: bool = False,
) -> None:
    """Make ``counted_1`` and up: the counts of the model's n-grams, in the corpora together.

    The same lie sorted in ``part_1`` and up, where an n-gram may have several rows.

    Args:
        connection: of the store.
        corpora: the corpora.
        settings: of the model.
        report: called with one line a step.
        new_words: if not, all words of the model must be in the store already, and nothing is written to it.
        first_words: those n-grams alone whose first word is at least the first number and less than the
            second; if nothing is counted again.
        chosen: whether the sentences of the table ``chosen`` alone count (`sentgen.models.building.recipe`).

    Raises:
        ModelError: marks of the ends of sentences stand within them.
    """
    segments = [number for each in corpora for number in each.segments]
    if chosen or not settings.as_counted:
        _recount(
            connection,
            [each.id for each in corpora],
            settings,
            chosen=chosen,
            new_words=new_words and not settings.as_counted,
            progress=report,
        )
        statements = ["part_counted"]
    else:
        one = len(segments) == 1  # sorted and summed already: read it where it lies
        statements = ["count_segment", "part_segment"] if one else ["count_segments", "part_segments"]
    for n in range(1, settings.order + 1):
        for statement in statements:
            listed = ", ".join(map(str, segments))
            within = f" and w1 >= {first_words[0]} and w1 < {first_words[1]}" if first_words else ""
            sql.run(connection, _BUILD, statement, n=n, words=sql.words(n), segments=listed, within=within)
    if settings.order > 1 and sql.run(connection, _BUILD, "misplaced", bos=BOS, eos=EOS)[0][0]:
        raise ModelError(
            "the text contains <s> or </s> as words, which no language model can tell from the ends of "
            "sentences; replace them and ingest it again"
        )


def vocabulary(connection: Connection, corpora: Sequence[BuiltFrom], settings: Recipe) -> int:
    """Return how many words a model has that reads the counts of its corpora."""
    count(connection, corpora, settings, lambda _: None)
    unigrams = sql.run(connection, _BUILD, "vocabulary", bos=BOS, unk=UNK, least=settings.min_count[0])
    drop_temporary(connection)
    return int(unigrams[0][0]) + (settings.unknown == "word")


def drop_temporary(connection: Connection) -> None:
    """Drop the temporary tables and views of a build, which would keep their memory."""
    for name, kind in sql.run(connection, _BUILD, "temporary"):
        sql.rows(connection, f"drop {'view' if kind == 'VIEW' else 'table'} temp.{name}")
