"""Weights that are tuned on gold links make the phrase-based HMM a log-linear model.

Every probability on a path (of a word into another, of null into a word, of a copied run, of a jump) is
multiplied by exp(the sum of the weights of its features). With weights 0 the model is unchanged to the last
bit; otherwise a path has a score, and its posterior is its score divided by the sum over all paths.

A link, a null word, a copied run and a jump have one value of each template of their kind; each value has a
weight, so that a log score has a weight from each template. Gold links are counted by their stems, together
with the places where both stems are in the texts of a pair. The values of a pair are its clues
(`find_clues`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sentgen.alignment.pairs.alignment import Pair
from sentgen.alignment.phrase_hmm.inference import Emission, JumpCells
from sentgen.alignment.phrase_hmm.kernels import EventOrder, add_along, add_scores
from sentgen.alignment.phrase_hmm.lexicon import Clues, PairIds
from sentgen.alignment.words.kinship import GROUPED, RELATED, RELATED_BY, SIMILAR, SYNONYM, related_by
from sentgen.alignment.words.word_classes import (
    CLASSES,
    CONTENT,
    MARK,
    NUMBER,
    STOP,
    ending_class,
    stem,
    word_class,
)
from sentgen.arrays import Bools, Bytes, Floats, Longs

#: Least shares of linked places of stems that are linked sometimes, often and mostly.
_SHARES = (0.1, 0.35, 0.75)
#: Least number of links of a reliable share.
_MANY_LINKS = 3


@dataclass(frozen=True)
class LinkCounts:
    """Sure links between two stems, in either order, and word pairs of them in the texts of a pair.

    Entry k is of the stems ``stems[first[k]]`` and ``stems[second[k]]``, sorted by both, the lower first.
    """

    stems: tuple[str, ...]
    first: Longs
    second: Longs
    linked: Longs
    together: Longs

    @staticmethod
    def of_rows(
        stems: tuple[str, ...], left: Longs, right: Longs, linked: Longs, together: Longs
    ) -> LinkCounts:
        """Return the table of entries in any order, the two stems of each in any order."""
        first, second = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((second, first))
        return LinkCounts(stems, *(column[order] for column in (first, second, linked, together)))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.first)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.stems)}

    @cached_property
    def _keys(self) -> Longs:
        return self.first * len(self.stems) + self.second

    def values(self, pair: Pair, own: Bools | None = None) -> Bytes:
        """Return the value of each two words of a pair in the template ``seen in gold links``, (m, n).

        ``own`` are sure links (m, n) of the pair, if they are counted: they are subtracted, since a model
        will not have them for new pairs.
        """
        abstract, document = ([word.lower() for word in words] for words in (pair.abstract, pair.document))
        same = np.array(abstract, np.str_)[:, None] == np.array(document, np.str_)[None, :]
        if not len(self):
            return np.where(same, 10, 0).astype(np.uint8)
        rows, columns = (
            np.array([self._numbers.get(stem(word), -1) for word in words], np.int64)
            for words in (abstract, document)
        )
        # Of a stem without a number, -1, all keys are negative.
        keys = _keys(rows, columns, len(self.stems))
        entries = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        known = self._keys[entries] == keys
        linked, together = self.linked[entries], self.together[entries]
        if own is not None:
            size = len(self)
            linked = linked - np.bincount(entries[known & own], minlength=size)[entries]
            together = together - np.bincount(entries[known], minlength=size)[entries]
        known &= linked > 0
        share = np.divide(linked, together, out=np.zeros(linked.shape), where=known)
        seen = np.where(known, 1 + np.digitize(share, _SHARES), 0)
        many = known & (linked >= _MANY_LINKS)
        values: Bytes = (10 * same + 2 * seen + many).astype(np.uint8)
        return values

    @staticmethod
    def none() -> LinkCounts:
        """Return a table without entries."""
        none = np.empty(0, np.int64)
        return LinkCounts((), none, none, none, none)

    @staticmethod
    def of_pairs(pairs: Sequence[Pair], sure: Iterable[Bools]) -> LinkCounts:
        """Count the links of pairs, given as (m, n) flags; stems that are never linked have no entry."""
        numbers: dict[str, int] = {}
        texts = []
        for pair in pairs:
            abstract, document = (
                np.array([numbers.setdefault(stem(word), len(numbers)) for word in words], np.int64)
                for words in (pair.abstract, pair.document)
            )
            texts.append((abstract, document))
        size = max(1, len(numbers))
        together = [_keys(*text_keys, size).ravel() for text_keys in texts]
        linked = [keys[links.ravel()] for keys, links in zip(together, sure, strict=True)]
        none = np.empty(0, np.int64)
        keys, times = np.unique(np.concatenate([none, *linked]), return_counts=True)
        places = none
        if len(keys):
            places = np.zeros(len(keys), np.int64)
            for text_keys in together:
                entry = np.minimum(np.searchsorted(keys, text_keys), len(keys) - 1)
                places += np.bincount(entry[keys[entry] == text_keys], minlength=len(keys))
        return LinkCounts(tuple(numbers), keys // size, keys % size, times.astype(np.int64), places)


def _keys(abstract: Longs, document: Longs, size: int) -> Longs:
    low = np.minimum(abstract[:, None], document[None, :])
    keys: Longs = low * size + np.maximum(abstract[:, None], document[None, :])
    return keys


@dataclass(frozen=True, slots=True)
class Template:
    """A feature, whose values are all combinations of the names of its dimensions."""

    name: str
    dimensions: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return prod(map(len, self.dimensions))

    @property
    def values(self) -> list[str]:
        """The names of the values, in the order of their numbers."""
        return [", ".join(part for part in parts if part) for parts in product(*self.dimensions)]


#: Relations of two words, the closest first, and their groups.
RELATIONS = (
    "copied content word",
    "copied function word",
    "copied mark",
    "same stem",
    "similar spelling",
    "same group of function words",
    "synonyms",
    "related words",
    "other content words",
    "other function words",
    "function and content word",
    "mark and another word",
)
_GROUPS = (
    "copied content word",
    "copied function word or mark",
    "same stem or similar spelling",
    "akin words",
    "other content words",
    "other words",
)
#: The group of each relation.
GROUP_OF = (0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 5)
#: Groups whose words match.
_MATCHES = 3
_CONTEXT = ("different", "akin", "match", "one text ends")
_ORDER = ("straight on", "a little off", "off", "far off", "elsewhere")
_PLACES = ("neither matches another word", "document word does", "abstract word does", "both do")
_SHAPES = (
    "no capitals",
    "capital in document",
    "capital in abstract",
    "capitals",
    "no capitals, same ending",
    "capital in document, same ending",
    "capital in abstract, same ending",
    "capitals, same ending",
    "numbers",
    "number and word",
    "not both content words",
)
#: Share of the places of two stems at which gold links join them.
_SEEN = ("never linked", *(f"linked {n}" for n in ("hardly", "some times", "often", "mostly")))
_TIMES = ("once or twice", "three times or more")

LINK_TEMPLATES = (
    Template("words", (RELATIONS,)),
    Template("words to the left", (_GROUPS, (*_CONTEXT, "both texts end"))),
    Template("words to the right", (_GROUPS, (*_CONTEXT, "both texts end"))),
    Template("next content words", (_GROUPS, _CONTEXT)),
    Template("content words before", (_GROUPS, _CONTEXT)),
    Template("matches within three words", (_GROUPS, ("0", "1", "2", "3 or more"))),
    Template("places of matching words", (_GROUPS[:_MATCHES], ("1", "2", "3", "4 or more"))),
    Template("other matches", (_GROUPS[_MATCHES:], _PLACES)),
    Template(
        "context beside rivals",
        (
            ("", *_GROUPS[:_MATCHES]),
            ("worse", "best for the document word", "best for the abstract word", "best"),
        ),
    ),
    Template("relative position", (_GROUPS, _ORDER)),
    Template("class of copied or grouped word", (("neither", "copied", "grouped"), CLASSES)),
    Template("shape", (_SHAPES, ("", "akin or matching"))),
    Template("related in WordNet", (_GROUPS, RELATED_BY)),
    Template("seen in gold links", (("different", "same word"), _SEEN, _TIMES)),
)
#: Content words, function words, marks.
_KINDS = ("content word", "function word", "mark")
_MATCHED = ("without a match", "matched")
NULL_TEMPLATES = (
    Template("null: matching words", (CLASSES, ("0", "1", "2", "3 or more"))),
    Template(
        "null: length over that of the other text",
        (_KINDS, ("up to .2", "up to .35", "up to .5", "up to .75", "up to 1", "up to 1.5", "beyond 1.5")),
    ),
    Template(
        "null: words beside",
        (_KINDS, tuple(f"left {name}" for name in _MATCHED), tuple(f"right {name}" for name in _MATCHED)),
    ),
    Template("null: place", (_KINDS, ("first", "within", "last"))),
    Template(
        "null: content words beside",
        (
            _KINDS,
            *(tuple(f"{side} {name}" for name in (*_MATCHED, "none")) for side in ("next", "before")),
        ),
    ),
    Template("null: akin words", (_KINDS, ("none", "some"), ("no capital", "capital"))),
)
RUNS = Template("words of a copied run", (("2", "3", "4", "5", "6 or more"),))
_NEAR = 6
JUMPS = Template(
    "jump",
    (
        (
            "below -32",
            "-32 to -17",
            "-16 to -7",
            *(str(d) for d in range(-_NEAR, _NEAR + 1)),
            "7 to 10",
            "11 to 16",
            "17 to 32",
            "beyond 32",
        ),
    ),
)
#: The largest distance of each value of `JUMPS` but the last.
_JUMP_ENDS = (-33, -17, -7, *range(-_NEAR, _NEAR + 1), 10, 16, 32)

TEMPLATES = (*LINK_TEMPLATES, *NULL_TEMPLATES, RUNS, JUMPS)
#: Where the weights of each template begin, and the number of all weights.
_OFFSETS = tuple(accumulate((template.size for template in TEMPLATES), initial=0))
SIZE = _OFFSETS[-1]
#: Feature and value of each weight.
NAMES = tuple((template.name, value) for template in TEMPLATES for value in template.values)


#: Where the weights of the templates of each kind begin.
LINK_OFFSETS = np.array(_OFFSETS[: len(LINK_TEMPLATES)], np.int64)
NULL_OFFSETS = np.array(_OFFSETS[len(LINK_OFFSETS) : len(LINK_OFFSETS) + len(NULL_TEMPLATES)], np.int64)
_RUN_OFFSET, _JUMP_OFFSET = _OFFSETS[-3], _OFFSETS[-2]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The tuning of one direction of the model: weights by `NAMES`, and counts of gold links."""

    weights: Floats
    counts: LinkCounts

    def jumps(self, cells: JumpCells, mass: Floats) -> Floats:
        """Return the mass of the jump cells, (C,), multiplied by exp(weights)."""
        tilted: Floats = mass * np.exp(self.weights[jump_places(cells)])
        return tilted


