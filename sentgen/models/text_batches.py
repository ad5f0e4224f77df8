"""Batches of a text: whole sentences, bounded in tokens and in distinct words, so that memory is, too.

Lines of tokens are split, and their words numbered, byte by byte in machine code.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Bits, Bytes, Ints, Longs, compiled
from sentgen.corpus.readers.lines import split_tokens

# Two bounds: a list of names has new words only, and running text hardly any.
MAX_TOKENS = 500_000
MAX_WORDS = 100_000
#: Characters to a token of a batch.
_CHARACTERS = 5
#: The hash of a word before its first byte (FNV-1a), and what it is multiplied by after each.
_NO_BYTES, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Some sentences.

    Attributes:
        forms: the different words.
        numbers: the text: the number of each of its words among these.
        lengths: of the sentences.
        full: whether they are so many that others may follow.
    """

    forms: Sequence[str]
    numbers: Longs
    lengths: Ints
    full: bool = False

    @property
    def sentences(self) -> Iterator[tuple[str, ...]]:
        """The words of each sentence."""
        words, start = tuple(map(self.forms.__getitem__, self.numbers.tolist())), 0
        for length in self.lengths.tolist():
            yield words[start : start + length]
            start += length


class _Forms(dict[str, int]):
    """Numbers for strings, in the order in which they come."""

    def __missing__(self, form: str) -> int:
        number = self[form] = len(self)
        return number


def batches_of_sentences(
    sentences: Iterable[Sequence[str]], max_tokens: int = MAX_TOKENS, max_words: int = MAX_WORDS
) -> Iterator[TextBatch]:
    """Yield the batches of sentences, which are lists of words."""
    forms, numbers, lengths = _Forms(), array("i"), array("i")
    for words in sentences:
        lengths.append(len(words))
        numbers.extend(map(forms.__getitem__, words))
        if len(numbers) >= max_tokens or len(forms) >= max_words:
            yield _batch(forms, numbers, lengths, full=True)
            forms, numbers, lengths = _Forms(), array("i"), array("i")
    if lengths:
        yield _batch(forms, numbers, lengths)


def _batch(forms: _Forms, numbers: array[int], lengths: array[int], *, full: bool = False) -> TextBatch:
    return TextBatch(list(forms), np.array(numbers, np.int64), np.array(lengths, np.int32), full)


def batches_of_lines(
    texts: Iterable[str], max_tokens: int = MAX_TOKENS, max_words: int = MAX_WORDS
) -> Iterator[TextBatch]:
    """Yield the batches of texts, each of them one line of tokens or more, as `split_tokens` splits them."""
    some = list[str]()
    size = 0
    for text in texts:
        some.append(text)
        size += len(text)
        if size >= max_tokens * _CHARACTERS:
            yield from _split("\n".join((*some, "")), max_tokens, max_words, full=True)
            some, size = [], 0
    if some:
        yield from _split("\n".join((*some, "")), max_tokens, max_words, full=False)


def _split(text: str, max_tokens: int, max_words: int, *, full: bool) -> Iterator[TextBatch]:
    coded = text.encode()
    numbers, lengths, bounds = _number_words(np.frombuffer(coded, np.uint8), max_words)
    forms = [coded[begin:end].decode() for begin, end in bounds.tolist()]
    # Other white space is of its word, but no word by itself.
    if len(lengths) == coded.count(b"\n") and not any(map(str.isspace, forms)):
        yield TextBatch(forms, numbers, lengths, full)
    else:
        yield from batches_of_sentences(map(split_tokens, text.split("\n")[:-1]), max_tokens, max_words)


@compiled
def _number_words(text: Bytes, most: int) -> tuple[Longs, Ints, Longs]:
    """Number the words of lines, which end with line feeds, and in which blanks and tabs part words.

    Stops where ASCII has other white space, and before there are more different words than ``most``.

    Returns:
        The numbers of all words, how many each line has, and begin and end of each different word.
    """
    size = 16
    while size < 2 * most:
        size *= 2
    slots = np.full(size, -1, np.int32)  # the numbers of words, by their hashes
    bounds, hashes = np.empty((most, 2), np.int64), np.empty(most, np.uint64)
    numbers, lengths = np.empty(len(text) // 2, np.int64), np.empty(len(text), np.int32)
    words = tokens = lines = first = begin = 0
    code = _NO_BYTES
    for at in range(len(text)):
        byte = text[at]
        if byte > 32 or not (byte == 32 or 9 <= byte <= 13 or byte >= 28):
            code = (code ^ np.uint64(byte)) * _FACTOR
            continue
        if 10 < byte < 32:
            break
        if at > begin:
            slot = _slot_of_word(text, begin, at, code, slots, hashes, bounds)
            if slots[slot] < 0:
                if words == most:
                    break
                slots[slot], hashes[words], bounds[words] = words, code, (begin, at)
                words += 1
            numbers[tokens] = slots[slot]
            tokens += 1
        begin, code = at + 1, _NO_BYTES
        if byte == 10:
            lengths[lines] = tokens - first
            lines, first = lines + 1, tokens
    return numbers[:tokens], lengths[:lines], bounds[:words]


@compiled
def _slot_of_word(
    text: Bytes, begin: int, end: int, code: np.uint64, slots: Ints, hashes: Bits, bounds: Longs
) -> int:
    """Return the slot that has the number of a word with this hash, or the free one where it belongs."""
    slot = np.int64(code >> np.uint64(32)) & (len(slots) - 1)
    while slots[slot] >= 0:
        number = slots[slot]
        if hashes[number] == code and bounds[number, 1] - bounds[number, 0] == end - begin:
            ahead = bounds[number, 0] - begin
            at = begin
            while at < end and text[at] == text[at + ahead]:
                at += 1
            if at == end:
                break
        slot = (slot + 1) & (len(slots) - 1)
    return int(slot)
