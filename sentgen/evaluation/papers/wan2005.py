"""The experiments of Wan et al. 2005 on clusters of the user: figures 5 to 8, and the two language models.

The paper proposes to compare the perplexity of a bigram model and of its model with dependencies on held-out
sentences, but does not say how: its p_tr is no distribution. Bigram probabilities sum to one over the words
of a cluster and the sentence end; p_dep, the probability of the most probable relation to the head stack,
does not, and so neither does p_tr, their average. Here p_tr is made a distribution in two ways:

    divided    p_tr(x) / sum over y of p_tr(y)
    averaged   (1 - weight) p_ngram(x) + weight p_dep(x) / sum over y of p_dep(y)

`averaged` is the bigram alone where no word has a relation to the stack. Each sentence of a cluster is held
out in turn, and the models are learnt from the other sentences. An event is a word or the sentence end, after
a word or the start. Events in which a word is unknown to the other sentences are left out, and unknown words
do not go onto the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats
from sentgen.case_folding import fold
from sentgen.corpus.parsers import CachedParser, Parser, open_parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import Kind
from sentgen.evaluation.clusters.clusters import Cluster, ClusterSet, Heads
from sentgen.evaluation.clusters.experiment import (
    ALPHA,
    Curve,
    GenerationResult,
    Metric,
    StringMaker,
    evaluate_generation,
)
from sentgen.evaluation.figures.measurement import Measurement, randomization_tests
from sentgen.evaluation.figures.report import probability
from sentgen.evaluation.figures.results import FigureRow, Recorder, RunResult
from sentgen.evaluation.papers.paper import Findings, Paper, PaperRequest, PublishedTable
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters, written_lengths
from sentgen.generation.clusters.depviterbi import follow
from sentgen.generation.clusters.generate import LENGTHS
from sentgen.generation.clusters.prepared import CorpusDependencies, PreparedCluster
from sentgen.generation.clusters.settings import GenerationSettings
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store

MODELS = ("bigram", "divided", "averaged")
_BIGRAM = MODELS[0]


@dataclass(frozen=True, slots=True)
class _HeldOutPerplexity:
    """Perplexity of one model on held-out sentences.

    ``p`` is the p-value of approximate randomization over sentences against the bigram model, ``None`` for
    that model. ``sum`` is the mean over events of the sum of p_tr as the paper states it, ``unknown`` the
    number of events left out.
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
) -> list[_HeldOutPerplexity]:
    """Return the perplexity of each of `MODELS`.

    Args:
        clusters: the sentences of each cluster, with trees; clusters of one sentence are left out.
        settings: weight, smoothing, punctuation and case.
        dependencies: dependencies of treebanks, to which the dependencies of the clusters back off.
        seed: seed of the randomization tests.

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
        prepared = PreparedCluster.of_corpus(store, CORPUS, None, settings, dependencies=dependencies)
        rows = [_sums(sentence, one, settings) for (sentence, _), one in zip(folds, prepared, strict=True)]
    return _compared(np.array(rows), seed)


def _compared(sums: Floats, seed: int) -> list[_HeldOutPerplexity]:
    """Return the result of each model from the sums of all sentences, (sentences, 3 + models) of `_sums`."""
    events, unknown, total, *_ = sums.sum(axis=0).tolist()
    models = {
        name: Measurement(f"perplexity:{name}", "", sums[:, [0, 3 + m]], _perplexity)
        for m, name in enumerate(MODELS)
    }
    tests = randomization_tests(models, [(_BIGRAM, name) for name in MODELS[1:]], seed=seed)
    return [
        _HeldOutPerplexity(name, one.value, p, int(events), int(unknown), total / events)
        for (name, one), p in zip(models.items(), [None, *tests], strict=True)
    ]


def _perplexity(sums: Floats) -> Floats:
    return np.asarray(np.exp(-sums[..., 1] / sums[..., 0]), np.float64)


def _sums(sentence: Sentence, prepared: PreparedCluster, settings: GenerationSettings) -> list[float]:
    """Return sums over one sentence: events, events left out, sums of p_tr, and log p by each model."""
    number = {form: index for index, form in enumerate(prepared.model.words)}
    words = [number.get(fold(form) if settings.lowercase else form) for form in sentence.forms]
    sums = np.zeros(3 + len(MODELS))
    for event, before, stack in _events(words, prepared):
        if event is None or before is None:
            sums[1] += 1
            continue
        distributions, total = next_word(prepared, before, stack)
        sums[:3] += 1, 0, total
        sums[3:] += np.log([each[event] for each in distributions])
    return sums.tolist()


def _events(
    words: Sequence[int | None], prepared: PreparedCluster
) -> Iterator[tuple[int | None, int | None, Sequence[int]]]:
    """Yield each word, and the end, with the word before it and the words on the head stack before it.

    Words are numbers of the n words of the cluster; start and end are n, an unknown word is ``None``.
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
    """Return p(next word) by each of `MODELS`, (n + 1,) with the end last, and the sum of p_tr.

    Args:
        prepared: the cluster.
        before: number of the word before, n at the start.
        stack: numbers of the words on the head stack.
    """
    model, weight = prepared.model, prepared.weight
    # Normalized, as a language model that is mixed in gives probability to words outside of the cluster, too.
    bigram = model.bigrams[before] / model.bigrams[before].sum()
    dep = np.zeros_like(bigram)
    if stack:
        rows = list(stack)
        fading = prepared.settings.nearness ** np.arange(len(stack))[::-1, None]
        dep[:-1] = ((model.head_right[rows] + model.head_left[rows]) * fading).max(axis=0)
    mixed = (1 - weight) * bigram + weight * dep
    averaged = (1 - weight) * bigram + weight * dep / dep.sum() if dep.any() else bigram
    return [bigram, mixed / mixed.sum(), averaged], float(mixed.sum())


