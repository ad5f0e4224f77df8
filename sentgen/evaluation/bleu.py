"""BLEU in three ways and chrF, always with their signature (sacreBLEU; Papineni et al. 2002, Post 2018).

The figures are those of sacreBLEU, computed from `ngram_statistics`, so that a thousand resampled test sets
cost no more than a few matrix products. Tokens and signatures are sacreBLEU's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from sentgen.evaluation.measurement import Floats, Measurement, Score
from sentgen.evaluation.ngram_overlap import ngram_statistics

#: Name of the metric, whether it is lower-cased, and the tokenization: as papers report it, as the text
#: stands, and as the text stands in lower case.
VARIANTS = (("bleu-lc-13a", True, "13a"), ("bleu-none", False, "none"), ("bleu-lc-none", True, "none"))
_ORDER, _CHARACTERS, _BETA = 4, 6, 2


def overlap_measurements(outputs: Sequence[str], references: Sequence[str]) -> list[Measurement]:
    """Return BLEU (see `VARIANTS`) and chrF of a test set, 0 to 100; 0 for no sentences."""
    return [*_bleu_measurements(outputs, references), _chrf_measurement(outputs, references)]


def corpus_bleu(outputs: Sequence[str], references: Sequence[str]) -> list[Score]:
    """Return corpus BLEU, 0 to 100: lower-cased with 13a tokens, as it stands, and lower-cased as it stands.

    >>> [round(score.value) for score in corpus_bleu(["a cat sat on it"], ["a cat sat on it"])]
    [100, 100, 100]
    """
    return [measurement.score for measurement in _bleu_measurements(outputs, references)]


def sentence_bleu(outputs: Sequence[str], references: Sequence[str]) -> list[Score]:
    """Return lower-cased 13a BLEU of each sentence (effective order, as sacreBLEU advises for sentences)."""
    statistics = ngram_statistics(_tokens(outputs, True, "13a"), _tokens(references, True, "13a"), _ORDER)
    signature = _signature(BLEU(lowercase=True, tokenize="13a", effective_order=True))
    return [Score("sentence-bleu", float(value), signature) for value in bleu(statistics, effective=True)]


def bleu(sums: Floats, *, effective: bool = False) -> Floats:
    """Return BLEU from n-gram counts: the brevity penalty times the geometric mean of the precisions.

    The k-th order without a match counts as 2**-k matches (sacreBLEU's `smooth:exp`, of NIST); where nothing
    matches, BLEU is 0.

    Args:
        sums: (..., 3 * order), see `ngram_statistics`.
        effective: take the mean over the orders for which there are n-grams; else it is 0 if one has none.

    Returns:
        (...), 0 to 100.
    """
    output, reference, matches = (sums[..., column::3] for column in range(3))
    smoothed = np.where(matches > 0, matches, 0.5 ** np.cumsum((matches == 0) & (output > 0), axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        logp = np.where(output > 0, np.log(smoothed / output), 0.0 if effective else -np.inf)
        orders = np.sum(output > 0, axis=-1) if effective else output.shape[-1]
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
    counted = (output > 0) & (reference > 0)
    orders = np.maximum(1, counted.sum(axis=-1))
    precision = np.where(counted, matches / np.maximum(1, output), 0.0).sum(axis=-1) / orders
    recall = np.where(counted, matches / np.maximum(1, reference), 0.0).sum(axis=-1) / orders
    weighted = np.where(precision + recall > 0, _BETA**2 * precision + recall, 1.0)
    return np.asarray(100 * (1 + _BETA**2) * precision * recall / weighted, np.float64)


def _bleu_measurements(outputs: Sequence[str], references: Sequence[str]) -> list[Measurement]:
    return [
        Measurement(
            name,
            _signature(BLEU(lowercase=lower, tokenize=tokens)),
            ngram_statistics(_tokens(outputs, lower, tokens), _tokens(references, lower, tokens), _ORDER),
            partial(bleu, effective=False),
        )
        for name, lower, tokens in VARIANTS
    ]


def _chrf_measurement(outputs: Sequence[str], references: Sequence[str]) -> Measurement:
    written, wanted = (["".join(text.split()) for text in texts] for texts in (outputs, references))
    statistics = ngram_statistics(written, wanted, _CHARACTERS)
    statistics[:, ::3] *= statistics[:, 1::3] > 0  # as sacreBLEU does: no precision without a reference
    return Measurement("chrf", _signature(CHRF(char_order=_CHARACTERS, beta=_BETA)), statistics, chrf)


def _tokens(texts: Sequence[str], lower: bool, tokenization: str) -> list[list[str]]:
    if tokenization == "none":
        return [(text.lower() if lower else text).split() for text in texts]
    split = Tokenizer13a()  # type: ignore[no-untyped-call]
    return [split((text.lower() if lower else text).rstrip()).split() for text in texts]


def _signature(metric: BLEU | CHRF) -> str:
    """Return sacreBLEU's signature, which it knows only after it has scored something."""
    metric.corpus_score(["a"], [["a"]])
    return str(metric.get_signature())
