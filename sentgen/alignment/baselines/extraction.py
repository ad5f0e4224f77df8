"""Which document sentences an abstract sentence was written from, for models that align sentences only.

Marcu 1999: start with the whole document as the extract, and leave out sentence after sentence, each time the
one without which the rest is most like the abstract, by the cosine of their words. Daumé & Marcu 2004 (sec.
3.2) do so for every abstract sentence, down to three sentences. Words are stems, weighted by their frequency
times log(sentences / sentences with the stem), which leaves function words little to say without a list of
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sentgen.alignment.pair import Pair
from sentgen.alignment.words.stems import stem
from sentgen.arrays import Floats
from sentgen.sparse import sparse_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Spans = list[tuple[int, int]]

#: Document sentences for an abstract sentence (Daumé & Marcu 2004).
SENTENCES = 3


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Words of the document and words of the abstract that belong together, as offsets in their texts."""

    document: tuple[int, ...]
    abstract: tuple[int, ...]


def sentence_pairs(pair: Pair, *, size: int = SENTENCES) -> Iterator[SentencePair]:
    """Yield each abstract sentence with at most ``size`` document sentences, in the order of the document.

    A document that has no more sentences goes whole with every abstract sentence; ``size`` 0 gives the whole
    texts as one pair. Sentences without words are passed over.
    """
    documents = spans(pair.document_starts, len(pair.document))
    abstracts = spans(pair.abstract_starts, len(pair.abstract))
    if not documents or not abstracts:
        return
    if size == 0:
        yield SentencePair(tuple(range(len(pair.document))), tuple(range(len(pair.abstract))))
        return
    extracts: Sequence[Sequence[int]] = [range(len(documents))] * len(abstracts)
    # Otherwise there is nothing to choose, and no stems are needed.
    if len(documents) > size:
        texts = [[stem(word) for word in pair.document[start:end]] for start, end in documents]
        wanted = [[stem(word) for word in pair.abstract[start:end]] for start, end in abstracts]
        extracts = extract(texts, wanted, size)
    for chosen, (start, end) in zip(extracts, abstracts, strict=True):
        words = (word for sentence in chosen for word in range(*documents[sentence]))
        yield SentencePair(tuple(words), tuple(range(start, end)))


def spans(starts: Sequence[int], length: int) -> Spans:
    """Return the start and the end of every sentence that has words."""
    return [(start, end) for start, end in zip(starts, (*starts[1:], length), strict=True) if end > start]


def extract(texts: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]], size: int) -> list[list[int]]:
    """Return for each wanted text the numbers of ``size`` of the texts, ascending.

    Of texts that could be left out equally well, the last is. O(w n^2) for w wanted of n texts.
    """
    columns = {word: i for i, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
    spread = Counter(word for text in texts for word in set(text))
    weight = np.log(len(texts) / np.array([spread[word] for word in columns]))
    rows, targets = (_weighted(each, columns, weight) for each in (texts, wanted))
    gram, likeness = ((some @ rows.T).toarray() for some in (rows, targets))
    return [_leave_out(gram, overlaps, size) for overlaps in likeness]


def _weighted(texts: Sequence[Sequence[str]], columns: dict[str, int], weights: Floats) -> csr_array:
    """Return the count of each word in each text times its weight; words without a column are left out."""
    counts = [Counter(columns[word] for word in text if word in columns) for text in texts]
    rows = sparse_rows(counts, len(columns))
    rows.data *= weights[rows.indices]
    return rows


def _leave_out(gram: Floats, overlaps: Floats, size: int) -> list[int]:
    """Leave out texts until ``size`` are left.

    With E the sum of the vectors of the texts that are left and a the wanted one, the cosine without text x
    is (a E - a x) / |E - x| but for |a|, and |E - x|^2 = |E|^2 - 2 x E + |x|^2.
    """
    left = np.ones(len(gram), bool)
    with_all = gram.sum(axis=1)  # x E for each text x
    overlap, norm = float(overlaps.sum()), float(gram.sum())
    own = gram.diagonal()
    for _ in range(len(gram) - size):
        # What is left may be nearly nothing, and rounding take its square below 0.
        squared = np.maximum(norm - 2 * with_all + own, 1e-12)
        cosine = np.where(left, (overlap - overlaps) / np.sqrt(squared), -np.inf)
        # Sums differ in their last bits with the order of addition; what is equal to nine digits is a tie.
        worst = int(np.flatnonzero(cosine >= cosine.max() - 1e-9)[-1])
        overlap -= float(overlaps[worst])
        norm = float(squared[worst])
        with_all = with_all - gram[worst]
        left[worst] = False
    return np.flatnonzero(left).tolist()
