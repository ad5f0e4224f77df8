"""How many n-grams two texts share: the statistics of BLEU and chrF, for a whole test set at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import cast

import numpy as np

from sentgen.arrays import Floats, Longs


def ngram_statistics(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], order: int
) -> Floats:
    """Count the n-grams of every output, of its reference, and those that match.

    An n-gram matches as often as it occurs in both (Papineni et al. 2002, "modified n-gram precision").
    Every n-gram gets a number that is made of its sentence, the number of its prefix and its last token, so
    that one sort an order counts all sentences. Time: order * T log T for T tokens.

    Args:
        outputs, references: the tokens of each sentence; a string is its characters.
        order: the longest n-grams to count.

    Returns:
        (sentences, 3 * order): of 1-grams, 2-grams, ... the number in the output, in the reference, in both.
    """
    size = len(outputs)
    if size != len(references):
        raise ValueError(f"{size} outputs cannot be compared with {len(references)} references")
    texts = [*outputs, *references]
    tokens, distinct = _numbered(texts)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    text = np.repeat(np.arange(len(texts)), lengths)
    end = np.repeat(np.cumsum(lengths), lengths)
    # Text k and text size + k are an output and its reference.
    sentence, in_output = text % max(1, size), text < size
    # The empty n-gram of each sentence: its number is that of the sentence, so that sentences stay apart.
    starts, number = np.arange(tokens.size), sentence
    found = np.zeros((size, order, 3))
    for n in range(order):
        complete = starts + n < end[starts]
        starts = starts[complete]
        # Below 2^63 for any text that memory holds: there are no more prefixes than tokens.
        keys = number[complete] * distinct + tokens[starts + n]
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        ours = np.bincount(number[in_output[starts]], minlength=first.size)
        theirs = np.bincount(number, minlength=first.size) - ours
        # An n-gram with another sentence is another number: any of its places tells whose it is.
        owner = sentence[starts[first]]
        for column, counts in enumerate((ours, theirs, np.minimum(ours, theirs))):
            found[:, n, column] = np.bincount(owner, counts, size)
    return found.reshape(size, 3 * order)


def _numbered(texts: Sequence[Sequence[str]]) -> tuple[Longs, int]:
    """Return the tokens of all texts as numbers below the second result; characters are their code points."""
    if texts and all(isinstance(text, str) for text in texts):
        codes = "".join(cast("Sequence[str]", texts)).encode("utf-32-le", "surrogatepass")
        return np.frombuffer(codes, np.uint32).astype(np.int64), 0x110000
    ids: dict[str, int] = {}
    found = (ids.setdefault(token, len(ids)) for token in chain.from_iterable(texts))
    return np.fromiter(found, np.int64), len(ids)
