"""Weights that are tuned on gold links: the model as a log-linear one.

Every probability that makes a path, of a word into another, of null into a word, of a copied run or a jump,
is multiplied by exp(the sum of the weights of its features). Without weights the model is what it was, to the
last bit; with them a path has a score, and its posterior is the score over that of all paths.

A link, a null word, a run of copied words and a jump have one value of each template of their kind; each
value has a weight. So a score is a sum of as many weights as there are templates. Gold links are
counted by the stems that they join, and how often both stood in the texts of a pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import prod

import numpy as np

from sentgen.alignment.pairs.alignment import Pair
from sentgen.alignment.phrase_hmm.kernels import EventOrder, add_along, add_scores
from sentgen.alignment.phrase_hmm.lattice_kernels import Emission, JumpCells
from sentgen.alignment.phrase_hmm.lexicon import Clues
from sentgen.alignment.words.kinship import RELATED_BY
from sentgen.alignment.words.word_classes import CLASSES, stem
from sentgen.arrays import Bools, Bytes, Floats, Longs

#: Shares of linked places from which on stems are linked some times, often and mostly.
_SHARES = (0.1, 0.35, 0.75)
#: Links from which on a share counts for more.
_MANY_LINKS = 3


@dataclass(frozen=True, slots=True)
class _PairPlaces:
    """The entry of each two words of a pair (m, n), -1 for none, and which are the same but for case."""

    entries: Longs
    same: Bools


@dataclass(frozen=True)
class LinkCounts:
    """For two stems, in either order, the sure links between them and the places where both stood.

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
        return {stem: number for number, stem in enumerate(self.stems)}

    @cached_property
    def _keys(self) -> Longs:
        return self.first * len(self.stems) + self.second

    def places(self, pair: Pair) -> _PairPlaces:
        """Look the words of a pair up."""
        abstract, document = ([word.lower() for word in words] for words in (pair.abstract, pair.document))
        same = np.array(abstract, np.str_)[:, None] == np.array(document, np.str_)[None, :]
        if not len(self):
            return _PairPlaces(np.full(same.shape, -1), same)
        rows, columns = (
            np.array([self._numbers.get(stem(word), -1) for word in words], np.int64)
            for words in (abstract, document)
        )
        low = np.minimum(rows[:, None], columns[None, :])
        keys = low * len(self.stems) + np.maximum(rows[:, None], columns[None, :])
        entry = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        # A stem without a number is -1, and the lower one of two.
        return _PairPlaces(np.where((self._keys[entry] == keys) & (low >= 0), entry, -1), same)

    def values(self, places: _PairPlaces, own: Bools | None = None) -> Bytes:
        """Return the value of each two words in the template ``seen in gold links``, (m, n).

        Args:
            places: of the pair (``places``).
            own: sure links (m, n) of the pair, if it has been counted: it is left out then, so that a model
                does not learn to trust what it will not have.
        """
        if not len(self):
            return np.where(places.same, 10, 0).astype(np.uint8)
        entries, known = places.entries, places.entries >= 0
        linked, together = self.linked[entries], self.together[entries]
        if own is not None:
            size = len(self)
            linked = linked - np.bincount(entries[known & own], minlength=size)[entries]
            together = together - np.bincount(entries[known], minlength=size)[entries]
        known &= linked > 0
        share = np.divide(linked, together, out=np.zeros(linked.shape), where=known)
        seen = np.where(known, 1 + np.digitize(share, _SHARES), 0)
        many = known & (linked >= _MANY_LINKS)
        values: Bytes = (10 * places.same + 2 * seen + many).astype(np.uint8)
        return values


def no_counts() -> LinkCounts:
    """Return a table without entries."""
    none = np.empty(0, np.int64)
    return LinkCounts((), none, none, none, none)


def count_links(pairs: Sequence[Pair], sure: Iterable[Bools]) -> LinkCounts:
    """Count the links of pairs, (m, n) each; stems that were never linked have no entry."""
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
    """A feature, and the names of its values: each of the first dimension with each of the second."""

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


