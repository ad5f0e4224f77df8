"""Where the words of a pattern occur in a large store, found by the rarest of them and the n-gram counts.

A word is a number, and DuckDB compares a column with a number while it unpacks it: 1.5 ns a token, while a
join of `token` with itself takes several times as long, and memory. So the places of the rarest word are read
first, those of the others where that one is, and only until there are as many hits as asked for: how many
there are in all is an n-gram count. If the pattern asks for more than words, the sentences are searched that
have a rare one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import md5

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Longs
from sentgen.lookups.concordances.places import NAMED, Places, SentenceNumbers
from sentgen.lookups.concordances.surface_words import Shape
from sentgen.lookups.patterns import ANY, TokenPattern, word_among
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement, where
from sentgen.schema.tables.counts import MAX_ORDER

#: Forms that one word may stand for (--ignore-case, wildcards): each is compared with every token.
MOST_FORMS = 64
#: Hits that are held; the rarest word of the pattern may be no more frequent where all of them are needed.
MOST_PLACES = 1_000_000
#: The same of the rarest word where the sentences that have it are named.
MOST_NAMED = 10_000
#: Places of the rarest word, and of any word, that are read at once: so few that their sentences are named.
_RAREST_AT_ONCE, _ANY_AT_ONCE = 800, 4_000_000
#: Sentences at least that are read at once.
_FEWEST = 20_000
#: No sentence has as many tokens: its number and a position make one key.
_WIDTH = 1 << 24

_FORMS = "select id from word where {condition} order by id limit $most"
_SUM = "select coalesce(sum(count), 0)::bigint from ngram_{order}{conditions}"
_ORDER = "select coalesce(min(max_order), 0) from corpus{conditions}"
_PLACES = "select sentence_id, position from token{conditions}"


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the pattern: its place in it from 0, its numbers, and how often they occur."""

    offset: int
    ids: tuple[int, ...]
    count: int

    def condition(self, column: str) -> str:
        # One by one: a list of one is slower than a comparison.
        if len(self.ids) == 1:
            return f"{column} = {self.ids[0]}"
        return f"{column} in ({', '.join(map(str, self.ids))})"


