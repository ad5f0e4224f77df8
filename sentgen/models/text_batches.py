"""Batches of a text: whole sentences, bounded in tokens and in distinct words, so that memory is bounded.

Lines of tokens are split, and their words numbered, byte by byte in compiled code.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sentgen.arrays import Bits, Bytes, Ints, Longs, compiled
from sentgen.corpus.readers.lines import split_tokens

# Two bounds, since in a list of names every word is new, and in running text hardly any.
MAX_TOKENS = 500_000
MAX_WORDS = 100_000
#: Characters to a token of a batch.
_CHARACTERS = 5
#: The initial value of the hash of a word, and its multiplier for each byte (FNV-1a).
_NO_BYTES, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """A batch of sentences of a text.

    Attributes:
        forms: the different words.
        numbers: the text, as indices of its words in ``forms``.
        lengths: lengths of the sentences.
        old: number of the first forms that are the same as in the batch before.
    """

    forms: Sequence[str]
    numbers: Longs
    lengths: Ints
    old: int = 0

    @property
    def sentences(self) -> Iterator[tuple[str, ...]]:
        """The words of each sentence."""
        words, start = tuple(map(self.forms.__getitem__, self.numbers.tolist())), 0
        for length in self.lengths.tolist():
            yield words[start : start + length]
            start += length

    @classmethod
    def of_sentences(
        cls, sentences: Iterable[Sequence[str]], max_tokens: int = MAX_TOKENS, max_words: int = MAX_WORDS
    ) -> Iterator[TextBatch]:
        """Yield the batches of sentences, which are lists of words."""
        forms, numbers, lengths = _Forms(), array("i"), array("i")
        for words in sentences:
            lengths.append(len(words))
            numbers.extend(map(forms.__getitem__, words))
            if len(numbers) >= max_tokens or len(forms) >= max_words:
                yield _batch(forms, numbers, lengths)
                forms, numbers, lengths = _Forms(), array("i"), array("i")
        if lengths:
            yield _batch(forms, numbers, lengths)

    @classmethod
    def of_lines(
        cls, texts: Iterable[str], max_tokens: int = MAX_TOKENS, max_words: int = MAX_WORDS
    ) -> Iterator[TextBatch]:
        """Yield the batches of texts, each one line of tokens or more, as `split_tokens` splits them."""
        some, words = list[str](), _Words(max_words)
        size = 0
        for text in texts:
            some.append(text)
            size += len(text)
            if size >= max_tokens * _CHARACTERS:
                yield from _split("\n".join((*some, "")), words, max_tokens)
                some, size = [], 0
        if some:
            yield from _split("\n".join((*some, "")), words, max_tokens)


class _Forms(dict[str, int]):
    """Numbers strings in the order of their first look-up."""

    def __missing__(self, form: str) -> int:
        number = self[form] = len(self)
        return number


def _batch(forms: _Forms, numbers: array[int], lengths: array[int]) -> TextBatch:
    return TextBatch(list(forms), np.array(numbers, np.int64), np.array(lengths, np.int32))


def _split(text: str, words: _Words, max_tokens: int) -> Iterator[TextBatch]:
    coded = text.encode()
    old = words.make_room(len(coded))
    numbers, lengths = words.number(np.frombuffer(coded, np.uint8))
    # Other white space is a part of its word, but not a word by itself.
    if len(lengths) == coded.count(b"\n") and not any(map(str.isspace, words.forms[old:])):
        yield TextBatch(words.forms.copy(), numbers, lengths, old)
    else:
        words.forget()
        yield from TextBatch.of_sentences(map(split_tokens, text.split("\n")[:-1]), max_tokens, words.most)


class _Words:
    """Numbers of words that are kept from batch to batch up to a limit.

    Args:
        most: maximal number of words when a batch begins; the batch may add as many.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.forget()

    def forget(self) -> None:
        """Remove all words."""
        self.forms: list[str] = []
        size = 2 * self.most
        self._bytes, self._ends = np.empty(0, np.uint8), np.zeros(size + 1, np.int64)
        self._hashes = np.empty(size, np.uint64)
        self._slots = np.full(1 << (2 * size).bit_length(), -1, np.int32)

    def make_room(self, size: int) -> int:
        """Enlarge the arrays for a text of so many bytes; return the number of words so far."""
        if len(self.forms) > self.most:
            self.forget()
        used = self._bytes[: self._ends[len(self.forms)]]
        self._bytes = np.concatenate((used, np.empty(size, np.uint8)))
        return len(self.forms)

    def number(self, text: Bytes) -> tuple[Longs, Ints]:
        """Return the numbers of the words of a text, and the number of words of each line."""
        old, arrays = len(self.forms), (self._bytes, self._ends, self._hashes, self._slots)
        numbers, lengths, words = _number_words(text, old, *arrays)
        ends = self._ends[old : words + 1].tolist()
        self.forms += [self._bytes[begin:end].tobytes().decode() for begin, end in pairwise(ends)]
        return numbers, lengths


@compiled
def _number_words(
    text: Bytes, words: int, pool: Bytes, ends: Longs, hashes: Bits, slots: Ints
) -> tuple[Longs, Ints, int]:
    """Number the words of lines, which end with line feeds, and in which blanks and tabs part words.

    Stops where ASCII has other white space, and where there is no room for another different word.

    Args:
        text: the lines.
        words: number of different words so far.
        pool: bytes of the different words, concatenated; new words are appended.
        ends: end of each word in the pool, from index 1 on.
        hashes: hashes of the words.
        slots: (power of two,) numbers of the words, by their hashes; -1 where free.

    Returns:
        The numbers of all words, the number of words of each line, and the number of different words now.
    """
    numbers, lengths = np.empty(len(text) // 2, np.int64), np.empty(len(text), np.int32)
    tokens = lines = first = begin = 0
    code = _NO_BYTES
    for at in range(len(text)):
        byte = text[at]
        if byte > 32 or not (byte == 32 or 9 <= byte <= 13 or byte >= 28):
            code = (code ^ np.uint64(byte)) * _FACTOR
            continue
        if 10 < byte < 32:
            break
        if at > begin:
            slot = _slot_of_word(text, begin, at, code, pool, ends, hashes, slots)
            if slots[slot] < 0:
                if words == len(hashes):
                    break
                slots[slot], hashes[words], ends[words + 1] = words, code, ends[words] + at - begin
                pool[ends[words] : ends[words + 1]] = text[begin:at]
                words += 1
            numbers[tokens] = slots[slot]
            tokens += 1
        begin, code = at + 1, _NO_BYTES
        if byte == 10:
            lengths[lines] = tokens - first
            lines, first = lines + 1, tokens
    return numbers[:tokens], lengths[:lines], words


@compiled
def _slot_of_word(
    text: Bytes, begin: int, end: int, code: np.uint64, pool: Bytes, ends: Longs, hashes: Bits, slots: Ints
) -> int:
    """Return the slot with the number of a word with this hash, or the free slot for it."""
    slot = np.int64(code >> np.uint64(32)) & (len(slots) - 1)
    while slots[slot] >= 0:
        number = slots[slot]
        if hashes[number] == code and ends[number + 1] - ends[number] == end - begin:
            ahead = ends[number] - begin
            at = begin
            while at < end and text[at] == pool[at + ahead]:
                at += 1
            if at == end:
                break
        slot = (slot + 1) & (len(slots) - 1)
    return int(slot)
