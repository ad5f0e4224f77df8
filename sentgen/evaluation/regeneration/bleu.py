"""BLEU in three ways and chrF, always with their signature (sacreBLEU; Papineni et al. 2002, Post 2018).

The figures equal those of sacreBLEU, but are computed from `ngram_statistics`, so that a thousand resampled
test sets cost no more than a few matrix products. Tokens and signatures are sacreBLEU's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, cast

import numpy as np

from sentgen.arrays import Floats, Longs
from sentgen.evaluation.figures.measurement import Figure, Measurement
from sentgen.extras import needs

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF


_ORDER, _CHARACTERS, _BETA = 4, 6, 2


def sentence_bleu(measurement: Measurement) -> tuple[list[float], str]:
    """Return BLEU of each sentence, and its signature, from the measurement `bleu-lc-13a` of a test set.

    Orders without n-grams are left out of the mean (effective order), as sacreBLEU advises for sentences.
    """
    from sacrebleu.metrics.bleu import BLEU

    signature = _signature(BLEU(lowercase=True, tokenize="13a", effective_order=True))
    return bleu(measurement.statistics, effective=True).tolist(), signature


def bleu(sums: Floats, *, effective: bool = False) -> Floats:
    """Return BLEU from n-gram counts: the brevity penalty times the geometric mean of the precisions.

    The k-th order without a match counts as 2**-k matches (sacreBLEU's `smooth:exp`, from NIST); without any
    match BLEU is 0.

    Args:
        sums: (..., 3 * order), see `ngram_statistics`.
        effective: whether orders without n-grams are left out of the mean; else BLEU is 0 if there is one.

    Returns:
        (...), 0 to 100.
    """
    output, reference, matches = (sums[..., column::3] for column in range(3))
    # The sum counts the orders without a match so far: 1/2 for the first one, 1/4 for the second.
    smoothed = np.where(matches > 0, matches, 0.5 ** np.cumsum((matches == 0) & (output > 0), axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        logp = np.where(output > 0, np.log(smoothed / output), 0.0 if effective else -np.inf)
        # Orders for which a short sentence has no n-grams are left out of its mean.
        orders = np.sum(output > 0, axis=-1) if effective else output.shape[-1]
        # In logarithms; 0 where the output is as long as the reference or longer.
        brevity = np.minimum(0.0, 1.0 - reference[..., 0] / output[..., 0])
        value = 100 * np.exp(brevity + logp.sum(axis=-1) / orders)
    return np.asarray(np.where(matches.any(axis=-1), value, 0.0), np.float64)


def chrf(sums: Floats) -> Floats:
    """Return chrF2 from counts of character n-grams: the F-score of mean precision and mean recall.

    The means are over the orders for which both texts have n-grams (Popović 2015, as in sacreBLEU).

    Args:
        sums: (..., 3 * order), see `ngram_statistics`.

    Returns:
        (...), 0 to 100.
    """
    output, reference, matches = (sums[..., column::3] for column in range(3))
    # A text of less than six characters has no 6-grams that it could miss.
    counted = (output > 0) & (reference > 0)
    orders = np.maximum(1, counted.sum(axis=-1))
    precision = np.where(counted, matches / np.maximum(1, output), 0.0).sum(axis=-1) / orders
    recall = np.where(counted, matches / np.maximum(1, reference), 0.0).sum(axis=-1) / orders
    weighted = np.where(precision + recall > 0, _BETA**2 * precision + recall, 1.0)
    return np.asarray(100 * (1 + _BETA**2) * precision * recall / weighted, np.float64)


@dataclass(frozen=True, slots=True)
class _BleuMetric:
    """BLEU in one case and tokenization."""

    lowercase: bool
    tokenized: Callable[[str], str]
    signature: str
    figure: Figure = bleu

    def statistics(self, outputs: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the n-gram counts of each sentence, (sentences, 12), see `ngram_statistics`."""
        return ngram_statistics(self._tokens(outputs), self._tokens(references), _ORDER)

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        cased = [text.lower() if self.lowercase else text for text in texts]
        return [self.tokenized(text).split() for text in cased]


@dataclass(frozen=True, slots=True)
class _ChrfMetric:
    """chrF2, over characters without blanks."""

    signature: str
    figure: Figure = chrf

    def statistics(self, outputs: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the character n-gram counts of each sentence, (sentences, 18), see `ngram_statistics`."""
        written, wanted = (["".join(text.split()) for text in texts] for texts in (outputs, references))
        counts = ngram_statistics(written, wanted, _CHARACTERS)
        counts[:, ::3] *= counts[:, 1::3] > 0  # as sacreBLEU does: no precision without a reference
        return counts


def _signature(metric: BLEU | CHRF) -> str:
    """Return sacreBLEU's signature, which it knows only after it has scored something."""
    # Scoring any text fills in the number of references.
    metric.corpus_score(["a"], [["a"]])
    return str(metric.get_signature())


@cache
def overlap_metrics() -> dict[str, _BleuMetric | _ChrfMetric]:
    """Return the metrics by name, 0 to 100: BLEU in three ways of case and tokenization, and chrF.

    Raises:
        InputError: sacreBLEU is not installed.
    """
    with needs("evaluate", "sacreBLEU, which splits and signs for BLEU,"):
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    # One tokenizer for all, since it caches its results, and references come again with every system.
    split = Tokenizer13a()  # type: ignore[no-untyped-call]
    ways: dict[str, Callable[[str], str]] = {"13a": lambda text: split(text.rstrip()), "none": str}

    def metric(*, lowercase: bool, tokenize: str) -> _BleuMetric:
        signature = _signature(BLEU(lowercase=lowercase, tokenize=tokenize))
        return _BleuMetric(lowercase, ways[tokenize], signature)

    return {
        "bleu-lc-13a": metric(lowercase=True, tokenize="13a"),
        "bleu-none": metric(lowercase=False, tokenize="none"),
        "bleu-lc-none": metric(lowercase=True, tokenize="none"),
        "chrf": _ChrfMetric(_signature(CHRF(char_order=_CHARACTERS, beta=_BETA))),
    }


def ngram_statistics(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], order: int
) -> Floats:
    """Count the n-grams of every output, of its reference, and those that match.

    An n-gram matches as often as it occurs in both (Papineni et al. 2002, "modified n-gram precision").
    Every n-gram gets a number, by its sentence, the number of its prefix and its last token, so that one sort
    for each order counts all sentences. Time: order * T log T for T tokens.

    Args:
        outputs, references: the tokens of each sentence, or a string, whose tokens are its characters.
        order: the longest n-grams to count.

    Returns:
        (sentences, 3 * order): number of 1-grams in the output, in the reference, in both; of 2-grams; ...
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
    # The empty n-gram of a sentence has the number of the sentence, so that n-grams of sentences differ.
    starts, number = np.arange(tokens.size), sentence
    table = np.zeros((size, order, 3))
    for n in range(order):
        complete = starts + n < end[starts]
        starts = starts[complete]
        # Below 2^63 for any text that memory holds: there are no more prefixes than tokens.
        keys = number[complete] * distinct + tokens[starts + n]
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        ours = np.bincount(number[in_output[starts]], minlength=first.size)
        theirs = np.bincount(number, minlength=first.size) - ours
        # All places of a number are in one sentence, so that the first one tells which.
        owner = sentence[starts[first]]
        for column, counts in enumerate((ours, theirs, np.minimum(ours, theirs))):
            table[:, n, column] = np.bincount(owner, counts, size)
    return table.reshape(size, 3 * order)


def _numbered(texts: Sequence[Sequence[str]]) -> tuple[Longs, int]:
    """Return the tokens of all texts as numbers from 0, characters as code points, and a bound above them."""
    if texts and all(isinstance(text, str) for text in texts):
        codes = "".join(cast("Sequence[str]", texts)).encode("utf-32-le", "surrogatepass")
        return np.frombuffer(codes, np.uint32).astype(np.int64), 0x110000
    ids: dict[str, int] = {}
    numbers = (ids.setdefault(token, len(ids)) for token in chain.from_iterable(texts))
    return np.fromiter(numbers, np.int64), len(ids)
