"""New sentences from clusters of related ones: look up a batch, search each cluster, read the answers."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Literal, get_args

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.case_folding import fold
from sentgen.errors import InputError
from sentgen.generation.clusters import salience
from sentgen.generation.clusters.casing import capitalized
from sentgen.generation.clusters.corpus_dependencies import CorpusDependencies
from sentgen.generation.clusters.depviterbi import UNLIMITED, WordPath, best_paths, lattice_of
from sentgen.generation.clusters.depviterbi_trace import PathReader, TraceStep
from sentgen.generation.clusters.lengths import score
from sentgen.generation.clusters.reranking import CANDIDATES, Reranker
from sentgen.generation.clusters.supported import SupportedPath, best_supported, supported_lattice
from sentgen.generation.clusters.supported_trace import SupportedReader
from sentgen.generation.problem import Tree
from sentgen.models.building.symbols import require_words
from sentgen.models.ngrams.bigram_matrix import bigram_matrix
from sentgen.models.related.cluster_counts import (
    BATCH,
    ClusterCounts,
    TokenReading,
    cluster_names,
    count_clusters,
    document_frequencies,
)
from sentgen.models.related.cluster_model import ClusterModel, Smoothing, cluster_model, require_trees
from sentgen.models.related.cluster_trees import supported_arcs
from sentgen.models.related.cluster_trigrams import trigrams
from sentgen.models.submodel import ModelLike, lowercases, prefetch
from sentgen.schema import Store

GenerationAlgorithm = Literal["depviterbi", "bigram"]
Reuse = Literal["none", "counts", "free"]
Transitions = Literal["all", "seen"]
Arguments = Literal["all", "supported"]

#: Lengths of the papers.
LENGTHS = range(1, 41)


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """What can be chosen about generation from clusters.

    Attributes:
        algorithm: `depviterbi`, or `bigram` for the same search without dependencies: the paper's baseline.
        weight: of the dependency probability in p_tr, from 0 and less than 1: dependencies alone would let
            no sentence begin or end. The paper takes the average, 0.5.
        reuse: of words: `none` for each token of the cluster at most once; `counts` for each word at most as
            often as in the sentence that has it most; `free` for no limit.
        transitions: between words: `all`, or only those `seen` side by side in the cluster, as are all that
            the paper shows.
        arguments: of words: `all` that the head stack lets through, as in the paper, or only those that are
            `supported` by a sentence of the cluster, in one tree over all words (see `supported`).
        smoothing: of dependencies: `none` as in the paper, or `collins` to back off to tags.
        salience: p_em, see `sentgen.generation.clusters.salience`.
        beam: hypotheses for each length and last word, see `depviterbi.best_paths`.
        punctuation: whether punctuation is among the words.
        lowercase: whether words are lower-cased first.
    """

    algorithm: GenerationAlgorithm = "depviterbi"
    weight: float = 0.5
    reuse: Reuse = "none"
    transitions: Transitions = "all"
    arguments: Arguments = "all"
    smoothing: Smoothing = "none"
    salience: salience.Kind | Mapping[str, float] = "uniform"
    beam: int | None = None
    punctuation: bool = True
    lowercase: bool = False

    @property
    def name(self) -> str:
        """Return what the search is called in figures."""
        return self.algorithm if self.arguments == "all" else self.arguments

    def __post_init__(self) -> None:
        choices: dict[str, tuple[str, tuple[str, ...]]] = {
            "algorithm": (self.algorithm, get_args(GenerationAlgorithm)),
            "reuse": (self.reuse, get_args(Reuse)),
            "transitions": (self.transitions, get_args(Transitions)),
            "arguments": (self.arguments, get_args(Arguments)),
            "smoothing": (self.smoothing, get_args(Smoothing)),
        }
        if isinstance(self.salience, str):
            choices["salience"] = (self.salience, salience.KINDS)
        for name, (chosen, allowed) in choices.items():
            if chosen not in allowed:
                raise InputError(f"{name} {chosen!r} is none of: {', '.join(allowed)}")
        if not 0 <= self.weight < 1:
            raise InputError(f"weight {self.weight} is not from 0 to less than 1")
        if self.beam is not None and self.beam < 1:
            raise InputError(f"a beam of {self.beam} holds nothing; give 1 or more")
        if self.arguments == "supported" and (self.algorithm == "bigram" or self.smoothing == "collins"):
            chosen = "bigrams" if self.algorithm == "bigram" else "smoothing collins"
            raise InputError(f"{chosen} cannot be combined with supported arguments; leave one of them out")


@dataclass(frozen=True, slots=True)
class MixedModel:
    """A model in a store, to mix its bigrams into those of the clusters; ``weight`` is that of the latter."""

    store: Store
    model: ModelLike
    weight: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise InputError(f"lm-weight {self.weight} is not from 0 to 1")
        require_words(self.model.name, self.model.symbols)


@dataclass(frozen=True, slots=True)
class GeneratedSentence:
    """A sentence made of the words of a cluster.

    ``rank`` is 1 for the best sentence of its length, and ``logp`` the natural log-probability of the path
    with its end; sentences are ranked by ``score``, which is that unless a model re-ranks them. If it is
    ``exact``, at most rank - 1 sentences of the length have a higher one; else the search was bounded by its
    beam, or ranked anew. ``tree`` is that of the head stack, with a root for each fragment; there
    is none without parses. ``seconds`` is the time of the search for all lengths of the cluster, ``lookup``
    its share of that for counts and models. ``lowercase`` says whether words were lower-cased.
    """

    cluster: str
    length: int
    rank: int
    words: tuple[str, ...]
    tags: tuple[str, ...]
    logp: float
    score: float
    exact: bool
    tree: Tree | None
    trace: tuple[TraceStep, ...]
    lookup: float
    seconds: float
    lowercase: bool = False

    @property
    def text(self) -> str:
        """Return the sentence, words separated by blanks, with a capital unless all is lower-cased."""
        return " ".join(self.words if self.lowercase else capitalized(self.words))


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
        store: where the corpus is.
        corpus: its name; each document of it is a cluster.
        lengths: numbers of words. Where a length cannot be reached, nothing is yielded for it.
        settings: of the model and the search.
        clusters: the documents to take, from `cluster_names`; all of the corpus if ``None``.
        nbest: sentences of each length, at most.
        lm: a language model to mix in.
        dependencies: of treebanks, which those of the clusters back off to.
        reranker: chooses among the best `CANDIDATES` of each length, or ``nbest`` if these are more.
        best: give the ``nbest`` sentences of all lengths instead, as `lengths` compares them, by rank.

    Raises:
        NotFoundError: there is no such corpus.
        InputError: a length or ``nbest`` is less than 1, ``dependencies`` would not be used, or a cluster has
            too many words, or none.
        ModelError: the algorithm needs trees, and a cluster has none.
    """
    settings = settings or GenerationSettings()
    if dependencies is not None and (settings.algorithm == "bigram" or settings.arguments == "supported"):
        chosen = "bigrams" if settings.algorithm == "bigram" else "supported arguments"
        raise InputError(f"{chosen} use no dependencies of other corpora; leave --dependencies out")
    if min(lengths, default=1) < 1:
        raise InputError(f"length {min(lengths)} is too short; sentences have 1 word or more")
    if nbest < 1:
        raise InputError(f"{nbest} sentences a length is too few; give 1 or more")
    chosen = cluster_names(store, corpus) if clusters is None else clusters
    return (
        one
        for begin in range(0, len(chosen), BATCH)
        for prepared in _prepare(store, corpus, chosen[begin : begin + BATCH], settings, lm, dependencies)
        for one in _chosen(
            prepared, _ranked(prepared, settings, lengths, nbest, reranker), nbest if best else None
        )
    )


