"""What a model is made of: its settings, and corpora, or sentences of them that meet a condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from sentgen.errors import InputError, ModelError, NotFoundError, spell
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.lookups.selection import select_corpora
from sentgen.models.base import sql
from sentgen.models.base.registry import STUPID_BACKOFF, ModelInfo
from sentgen.models.base.symbols import ITEMS, OF_WORDS, Symbols
from sentgen.models.smoothing import katz, kneser_ney
from sentgen.output.wording import quantity
from sentgen.schema.tables.corpus import corpus, subcorpus
from sentgen.schema.tables.counts import MAX_ORDER, segment

if TYPE_CHECKING:
    from sentgen.lookups.metadata import Condition


_FILE = "recount.sql"
_DRAWN = re.compile(r"(?:; |^)(\d+) sentences drawn with seed (\d+)$")
ESTIMATORS = {"kneser-ney": kneser_ney.smooth, "katz": katz.smooth}
SMOOTHING = (*ESTIMATORS, STUPID_BACKOFF)
UNKNOWN = ("word", "none", "tag")


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
        """Return whether its n-grams are those that ingestion counted: no classes, brackets or symbols."""
        return self.unknown != "tag" and not self.brackets and self.symbols.are_words


def recipe(
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
        unknown: ``word`` gives <unk> a probability; ``none`` does not; ``tag`` also maps words seen once to
            ``<unk:TAG>``, with the language-specific tag where there is one, else the universal one.
        brackets: count the brackets of base noun phrases as words, ``<np>`` and ``</np>``.
        symbols: what the n-grams are made of, if not of words (see `sentgen.models.base.symbols`).

    Raises:
        InputError: a setting is out of range, or goes with no other one.
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
    made = Recipe(order, smoothing, counts, unknown, brackets, symbols or OF_WORDS)
    _check_together(made)
    return made


def _check_together(made: Recipe) -> None:
    """Refuse settings that contradict each other."""
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
    """A corpus as a model is built from it: its segments, and what was counted in them."""

    id: int
    name: str
    max_order: int
    segments: tuple[int, ...]
    sentences: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Draw:
    """Some of the sentences, drawn by a seed: more of the same corpora and seed include fewer.

    Args:
        number: how many, or None.
        share: which share of them, if not a number.
        seed: of the drawing.
    """

    number: int | None
    share: float | None
    seed: int

    def size(self, available: int) -> int:
        """Return how many of so many are drawn.

        Raises:
            ModelError: there are fewer.
        """
        wanted = round(self.share * available) if self.share is not None else self.number or 0
        if wanted > available or not wanted:
            there = quantity(available, "sentence")
            raise ModelError(f"{wanted} of {there} cannot be drawn; ask for 1 to {available}")
        return wanted


def _with_draw(condition: str, number: int, seed: int) -> str:
    """Return what is recorded of drawn sentences: behind the condition that they meet, if there is one.

    >>> _with_draw("year > 1990", 1000, 1), apart(_with_draw("", 1000, 1))
    ('year > 1990; 1000 sentences drawn with seed 1', ('', Draw(number=1000, share=None, seed=1)))
    """
    return f"{condition}{'; ' if condition else ''}{number} sentences drawn with seed {seed}"


def apart(recorded: str) -> tuple[str, Draw | None]:
    """Return the condition and the drawing that `_with_draw` put together, or a condition alone."""
    found = _DRAWN.search(recorded)
    if not found:
        return recorded, None
    return recorded[: found.start()], Draw(int(found[1]), None, int(found[2]))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Sentences by their metadata, or drawn; their numbers are in the temporary table ``chosen``.

    Args:
        condition: what they meet, with the conditions of subcorpora; and how they were drawn.
        sentences: how many they are.
        tokens: how many tokens they have.
    """

    condition: str
    sentences: int
    tokens: int


def built_from(connection: Connection, name: str) -> BuiltFrom:
    """Return a corpus with its segments.

    Raises:
        NotFoundError: there is no such corpus.
    """
    found = connection.execute(select(corpus).where(corpus.c.name == name)).one_or_none()
    if found is None:
        names = connection.execute(select(corpus.c.name).order_by(corpus.c.name)).scalars().all()
        existing = f"there are: {', '.join(names)}" if names else "there are none yet"
        raise NotFoundError(f"no corpus {name!r}; {existing}")
    segments = connection.execute(
        select(segment).where(segment.c.corpus_id == found.id).order_by(segment.c.id)
    ).all()
    return BuiltFrom(
        found.id,
        found.name,
        found.max_order,
        tuple(row.id for row in segments),
        sum(row.sentences for row in segments),
        sum(row.tokens for row in segments),
    )


def selected(
    connection: Connection, names: Sequence[str], condition: str | None
) -> tuple[list[str], Condition | None]:
    """Return the corpora that a model is built from, and the condition on their sentences; none for all.

    Args:
        connection: the store.
        names: names of corpora and subcorpora.
        condition: what the metadata of all sentences meet.

    Raises:
        NotFoundError: there is no such corpus.
        QueryError: the condition cannot be read, or asks for a key that there is not.
    """
    wanted = list(dict.fromkeys(names))
    of_sentences = connection.execute(select(subcorpus.c.name).where(subcorpus.c.name.in_(wanted))).first()
    if condition is None and of_sentences is None:
        return wanted, None
    selection = select_corpora(connection, wanted, condition=condition)
    every = connection.execute(select(corpus.c.name).order_by(corpus.c.name)).scalars()
    return list(selection.names or every), selection.condition


def choose(
    connection: Connection, condition: Condition | None, draw: Draw | None, corpora: Sequence[int]
) -> Chosen:
    """Make the temporary table ``chosen`` with the numbers of sentences that meet a condition, or are drawn.

    Raises:
        ModelError: there are none, or fewer than are to be drawn.
    """
    bindings, text = Bindings(), condition.text if condition else ""
    among = f"s.corpus_id in ({', '.join(map(str, corpora))})"
    if condition:
        among += f" and s.id in ({condition.sentences(bindings)})"
    Statement(sql.statements(_FILE)["chosen"].format(among=among), bindings).run(connection)
    ((sentences, tokens),) = sql.run(connection, _FILE, "size_of_chosen")
    if not sentences:
        hints = "; ".join(condition.hints(connection)) if condition else ""
        raise ModelError(f"no sentences for a model where {text}{hints and f'; {hints}'}")
    if draw:
        number, seed = draw.size(sentences), draw.seed
        sql.run(connection, _FILE, "draw", seed=seed, number=number)
        ((sentences, tokens),) = sql.run(connection, _FILE, "size_of_chosen")
        text = _with_draw(text, number, seed)
    return Chosen(text, sentences, tokens)
