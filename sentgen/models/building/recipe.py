"""The recipe of a model: its settings, its corpora, and the condition on their sentences.

The counts of these sentences are summed in temporary tables, from which the model is estimated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from sentgen.errors import InputError, ModelError, NotFoundError, spell
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.models.base import sql
from sentgen.models.base.registry import STUPID_BACKOFF, ModelInfo
from sentgen.models.base.symbols import ITEMS, OF_WORDS, PHRASE, TAG, Symbols
from sentgen.models.building import katz, kneser_ney
from sentgen.options import TRAIN
from sentgen.output.wording import quantity
from sentgen.schema.tables.corpus import BOS, EOS, ROOT, UNK, corpus, subcorpus
from sentgen.schema.tables.counts import MAX_ORDER, segment

if TYPE_CHECKING:
    from sentgen.lookups.base.metadata import Condition


#: The words before and after a base noun phrase of two or more words.
OPENING, CLOSING = "<np>", "</np>"
#: The SQL files for counting again and for building.
_RECOUNT, _BUILD = "recount.sql", "build.sql"
_DRAWN = re.compile(r"(?:; |^)(\d+) sentences drawn with seed (\d+)$")
ESTIMATORS = {"kneser-ney": kneser_ney.smooth, "katz": katz.smooth}
SMOOTHING = (*ESTIMATORS, STUPID_BACKOFF)
UNKNOWN = ("word", "none", "tag")
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a model; ``min_count`` has one number per order, and is empty for an imported one."""

    order: int
    smoothing: str
    min_count: tuple[int, ...]
    unknown: str
    brackets: bool
    symbols: Symbols = OF_WORDS

    @staticmethod
    def of_model(model: ModelInfo) -> Recipe:
        """Return the settings that a model was built with."""
        how = (model.smoothing, model.min_count, model.unknown, model.brackets, model.symbols)
        return Recipe(model.order, *how)

    @property
    def as_counted(self) -> bool:
        """Return whether the n-grams are those that ingestion counted: no classes, brackets or symbols."""
        return self.unknown != "tag" and not self.brackets and self.symbols.are_words

    def check(self, corpora: Sequence[BuiltFrom]) -> None:
        """Refuse corpora from which a model of these settings cannot be built.

        Raises:
            ModelError: there are no corpora, or they are empty or not counted to the order of the model.
        """
        if not corpora:
            raise ModelError(f"a model needs a corpus; give {spell('corpus')} NAME")
        for each in corpora:
            if each.max_order < self.order:
                raise ModelError(
                    f"corpus {each.name!r} is counted up to order {each.max_order}, not {self.order}; "
                    f"choose {spell('order')} {each.max_order}, or ingest it again with {spell('order')}"
                    f" {self.order}"
                )
        if not sum(each.sentences for each in corpora):
            raise ModelError(f"no sentences in {', '.join(each.name for each in corpora)}; ingest some first")

    def count(
        self,
        connection: Connection,
        corpora: Sequence[BuiltFrom],
        report: Progress,
        *,
        new_words: bool = True,
        first_words: tuple[int, int] | None = None,
        chosen: bool = False,
    ) -> None:
        """Make ``counted_1`` and up: the counts of the model's n-grams, in the corpora together.

        ``part_1`` and up have the same counts, sorted, where an n-gram may have several rows.

        Args:
            report: called with one line a step.
            new_words: if False, the store must have all words of the model already, and nothing is written
                to it.
            first_words: read only n-grams whose first word is at least the first number and less than the
                second; only where nothing is counted again.
            chosen: whether only the sentences of the table ``chosen`` are counted.

        Raises:
            ModelError: ``<s>`` or ``</s>`` occurs within a sentence.
        """
        segments = [number for each in corpora for number in each.segments]
        if chosen or not self.as_counted:
            _recount(
                connection,
                [each.id for each in corpora],
                self,
                chosen=chosen,
                new_words=new_words and not self.as_counted,
                progress=report,
            )
            statements = ["part_counted"]
        else:
            single = len(segments) == 1  # sorted and summed already: read without a copy
            statements = ["count_segment", "part_segment"] if single else ["count_segments", "part_segments"]
        for n in range(1, self.order + 1):
            for statement in statements:
                listed = ", ".join(map(str, segments))
                within = f" and w1 >= {first_words[0]} and w1 < {first_words[1]}" if first_words else ""
                sql.run(
                    connection, _BUILD, statement, n=n, words=sql.words(n), segments=listed, within=within
                )
        if self.order > 1 and sql.run(connection, _BUILD, "misplaced", bos=BOS, eos=EOS)[0][0]:
            raise ModelError(
                "the text contains <s> or </s> as words, which no language model can tell from the ends of "
                "sentences; replace them and ingest it again"
            )

    def vocabulary(self, connection: Connection, corpora: Sequence[BuiltFrom]) -> int:
        """Return the size of the vocabulary of a model that reads the counts of its corpora."""
        self.count(connection, corpora, lambda _: None)
        unigrams = sql.run(connection, _BUILD, "vocabulary", bos=BOS, unk=UNK, least=self.min_count[0])
        drop_temporary(connection)
        return int(unigrams[0][0]) + (self.unknown == "word")

    @classmethod
    def checked(
        cls,
        order: int,
        smoothing: str = "kneser-ney",
        min_count: Sequence[int] | None = None,
        unknown: str = "word",
        brackets: bool = False,
        symbols: Symbols | None = None,
    ) -> Recipe:
        """Check the settings of a model.

        Args:
            order: highest order of n-grams, 1 to 5.
            smoothing: ``kneser-ney`` (as lmplz), ``katz``, or ``stupid-backoff``, for which nothing is built:
                look-ups read the counts.
            min_count: lowest count kept per order; must not fall; the last one also holds for higher orders.
            unknown: ``word`` gives <unk> a probability; ``none`` does not; ``tag`` also maps words seen once
                to ``<unk:TAG>``, with the language-specific tag where there is one, else the universal one.
            brackets: count the brackets of base noun phrases as words, ``<np>`` and ``</np>``.
            symbols: the units of the n-grams, if they are not words (see `sentgen.models.base.symbols`).

        Raises:
            InputError: a setting is out of range, or contradicts another one.
        """
        given = tuple(min_count or (1,))
        if not 1 <= order <= MAX_ORDER:
            raise InputError(f"order {order} is not between 1 and {MAX_ORDER}")
        if smoothing not in SMOOTHING:
            raise InputError(f"unknown smoothing {smoothing!r}; there are: {', '.join(SMOOTHING)}")
        if unknown not in UNKNOWN:
            raise InputError(f"unknown words as {unknown!r}; there are: {', '.join(UNKNOWN)}")
        if min(given) < 1 or list(given) != sorted(given):
            listed = ",".join(map(str, given))
            raise InputError(f"min-count {listed}: give counts from 1 that do not fall, such as 1,1,2")
        if len(given) > order:
            raise InputError(f"min-count has {len(given)} numbers for a model of order {order}")
        counts = given + given[-1:] * (order - len(given))
        made = cls(order, smoothing, counts, unknown, brackets, symbols or OF_WORDS)
        _check_together(made)
        return made


