"""What word models learn from: sentence pairs as integers, with the table cell of every word pair.

A sentence pair has a source, which generates, and a target, each word of which comes from one source word or
from null (Brown et al. 1993). Words are compared in lower case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from sentgen.alignment.alignment import Alignment, Link, PhraseLink
from sentgen.alignment.baselines.extraction import SentencePair, sentence_pairs
from sentgen.alignment.baselines.numbering import Numbering
from sentgen.alignment.pair import Pair
from sentgen.arrays import Ints, Longs

Side = Literal["document", "abstract"]
#: Id of the null word among source words.
NULL = 0


class Bitext(NamedTuple):
    """Sentence pairs as arrays: S of them, C word pairs in all, P different ones.

    The cells of a sentence pair are a matrix, row = target word, column = source word, column 0 = null.
    """

    cells: Ints  # (C,) parameter of each word pair, one matrix after the other
    starts: Longs  # (S,) where the matrix of a sentence pair begins
    rows: Ints  # (S,) target words
    columns: Ints  # (S,) source words and null
    sources: Ints  # (P,) source word of each parameter


@dataclass(frozen=True, slots=True)
class BitextUnit:
    """A sentence pair of the pair with that number; none for a word beside itself."""

    pair: int | None
    words: SentencePair
    source: tuple[str, ...]
    target: tuple[str, ...]


def with_training(pairs: Sequence[Pair], training: Sequence[Pair]) -> list[Pair]:
    """Return the pairs to align and after them the training pairs with other texts."""
    # What is to be aligned is often part of what is trained on, and would count twice.
    texts = {(pair.document, pair.abstract) for pair in pairs}
    return [*pairs, *(pair for pair in training if (pair.document, pair.abstract) not in texts)]


def units(pairs: Sequence[Pair], *, source: Side, sentences: int) -> Iterator[BitextUnit]:
    """Yield the sentence pairs of all pairs, and each word of theirs beside itself (2004, sec. 3.2)."""
    vocabulary: dict[str, None] = {}
    for number, pair in enumerate(pairs):
        for words in sentence_pairs(pair, size=sentences):
            document = tuple(pair.document[d].lower() for d in words.document)
            abstract = tuple(pair.abstract[s].lower() for s in words.abstract)
            vocabulary.update(dict.fromkeys((*document, *abstract)))
            sides = (document, abstract) if source == "document" else (abstract, document)
            yield BitextUnit(number, words, *sides)
    for word in vocabulary:
        yield BitextUnit(None, SentencePair((0,), (0,)), (word,), (word,))


def bitext(of: Sequence[BitextUnit]) -> Bitext:
    """Number the words and the word pairs of sentence pairs, in the order in which they come; O(C)."""
    source_ids: dict[str, int] = {}
    target_ids: dict[str, int] = {}
    rows = np.array([len(unit.target) for unit in of], np.int32)
    columns = np.array([len(unit.source) + 1 for unit in of], np.int32)
    sizes = rows.astype(np.int64) * columns
    starts = np.cumsum(sizes) - sizes
    cells = np.empty(int(sizes.sum()), np.int32)
    numbering = Numbering()
    for unit, start, size in zip(of, starts.tolist(), sizes.tolist(), strict=True):
        source = [NULL, *(source_ids.setdefault(word, len(source_ids) + 1) for word in unit.source)]
        target = [target_ids.setdefault(word, len(target_ids)) for word in unit.target]
        # A word pair as one integer, which `Numbering` needs; ids have 32 bits at most.
        keys = (np.array(source) << 32) | np.array(target)[:, None]
        cells[start : start + size] = numbering.numbers(keys.ravel())
    return Bitext(cells, starts, rows, columns, (numbering.keys() >> 32).astype(np.int32))


def alignments(
    pairs: int, of: Sequence[BitextUnit], answers: Sequence[Sequence[int]], *, source: Side
) -> Iterator[Alignment]:
    """Yield the alignment of each of the first pairs.

    Args:
        pairs: how many were asked for.
        of: sentence pairs.
        answers: for each, the column of each target word, 0 for null.
        source: the text that generates.
    """
    links: list[set[Link]] = [set() for _ in range(pairs)]
    for unit, columns in zip(of, answers, strict=True):
        if unit.pair is None or unit.pair >= pairs:
            continue
        for row, column in enumerate(columns):
            if column != 0:
                d, s = (column - 1, row) if source == "document" else (row, column - 1)
                links[unit.pair].add((unit.words.document[d], unit.words.abstract[s]))
    for found in links:
        yield word_links(found)


def word_links(links: Collection[Link]) -> Alignment:
    """Return the alignment that consists of word links."""
    ordered = sorted((s, d) for d, s in links)
    return Alignment(tuple(PhraseLink((s, s + 1), (d, d + 1)) for s, d in ordered))