def by_place(emission: Emission) -> Emission:
    """Return an emission with a row and a column for each position of the texts."""
    words = emission.words[emission.abstract][:, emission.document]
    return emission._replace(
        words=words, abstract=np.arange(len(words)), document=np.arange(len(emission.document))
    )


def weighted(emission: Emission, clues: Clues, weights: Floats) -> Emission:
    """Return an emission (``by_place``) whose probabilities are multiplied by exp(sum of weights)."""
    links, null = np.zeros(clues.links.shape[1:]), np.zeros((1, clues.abstract.shape[1]))
    add_scores(clues.links, LINK_OFFSETS, weights, links)
    add_scores(clues.abstract[:, None, :], NULL_OFFSETS, weights, null)
    of_events = weights[run_places(emission.events)]
    add_along(emission.events, links, of_events)
    return emission._replace(
        words=emission.words * np.exp(links),
        null=emission.null * np.exp(null[0]),
        prob=emission.prob * np.exp(of_events),
    )


def run_places(events: EventOrder) -> Longs:
    """Return the index of the weight of the length of each event."""
    places: Longs = _RUN_OFFSET + np.minimum(events.length - 2, RUNS.size - 1)
    return places


@lru_cache(maxsize=16)
def jump_places(cells: JumpCells) -> Longs:
    """Return the index of the weight of each jump cell, by its last distance, (C,)."""
    places: Longs = _JUMP_OFFSET + np.searchsorted(np.array(_JUMP_ENDS), cells.last)
    return places


