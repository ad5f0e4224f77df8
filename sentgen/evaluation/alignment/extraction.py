"""Evaluation of an extractor that was trained on alignments, on other pairs.

Each system chooses the same number of sentences of each document: the extractor; `lead` the first ones;
`salience` those whose content words are most like those of the document (the centroid of Radev et al. 2004);
and `alignment` those from which most words of the abstract come, an oracle.

ROUGE-N (Lin 2004) is the F1 of the n-grams of stems that extract and abstract share; sentences are joined to
one text, and the figure is the mean over pairs. `source-f1` is that of the chosen sentences and those from
which abstract sentences come by alignment, of all pairs together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment import Pair
from sentgen.alignment.baselines.bitext import spans
from sentgen.alignment.stored.application import found_rows
from sentgen.alignment.stored.extraction import LIKENESS, SIZE, Extractor, Words, best, sources
from sentgen.alignment.stored.stored_pairs import stored_pairs
from sentgen.alignment.words.word_classes import stem
from sentgen.arrays import Floats
from sentgen.errors import InputError
from sentgen.evaluation.figures.measurement import Measurement, ratio
from sentgen.evaluation.figures.results import ExperimentResult, MainFigure, Recorder, SystemResult
from sentgen.schema import Store

COMMAND = "evaluate extraction"

#: The sentences that a system chooses from a document, by their offsets.
Extract = tuple[int, ...]
_SYSTEMS = ("extractor", "lead", "salience", "alignment")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExtractionResult(ExperimentResult[SystemResult[Extract]]):
    """A run over aligned pairs."""

    main = MainFigure("rouge-1", "ROUGE-1", 100)
    pairs: int


def evaluate_extraction(
    store: Store, pairs: str, of: str, name: str | None = None, *, size: int = SIZE, seed: int = 1
) -> _ExtractionResult:
    """Train an extractor on aligned pairs, and compare it with other systems on other pairs.

    Args:
        store: the store with both corpora, aligned by the same model; the run is recorded there.
        pairs: corpus to learn from.
        of: corpus to choose from.
        name: name of the model; the priors if there is none.
        size: sentences of a document.
        seed: seed of the samples and tests.

    Raises:
        NotFoundError: there is no such corpus or model, or the model has not been applied to a corpus.
        InputError: both corpora are the same, or there is nothing to learn.
    """
    if pairs == of:
        raise InputError(
            f"an extractor learnt from {pairs!r} has seen these pairs; give others to test it on"
        )
    recorder = Recorder(store, COMMAND)
    extractor = Extractor.of_pairs(store, pairs, name)
    wanted, words = sources(store, of, name), _words_from(store, of, name)
    tested = [pair for pair in stored_pairs(store, of) if pair.key in wanted]
    chosen = {system: list[Extract]() for system in _SYSTEMS}
    for pair in tested:
        sentences = _cut(pair.document, pair.document_starts)
        for system, scores in _scores(extractor, sentences, words.get(pair.key, {})).items():
            chosen[system].append(best(scores, size))
    systems = [
        SystemResult(system, answers, _measure(tested, answers, wanted)) for system, answers in chosen.items()
    ]
    result = _ExtractionResult.from_systems(
        systems,
        seed,
        pairs=len(tested),
        parameters={"pairs": pairs, "of": of, "model": name, "size": size, "systems": list(_SYSTEMS)},
    )
    return recorder.record(result)


def _words_from(store: Store, corpus: str, name: str | None) -> dict[str, dict[int, int]]:
    """Return by pair the number of abstract words from each document sentence, numbered from 0."""
    counts: dict[str, dict[int, int]] = {}
    rows = found_rows(store, corpus, name, sentences=True).select(["pair", "source", "linked"])
    for pair, source, linked in rows:
        if source is not None:
            by_sentence = counts.setdefault(pair, {})
            by_sentence[source - 1] = by_sentence.get(source - 1, 0) + linked
    return counts


def _scores(
    extractor: Extractor, sentences: Sequence[Words], words: Mapping[int, int]
) -> Mapping[str, Floats]:
    places = range(len(sentences))
    return {
        "extractor": extractor.probabilities(sentences),
        "lead": -np.array(places, np.float64),
        "salience": Extractor.features(sentences)[:, LIKENESS],
        "alignment": np.array([words.get(number, 0) for number in places], np.float64),
    }


def _measure(
    pairs: Sequence[Pair], answers: Sequence[Extract], wanted: Mapping[str, set[int]]
) -> dict[str, Measurement]:
    rouge: list[list[float]] = []
    for pair, answer in zip(pairs, answers, strict=True):
        sentences = _cut(pair.document, pair.document_starts)
        extract = [word for number in answer for word in sentences[number]]
        rouge.append([_rouge_f1(extract, pair.abstract, n) for n in (1, 2)])
    how = "F1 of n-grams of stems (Snowball English), mean over pairs"
    figures = {
        f"rouge-{n}": Measurement.mean(f"rouge-{n}", how, values)
        for n, values in enumerate(zip(*rouge, strict=True), 1)
    }
    counts = [
        [2 * len(wanted[pair.key] & {*answer}), len(wanted[pair.key]) + len(answer)]
        for pair, answer in zip(pairs, answers, strict=True)
    ]
    how = "F1 of sentences from which abstract sentences come by alignment, micro"
    figures["source-f1"] = Measurement("source-f1", how, np.array(counts, np.float64), ratio)
    return figures


def _rouge_f1(extract: Words, abstract: Words, n: int) -> float:
    """Return the F1 of the n-grams of stems of two texts (ROUGE-N, Lin 2004); 0 if a text has none.

    >>> _rouge_f1(["the", "dogs", "bark"], ["a", "dog", "barks", "."], 1)  # 2 of 3, 2 of 4
    0.5714285714285714
    """
    stems = ([stem(word) for word in words] for words in (extract, abstract))
    one, other = (Counter(zip(*(text[at:] for at in range(n)), strict=False)) for text in stems)
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _cut(words: Words, starts: Sequence[int]) -> list[Words]:
    return [words[begin:end] for begin, end in spans(starts, len(words))]
