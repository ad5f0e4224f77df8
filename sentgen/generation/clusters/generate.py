"""New sentences from clusters of related ones: look up a batch, search each cluster, read the answers.

The best sentence of a cluster is chosen by a model of lengths besides that of words. Every word makes a
sentence less probable, so that probabilities of sentences of different lengths cannot be compared. The score
is

    log p / (L + 1) + _LENGTH_WEIGHT * log p(L)
    p(L) = mean over the sentences s of the cluster of c * exp(-|L - L_s| / _SPREAD)

where L + 1 counts the end, and c makes the weights around each length of a sentence sum to one.

A cluster has only a few sentences as evidence of word order, and cannot tell which of two sentences with
supported arguments people would write. So the search may return its best `CANDIDATES` of each length, of
which a language model of other texts, or a scorer of a plug-in, chooses the best by

    (1 - weight) * log p(sentence, by the cluster) + weight * log p(sentence, by the model)
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from sentgen.errors import InputError
from sentgen.generation.bags.bag import Unit
from sentgen.generation.bags.problem import Tree
from sentgen.generation.clusters.casing import capitalized
from sentgen.generation.clusters.depviterbi import TraceStep, WordPath, best_paths, lattice_of
from sentgen.generation.clusters.prepared import CorpusDependencies, MixedModel, PreparedCluster
from sentgen.generation.clusters.settings import GenerationSettings as GenerationSettings
from sentgen.generation.clusters.supported import SupportedLattice, SupportedReader
from sentgen.models.dependency.cluster_model import Arcs, Trigrams
from sentgen.models.scorer import Scorer, scorer_for
from sentgen.schema import Store

#: Difference of lengths in words at which the share is 1 / e of that of the same length; weight of lengths.
# The best values by F1 of verb arguments on 40 clusters of translations.
_SPREAD, _LENGTH_WEIGHT = 2.0, 0.1


def length_logp(length: int, sources: Sequence[int]) -> float:
    """Return the log-probability of a length in words, from the lengths of the sentences of a cluster."""
    return math.log(sum(_share(length, source) for source in sources) / len(sources))


def _share(length: int, source: int) -> float:
    """Return the share of a length near the length of a source."""
    ratio = math.exp(-1 / _SPREAD)
    # Normalized by two geometric series from the length of the source, the lower one down to 1.
    total = (1 + ratio - ratio**source) / (1 - ratio)
    return ratio ** abs(length - source) / total


def score(logp: float, length: int, sources: Sequence[int]) -> float:
    """Return the score by which sentences of different lengths are compared."""
    return logp / (length + 1) + _LENGTH_WEIGHT * length_logp(length, sources)


#: Lengths of the papers.
LENGTHS = range(1, 41)


@dataclass(frozen=True, slots=True)
class GeneratedSentence:
    """A sentence made of the words of a cluster.

    ``rank`` is 1 for the best sentence of its length, and ``logp`` the natural log-probability of the path
    with its end; sentences are ranked by ``score``, which is ``logp`` unless a model re-ranks them. If a
    sentence is ``exact``, at most rank - 1 sentences of the length have a higher ``logp``; else the beam lost
    hypotheses, or a model re-ranked. A given sentence has neither. ``tree`` is that of the head stack, with a
    root for each fragment; there is none without parses. ``seconds`` is the time of the search for all
    lengths of the cluster, ``lookup`` the time of looking up its counts and models. ``lowercase``: whether
    words were lower-cased.
    """

    cluster: str
    length: int
    rank: int | None
    words: tuple[str, ...]
    tags: tuple[str, ...]
    logp: float
    score: float
    exact: bool | None
    tree: Tree | None
    trace: tuple[TraceStep, ...]
    lookup: float
    seconds: float
    lowercase: bool = False

    @property
    def text(self) -> str:
        """Return the sentence, words separated by blanks, with a capital unless all is lower-cased."""
        return " ".join(self.words if self.lowercase else capitalized(self.words))

    @classmethod
    def given(
        cls,
        prepared: PreparedCluster,
        words: Sequence[int],
        reading: Reading,
        logp: float,
    ) -> GeneratedSentence:
        """Return a sentence that is given as numbers of words, without rank."""
        trace, tree = reading
        return cls(
            cluster=prepared.counts.name,
            length=len(words),
            rank=None,
            words=tuple(prepared.model.words[word] for word in words),
            tags=tuple(prepared.model.tags[word] for word in words),
            logp=logp,
            score=logp,
            exact=None,
            tree=tree if prepared.counts.parsed else None,
            trace=trace,
            lookup=prepared.lookup,
            seconds=0.0,
            lowercase=prepared.settings.lowercase,
        )

    @property
    def units(self) -> list[Unit]:
        """Return the words of a sentence with their tags, as the drawings take them."""
        return [Unit((word,), (tag,)) for word, tag in zip(self.words, self.tags, strict=True)]


def generate(
    store: Store,
    corpus: str,
    *,
    lengths: Collection[int] = LENGTHS,
    settings: GenerationSettings | None = None,
    clusters: Sequence[tuple[int, str]] | None = None,
    nbest: int = 1,
    lm: MixedModel | None = None,
    dependencies: CorpusDependencies | None = None,
    reranker: Reranker | None = None,
    best: bool = False,
) -> Iterator[GeneratedSentence]:
    """Generate the best sentences of each length from each cluster; yields by cluster, length and rank.

    Args:
        store: the store with the corpus.
        corpus: name of the corpus; each document of it is a cluster.
        lengths: numbers of words. Where a length cannot be reached, nothing is yielded for it.
        settings: settings of the model and the search.
        clusters: the documents to take, from `cluster_names`; all of the corpus if ``None``.
        nbest: sentences of each length, at most.
        lm: a language model to mix in.
        dependencies: dependencies of treebanks, which those of the clusters back off to.
        reranker: chooses among the best `CANDIDATES` of each length, or ``nbest`` if these are more.
        best: return the ``nbest`` sentences of all lengths instead, by `score`.

    Raises:
        NotFoundError: there is no such corpus.
        InputError: a length or ``nbest`` is less than 1, ``dependencies`` would not be used, or a cluster has
            too many words, or none.
        ModelError: the algorithm needs trees, and a cluster has none.
    """
    settings = settings or GenerationSettings()
    if min(lengths, default=1) < 1:
        raise InputError(f"length {min(lengths)} is too short; sentences have 1 word or more")
    if nbest < 1:
        raise InputError(f"{nbest} sentences a length is too few; give 1 or more")
    clusters_of = PreparedCluster.of_corpus(store, corpus, clusters, settings, lm, dependencies)
    return (
        each
        for prepared in clusters_of
        for each in _chosen(prepared, _ranked(prepared, lengths, nbest, reranker), nbest if best else None)
    )


def _ranked(
    prepared: PreparedCluster,
    lengths: Collection[int],
    nbest: int,
    reranker: Reranker | None,
) -> Iterable[GeneratedSentence]:
    """Return the best sentences of each length, as the search or a model ranks them."""
    if reranker is None:
        return _generate(prepared, lengths, nbest)
    pool = list(_generate(prepared, lengths, max(nbest, CANDIDATES)))
    pairs = ((each.words, each.logp) for each in pool)
    scores = reranker.scores(pairs, lowercase=prepared.settings.lowercase)
    # Stable: ties go to the better one by the search.
    scored = sorted(
        (replace(each, score=value, exact=False) for each, value in zip(pool, scores, strict=True)),
        key=lambda sentence: (sentence.length, -sentence.score),
    )
    return [
        replace(each, rank=rank)
        for _, of_length in groupby(scored, key=lambda sentence: sentence.length)
        for rank, each in enumerate(islice(of_length, nbest), 1)
    ]


def _chosen(
    prepared: PreparedCluster, sentences: Iterable[GeneratedSentence], count: int | None
) -> Iterable[GeneratedSentence]:
    """Return the best ``count`` sentences of all lengths, with new ranks; all sentences if ``None``."""
    if count is None:
        return sentences
    sources = [len(tree.words) for tree in prepared.counts.trees]
    # A stable sort: ties go to the shorter sentence.
    ranked = sorted(sentences, key=lambda one: score(one.score, one.length, sources), reverse=True)
    return [replace(sentence, rank=rank) for rank, sentence in enumerate(ranked[:count], 1)]


def _generate(prepared: PreparedCluster, lengths: Collection[int], nbest: int) -> Iterator[GeneratedSentence]:
    """Search one cluster, and read the answers."""
    started = time.perf_counter()
    search = _supported if prepared.settings.arguments == "supported" else _averaged
    by_length = search(prepared, lengths, nbest)
    seconds = time.perf_counter() - started
    for _, paths in sorted(by_length.items()):
        for rank, (path, reading) in enumerate(paths, 1):
            sentence = GeneratedSentence.given(prepared, path.words, reading, path.logp)
            yield replace(sentence, rank=rank, exact=path.exact, seconds=seconds)


#: The reading of a sentence: its steps and its tree.
Reading = tuple[tuple[TraceStep, ...], Tree]
#: By length, sentences with their readings.
_Found = dict[int, list[tuple[WordPath, Reading]]]


def _averaged(prepared: PreparedCluster, lengths: Collection[int], nbest: int) -> _Found:
    """Search with the average of bigrams and dependencies, as the paper does."""
    lattice = lattice_of(
        prepared.model,
        weight=prepared.weight,
        emission=prepared.emission,
        limit=prepared.limit,
        allowed=prepared.allowed,
        nearness=prepared.settings.nearness,
    )
    reader = prepared.reader()
    best = best_paths(lattice, lengths, nbest=nbest, beam=prepared.settings.beam)
    return {length: [(path, reader.read(path.words)) for path in paths] for length, paths in best.items()}


def _supported(prepared: PreparedCluster, lengths: Collection[int], nbest: int) -> _Found:
    """Search for trees of supported arcs."""
    counts, weight, emission = prepared.counts, prepared.settings.weight, prepared.emission
    arcs = Arcs.estimate(counts.trees, len(counts.words))
    ngrams = Trigrams.estimate([tree.words for tree in counts.trees], prepared.model.bigrams)
    lattice = SupportedLattice.weighted(
        ngrams,
        arcs,
        weight=weight,
        emission=emission,
        limit=prepared.limit,
        allowed=prepared.allowed,
    )
    reader = SupportedReader(counts.words, ngrams, arcs, weight=weight, emission=emission)
    best = lattice.best_paths(lengths, nbest=nbest, beam=prepared.settings.beam)
    return {length: [(path, reader.read(path)) for path in paths] for length, paths in best.items()}


#: Sentences of each length for the reranker.
CANDIDATES = 20
# Of 0.15 to 1 on 40 clusters of translations, the one whose sentences are most fluent (docs/generate.md).
WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Reranker:
    """A model or scorer that reranks sentences; ``weight`` is its weight, from 0 to 1."""

    scorer: Scorer
    weight: float = WEIGHT

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise InputError(f"rerank-weight {self.weight} is not from 0 to 1")

    @classmethod
    def named(cls, store: Store, name: str | None, weight: float) -> Reranker | None:
        """Return the reranker with a model of the store, or a scorer, by its name; ``None`` for no name.

        Raises:
            InputError: the weight is not from 0 to 1.
            SentgenError: as `scorer_for` raises it.
        """
        return None if name is None else cls(scorer_for(store, name), weight)

    def scores(self, sentences: Iterable[tuple[Sequence[str], float]], *, lowercase: bool) -> list[float]:
        """Return the score of each sentence, a natural logarithm.

        Args:
            sentences: the words of each sentence, and its log-probability by the cluster.
            lowercase: whether the words were lower-cased, so that the first word gets no capital.
        """
        given = list(sentences)
        shown = [words if lowercase else capitalized(words) for words, _ in given]
        return [
            (1 - self.weight) * logp + self.weight * own
            for (_, logp), own in zip(given, self.scorer.score(shown), strict=True)
        ]