#: "We use 100 sentence clusters", and strings "from 1 to 40 words in length" for each (section 5.1).
_CLUSTERS = 100
_QUICK_CLUSTERS, _QUICK_LENGTHS = 30, (4, 7, 10, 14, 17, 20, 25, 32, 40)
_SYSTEMS = ("bigram", "depviterbi")
#: Figure 5: "significant for most sentence lengths except lengths 17 and 32".
_EXCEPT = (17, 32)
_SURE, _UNSURE = "significant", "not significant"


class _Claim(NamedTuple):
    """A figure of the paper: its curve, and the differences that the text states."""

    number: int
    metric: Metric
    kind: Kind
    words: str
    #: Whether the difference is called significant at most lengths.
    sure: bool

    def at(self, length: int) -> str:
        """Return whether the paper calls the difference at a length significant, as the reports write it."""
        return _SURE if self.sure and not (self.number == 5 and length in _EXCEPT) else _UNSURE

    @property
    def table(self) -> PublishedTable:
        """Return the published table that is recorded; it has no figures, as the paper only draws them."""
        return PublishedTable(
            "wan2005",
            f"Wan et al. 2005, figure {self.number}",
            "100 clusters of Barzilay et al. 1999, Connexor",
            {},
            metric=f"{self.metric}:{self.kind}",
            significant={_SYSTEMS: self.words},
        )


_CLAIMS = (
    _Claim(5, "precision", "all", "better at most lengths except 17 and 32", True),
    _Claim(6, "recall", "all", "indistinguishable", False),
    _Claim(7, "precision", "adjacent", "better, generally significant", True),
    _Claim(8, "precision", "long", "often better, not significant", False),
)


class _PaperReading(NamedTuple):
    """A reading of the paper, or a model of ours beyond it."""

    name: str
    settings: GenerationSettings
    heads: Heads = "own"


#: The literal reading: the paper keeps one path for each length and word, and does not forbid repeated words.
_READINGS = (
    _PaperReading("literal", GenerationSettings(reuse="free", beam=1)),
    # As all strings that the paper shows, with function words as its parser attaches them (docs/results.md).
    _PaperReading("seen transitions", GenerationSettings(transitions="seen"), "function"),
    _PaperReading("beyond the paper", GenerationSettings(arguments="supported")),
)
_FIGURES = (
    *("reading", "figure", "curve", "words", "published", "system", _BIGRAM, "difference"),
    *("p", "p Holm", "clusters", "here"),
)
_TESTS = (
    *("reading", "figure", "curve", "in the paper", "system", _BIGRAM, "p"),
    *("better at", "worse at", "lengths"),
)