def _check_together(made: Recipe) -> None:
    if made.smoothing == STUPID_BACKOFF and not made.as_counted:
        raise InputError(
            f"{made.smoothing} reads counts as they are, without classes of unknown words, brackets or"
            " symbols; choose kneser-ney or katz for these"
        )
    if made.unknown == "tag" and not made.symbols.are_words:
        raise InputError(
            f"a model over {made.symbols.over} knows rare words by their tags already;"
            f" leave {spell('unknown')} tag out"
        )
    if made.brackets and made.symbols.over == ITEMS:
        raise InputError(f"a phrase is one item, which no brackets go around; leave {spell('brackets')} out")


@dataclass(frozen=True, slots=True)
class BuiltFrom:
    """A corpus that a model is built from: its segments, and the order to which they were counted."""

    id: int
    name: str
    max_order: int
    segments: tuple[int, ...]
    sentences: int
    tokens: int

    @classmethod
    def find(cls, connection: Connection, name: str) -> BuiltFrom:
        """Return a corpus with its segments.

        Raises:
            NotFoundError: there is no such corpus.
        """
        corpus_row = connection.execute(select(corpus).where(corpus.c.name == name)).one_or_none()
        if corpus_row is None:
            names = connection.execute(select(corpus.c.name).order_by(corpus.c.name)).scalars().all()
            existing = f"there are: {', '.join(names)}" if names else "there are none yet"
            raise NotFoundError(f"no corpus {name!r}; {existing}")
        segments = connection.execute(
            select(segment).where(segment.c.corpus_id == corpus_row.id).order_by(segment.c.id)
        ).all()
        return cls(
            corpus_row.id,
            corpus_row.name,
            corpus_row.max_order,
            tuple(row.id for row in segments),
            sum(row.sentences for row in segments),
            sum(row.tokens for row in segments),
        )