@dataclass(frozen=True, slots=True)
class WordSequence:
    """The words of a pattern.

    Attributes:
        words: those that are named, rarest first.
        size: tokens of the pattern.
        sentences: number of the last sentence of the store.
        total: how often it occurs, where n-grams of its length are counted.
        plain: whether it asks for nothing else: its words are plain, with stars between them at most.
    """

    connection: Connection
    selection: Selection
    words: Sequence[_Word]
    size: int
    sentences: int
    total: int | None
    plain: bool

    def having(self) -> SentenceNumbers | None:
        """Return the sentences that have the words at their places; ``None`` if the rarest is not rare."""
        if self.words[0].count > MOST_NAMED:
            return None
        keys = np.concatenate([np.empty(0, np.int64), *self._parts(self._most())])
        return SentenceNumbers(np.unique(keys // _WIDTH).tolist())

    def find(self, limit: int, seed: int | None) -> tuple[Places, int] | None:
        """Return the first hits, or those that a seed draws, and how many there are in all.

        Args:
            limit: hits at most, 0 for all.
            seed: draw them as `concordance` does.

        Returns:
            ``None`` if the pattern is not plain, or there are more to be held than memory holds.
        """
        total = self.total
        if not self.plain:
            return None
        if limit and seed is None and total is not None:
            return self._places(self._first(min(limit, total), total)), total
        if self.words[0].count > MOST_PLACES:
            return None
        keys = np.concatenate([np.empty(0, np.int64), *self._parts(self._most())])
        total = int(keys.size)
        if limit:
            keys = keys[:limit] if seed is None else np.sort(_drawn(keys, limit, seed))
        return self._places(keys), total

    def _first(self, wanted: int, total: int) -> Longs:
        """Return the first hits; reads about as many sentences as have them."""
        most = self._most()
        share = (1.5 * wanted + 10) / total if wanted < total else 1.0
        size = min(max(int(share * self.sentences), _FEWEST), most)
        keys = np.empty(0, np.int64)
        for part in self._parts(size, wanted):
            keys = np.concatenate([keys, part])
            if keys.size >= wanted:
                break
        return keys[:wanted]

    def _most(self) -> int:
        """Return how many sentences can be read at once, going by how frequent the words are."""
        shares = [_RAREST_AT_ONCE / max(self.words[0].count, 1)]
        shares += [_ANY_AT_ONCE / max(word.count, 1) for word in self.words]
        return max(int(min(1.0, *shares) * self.sentences), _FEWEST)

    def _parts(self, size: int, wanted: int = 1) -> Iterator[Longs]:
        """Yield the hits range by range, each twice as large as the one before, as far as memory allows."""
        low, most = 1, self._most()
        while low <= self.sentences and wanted:
            high = min(low + size - 1, self.sentences)
            yield self._hits(low, high)
            low, size = high + 1, min(2 * size, most)

    def _hits(self, low: int, high: int) -> Longs:
        """Return the keys of the first tokens of the hits in a range of sentences, ascending."""
        first, *others = self.words
        keys = self._keys(first, f"between {low} and {high}")
        for word in others:
            sentences = np.unique(keys // _WIDTH)
            if not sentences.size:
                break
            part = f"between {sentences[0]} and {sentences[-1]}"
            if sentences.size <= NAMED:
                part = f"in ({', '.join(map(str, sentences.tolist()))})"
            keys = np.intersect1d(keys, self._keys(word, part), assume_unique=True)
        return np.sort(keys)

    def _keys(self, word: _Word, part: str) -> Longs:
        """Return a key of the sentence and the first token for each place of a word."""
        if not word.ids:
            return np.empty(0, np.int64)
        bindings = Bindings()
        conditions = [word.condition("word_id"), f"sentence_id {part}"]
        if word.offset:
            conditions.append(f"position > {word.offset}")
        conditions += self.selection.of_tokens(bindings)
        found = Statement(_PLACES.format(conditions=where(conditions)), bindings).run(self.connection)
        keys: Longs = found["sentence_id"].to_numpy() * _WIDTH + found["position"].to_numpy() - word.offset
        return keys

    def _places(self, keys: Longs) -> Places:
        return Places((keys // _WIDTH).tolist(), (keys % _WIDTH).tolist(), self.size)


def word_sequence(
    connection: Connection, shapes: Sequence[Shape], selection: Selection, sentences: int
) -> WordSequence | None:
    """Return the words of a pattern; ``None`` if it names none, or surface words.

    Args:
        connection: the store.
        shapes: the shapes of the pattern.
        selection: the corpora.
        sentences: number of the last sentence.
    """
    # Of chosen sentences nothing is counted yet.
    if len(shapes) != 1 or selection.condition is not None:
        return None
    tokens = [part.token for part in shapes[0]]
    # A star at an end asks for room in the sentence, which is not in `token`.
    plain, words = not (tokens[0].free or tokens[-1].free), []
    for offset, token in enumerate(tokens):
        ids = _forms(connection, token)
        if ids is not None:
            count = _count(connection, selection, 1, [_Word(0, ids, 0)])
            words.append(_Word(offset, ids, count))
        plain = plain and (token.free or (ids is not None and not token.tag))
    if not words:
        return None
    size = len(tokens)
    total = None
    if plain and size <= min(MAX_ORDER, _order(connection, selection)):
        total = words[0].count if size == 1 else _count(connection, selection, size, words)
    rarest_first = sorted(words, key=lambda word: word.count)
    return WordSequence(connection, selection, rarest_first, size, sentences, total, plain)


def _forms(connection: Connection, token: TokenPattern) -> tuple[int, ...] | None:
    """Return the numbers of the words that a token may be; ``None`` if they are any, or too many."""
    if token.attribute != "word" or token.pattern == ANY:
        return None
    bindings = Bindings(most=MOST_FORMS + 1)
    condition = word_among("id", token.pattern, bindings, ignore_case=token.ignore_case)
    found = Statement(_FORMS.format(condition=condition), bindings).run(connection)
    return tuple(found["id"].to_pylist()) if found.num_rows <= MOST_FORMS else None


def _count(connection: Connection, selection: Selection, order: int, words: Sequence[_Word]) -> int:
    """Return how often words at their places make an n-gram."""
    if not all(word.ids for word in words):
        return 0
    bindings = Bindings()
    conditions = [word.condition(f"w{word.offset + 1}") for word in words] + selection.of_segments(bindings)
    return int(Statement(_SUM.format(order=order, conditions=where(conditions)), bindings).value(connection))


def _order(connection: Connection, selection: Selection) -> int:
    """Return the order up to which the n-grams of all corpora asked about are counted."""
    bindings = Bindings()
    conditions = where(selection.of_corpora(bindings, "id"))
    return int(Statement(_ORDER.format(conditions=conditions), bindings).value(connection))


def _drawn(keys: Longs, limit: int, seed: int) -> Longs:
    """Return the hits of the lowest hashes, which are those that the statement of a concordance draws."""

    def chosen_by(key: int) -> tuple[str, int]:
        text = f"{seed}:{key // _WIDTH}:{key % _WIDTH}"
        return md5(text.encode(), usedforsecurity=False).hexdigest(), key

    return np.array(heapq.nsmallest(limit, keys.tolist(), key=chosen_by), np.int64)


def places_of_words(
    connection: Connection,
    shapes: Sequence[Shape],
    selection: Selection,
    sentences: int,
    limit: int,
    seed: int | None,
) -> tuple[Iterator[Places], int] | Iterator[SentenceNumbers] | None:
    """Return where the hits of a pattern are, or may be, going by the words in it.

    Args:
        connection: the store.
        shapes: the shapes of the pattern.
        selection: the corpora.
        sentences: number of the last sentence.
        limit: hits at most, 0 for all.
        seed: draw them as `concordance` does, instead of the first ones.

    Returns:
        The hits asked for and how many there are in all, if the pattern has plain words only; the sentences
        in which they all are, if it has a rare word; else ``None``.
    """
    words = word_sequence(connection, shapes, selection, sentences)
    if words is None:
        return None
    if found := words.find(limit, seed):
        return found[0].cut(NAMED), found[1]
    having = words.having()
    return None if having is None else having.cut(NAMED)
