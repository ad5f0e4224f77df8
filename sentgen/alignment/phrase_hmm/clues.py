"""Look at a pair as a tuned model does: the values of its features (``weights``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sentgen.alignment.pairs.alignment import Pair
from sentgen.alignment.phrase_hmm.lexicon import Clues, PairIds
from sentgen.alignment.phrase_hmm.weights import GROUP_OF, MATCHES, LinkCounts
from sentgen.alignment.words.kinship import GROUPED, RELATED, RELATED_BY, SIMILAR, SYNONYM, related_by
from sentgen.alignment.words.word_classes import (
    CLASSES,
    CONTENT,
    MARK,
    NUMBER,
    STOP,
    ending_class,
    word_class,
)
from sentgen.arrays import Bools, Bytes, Floats, Longs

#: Numbers in `RELATIONS`.
_CONTENT_COPY, _FUNCTION_COPY, _MARK_COPY, _STEM = range(4)
_RELATION_OF_KIN = {SIMILAR: 4, GROUPED: 5, SYNONYM: 6, RELATED: 7}
_OTHER_CONTENT, _OTHER_FUNCTION, _MIXED, _OTHER_MARK = range(8, 12)
#: How two words match, in the order of `_CONTEXT` in `weight_names`.
_DIFFERENT, _AKIN, _MATCH, _END, _ENDS = range(5)
#: Words on each side within which matches count.
_WITHIN = 3
_FAR = (0.05, 0.1, 0.2, 0.4)
_RATIOS = (0.2, 0.35, 0.5, 0.75, 1.01, 1.5)
#: Numbers in `_SHAPES`.
_ENDING, _NUMBERS, _ONE_NUMBER, _NO_SHAPE = 4, 8, 9, 10

Small = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Side:
    """The words of a text: their classes, which are content words, which begin with a capital, endings."""

    classes: Small
    content: Bools
    capital: Bools
    ending: Small

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
        """Return the place of the next content word (step 1) or of the one before (-1), (n,); n for none."""
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
    """Look at a pair that knows which words are related (``Lexicon.with_kinship``).

    Args:
        pair: the texts.
        ids: the same as numbers.
        counts: what gold links joined.
        wordnet: the folder of WordNet, if there is one.
        own: sure links (m, n) of the pair, if they are among those counts, which leave them out then.
    """
    abstract, document = _Side.of_words(pair.abstract), _Side.of_words(pair.document)
    relations = _relations(ids, abstract, document)
    groups = np.array(GROUP_OF, np.uint8)[relations]
    degrees = np.array([_MATCH] * MATCHES + [_AKIN] + [_DIFFERENT] * 2, np.int8)[groups]
    matches = degrees == _MATCH
    rows, columns = matches.sum(axis=1), matches.sum(axis=0)
    related = degrees == _AKIN
    links = _link_values(relations, groups, degrees, abstract, document)
    wordnet_values = groups * np.uint8(len(RELATED_BY)) + related_by(wordnet, pair.abstract, pair.document)
    return Clues(
        np.stack([*links, wordnet_values, counts.values(counts.places(pair), own)]),
        _null_values(abstract, rows, related.any(axis=1), len(document.classes)),
        _null_values(document, columns, related.any(axis=0), len(abstract.classes)),
    )


def _relations(ids: PairIds, abstract: _Side, document: _Side) -> Small:
    """Return the relation of each two words by its number in ``RELATIONS``, (m, n)."""
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
    relations: Small, groups: Small, degrees: npt.NDArray[np.int8], abstract: _Side, document: _Side
) -> list[Small]:
    """Return the values of the link templates but the last one, (m, n) each."""
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
        np.where(matches, 0, (np.maximum(groups, MATCHES) - MATCHES) * 4 + elsewhere),
        np.where(matches, 4 * (groups + 1) + _rivals(context + 0.3 * near, matches), 0),
        groups * 5 + np.digitize(distance, _FAR),
        _classes(relations, abstract),
        2 * _shapes(abstract, document) + (degrees > _DIFFERENT),
    ]
    return [template.astype(np.uint8) for template in values]


def _beside(degrees: npt.NDArray[np.int8], rows: Longs, columns: Longs) -> npt.NDArray[np.int8]:
    """Return how the words at other places match, (m, n): of each row the one at ``rows``, and so on."""
    m, n = degrees.shape
    padded = np.full((m + 1, n + 1), _END, np.int8)
    padded[:m, :n] = degrees
    padded[m, n] = _ENDS
    # Places outside of the text are one beyond the last.
    rows, columns = (np.where((at < 0) | (at > size), size, at) for at, size in ((rows, m), (columns, n)))
    return padded[rows][:, columns]


def _around(matches: Bools) -> Longs:
    """Return how many matches lie within some words of each pair of words, itself included."""
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
    """Say whose context is the best: 1 of those of the document word, 2 of the abstract word, 3 both."""
    scores = np.where(matches, context, -1.0)
    # A text without words has no largest score of its own.
    of_document = scores >= scores.max(axis=0, keepdims=True, initial=-1.0) - 1e-9
    of_abstract = scores >= scores.max(axis=1, keepdims=True, initial=-1.0) - 1e-9
    ranks: Longs = of_document + 2 * of_abstract
    return ranks


def _classes(relations: Small, abstract: _Side) -> npt.NDArray[np.int64]:
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

    ``matches`` counts the matching words of each in the other text, which has ``other`` words.
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