#: Numbers in `RELATIONS`.
_CONTENT_COPY, _FUNCTION_COPY, _MARK_COPY, _STEM = range(4)
_RELATION_OF_KIN = {SIMILAR: 4, GROUPED: 5, SYNONYM: 6, RELATED: 7}
_OTHER_CONTENT, _OTHER_FUNCTION, _MIXED, _OTHER_MARK = range(8, 12)
#: How two words match, in the order of `_CONTEXT`.
_DIFFERENT, _AKIN, _MATCH, _END, _ENDS = range(5)
#: Words on each side within which matches count.
_WITHIN = 3
_FAR = (0.05, 0.1, 0.2, 0.4)
_RATIOS = (0.2, 0.35, 0.5, 0.75, 1.01, 1.5)
#: Numbers in `_SHAPES`.
_ENDING, _NUMBERS, _ONE_NUMBER, _NO_SHAPE = 4, 8, 9, 10

_Small = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Side:
    """The words of a text: classes, content words, capitals, endings."""

    classes: _Small
    content: Bools
    capital: Bools
    ending: _Small

    @classmethod
    def of_words(cls, words: tuple[str, ...]) -> _Side:
        classes = np.array([word_class(word) for word in words], np.uint8)
        return cls(
            classes,
            (classes == CONTENT) | (classes == NUMBER),
            np.array([word[:1].isupper() for word in words], np.bool_),
            np.array([ending_class(word) for word in words], np.uint8),
        )

    @property
    def marks(self) -> Bools:
        return np.isin(self.classes, (STOP, MARK))

    def content_beside(self, step: int) -> Longs:
        """Return the next (step 1) or last (-1) content word beside each word, (n,); n for none."""
        n = len(self.content)
        places = np.arange(n)
        if step > 0:
            after = np.where(self.content, places, n)[::-1]
            return np.append(np.minimum.accumulate(after)[::-1], n)[1:]
        before = np.append(-1, np.maximum.accumulate(np.where(self.content, places, -1)))[:-1]
        return np.where(before < 0, n, before)


