"""Which words of a pair are akin: spelled alike, synonyms, or one step apart in WordNet.

The paper's model knows words that are equal up to the stem; this is what ``--preset best`` knows besides.
Function words are akin to nothing, and null emits them more easily than others (see ``Settings``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from sentgen.alignment.function_words import is_function_word
from sentgen.alignment.wordnet import Synset, senses

Kinds = npt.NDArray[np.int8]
NONE, RELATED, SYNONYM, SIMILAR = range(4)
_PLAIN = re.compile(r"[\W_]+")
#: Words this long may be similar: a beginning of 3/5, or 7/10 of the pairs of letters in common.
_LETTERS = 4
_BEGINNING = 0.6
_BIGRAMS = 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Kinship:
    """Kinds of kinship (u, v) of the different words of abstract and document, in the order of their ids.

    ``abstract`` (u,) and ``document`` (v,) say which words are function words.
    """

    kinds: Kinds
    abstract: npt.NDArray[np.bool_]
    document: npt.NDArray[np.bool_]

    def exchanged(self) -> Kinship:
        """Return the kinship with document and abstract exchanged."""
        return Kinship(self.kinds.T, self.document, self.abstract)


def kinship(abstract: Sequence[str], document: Sequence[str], *, wordnet: Path | None) -> Kinship:
    """Say which words are akin; of several kinds the closest counts. Without WordNet spelling is all."""
    left, right = (
        np.array([is_function_word(word) for word in words], np.bool_) for words in (abstract, document)
    )
    kinds = np.zeros((len(abstract), len(document)), np.int8)
    if wordnet is not None:
        own_left, next_left = zip(*(senses(wordnet, word) for word in abstract), strict=True)
        own_right, next_right = zip(*(senses(wordnet, word) for word in document), strict=True)
        kinds[_shared(own_left, next_right) | _shared(next_left, own_right)] = RELATED
        kinds[_shared(own_left, own_right)] = SYNONYM
    kinds[_similar(abstract, document)] = SIMILAR
    kinds[left, :] = NONE
    kinds[:, right] = NONE
    return Kinship(kinds, left, right)


def _shared(left: Sequence[Iterable[Synset]], right: Sequence[Iterable[Synset]]) -> npt.NDArray[np.bool_]:
    """Say which sets have something in common."""
    where: dict[Synset, list[int]] = defaultdict(list)
    for column, members in enumerate(right):
        for member in members:
            where[member].append(column)
    found = np.zeros((len(left), len(right)), np.bool_)
    for row, members in enumerate(left):
        for member in members:
            found[row, where.get(member, [])] = True
    return found


def _similar(left: Sequence[str], right: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Say which words are the same but for punctuation, begin alike, or share most pairs of letters."""
    plain_left, plain_right = ([_PLAIN.sub("", word.lower()) for word in words] for words in (left, right))
    letters: dict[str, int] = {}
    first, second = _bigrams(plain_left, letters), _bigrams(plain_right, letters)
    size = len(letters)
    shared = (_counts(first, size) @ _counts(second, size).T).toarray()
    sizes = np.array([len(one) for one in first])[:, None] + np.array([len(one) for one in second])[None, :]
    found: npt.NDArray[np.bool_] = 2 * shared >= _BIGRAMS * np.maximum(sizes, 1)
    for row, column in np.argwhere((shared >= 3) & ~found).tolist():
        found[row, column] = _begin_alike(plain_left[row], plain_right[column])
    long_left, long_right = (
        np.array([len(word) >= _LETTERS for word in words]) for words in (plain_left, plain_right)
    )
    found &= long_left[:, None] & long_right[None, :]
    for row, columns in enumerate(_equal(plain_left, plain_right)):
        found[row, columns] = True
    return found


def _bigrams(words: Sequence[str], letters: dict[str, int]) -> list[set[int]]:
    """Return the pairs of letters of each word by their numbers, new ones numbered on."""
    return [
        {letters.setdefault(word[k : k + 2], len(letters)) for k in range(len(word) - 1)} for word in words
    ]


def _counts(bigrams: Sequence[set[int]], size: int) -> csr_matrix:
    starts = np.cumsum([0, *(len(one) for one in bigrams)])
    columns = [number for one in bigrams for number in sorted(one)]
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(bigrams), size))


def _begin_alike(one: str, other: str) -> bool:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return same >= max(_LETTERS, _BEGINNING * max(len(one), len(other)))


def _equal(left: Sequence[str], right: Sequence[str]) -> list[list[int]]:
    """Return the places of each word of the left among those of the right; nothing equals nothing."""
    places: dict[str, list[int]] = defaultdict(list)
    for column, word in enumerate(right):
        if word:
            places[word].append(column)
    return [places.get(word, []) for word in left]
