"""Perplexity of the language models of Wan et al. 2005 on held-out sentences: bigrams, and with dependencies.

The paper would compare the two, but does not say how: its p_tr is no distribution. A bigram sums to one over
the words of a cluster and the end; p_dep, the most probable relation to the head stack, does not, and nor
does their average. Here both models are distributions over these events, in two ways:

    divided    p_tr(x) / sum over y of p_tr(y)
    averaged   (1 - weight) p_ngram(x) + weight p_dep(x) / sum over y of p_dep(y)

where `averaged` leaves the bigram alone where no word has a relation to the stack. Each sentence of a cluster
is held out in turn, and the models are those of the others. An event is a word, or the end, that these have
after a word that they have, too; the others are left out, and words that they do not have are not on the
stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Floats
from sentgen.case_folding import fold
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.figures.measurement import Measurement, randomization_tests
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters
from sentgen.generation.clusters.depviterbi import follow
from sentgen.generation.clusters.prepared import CorpusDependencies, PreparedCluster, prepared_clusters
from sentgen.generation.clusters.settings import GenerationSettings

MODELS = ("bigram", "divided", "averaged")
BIGRAM = MODELS[0]


@dataclass(frozen=True, slots=True)
class HeldOutPerplexity:
    """One model on held-out sentences.

    ``p`` is that of approximate randomization over sentences against bigrams; bigrams have none. ``sum`` is
    what p_tr, as the paper states it, sums to on the mean, and ``unknown`` the number of events left out.
    """

    model: str
    perplexity: float
    p: float | None
    events: int
    unknown: int
    sum: float


def held_out_perplexity(
    clusters: Sequence[Sequence[Sentence]],
    *,
    settings: GenerationSettings | None = None,
    dependencies: CorpusDependencies | None = None,
    seed: int = 1,
) -> list[HeldOutPerplexity]:
    """Return the perplexity of each of `MODELS`.

    Args:
        clusters: with trees; those of one sentence are left out.
        settings: weight, smoothing, punctuation and case.
        dependencies: of treebanks, which those of the clusters back off to.
        seed: of the tests.

    Raises:
        InputError: no cluster has two sentences.
        ModelError: a cluster has no trees.
    """
    settings = settings or GenerationSettings()
    folds = [
        (cluster[i], [*cluster[:i], *cluster[i + 1 :]])
        for cluster in clusters
        if len(cluster) > 1
        for i in range(len(cluster))
    ]
    if not folds:
        raise InputError("no cluster has two sentences, one to hold out; give larger clusters")
    with stored_clusters([rest for _, rest in folds]) as store:
        prepared = prepared_clusters(store, CORPUS, None, settings, dependencies=dependencies)
        rows = [_sums(sentence, one, settings) for (sentence, _), one in zip(folds, prepared, strict=True)]
    return _compared(np.array(rows), seed)


def _compared(sums: Floats, seed: int) -> list[HeldOutPerplexity]:
    """Put the sums of all sentences together: events, unknown ones, sums of p_tr, and log p of each model."""
    events, unknown, total, *_ = sums.sum(axis=0).tolist()
    models = {
        name: Measurement(f"perplexity:{name}", "", sums[:, [0, 3 + m]], _perplexity)
        for m, name in enumerate(MODELS)
    }
    tests = randomization_tests(models, [(BIGRAM, name) for name in MODELS[1:]], seed=seed)
    return [
        HeldOutPerplexity(name, one.value, p, int(events), int(unknown), total / events)
        for (name, one), p in zip(models.items(), [None, *tests], strict=True)
    ]


def _perplexity(sums: Floats) -> Floats:
    return np.asarray(np.exp(-sums[..., 1] / sums[..., 0]), np.float64)


def _sums(sentence: Sentence, prepared: PreparedCluster, settings: GenerationSettings) -> list[float]:
    """Return what is summed of one sentence."""
    number = {form: place for place, form in enumerate(prepared.model.words)}
    words = [number.get(fold(form) if settings.lowercase else form) for form in sentence.forms]
    found = np.zeros(3 + len(MODELS))
    for event, before, stack in _events(words, prepared):
        if event is None or before is None:
            found[1] += 1
            continue
        distributions, total = next_word(prepared, before, stack)
        found[:3] += 1, 0, total
        found[3:] += np.log([each[event] for each in distributions])
    return found.tolist()


def _events(
    words: Sequence[int | None], prepared: PreparedCluster
) -> Iterator[tuple[int | None, int | None, Sequence[int]]]:
    """Yield each word, and the end, with the word before it and the words on the head stack before it.

    Start and end have the number behind the last word; what is not known has none.
    """
    model, edge = prepared.model, len(prepared.model.words)
    known = [word for word in words if word is not None]
    steps, _ = follow(known, model.head_right.tolist(), model.head_left.tolist(), prepared.settings.nearness)
    before: int | None = edge
    stack: Sequence[int] = ()
    at = 0
    for word in (*words, edge):
        yield word, before, stack
        if word is not None and word != edge:
            stack = [known[place] for place in steps[at].stack]
            at += 1
        before = word


def next_word(prepared: PreparedCluster, before: int, stack: Sequence[int]) -> tuple[list[Floats], float]:
    """Return what comes next by each of `MODELS`, (n + 1,) with the end last, and what p_tr sums to.

    Args:
        prepared: the cluster.
        before: the word before, n at the start.
        stack: the words of the head stack.
    """
    model, weight = prepared.model, prepared.weight
    # A language model that is mixed in has probability for words that the cluster does not have.
    bigram = model.bigrams[before] / model.bigrams[before].sum()
    dep = np.zeros_like(bigram)
    if stack:
        rows = list(stack)
        fading = prepared.settings.nearness ** np.arange(len(stack))[::-1, None]
        dep[:-1] = ((model.head_right[rows] + model.head_left[rows]) * fading).max(axis=0)
    mixed = (1 - weight) * bigram + weight * dep
    averaged = (1 - weight) * bigram + weight * dep / dep.sum() if dep.any() else bigram
    return [bigram, mixed / mixed.sum(), averaged], float(mixed.sum())
