"""Batches of a text: whole sentences, bounded in tokens and in distinct words, so that memory is, too.

Lines of tokens are split, and their words numbered, by Arrow: a third of what a loop over them takes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from sentgen.arrays import Ints, Longs
from sentgen.corpus.readers.lines import split_tokens

# Two bounds: a list of names has new words only, and running text hardly any.
MAX_TOKENS = 500_000
MAX_WORDS = 100_000
#: Lines that are taken at once, and characters to a token of a batch.
_LINES, _CHARACTERS = 1_000, 5
#: White space at which Arrow splits otherwise than `split_tokens` does, and what is no text.
_ODD = "[\x0b\x0c\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"


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
    lines: Iterable[str], max_tokens: int = MAX_TOKENS, max_words: int = MAX_WORDS
) -> Iterator[TextBatch]:
    """Yield the batches of lines of tokens, as `split_tokens` splits them."""
    following = iter(lines)
    some = list[str]()
    size = 0
    while more := list(islice(following, _LINES)):
        some += more
        size += sum(map(len, more))
        if size >= max_tokens * _CHARACTERS:
            yield from _split(some, max_tokens, max_words, full=True)
            some, size = [], 0
    if some:
        yield from _split(some, max_tokens, max_words, full=False)


def _split(lines: Sequence[str], max_tokens: int, max_words: int, *, full: bool) -> Iterator[TextBatch]:
    import pyarrow as pa
    from pyarrow import compute

    text = pa.array(lines, pa.string())
    if not compute.any(compute.match_substring_regex(text, _ODD)).as_py():
        trimmed = compute.ascii_trim_whitespace(text)
        found = compute.ascii_split_whitespace(trimmed)
        words, lengths = found.flatten(), compute.list_value_length(found).to_numpy().astype(np.int32)
        empty = compute.equal(trimmed, "").to_numpy(zero_copy_only=False)
        if empty.any():  # of such a line, Arrow makes an empty word
            words, lengths[empty] = words.filter(compute.not_equal(words, "")), 0
        encoded = words.dictionary_encode()
        if len(encoded.dictionary) <= max_words:
            numbers = encoded.indices.to_numpy().astype(np.int64)
            yield TextBatch(encoded.dictionary.to_pylist(), numbers, lengths, full)
            return
    yield from batches_of_sentences(map(split_tokens, lines), max_tokens, max_words)