#: What two words have in common, the closest first, and the same more coarsely.
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
GROUPS = (
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
MATCHES = 3
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
#: Share of the places where two stems were linked among those where they were together, in gold links.
_SEEN = ("never linked", *(f"linked {n}" for n in ("hardly", "some times", "often", "mostly")))
_TIMES = ("once or twice", "three times or more")

LINK_TEMPLATES = (
    Template("words", (RELATIONS,)),
    Template("words to the left", (GROUPS, (*_CONTEXT, "both texts end"))),
    Template("words to the right", (GROUPS, (*_CONTEXT, "both texts end"))),
    Template("next content words", (GROUPS, _CONTEXT)),
    Template("content words before", (GROUPS, _CONTEXT)),
    Template("matches within three words", (GROUPS, ("0", "1", "2", "3 or more"))),
    Template("places of matching words", (GROUPS[:MATCHES], ("1", "2", "3", "4 or more"))),
    Template("other matches", (GROUPS[MATCHES:], _PLACES)),
    Template(
        "context beside rivals",
        (
            ("", *GROUPS[:MATCHES]),
            ("worse", "best for the document word", "best for the abstract word", "best"),
        ),
    ),
    Template("relative position", (GROUPS, _ORDER)),
    Template("class of copied or grouped word", (("neither", "copied", "grouped"), CLASSES)),
    Template("shape", (_SHAPES, ("", "akin or matching"))),
    Template("related in WordNet", (GROUPS, RELATED_BY)),
    Template("seen in gold links", (("different", "same word"), _SEEN, _TIMES)),
)
#: Content words, function words, marks.
KINDS = ("content word", "function word", "mark")
_MATCHED = ("without a match", "matched")
NULL_TEMPLATES = (
    Template("null: matching words", (CLASSES, ("0", "1", "2", "3 or more"))),
    Template(
        "null: length over that of the other text",
        (KINDS, ("up to .2", "up to .35", "up to .5", "up to .75", "up to 1", "up to 1.5", "beyond 1.5")),
    ),
    Template(
        "null: words beside",
        (KINDS, tuple(f"left {name}" for name in _MATCHED), tuple(f"right {name}" for name in _MATCHED)),
    ),
    Template("null: place", (KINDS, ("first", "within", "last"))),
    Template(
        "null: content words beside",
        (
            KINDS,
            *(tuple(f"{side} {name}" for name in (*_MATCHED, "none")) for side in ("next", "before")),
        ),
    ),
    Template("null: akin words", (KINDS, ("none", "some"), ("no capital", "capital"))),
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
#: The last distance of each value of `JUMPS` but the last one.
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
    """What a direction of the model learnt from gold links: weights by `weight_names.NAMES`, and counts."""

    weights: Floats
    counts: LinkCounts


@dataclass(frozen=True, slots=True)
class _WeightSums:
    """Sums of weights: of links (m, n), of null words (m,) and of events."""

    links: Floats
    null: Floats
    events: Floats


def scores(clues: Clues, events: EventOrder, weights: Floats) -> _WeightSums:
    """Add the weights of a pair up."""
    links, null = np.zeros(clues.links.shape[1:]), np.zeros((1, clues.abstract.shape[1]))
    add_scores(clues.links, LINK_OFFSETS, weights, links)
    add_scores(clues.abstract[:, None, :], NULL_OFFSETS, weights, null)
    of_events = weights[run_places(events)]
    add_along(events, links, of_events)
    return _WeightSums(links, null[0], of_events)


def by_place(emission: Emission) -> Emission:
    """Return an emission with a row and a column for each word of the texts, also if it comes again."""
    words = emission.words[emission.abstract][:, emission.document]
    return emission._replace(
        words=words, abstract=np.arange(len(words)), document=np.arange(len(emission.document))
    )


def weighted(emission: Emission, clues: Clues, weights: Floats) -> Emission:
    """Return an emission (``by_place``) whose probabilities are multiplied by exp(scores)."""
    sums = scores(clues, emission.events, weights)
    return emission._replace(
        words=emission.words * np.exp(sums.links),
        null=emission.null * np.exp(sums.null),
        prob=emission.prob * np.exp(sums.events),
    )


def weighted_jumps(cells: JumpCells, mass: Floats, weights: Floats) -> Floats:
    """Return the mass of the jump cells, (C,), multiplied by exp(weights)."""
    tilted: Floats = mass * np.exp(weights[jump_places(cells)])
    return tilted


def run_places(events: EventOrder) -> Longs:
    """Return the weight of the length of each event."""
    places: Longs = _RUN_OFFSET + np.minimum(events.length - 2, RUNS.size - 1)
    return places


@lru_cache(maxsize=16)
def jump_places(cells: JumpCells) -> Longs:
    """Return the weight of each jump cell, by its last distance, (C,)."""
    places: Longs = _JUMP_OFFSET + np.searchsorted(np.array(_JUMP_ENDS), cells.last)
    return places