def find_clues(
    pair: Pair, ids: PairIds, counts: LinkCounts, wordnet: Path | None, *, own: Bools | None = None
) -> Clues:
    """Return the feature values of a pair whose words have their kinship (``Lexicon.with_kinship``).

    ``counts`` are those of gold links; ``own`` are sure links (m, n) of the pair, if they are among them:
    they are subtracted. ``wordnet`` is the folder of WordNet, if there is one.
    """
    abstract, document = _Side.of_words(pair.abstract), _Side.of_words(pair.document)
    relations = _relations(ids, abstract, document)
    groups = np.array(GROUP_OF, np.uint8)[relations]
    degrees = np.array([_MATCH] * _MATCHES + [_AKIN] + [_DIFFERENT] * 2, np.int8)[groups]
    matches = degrees == _MATCH
    rows, columns = matches.sum(axis=1), matches.sum(axis=0)
    related = degrees == _AKIN
    links = _link_values(relations, groups, degrees, abstract, document)
    wordnet_values = groups * np.uint8(len(RELATED_BY)) + related_by(wordnet, pair.abstract, pair.document)
    return Clues(
        np.stack([*links, wordnet_values, counts.values(pair, own)]),
        _null_values(abstract, rows, related.any(axis=1), len(document.classes)),
        _null_values(document, columns, related.any(axis=0), len(abstract.classes)),
    )


def _relations(ids: PairIds, abstract: _Side, document: _Side) -> _Small:
    """Return the number in ``RELATIONS`` of the relation of each two words, (m, n)."""
    if ids.kinship is None:
        raise ValueError("clues need to know which words are akin")
    words, into = ids.words
    kinds = ids.kinship.kinds[into.at][:, words.at]
    contents = abstract.content[:, None].astype(np.int8) + document.content[None, :]
    marks = abstract.marks[:, None] | document.marks[None, :]
    relations = np.array([_OTHER_FUNCTION, _MIXED, _OTHER_CONTENT], np.uint8)[contents]
    relations[marks] = _OTHER_MARK
    for kind, relation in _RELATION_OF_KIN.items():
        relations[kinds == kind] = relation
    stems = ids.abstract_stems[:, None] == ids.document_stems[None, :]
    copies = ids.abstract[:, None] == ids.document[None, :]
    relations[stems & ~copies] = _STEM
    relations[copies] = _CONTENT_COPY
    relations[copies & (contents < 2)] = _FUNCTION_COPY
    relations[copies & marks] = _MARK_COPY
    return relations


def _link_values(
    relations: _Small, groups: _Small, degrees: npt.NDArray[np.int8], abstract: _Side, document: _Side
) -> list[_Small]:
    """Return the values of the link templates except the last, (m, n) each."""
    m, n = relations.shape
    matches = degrees == _MATCH
    left, right = (_beside(degrees, np.arange(m) + step, np.arange(n) + step) for step in (-1, 1))
    after, before = (
        np.minimum(_beside(degrees, abstract.content_beside(step), document.content_beside(step)), _END)
        for step in (1, -1)
    )
    content = matches & abstract.content[:, None] & document.content[None, :]
    near = np.minimum(_around(content) - content, 3)
    rows, columns = (matches.sum(axis=axis) for axis in (1, 0))
    places = np.minimum(np.maximum(rows[:, None], columns[None, :]), 4) - 1
    elsewhere = 2 * (rows > 0)[:, None] + (columns > 0)[None, :]
    context = 2.0 * ((left == _MATCH) * 1 + (right == _MATCH)) + (after == _MATCH) + (before == _MATCH)
    distance = np.abs((np.arange(m)[:, None] + 0.5) / m - (np.arange(n)[None, :] + 0.5) / n)
    values = [
        relations,
        groups * 5 + left,
        groups * 5 + right,
        groups * 4 + after,
        groups * 4 + before,
        groups * 4 + near,
        np.where(matches, groups * 4 + places, 0),
        np.where(matches, 0, (np.maximum(groups, _MATCHES) - _MATCHES) * 4 + elsewhere),
        np.where(matches, 4 * (groups + 1) + _rivals(context + 0.3 * near, matches), 0),
        groups * 5 + np.digitize(distance, _FAR),
        _classes(relations, abstract),
        2 * _shapes(abstract, document) + (degrees > _DIFFERENT),
    ]
    return [template.astype(np.uint8) for template in values]