@dataclass(frozen=True, slots=True)
class _Experiment:
    """The options of the experiment, and the parser that they name."""

    request: PaperRequest
    parser: Parser

    @property
    def lengths(self) -> Sequence[int]:
        return _QUICK_LENGTHS if self.request.quick else LENGTHS

    def run(self, store: Store) -> Findings:
        request = self.request
        dependencies = CorpusDependencies.named(store, request.dependencies)
        with CachedParser(self.parser, store) as parser:
            request.report("reading the clusters, and parsing them where they have no trees")
            # One more cluster than is used, to know whether some are left out.
            wanted = _QUICK_CLUSTERS if request.quick else _CLUSTERS
            read = list(islice(Cluster.all_in(str(request.clusters), parser=parser), wanted + 1))
            clusters = read[:wanted]
            results = [self._evaluated(store, clusters, parser, reading) for reading in _READINGS]
        perplexities = self._perplexities(store, clusters, dependencies)
        return Findings(
            Rows(_FIGURES, [*self._figures(results), *_perplexity_rows(perplexities)]),
            Rows(_TESTS, list(self._tests(results))),
            list(self._notes(clusters, len(read) > wanted, results, perplexities)),
        )

    def _evaluated(
        self, store: Store, clusters: Sequence[Cluster], parser: Parser, reading: _PaperReading
    ) -> GenerationResult:
        self.request.report(f"generating and parsing: {reading.name}")
        report = self.request.progress
        return evaluate_generation(
            store,
            ClusterSet(clusters, str(self.request.clusters), reading.heads),
            parser,
            lengths=self.lengths,
            system=StringMaker(reading.settings),
            progress=None if report is None else lambda _, done, total: report(done, total),
        )

    def _perplexities(
        self, store: Store, clusters: Sequence[Cluster], dependencies: CorpusDependencies | None
    ) -> _Perplexities:
        """Compare the language models, by dependencies of the clusters, and of treebanks too if given."""
        self.request.report("comparing the language models on held-out sentences")
        learned = ClusterSet(clusters).learned()
        recorder, perplexities = Recorder(store, "perplexity"), {}
        for name, source in {"cluster": None, "cluster and corpus": dependencies}.items():
            if name == "cluster" or source is not None:
                perplexities[name] = held_out_perplexity(learned, dependencies=source, seed=self.request.seed)
        parameters = {
            "paper": "wan2005",
            "clusters": str(self.request.clusters),
            "number": len(clusters),
            "dependencies": list(self.request.dependencies),
        }
        rows = [
            FigureRow(f"{model.model}, {name}", "perplexity", model.perplexity, f"events:{model.events}")
            for name, models in perplexities.items()
            for model in models
        ]
        result = RunResult(parameters=parameters, seed=self.request.seed, scores=rows)
        return _Perplexities(perplexities, recorder.record(result).run_id)

    def _figures(self, results: Sequence[GenerationResult]) -> Iterator[list[object]]:
        """Yield a row of `_FIGURES` a reading, figure and length."""
        for reading, result in zip(_READINGS, results, strict=True):
            for claim in _CLAIMS:
                curve = result.curve(claim.metric, claim.kind)
                for point in curve.points:
                    here = _SURE if point.p < ALPHA else _UNSURE
                    yield [
                        *(reading.name, claim.number, curve.name, point.length, claim.at(point.length)),
                        *(*point.means, point.difference, point.p, point.holm, point.clusters),
                        here + (" (bigram better)" if here == _SURE and point.difference < 0 else ""),
                    ]

    def _tests(self, results: Sequence[GenerationResult]) -> Iterator[list[object]]:
        """Yield a row of `_TESTS` a reading and figure, over all lengths."""
        for reading, result in zip(_READINGS, results, strict=True):
            for claim in _CLAIMS:
                curve = result.curve(claim.metric, claim.kind)
                yield [
                    *(reading.name, claim.number, curve.name, claim.words, *curve.overall.means),
                    *(
                        probability(curve.overall.p),
                        _better_at(curve, 1),
                        _better_at(curve, -1),
                        len(curve.points),
                    ),
                ]

    def _notes(
        self,
        clusters: Sequence[Cluster],
        more: bool,
        results: Sequence[GenerationResult],
        perplexities: _Perplexities,
    ) -> Iterator[str]:
        number = quantity(len(clusters), "cluster")
        part = f"the first {number} of more" if more else number
        data = f"{part}, {written_lengths(self.lengths)} words; the paper has 100 of its own, 1-40"
        yield f"--quick: {data}" if self.request.quick else data
        yield f"p: Wilcoxon signed-rank, two-tailed; better and worse at: lengths with p < {ALPHA}"
        first = next(iter(perplexities.found.values()))[0]
        yield (
            f"perplexity: {quantity(first.events, 'event')} of sentences held out one by one,"
            f" {first.unknown:,} unknown ones left out, p by shuffling; p_tr as stated sums to"
            f" {first.sum:.2f} on the mean, not to 1"
        )
        runs = [f"{name}: run {result.run_id}" for (name, *_), result in zip(_READINGS, results, strict=True)]
        yield "; ".join([*runs, f"perplexity: run {perplexities.run_id}"])


class _Perplexities(NamedTuple):
    """Results of the models, by the origin of their dependencies, and the number of the run."""

    found: dict[str, list[_HeldOutPerplexity]]
    run_id: int


def _perplexity_rows(perplexities: _Perplexities) -> Iterator[list[object]]:
    for name, (bigram, *others) in perplexities.found.items():
        for second in others:
            curve = f"perplexity, {second.model}, dependencies of {name}"
            difference = second.perplexity - bigram.perplexity
            here = _SURE if second.p is not None and second.p < ALPHA else _UNSURE
            yield [
                *("held out", None, curve, None, "to be compared", second.perplexity, bigram.perplexity),
                *(difference, second.p, None, None, here + (" (bigram better)" if difference > 0 else "")),
            ]


def _better_at(curve: Curve, sign: int) -> str:
    """Return the lengths at which the system is significantly better (1) or worse (-1)."""
    return written_lengths(curve.significant(sign)) or "none"


WAN_2005 = Paper(
    "wan2005",
    "Wan, Dras, Dale and Paris 2005",
    "figures 5 to 8: verb arguments of sentences generated from clusters, and perplexities",
    [claim.table for claim in _CLAIMS],
    lambda request: _Experiment(request, open_parser(str(request.parser))).run,
    needs=("clusters", "parser"),
    takes=("dependencies", "quick"),
)
