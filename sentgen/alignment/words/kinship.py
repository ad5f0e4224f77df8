"""Which words of a pair are related: in writing or spelling, as synonyms, in WordNet, or by their vectors.

The paper's model relates words with equal stems only; these are the additional relations of ``--preset
best``. A function word is related to those of its group only, such as *a* to *the*; null emits function words
with a higher probability than others (see ``PbhmmSettings``).

Tuned models use further relations: definitions in WordNet, and synsets two steps apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sentgen.alignment.pairs.budget import WORD_CELLS
from sentgen.alignment.words.names import FirstLetters
from sentgen.alignment.words.relations import common_beginning, letters, same_word
from sentgen.alignment.words.word_classes import FUNCTION_WORDS, STOPS, groups, is_function_word, stem
from sentgen.alignment.words.wordnet import Synset, meanings, senses, wordnet
from sentgen.arrays import Bools, sparse_rows
from sentgen.models.vectors import WordVectors

Key = TypeVar("Key", bound=Hashable)


def _have_common(left: Sequence[Iterable[Key]], right: Sequence[Iterable[Key]]) -> Bools:
    """Return which sets have an element in common, (len(left), len(right)).

    >>> _have_common([{"a", "b"}, {"c"}], [{"b"}, {"d"}]).tolist()
    [[True, False], [False, False]]
    """
    where: dict[Key, list[int]] = defaultdict(list)
    for column, members in enumerate(right):
        for member in members:
            where[member].append(column)
    common = np.zeros((len(left), len(right)), np.bool_)
    for row, members in enumerate(left):
        for member in members:
            common[row, where.get(member, [])] = True
    return common


@dataclass(frozen=True, slots=True, eq=False)
class Nearness:
    """Vectors, and the least cosine of two words that are near."""

    vectors: WordVectors
    least: float

    def near(self, left: Sequence[str], right: Sequence[str]) -> Bools:
        """Return which words are near, (len(left), len(right)); a word without a vector is near none."""
        near_words = np.zeros((len(left), len(right)), np.bool_)
        numbers, others = self.vectors.numbers(left), self.vectors.numbers(right)
        rows, columns = np.flatnonzero(numbers >= 0), np.flatnonzero(others >= 0)
        of_right = self.vectors.vectors[others[columns]]
        step = max(1, WORD_CELLS // max(1, len(columns)))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            # Not a matrix product, which would start the threads of BLAS.
            cosines = np.einsum("id,jd->ij", self.vectors.vectors[numbers[some]], of_right)
            near_words[np.ix_(some, columns)] = cosines >= self.least
        return near_words


Kinds = npt.NDArray[np.int8]
T = TypeVar("T")
#: Kinds of kinship, the closest last; `PbhmmSettings.kinship_values` has their values.
NONE, NEAR, RELATED, SYNONYM, GROUPED, SIMILAR = range(6)
#: Least length of similar words, which share 3/5 of their beginning, or 7/10 of their pairs of letters.
_LETTERS = 4
_BEGINNING = 0.6
_BIGRAMS = 0.7
#: Initials have at most this many letters.
_INITIALS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Kinship:
    """Kinds of kinship (u, v) of the different words of abstract and document, in the order of their ids.

    ``abstract`` (u,) and ``document`` (v,) flag function words, ``abstract_stops`` and ``document_stops``
    full stops.
    """

    kinds: Kinds
    abstract: Bools
    document: Bools
    abstract_stops: Bools
    document_stops: Bools

    def swap_texts(self) -> Kinship:
        """Return the kinship with document and abstract exchanged."""
        return Kinship(self.kinds.T, self.document, self.abstract, self.document_stops, self.abstract_stops)

    @staticmethod
    def between(
        abstract: Sequence[str],
        document: Sequence[str],
        *,
        wordnet: Path | None,
        nearness: Nearness | None = None,
        texts: tuple[Sequence[str], Sequence[str]] | None = None,
    ) -> Kinship:
        """Return the kinship of two lists of words; of several kinds of a pair the closest counts.

        Args:
            abstract: the different words of the abstract.
            document: the different words of the document.
            wordnet: the folder of WordNet; ``None`` for our own few synonyms only (``thesaurus``).
            nearness: the vectors; ``None`` for none. Near words are related only if neither has another
                relation: *two* is near *three*, but is related to *two* alone if both texts have it.
            texts: the abstract and the document, in which initials are searched; ``None`` if they are the two
                lists of different words.
        """
        left, right = (
            np.array([is_function_word(word) for word in words], np.bool_) for words in (abstract, document)
        )
        # From the loosest kind to the closest, which overwrites; function words have no synonyms.
        function = left[:, None] | right[None, :]
        kinds = np.zeros((len(abstract), len(document)), np.int8)
        # Without words on one side there are no columns.
        if wordnet is not None and kinds.size:
            own_left, next_left = zip(*(senses(wordnet, word) for word in abstract), strict=True)
            own_right, next_right = zip(*(senses(wordnet, word) for word in document), strict=True)
            kinds[_have_common(own_left, next_right) | _have_common(next_left, own_right)] = RELATED
            kinds[_have_common(own_left, own_right)] = SYNONYM
        kinds[_have_common(*_each(meanings, abstract, document))] = SYNONYM
        kinds[function] = NONE
        kinds[_have_common(*_each(groups, abstract, document))] = GROUPED
        kinds[_similar(*_each(letters, abstract, document)) & ~function] = SIMILAR
        # Not masked: a function word may be written in two ways, such as *thru*.
        kinds[_equal(*_each(same_word, abstract, document))] = SIMILAR
        abstract_text, document_text = texts or (abstract, document)
        kinds[_initials(abstract, document, document_text)] = SIMILAR
        kinds[_initials(document, abstract, abstract_text).T] = SIMILAR
        if nearness is not None:
            any_kind = (kinds != NONE) | _have_common(*_each(lambda word: [stem(word)], abstract, document))
            lone = (
                _where(abstract, ~(left | any_kind.any(axis=1))),
                _where(document, ~(right | any_kind.any(axis=0))),
            )
            kinds[nearness.near(*lone)] = NEAR
        stops = (np.array([word in STOPS for word in words], np.bool_) for words in (abstract, document))
        return Kinship(kinds, left, right, *stops)


def _where(words: Sequence[str], wanted: Bools) -> list[str]:
    """Return the words, with an empty string in place of those that are not wanted."""
    return [word if counts else "" for word, counts in zip(words, wanted, strict=True)]


def _each(
    function: Callable[[str], T], abstract: Sequence[str], document: Sequence[str]
) -> tuple[list[T], list[T]]:
    return [function(word) for word in abstract], [function(word) for word in document]


def _similar(left: Sequence[str], right: Sequence[str]) -> Bools:
    """Return, (left, right), whether words have a common beginning or share most of their letter bigrams.

    The words are without punctuation.
    """
    long, other_long = (
        [position for position, word in enumerate(words) if len(word) >= _LETTERS] for words in (left, right)
    )
    numbers: dict[str, int] = {}
    first = _bigrams([left[row] for row in long], numbers)
    second = _bigrams([right[column] for column in other_long], numbers)
    counts, others = (
        sparse_rows([dict.fromkeys(bigrams, 1.0) for bigrams in words], len(numbers))
        for words in (first, second)
    )
    size, other_size = (np.array([len(pairs) for pairs in words], np.int64) for words in (first, second))
    similar = np.zeros((len(left), len(right)), np.bool_)
    rows = max(1, WORD_CELLS // max(1, len(right)))
    for begin in range(0, len(long), rows):
        some = slice(begin, begin + rows)
        shared = (counts[some] @ others.T).toarray()
        # Dice's coefficient.
        part = 2 * shared >= _BIGRAMS * (size[some, None] + other_size[None, :])
        # A common beginning of `_LETTERS` letters has three pairs: few candidates remain.
        for row, column in np.argwhere((shared >= 3) & ~part).tolist():
            part[row, column] = _begin_alike(left[long[begin + row]], right[other_long[column]])
        similar[np.ix_(long[some], other_long)] = part
    return similar


def _bigrams(words: Sequence[str], letters: dict[str, int]) -> list[set[int]]:
    """Return the letter bigrams of each word by their numbers in ``letters``, which new bigrams join."""
    return [
        {letters.setdefault(word[k : k + 2], len(letters)) for k in range(len(word) - 1)} for word in words
    ]


def _begin_alike(word: str, other: str) -> bool:
    return common_beginning(word, other) >= max(_LETTERS, _BEGINNING * max(len(word), len(other)))


def _equal(left: Sequence[str], right: Sequence[str]) -> Bools:
    """Return, (left, right), whether words are equal; an empty string equals none."""
    return _have_common([[word] if word else [] for word in left], [[word] for word in right])


def _initials(words: Sequence[str], others: Sequence[str], other_text: Sequence[str]) -> Bools:
    """Return, (words, others), whether a word is the initials of a phrase of the other text.

    ``others`` are the different words of that text; the phrases have the words whose columns are true.
    """
    text = FirstLetters(other_text)
    column = {word: number for number, word in enumerate(others)}
    spelled = np.zeros((len(words), len(others)), np.bool_)
    for row, word in enumerate(words):
        initials = letters(word)
        if not (1 < len(initials) <= _INITIALS and initials.isalpha()) or word.lower() in FUNCTION_WORDS:
            continue
        spelled[row, [column[other_text[at]] for phrase in text.spelled_out(initials) for at in phrase]] = (
            True
        )
    return spelled


#: Kinds of relation, the closest last.
RELATED_BY = (
    "not related",
    "up to two steps apart",
    "one explains the other",
    "each explains the other",
)
#: Number of most frequent senses of a word, for each part of speech, whose definitions count.
_SENSES = 3
_WORDS = re.compile("[a-z]{3,}")


def related_by(folder: Path | None, left: Sequence[str], right: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return the number in `RELATED_BY` of each two words, (len(left), len(right)); 0 of function words.

    Without WordNet (``folder`` is ``None``) no words are related.
    """
    if folder is None or not left or not right:
        return np.zeros((len(left), len(right)), np.uint8)
    content, other = (
        ["" if is_function_word(word) else word.lower() for word in words] for words in (left, right)
    )
    steps, other_steps = ([_within_a_step(folder, word) for word in words] for words in (content, other))
    stems, other_stems = ([(stem(word),) if word else () for word in words] for words in (content, other))
    explanations, other_explanations = (
        [_explanation(folder, word) for word in words] for words in (content, other)
    )
    explained = _have_common(stems, other_explanations).astype(np.uint8) + _have_common(
        explanations, other_stems
    )
    return np.where(explained > 0, 1 + explained, _have_common(steps, other_steps)).astype(np.uint8)


@lru_cache(maxsize=1 << 16)
def _within_a_step(folder: Path, word: str) -> frozenset[Synset]:
    own, others = senses(folder, word)
    return own | others


@lru_cache(maxsize=1 << 16)
def _explanation(folder: Path, word: str) -> frozenset[str]:
    """Return the stems of the content words in the definitions of the most frequent senses of a word."""
    glosses = wordnet(folder).glosses(word, _SENSES)
    return frozenset(
        stem(part)
        for gloss in glosses
        for part in _WORDS.findall(gloss.lower())
        if not is_function_word(part)
    )
