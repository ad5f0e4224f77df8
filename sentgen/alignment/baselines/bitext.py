"""Training data of word models: sentence pairs as integers, with the table cell of every word pair.

A sentence pair has a source, which generates, and a target, each word of which comes from one source word or
from null (Brown et al. 1993). Words are compared in lower case.

Models that align sentences only need the document sentences from which an abstract sentence was written.
Marcu 1999 extracts them: from the whole document, remove sentence after sentence, each time the one whose
removal leaves the extract most similar to the abstract, by the cosine of their words. Daumé & Marcu 2004
(sec. 3.2) do so for every abstract sentence, down to three sentences. Words are stems, weighted by their
frequency times log(sentences / sentences with the stem), so that function words have little weight without a
list of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, Link, Pair
from sentgen.alignment.words.word_classes import stem
from sentgen.arrays import Floats, Ints, Longs, compiled, sparse_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: How the links of the two directions are joined.
Join = Literal["grow-diag-final-and", "intersection", "forward", "backward"]
USUAL_JOIN: Join = "grow-diag-final-and"

_NEIGHBORS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def join_links(forward: Set[Link], backward: Set[Link], join: Join) -> set[Link]:
    """Join the links of the two directions.

    ``grow-diag-final-and`` starts with the intersection. Until nothing changes, it adds links of the union
    that are adjacent to a link of the set, diagonally too, if one of their words has no link yet. Last, it
    adds links of ``forward``, then of ``backward``, both of whose words have no link yet. Links are added in
    ascending order.

    >>> sorted(join_links({(0, 0), (1, 1), (3, 2)}, {(0, 0), (1, 2)}, "grow-diag-final-and"))
    [(0, 0), (1, 1), (1, 2)]
    """
    links = set(forward & backward)
    if join != USUAL_JOIN:
        return set({"intersection": links, "forward": forward, "backward": backward}[join])
    either = forward | backward
    left, right = {i for i, _ in links}, {j for _, j in links}

    def add(link: Link) -> None:
        # The words count as linked at once: an added link excludes later links of the same words.
        links.add(link)
        left.add(link[0])
        right.add(link[1])

    grown = True
    while grown:
        grown = False
        # A copy: links that are added in this round have their neighbors added in the next one.
        for i, j in sorted(links):
            for di, dj in _NEIGHBORS:
                near = (i + di, j + dj)
                if near in either and near not in links and (near[0] not in left or near[1] not in right):
                    add(near)
                    grown = True
    for link in (*sorted(forward), *sorted(backward)):
        if link[0] not in left and link[1] not in right:
            add(link)
    return links


Spans = list[tuple[int, int]]

#: Document sentences for an abstract sentence (Daumé & Marcu 2004).
SENTENCES = 3


#: Offsets of words in a text, ascending.
_Offsets = tuple[int, ...]


def sentence_pairs(pair: Pair, *, size: int = SENTENCES) -> Iterator[tuple[_Offsets, _Offsets]]:
    """Yield the offsets of document words and of abstract words that are aligned with each other only.

    These are each abstract sentence with at most ``size`` document sentences, in the order of the document.
    If the document has at most ``size`` sentences, every abstract sentence gets all of it; ``size`` 0 gives
    the whole texts as one pair. Sentences without words are skipped.
    """
    documents = spans(pair.document_starts, len(pair.document))
    abstracts = spans(pair.abstract_starts, len(pair.abstract))
    if not documents or not abstracts:
        return
    if size == 0:
        yield tuple(range(len(pair.document))), tuple(range(len(pair.abstract)))
        return
    extracts: Sequence[Sequence[int]] = [range(len(documents))] * len(abstracts)
    # Otherwise all sentences are taken, and no stems are needed.
    if len(documents) > size:
        texts = [[stem(word) for word in pair.document[start:end]] for start, end in documents]
        wanted = [[stem(word) for word in pair.abstract[start:end]] for start, end in abstracts]
        extracts = extract(texts, wanted, size)
    for chosen, (start, end) in zip(extracts, abstracts, strict=True):
        words = (word for sentence in chosen for word in range(*documents[sentence]))
        yield tuple(words), tuple(range(start, end))


def spans(starts: Sequence[int], length: int) -> Spans:
    """Return the start and the end of every sentence that has words."""
    return [(start, end) for start, end in zip(starts, (*starts[1:], length), strict=True) if end > start]


def extract(texts: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]], size: int) -> list[list[int]]:
    """Return for each wanted text the numbers of the ``size`` texts that are extracted for it, ascending.

    Of texts whose removal is equally good, the last is removed. O(w n^2) for w wanted texts and n texts.
    """
    columns = {word: i for i, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
    spread = Counter(word for text in texts for word in set(text))
    weight = np.log(len(texts) / np.array([spread[word] for word in columns]))
    rows, targets = (_weigh(each, columns, weight) for each in (texts, wanted))
    gram, likeness = ((some @ rows.T).toarray() for some in (rows, targets))
    return [_leave_out(gram, overlaps, size) for overlaps in likeness]


def _weigh(texts: Sequence[Sequence[str]], columns: dict[str, int], weights: Floats) -> csr_array:
    """Return the count of each word in each text times its weight; words without a column are left out."""
    counts = [Counter(columns[word] for word in text if word in columns) for text in texts]
    rows = sparse_rows(counts, len(columns))
    rows.data *= weights[rows.indices]
    return rows


def _leave_out(gram: Floats, overlaps: Floats, size: int) -> list[int]:
    """Remove texts until ``size`` are left, and return the numbers of these.

    With E the sum of the vectors of the texts that are left and a the vector of the wanted text, the cosine
    without text x is (a E - a x) / |E - x|, up to the constant |a|; |E - x|^2 = |E|^2 - 2 x E + |x|^2.
    """
    left = np.ones(len(gram), bool)
    with_all = gram.sum(axis=1)  # x E for each text x
    overlap, norm = float(overlaps.sum()), float(gram.sum())
    own = gram.diagonal()
    for _ in range(len(gram) - size):
        # |E - x|^2 may be nearly 0, and negative by rounding.
        squared = np.maximum(norm - 2 * with_all + own, 1e-12)
        cosine = np.where(left, (overlap - overlaps) / np.sqrt(squared), -np.inf)
        # Sums differ in their last bits with the order of addition; values that agree to nine digits are
        # ties.
        worst = int(np.flatnonzero(cosine >= cosine.max() - 1e-9)[-1])
        overlap -= float(overlaps[worst])
        norm = float(squared[worst])
        with_all = with_all - gram[worst]
        left[worst] = False
    return np.flatnonzero(left).tolist()


#: No key is negative.
_FREE = -1


class Numbering:
    """Numbers integers from 0 on, in the order of their first occurrence.

    >>> numbering = Numbering()
    >>> numbering.numbers(np.array([7, 9, 7])).tolist(), numbering.numbers(np.array([4, 9])).tolist()
    ([0, 1, 0], [2, 1])
    >>> numbering.keys().tolist()
    [7, 9, 4]
    """

    def __init__(self, bits: int = 16) -> None:
        """Start with room for 2 ** (bits - 1) integers."""
        self._slots = np.full(1 << bits, _FREE, np.int64)
        self._values = np.zeros(1 << bits, np.int32)
        self._count = 0

    def __len__(self) -> int:
        """Return the number of different integers so far."""
        return self._count

    def numbers(self, keys: Longs) -> Ints:
        """Return the number of each integer; none may be negative."""
        out = np.empty(len(keys), np.int32)
        done = 0
        while done < len(keys):
            self._count, done = _number(keys, done, out, self._slots, self._values, self._count)
            if done < len(keys):
                self._grow()
        return out

    def keys(self) -> Longs:
        """Return the integers by their numbers."""
        out = np.empty(self._count, np.int64)
        full = self._slots != _FREE
        out[self._values[full]] = self._slots[full]
        return out

    def _grow(self) -> None:
        keys = self.keys()
        size = 2 * len(self._slots)
        self._slots, self._values = np.full(size, _FREE, np.int64), np.zeros(size, np.int32)
        _number(keys, 0, np.empty(len(keys), np.int32), self._slots, self._values, 0)


@compiled
def _number(keys: Longs, first: int, out: Ints, slots: Longs, values: Ints, count: int) -> tuple[int, int]:
    """Number the keys from ``first`` on until the table is half full; return the count and the next index."""
    mask = len(slots) - 1
    for i in range(first, len(keys)):
        # Fibonacci hashing: the high bits are the well-mixed ones.
        slot = np.int64((np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while slots[slot] != _FREE and slots[slot] != keys[i]:
            slot = (slot + 1) & mask
        if slots[slot] == _FREE:
            # At most half full: searches stay short, and end at a free slot.
            if 2 * count >= len(slots):
                return count, i
            slots[slot], values[slot] = keys[i], count
            count += 1
        out[i] = values[slot]
    return count, len(keys)


Side = Literal["document", "abstract"]
#: Id of the null word among source words.
NULL = 0


class Bitext(NamedTuple):
    """Sentence pairs as arrays: S sentence pairs, C word pairs, P different word pairs.

    The cells of a sentence pair are a matrix, row = target word, column = source word, column 0 = null.
    """

    cells: Ints  # (C,) parameter of each word pair, one matrix after the other
    starts: Longs  # (S,) where the matrix of a sentence pair begins
    rows: Ints  # (S,) target words
    columns: Ints  # (S,) source words and null
    sources: Ints  # (P,) source word of each parameter


@dataclass(frozen=True, slots=True)
class BitextUnit:
    """A sentence pair: words in lower case, their offsets in the texts, and the number of the text pair.

    The number of a word that is paired with itself is ``None``.
    """

    pair: int | None
    document: _Offsets
    abstract: _Offsets
    source: tuple[str, ...]
    target: tuple[str, ...]


def units(
    pairs: Sequence[Pair], training: Sequence[Pair], *, source: Side, sentences: int
) -> list[BitextUnit]:
    """Return the sentence pairs of all pairs, then each word paired with itself (2004, sec. 3.2).

    The pairs to align are followed by the training pairs with other texts.
    """
    # The pairs to align are often among the training pairs, and would count twice.
    texts = {(pair.document, pair.abstract) for pair in pairs}
    others = (pair for pair in training if (pair.document, pair.abstract) not in texts)
    vocabulary: dict[str, None] = {}
    result = []
    for number, pair in enumerate((*pairs, *others)):
        for offsets in sentence_pairs(pair, size=sentences):
            document = tuple(pair.document[d].lower() for d in offsets[0])
            abstract = tuple(pair.abstract[s].lower() for s in offsets[1])
            vocabulary.update(dict.fromkeys((*document, *abstract)))
            sides = (document, abstract) if source == "document" else (abstract, document)
            result.append(BitextUnit(number, *offsets, *sides))
    return result + [BitextUnit(None, (0,), (0,), (word,), (word,)) for word in vocabulary]


def bitext(units: Sequence[BitextUnit]) -> Bitext:
    """Number the words and the word pairs of sentence pairs in the order of first occurrence; O(C)."""
    source_ids: dict[str, int] = {}
    target_ids: dict[str, int] = {}
    rows = np.array([len(unit.target) for unit in units], np.int32)
    columns = np.array([len(unit.source) + 1 for unit in units], np.int32)
    sizes = rows.astype(np.int64) * columns
    starts = np.cumsum(sizes) - sizes
    cells = np.empty(int(sizes.sum()), np.int32)
    numbering = Numbering()
    for unit, start, size in zip(units, starts.tolist(), sizes.tolist(), strict=True):
        source = [NULL, *(source_ids.setdefault(word, len(source_ids) + 1) for word in unit.source)]
        target = [target_ids.setdefault(word, len(target_ids)) for word in unit.target]
        # A word pair as one integer, which `Numbering` needs; ids have 32 bits at most.
        keys = (np.array(source) << 32) | np.array(target)[:, None]
        cells[start : start + size] = numbering.numbers(keys.ravel())
    return Bitext(cells, starts, rows, columns, (numbering.keys() >> 32).astype(np.int32))


def alignments(
    pairs: int, units: Sequence[BitextUnit], links: Iterable[Iterable[Link]]
) -> Iterator[Alignment]:
    """Return the alignment of each of the first ``pairs``, given the links in each sentence pair.

    Raises:
        IndexError: a link is outside of its sentence pair.
    """
    of_pairs: list[set[Link]] = [set() for _ in range(pairs)]
    for unit, unit_links in zip(units, links, strict=True):
        if unit.pair is not None and unit.pair < pairs:
            of_pairs[unit.pair].update((unit.document[d], unit.abstract[s]) for d, s in unit_links)
    return map(Alignment.of_links, of_pairs)