@dataclass(frozen=True, slots=True)
class Draw:
    """A random draw of sentences; with the same corpora and seed, a larger draw includes a smaller one.

    Args:
        number: number of sentences, or None.
        share: share of the sentences, if no number is given.
    """

    number: int | None
    share: float | None
    seed: int

    def size(self, available: int) -> int:
        """Return how many of the available sentences are drawn.

        Raises:
            ModelError: fewer sentences are available than ``number``.
        """
        wanted = round(self.share * available) if self.share is not None else self.number or 0
        if wanted > available or not wanted:
            there = quantity(available, "sentence")
            raise ModelError(f"{wanted} of {there} cannot be drawn; ask for 1 to {available}")
        return wanted


def _with_draw(condition: str, number: int, seed: int) -> str:
    """Return the condition on sentences, followed by a note of the draw, as a model records them.

    >>> _with_draw("year > 1990", 1000, 1), apart(_with_draw("", 1000, 1))
    ('year > 1990; 1000 sentences drawn with seed 1', ('', Draw(number=1000, share=None, seed=1)))
    """
    return f"{condition}{'; ' if condition else ''}{number} sentences drawn with seed {seed}"


def apart(recorded: str) -> tuple[str, Draw | None]:
    """Return the condition and the draw in a record; the inverse of `_with_draw`."""
    match = _DRAWN.search(recorded)
    if not match:
        return recorded, None
    return recorded[: match.start()], Draw(int(match[1]), None, int(match[2]))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Sentences selected by metadata or drawn; their ids are in the temporary table ``chosen``.

    Args:
        condition: the condition on their metadata, with those of subcorpora; and how they were drawn.
    """

    condition: str
    sentences: int
    tokens: int

    @classmethod
    def choose(
        cls, connection: Connection, condition: Condition | None, draw: Draw | None, corpora: Sequence[int]
    ) -> Chosen:
        """Make the temporary table ``chosen`` with the ids of sentences that meet a condition, or are drawn.

        Raises:
            ModelError: there are no such sentences, or fewer than are to be drawn.
        """
        bindings, text = Bindings(), condition.text if condition else ""
        among = f"s.corpus_id in ({', '.join(map(str, corpora))})"
        if condition:
            among += f" and s.id in ({condition.sentences(bindings)})"
        Statement(sql.statements(_RECOUNT)["chosen"].format(among=among), bindings).run(connection)
        ((sentences, tokens),) = sql.run(connection, _RECOUNT, "size_of_chosen")
        if not sentences:
            hints = "; ".join(condition.hints(connection)) if condition else ""
            raise ModelError(f"no sentences for a model where {text}{hints and f'; {hints}'}")
        if draw:
            number, seed = draw.size(sentences), draw.seed
            sql.run(connection, _RECOUNT, "draw", seed=seed, number=number)
            ((sentences, tokens),) = sql.run(connection, _RECOUNT, "size_of_chosen")
            text = _with_draw(text, number, seed)
        return cls(text, sentences, tokens)


def selected(
    connection: Connection, names: Sequence[str], condition: str | None
) -> tuple[list[str], Condition | None]:
    """Return the corpora that a model is built from, and the condition on their sentences; None for all.

    Args:
        names: names of corpora and subcorpora.
        condition: condition on the metadata of all sentences.

    Raises:
        NotFoundError: there is no such corpus.
        QueryError: the condition cannot be read, or names a key that the corpora lack.
    """
    wanted = list(dict.fromkeys(names))
    of_sentences = connection.execute(select(subcorpus.c.name).where(subcorpus.c.name.in_(wanted))).first()
    if condition is None and of_sentences is None:
        return wanted, None
    selection = Selection.named(connection, wanted, condition=condition)
    every = connection.execute(select(corpus.c.name).order_by(corpus.c.name)).scalars()
    return list(selection.names or every), selection.condition


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
        connection: connection of a transaction.
        settings: settings of the model: its order, whether ``<unk:TAG>`` replaces the words that are seen
            once in the corpora together, whether `OPENING` and `CLOSING` enclose base noun phrases, and which
            symbols replace words.
        chosen: whether only the sentences of the table ``chosen`` are counted.
        new_words: whether new words may be added; if not, nothing is written to the store.
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
    """Make ``class``: the tokens whose word occurs once among them, each with its ``<unk:TAG>``."""
    sql.run(connection, _RECOUNT, "singletons", tokens=tokens, root=ROOT)
    sql.run(connection, _RECOUNT, "classes", tokens=tokens)
    untagged = [str(row[0]) for row in sql.run(connection, _RECOUNT, "untagged")]
    if untagged:
        raise ModelError(
            f"{', '.join(untagged)}: words seen once have no tags there; choose another"
            f" {spell('unknown')} than tag"
        )


def _find_symbols(connection: Connection, tokens: str, symbols: Symbols) -> None:
    """Make ``class``: the tokens that a symbol replaces, and the tokens of phrases that are left out."""
    if symbols.over == ITEMS:
        _require_phrases(connection, tokens, f"choose another {spell('over')} than {ITEMS}")
    sql.run(connection, _RECOUNT, "frequent", tokens=tokens, root=ROOT, kept=symbols.kept)
    clash = sql.run(connection, _RECOUNT, "frequent_symbols", tag=TAG, phrase=PHRASE)
    if clash:
        raise ModelError(f"the text contains the word {clash[0][0]}, which is a symbol; ingest it without it")
    statement = "items" if symbols.over == ITEMS else "tagged"
    sql.run(connection, _RECOUNT, statement, tokens=tokens, tag=TAG, phrase=PHRASE)
    untagged = [str(row[0]) for row in sql.run(connection, _RECOUNT, "untagged")]
    if untagged:
        raise ModelError(
            f"{', '.join(untagged)}: words have no tags there, which a model over {symbols.over} needs; name"
            f" treebanks, or tag the text ({TRAIN}): sentgen ingest FILE --corpus NAME --parser PARSER"
        )


def _require_phrases(connection: Connection, tokens: str, cure: str) -> None:
    without = [str(row[0]) for row in sql.run(connection, _RECOUNT, "without_phrases", tokens=tokens)]
    if without:
        raise ModelError(
            f"{', '.join(without)}: base noun phrases are not known there; {cure}, or name treebanks only"
        )


def _find_brackets(connection: Connection, tokens: str) -> None:
    """Make ``bracket``: the positions of the brackets, before (0) and after (2) tokens."""
    _require_phrases(connection, tokens, f"build without {spell('brackets')}")
    names = {"opening": OPENING, "closing": CLOSING}
    if sql.run(connection, _RECOUNT, "bracket_words", tokens=tokens, **names)[0][0]:
        raise ModelError(
            f"the text contains {OPENING} or {CLOSING} as words; replace them and ingest it again, or build"
            f" without {spell('brackets')}"
        )
    sql.run(connection, _RECOUNT, "brackets", tokens=tokens, **names)


def drop_temporary(connection: Connection) -> None:
    """Drop the temporary tables and views of a build, which would keep their memory."""
    for name, kind in sql.run(connection, _BUILD, "temporary"):
        sql.rows(connection, f"drop {'view' if kind == 'VIEW' else 'table'} temp.{name}")
