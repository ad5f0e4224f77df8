"""Words as integers, in which the rewrite tables and the inference have a pair.

A word has an id, its index in the lexicon; so has its stem. The key of a phrase of one word is the id of the
word, that of a longer phrase a negative hash of the ids. Keys need no table of phrases, so that they can be
computed in any order and anywhere, and the rewrite table can be streamed and spilled; two of 10^8 phrases
have the same key with a probability of about 10^-3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sentgen.alignment.pairs.alignment import Pair
from sentgen.alignment.pairs.budget import PairSizes
from sentgen.alignment.words.kinship import Kinship, Nearness
from sentgen.alignment.words.word_classes import stem
from sentgen.arrays import Bools, Bytes, Ints, Longs

#: Bytes of a pair of words: buffers while clues are computed, and the clues and scores.
CLUE_BYTES = 200


@dataclass(frozen=True, slots=True)
class Clues:
    """Values of link templates (templates, m, n), and of null templates, (templates, m) and (templates, n).

    The last link template, ``seen in gold links``, depends on the model.
    """

    links: Bytes
    abstract: Bytes
    document: Bytes

    def swap_texts(self) -> Clues:
        """Return the clues with document and abstract exchanged."""
        return Clues(np.ascontiguousarray(self.links.transpose(0, 2, 1)), self.document, self.abstract)


@dataclass(frozen=True, slots=True)
class Words:
    """The different words of a text, sorted, with their stems; ``at`` (n,) is their index by offset."""

    ids: Ints
    stems: Ints
    at: Longs

    @classmethod
    def of_text(cls, text: Ints, stems: Ints) -> Words:
        """Return the different words of a text."""
        ids, at = np.unique(text, return_inverse=True)
        of_ids = np.zeros(len(ids), np.int32)
        of_ids[at] = stems
        return cls(ids, of_ids, at)


@dataclass(frozen=True, slots=True)
class PairIds:
    """A pair as integers: the ids of the words (n,) and (m,), the ids of their stems, and their kinship.

    ``different`` are the different words of document and abstract, if computed (``with_words``), ``clues``
    the feature values of a tuned model (``find_clues``).
    """

    document: Ints
    abstract: Ints
    document_stems: Ints
    abstract_stems: Ints
    kinship: Kinship | None = None
    different: tuple[Words, Words] | None = None
    clues: Clues | None = None

    @property
    def words(self) -> tuple[Words, Words]:
        """The different words of document and abstract."""
        if self.different is not None:
            return self.different
        return Words.of_text(self.document, self.document_stems), Words.of_text(
            self.abstract, self.abstract_stems
        )

    def with_words(self) -> PairIds:
        """Return the pair with its different words, so that they are computed once."""
        return self if self.different is not None else replace(self, different=self.words)

    def swap_texts(self) -> PairIds:
        """Return the pair with document and abstract exchanged."""
        swapped = self.kinship.swap_texts() if self.kinship else None
        different = None if self.different is None else (self.different[1], self.different[0])
        texts = self.abstract, self.document, self.abstract_stems, self.document_stems
        return PairIds(*texts, swapped, different, self.clues.swap_texts() if self.clues else None)

    def stops(self) -> tuple[Bools, Bools] | None:
        """Return which words of abstract and document are full stops, if the pair has its kinship."""
        if self.kinship is None:
            return None
        document, abstract = self.words
        return self.kinship.abstract_stops[abstract.at], self.kinship.document_stops[document.at]

    def sizes(self) -> PairSizes:
        """Return the sizes that memory depends on; without kinship, a text counts as one sentence."""
        document, abstract = self.words
        sentences = (1 + int(stops.sum()) for stops in self.stops() or (np.zeros(1), np.zeros(1)))
        return PairSizes(
            len(self.abstract), len(self.document), len(abstract.ids), len(document.ids), *sentences
        )


class Lexicon:
    """The words of pairs and their stems, numbered in the order of first occurrence.

    >>> lexicon = Lexicon()
    >>> lexicon.encode(Pair("1", ("It", "runs"), ("it", "ran", "running"))).abstract_stems.tolist()
    [0, 2, 1]
    """

    def __init__(self, words: Iterable[str] = (), *, fold: bool = True) -> None:
        """Number the words; a word that comes twice keeps its first number."""
        self.fold = fold
        self.words: list[str] = []
        self.stems: list[str] = []
        self._stem_of: list[int] = []
        self._ids: dict[str, int] = {}
        self._stem_ids: dict[str, int] = {}
        for word in words:
            self._id(word)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.words)

    @property
    def stem_of(self) -> Ints:
        """Id of the stem of each word, (words,)."""
        return np.array(self._stem_of, np.int32)

    def encode(self, pair: Pair) -> PairIds:
        """Return the ids of a pair; new words get new ids."""
        document, abstract = self.ids(pair.document), self.ids(pair.abstract)
        stems = self._stem_of
        return PairIds(
            document,
            abstract,
            np.array([stems[word] for word in document], np.int32),
            np.array([stems[word] for word in abstract], np.int32),
        )

    def with_kinship(
        self, pair: PairIds, *, wordnet: Path | None, nearness: Nearness | None = None
    ) -> PairIds:
        """Return the ids of a pair with the kinship of its words."""
        pair = pair.with_words()
        texts = self._words(pair.abstract), self._words(pair.document)
        document, abstract = (self._words(words.ids) for words in pair.words)
        kinds = Kinship.between(abstract, document, wordnet=wordnet, nearness=nearness, texts=texts)
        return replace(pair, kinship=kinds)

    def _words(self, ids: Ints) -> list[str]:
        return [self.words[word] for word in ids]

    def ids(self, words: Sequence[str]) -> Ints:
        """Return the ids of words; new words get new ids."""
        return np.array([self._id(word) for word in words], np.int32)

    def _id(self, word: str) -> int:
        if self.fold:
            word = word.lower()
        number = self._ids.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
            form = stem(word)
            self._stem_of.append(self._stem_ids.setdefault(form, len(self.stems)))
            if self._stem_of[-1] == len(self.stems):
                self.stems.append(form)
        return number


def phrase_keys(words: Ints, length: int) -> Longs:
    """Return the key of each phrase of a length, (len(words) - length + 1,), by its first word."""
    count = max(0, len(words) - length + 1)
    if length == 1:
        return words.astype(np.int64)
    # Hashes of different lengths begin far apart: a small seed would equal a word id.
    mixed = np.full(count, length * 0xD1B54A32D192ED03 % 2**64, np.uint64)
    # Stores have these keys: with another hash their tables would be useless.
    # The factor is 2**64 over the golden ratio, odd, so that the multiplication is a bijection.
    for offset in range(length):
        mixed = (mixed ^ words[offset : offset + count].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    # Negative, for ids of words are not negative.
    return -1 - (mixed >> np.uint64(2)).astype(np.int64)


def text_keys(texts: Iterable[Ints], longest: int) -> Longs:
    """Return the sorted different keys of the phrases of texts that have up to ``longest`` words."""
    keys = (phrase_keys(text, length) for text in texts for length in range(1, longest + 1))
    return np.unique(np.concatenate([np.empty(0, np.int64), *keys]))


def find_keys(keys: Longs, wanted: Longs) -> tuple[Longs, Longs]:
    """Return which of the wanted keys are among sorted keys, and their indexes there."""
    # Keys greater than all are compared with the last key, which differs.
    index = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    known = keys[index] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
    return np.flatnonzero(known), index[known]