def _beside(degrees: npt.NDArray[np.int8], rows: Longs, columns: Longs) -> npt.NDArray[np.int8]:
    """Return the match of abstract word ``rows[i]`` and document word ``columns[j]`` for all i, j, (m, n)."""
    m, n = degrees.shape
    padded = np.full((m + 1, n + 1), _END, np.int8)
    padded[:m, :n] = degrees
    padded[m, n] = _ENDS
    # Positions outside of the text have the index behind the last.
    rows, columns = (np.where((at < 0) | (at > size), size, at) for at, size in ((rows, m), (columns, n)))
    return padded[rows][:, columns]


def _around(matches: Bools) -> Longs:
    """Return the number of matches within ``_WITHIN`` words of each pair of words, itself included."""
    m, n = matches.shape
    sums = np.zeros((m + 1, n + 1), np.int64)
    sums[1:, 1:] = matches.cumsum(axis=0).cumsum(axis=1)
    (first, last), (left, right) = (
        (np.maximum(np.arange(size) - _WITHIN, 0), np.minimum(np.arange(size) + _WITHIN + 1, size))
        for size in (m, n)
    )
    below, above = sums[last], sums[first]
    return below[:, right] - above[:, right] - below[:, left] + above[:, left]


def _rivals(context: Floats, matches: Bools) -> Longs:
    """Return 1 where a context is best for the document word, 2 for the abstract word, 3 for both, else 0."""
    masked = np.where(matches, context, -1.0)
    # `initial`, for a text without words has no largest score.
    of_document = masked >= masked.max(axis=0, keepdims=True, initial=-1.0) - 1e-9
    of_abstract = masked >= masked.max(axis=1, keepdims=True, initial=-1.0) - 1e-9
    ranks: Longs = of_document + 2 * of_abstract
    return ranks


def _classes(relations: _Small, abstract: _Side) -> npt.NDArray[np.int64]:
    copied = relations < _STEM
    grouped = relations == _RELATION_OF_KIN[GROUPED]
    offset = len(CLASSES) * (copied + 2 * grouped)
    return np.where(copied | grouped, offset + abstract.classes[:, None], 0)


def _shapes(abstract: _Side, document: _Side) -> npt.NDArray[np.int64]:
    capitals = 2 * abstract.capital[:, None] + document.capital[None, :]
    same = (abstract.ending[:, None] == document.ending[None, :]) & (abstract.ending > 0)[:, None]
    shapes = np.where(same, capitals + _ENDING, capitals)
    number, other_number = abstract.classes[:, None] == NUMBER, document.classes[None, :] == NUMBER
    shapes[number & other_number] = _NUMBERS
    shapes[number ^ other_number] = _ONE_NUMBER
    shapes[~(abstract.content[:, None] & document.content[None, :])] = _NO_SHAPE
    return shapes


def _null_values(side: _Side, matches: Longs, related: Bools, other: int) -> Bytes:
    """Return the values of the null templates, (templates, words), for the words of a text.

    ``matches`` is the number of matching words in the other text, which has ``other`` words.
    """
    n = len(matches)
    matched = np.append(matches > 0, False).astype(np.int64)
    kinds = np.where(side.content, 0, np.where(side.marks, 2, 1))
    position = np.ones(n, np.int64)
    position[-1:], position[:1] = 2, 0
    left, right = np.append(0, matched[: max(n - 1, 0)])[:n], matched[1:]
    beside = np.append(matched[:-1], 2)
    ratio = np.digitize(n / max(other, 1), _RATIOS)
    return np.stack(
        [
            side.classes * 4 + np.minimum(matches, 3),
            kinds * 7 + ratio,
            kinds * 4 + 2 * left + right,
            kinds * 3 + position,
            kinds * 9 + 3 * beside[side.content_beside(1)] + beside[side.content_beside(-1)],
            kinds * 4 + 2 * related + side.capital,
        ]
    ).astype(np.uint8)