def _ranked(
    prepared: _Prepared,
    settings: GenerationSettings,
    lengths: Collection[int],
    nbest: int,
    reranker: Reranker | None,
) -> Iterable[GeneratedSentence]:
    """Return the best sentences of each length, as the search or a model ranks them."""
    if reranker is None:
        return _generate(prepared, settings, lengths, nbest)
    found = list(_generate(prepared, settings, lengths, max(nbest, CANDIDATES)))
    scores = reranker.scores(((one.words, one.logp) for one in found), lowercase=settings.lowercase)
    # Stable: of equals the one that the search likes better.
    scored = sorted(
        (replace(one, score=value, exact=False) for one, value in zip(found, scores, strict=True)),
        key=lambda one: (one.length, -one.score),
    )
    return [
        replace(one, rank=rank)
        for _, of_length in groupby(scored, key=lambda one: one.length)
        for rank, one in enumerate(islice(of_length, nbest), 1)
    ]


def _chosen(
    prepared: _Prepared, found: Iterable[GeneratedSentence], count: int | None
) -> Iterable[GeneratedSentence]:
    """Return so many sentences of all lengths, ranked anew; all of them if ``None``."""
    if count is None:
        return found
    sources = [len(tree.words) for tree in prepared.counts.trees]
    # Of equals the shorter one, which comes first: a stable sort.
    ranked = sorted(found, key=lambda one: score(one.score, one.length, sources), reverse=True)
    return [replace(one, rank=rank) for rank, one in enumerate(ranked[:count], 1)]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A cluster whose probabilities are at hand."""

    counts: ClusterCounts
    model: ClusterModel
    emission: Floats
    lookup: float


def _prepare(
    store: Store,
    corpus: str,
    clusters: Sequence[tuple[int, str]],
    settings: GenerationSettings,
    lm: MixedModel | None,
    dependencies: CorpusDependencies | None,
) -> Iterator[_Prepared]:
    """Look up a batch of clusters."""
    started = time.perf_counter()
    reading = TokenReading(
        settings.punctuation,
        settings.lowercase,
        tags=settings.smoothing == "collins",
        # Their lengths are wanted in any case.
        trees=True,
    )
    counted = count_clusters(store, corpus, clusters, reading)
    if settings.algorithm == "depviterbi":
        for counts in counted:
            require_trees(counts)
    models = cluster_models(counted, settings.smoothing, lm, dependencies)
    frequencies = None
    if settings.salience == "tfidf":
        words = {word for counts in counted for word in counts.words}
        frequencies = salience.DocumentFrequencies(
            *document_frequencies(store, corpus, words, lowercase=settings.lowercase)
        )
    lookup = (time.perf_counter() - started) / len(clusters)
    for counts, model in zip(counted, models, strict=True):
        yield _Prepared(counts, model, salience.emission(counts, settings.salience, frequencies), lookup)


def cluster_models(
    counted: Sequence[ClusterCounts],
    smoothing: Smoothing = "none",
    lm: MixedModel | None = None,
    dependencies: CorpusDependencies | None = None,
) -> list[ClusterModel]:
    """Return the models of some clusters, with what a language model and treebanks add to them."""
    corpora = [None] * len(counted) if dependencies is None else dependencies.of(counted)
    models = [
        cluster_model(counts, smoothing=smoothing, corpus=corpus)
        for counts, corpus in zip(counted, corpora, strict=True)
    ]
    return models if lm is None else _mixed(models, lm)


def _mixed(models: Sequence[ClusterModel], lm: MixedModel) -> list[ClusterModel]:
    """Interpolate the bigrams of clusters with those of a language model, which is asked once."""
    lower = lowercases(lm.store, lm.model)
    bags = [[fold(word) if lower else word for word in model.words] for model in models]
    # Where unknown words are classed by tag, their classes are fetched, too.
    tags = {tag for model in models for tag in model.tags}
    submodel = prefetch(lm.store, lm.model, bags, tags=tags, order=2)
    mixed = []
    for model, bag in zip(models, bags, strict=True):
        big = bigram_matrix(submodel.table, submodel.encode(bag, model.tags))
        mixed.append(replace(model, bigrams=lm.weight * model.bigrams + (1 - lm.weight) * big))
    return mixed


def _generate(
    prepared: _Prepared, settings: GenerationSettings, lengths: Collection[int], nbest: int
) -> Iterator[GeneratedSentence]:
    """Search one cluster, and read the answers."""
    counts, model = prepared.counts, prepared.model
    started = time.perf_counter()
    search = _supported if settings.arguments == "supported" else _averaged
    found = search(prepared, settings, lengths, nbest)
    seconds = time.perf_counter() - started
    for length, paths in sorted(found.items()):
        for rank, (path, (trace, tree)) in enumerate(paths, 1):
            yield GeneratedSentence(
                cluster=counts.name,
                length=length,
                rank=rank,
                words=tuple(model.words[word] for word in path.words),
                tags=tuple(model.tags[word] for word in path.words),
                logp=path.logp,
                score=path.logp,
                exact=path.exact,
                tree=tree if counts.parsed else None,
                trace=trace,
                lookup=prepared.lookup,
                seconds=seconds,
                lowercase=settings.lowercase,
            )


#: By length, sentences with what is read of them.
_Found = dict[int, list[tuple[WordPath | SupportedPath, tuple[tuple[TraceStep, ...], Tree]]]]


def _averaged(
    prepared: _Prepared, settings: GenerationSettings, lengths: Collection[int], nbest: int
) -> _Found:
    """Search with the average of bigrams and dependencies, as the paper does."""
    weight = settings.weight if settings.algorithm == "depviterbi" else 0.0
    lattice = lattice_of(
        prepared.model,
        weight=weight,
        emission=prepared.emission,
        limit=_limit(prepared.counts, settings.reuse),
        allowed=_allowed(prepared.counts, settings),
    )
    reader = PathReader(prepared.model, weight=weight, emission=prepared.emission)
    found = best_paths(lattice, lengths, nbest=nbest, beam=settings.beam)
    return {length: [(path, reader.read(path.words)) for path in paths] for length, paths in found.items()}


def _supported(
    prepared: _Prepared, settings: GenerationSettings, lengths: Collection[int], nbest: int
) -> _Found:
    """Search for trees of supported arcs."""
    counts = prepared.counts
    arcs = supported_arcs(counts.trees, len(counts.words))
    ngrams = trigrams([tree.words for tree in counts.trees], prepared.model.bigrams)
    lattice = supported_lattice(
        ngrams,
        arcs,
        weight=settings.weight,
        emission=prepared.emission,
        limit=_limit(counts, settings.reuse),
        allowed=_allowed(counts, settings),
    )
    reader = SupportedReader(counts.words, ngrams, arcs, weight=settings.weight, emission=prepared.emission)
    found = best_supported(lattice, lengths, nbest=nbest, beam=settings.beam)
    return {length: [(path, reader.read(path)) for path in paths] for length, paths in found.items()}


def _allowed(counts: ClusterCounts, settings: GenerationSettings) -> Bools | None:
    """Return which word may follow which; all if ``None``."""
    return counts.bigrams > 0 if settings.transitions == "seen" else None


def _limit(counts: ClusterCounts, reuse: Reuse) -> Ints:
    """Return how often each word may be used."""
    if reuse == "free":
        return np.full(len(counts.words), UNLIMITED, np.int32)
    return (counts.count if reuse == "none" else counts.most).astype(np.int32)
