"""The experiments of Wan et al. 2005 on clusters of the user: figures 5 to 8, and the two language models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from sentgen.corpus.parsers import CachedParser, Parser, open_parser
from sentgen.evaluation.check.verb_arguments import Kind
from sentgen.evaluation.clusters.clusters import Cluster, ClusterSet, Heads, read_clusters
from sentgen.evaluation.clusters.experiment import StringMaker, evaluate_generation
from sentgen.evaluation.clusters.held_out import BIGRAM, HeldOutPerplexity, held_out_perplexity
from sentgen.evaluation.clusters.results import ALPHA, Curve, GenerationResult, Metric
from sentgen.evaluation.figures.results import FigureRow, Recorder, RunResult
from sentgen.evaluation.papers.paper import Findings, Paper, PaperRequest, PublishedTable
from sentgen.evaluation.report.tables import probability
from sentgen.generation.clusters.clusters import written_lengths
from sentgen.generation.clusters.generate import LENGTHS
from sentgen.generation.clusters.prepared import CorpusDependencies
from sentgen.generation.clusters.settings import GenerationSettings
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store

#: "We use 100 sentence clusters", and for each answers "from 1 to 40 words in length" (section 5.1).
_CLUSTERS = 100
_QUICK_CLUSTERS, _QUICK_LENGTHS = 30, (4, 7, 10, 14, 17, 20, 25, 32, 40)
_SYSTEMS = ("bigram", "depviterbi")
#: Of figure 5: "significant for most sentence lengths except lengths 17 and 32".
_EXCEPT = (17, 32)
_SURE, _UNSURE = "significant", "not significant"


class _Claim(NamedTuple):
    """A figure of the paper: its curve, and what the text says of the difference."""

    number: int
    metric: Metric
    kind: Kind
    words: str
    #: Whether the difference is called significant at most lengths.
    sure: bool

    def at(self, length: int) -> str:
        """Return what the paper says of a length."""
        return _SURE if self.sure and not (self.number == 5 and length in _EXCEPT) else _UNSURE

    @property
    def table(self) -> PublishedTable:
        """Return it as the store has published figures; its points are in the picture alone."""
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
    """What the paper may have meant, or in its place a model of ours."""

    name: str
    settings: GenerationSettings
    heads: Heads = "own"


#: The paper keeps one path for each length and word, and says nothing of words used again.
_READINGS = (
    _PaperReading("literal", GenerationSettings(reuse="free", beam=1)),
    # As in all strings that it shows, and as its parser attaches function words (docs/results.md).
    _PaperReading("seen transitions", GenerationSettings(transitions="seen"), "function"),
    _PaperReading("beyond the paper", GenerationSettings(arguments="supported")),
)
_FIGURES = (
    *("reading", "figure", "curve", "words", "published", "system", BIGRAM, "difference"),
    *("p", "p Holm", "clusters", "here"),
)
_TESTS = (
    *("reading", "figure", "curve", "in the paper", "system", BIGRAM, "p"),
    *("better at", "worse at", "lengths"),
)


@dataclass(frozen=True, slots=True)
class _Experiment:
    """What was asked for, with the parser that it names."""

    request: PaperRequest
    parser: Parser

    @property
    def lengths(self) -> Sequence[int]:
        """Return how long the strings are."""
        return _QUICK_LENGTHS if self.request.quick else LENGTHS

    def run(self, store: Store) -> Findings:
        """Run all readings, and the comparison of the language models."""
        request = self.request
        dependencies = CorpusDependencies.named(store, request.dependencies)
        with CachedParser(self.parser, store) as parser:
            request.report("reading the clusters, and parsing them where they have no trees")
            # One more, to tell whether there are any that are left out.
            wanted = _QUICK_CLUSTERS if request.quick else _CLUSTERS
            read = list(islice(read_clusters(str(request.clusters), parser=parser), wanted + 1))
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
        """Compare the language models, with the dependencies of the clusters and of the treebanks, too."""
        self.request.report("comparing the language models on held-out sentences")
        learned = ClusterSet(clusters).learned()
        recorder, found = Recorder(store, "perplexity"), {}
        for name, source in {"cluster": None, "cluster and corpus": dependencies}.items():
            if name == "cluster" or source is not None:
                found[name] = held_out_perplexity(learned, dependencies=source, seed=self.request.seed)
        parameters = {
            "paper": "wan2005",
            "clusters": str(self.request.clusters),
            "number": len(clusters),
            "dependencies": list(self.request.dependencies),
        }
        rows = [
            FigureRow(f"{model.model}, {name}", "perplexity", model.perplexity, f"events:{model.events}")
            for name, models in found.items()
            for model in models
        ]
        result = RunResult(parameters=parameters, seed=self.request.seed, scores=rows)
        return _Perplexities(found, recorder.record(result).run_id)

    def _figures(self, results: Sequence[GenerationResult]) -> Iterator[list[object]]:
        """Yield a row a reading, figure and length."""
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
        """Yield a row a reading and figure, over all lengths."""
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
    """Models by where their dependencies come from, and the number of the run."""

    found: dict[str, list[HeldOutPerplexity]]
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


def _prepare(request: PaperRequest) -> Callable[[Store], Findings]:
    return _Experiment(request, open_parser(str(request.parser))).run


WAN_2005 = Paper(
    "wan2005",
    "Wan, Dras, Dale and Paris 2005",
    "figures 5 to 8: verb arguments of sentences generated from clusters, and perplexities",
    [claim.table for claim in _CLAIMS],
    _prepare,
    needs=("clusters", "parser"),
    takes=("dependencies", "quick"),
)
