"""The experiment of Wan et al. 2005: does dependency-propagating search make fewer spurious verb arguments?

From every cluster the system and the bigram baseline generate the best string of each length. A parser parses
the strings, and their verb arguments are looked up among those of the cluster (see `verb_arguments`). A
figure of a length is the mean over clusters (section 5), and the two are compared, a length at a time, by the
two-tailed Wilcoxon signed-rank test over clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from sentgen.arrays import Bools, Floats, Longs
from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import FORMS, KINDS, Kind, SourceArguments, Spelling, parse_once
from sentgen.evaluation.clusters.clusters import Cluster, ClusterSet
from sentgen.evaluation.figures.measurement import holm
from sentgen.evaluation.figures.results import FigureRow, OutputRow, Progress, Recorder, RunResult
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters, written_lengths
from sentgen.generation.clusters.generate import LENGTHS, GenerationSettings, Reranker, generate
from sentgen.generation.clusters.prepared import CorpusDependencies
from sentgen.models import find
from sentgen.models.scoring import score_sentences
from sentgen.output.wording import quantity
from sentgen.schema import Store

Metric = Literal["precision", "recall"]
_METRICS: tuple[Metric, ...] = ("precision", "recall")
#: What the papers call significant.
ALPHA = 0.05
#: Differences below this are rounding.
# Ratios of small numbers: any real difference is far greater.
_EQUAL = 1e-12
#: Columns of the counts, matched and all, of each metric.
_COLUMNS: Mapping[Metric, tuple[int, int]] = {"precision": (1, 0), "recall": (3, 2)}

Undefined = Literal["skip", "zero"]


@dataclass(frozen=True, slots=True)
class Point:
    """One length of one curve, over the clusters for which both systems have the figure.

    ``pooled`` are the figures of all relations of these clusters together. ``wins`` and ``losses`` count the
    clusters in which the first system is better and worse. ``p`` is that of the Wilcoxon test, ``holm`` that
    corrected for all lengths of the curve.
    """

    length: int
    clusters: int
    means: tuple[float, float]
    pooled: tuple[float, float]
    wins: int
    losses: int
    p: float
    holm: float = 1.0

    @property
    def difference(self) -> float:
        """Return the difference of the figures of the first system and the baseline."""
        return self.means[0] - self.means[1]


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure by length, and over all lengths: ``overall`` has 0 for its length.

    For ``overall`` a cluster has the mean of its figures over the lengths that both systems have.
    """

    metric: Metric
    kind: Kind
    points: Sequence[Point]
    overall: Point

    @property
    def name(self) -> str:
        """Return the name of the curve, such as ``adjacent precision``."""
        kinds = {"all": "", "adjacent": "adjacent ", "long": "long-distance "}
        return f"{kinds[self.kind]}{self.metric}"

    def significant(self, sign: int) -> list[int]:
        """Return the lengths at which the first system is significantly better (1) or worse (-1)."""
        return [point.length for point in self.points if point.p < ALPHA and sign * point.difference > 0]


@dataclass(frozen=True, slots=True)
class GenerationResult(RunResult):
    """A run of two systems over clusters and lengths.

    Attributes:
        systems: names; the first one is compared with the second one, the baseline.
        clusters: names.
        lengths: numbers of words.
        counts: (systems, clusters, lengths, kinds, 4) generated, matched, source and recalled relations.
        strings: strings of each system, cluster and length; None if there is none.
        copied: (systems, clusters, lengths) whether a string is a sentence of its cluster or a piece of one.
        fluency: (systems, clusters, lengths) log10 a word by a model; None if none was asked.
        undefined: how undefined figures count: left out, or 0.
        signature: how the figures were computed.
    """

    systems: tuple[str, str]
    clusters: Sequence[str]
    lengths: Sequence[int]
    counts: Longs = field(repr=False)
    strings: Sequence[Sequence[Sequence[str | None]]] = field(repr=False)
    copied: Bools = field(repr=False)
    fluency: Floats | None = field(repr=False)
    undefined: Undefined
    signature: str

    @property
    def made(self) -> Bools:
        """Return (systems, clusters, lengths) whether there is a string."""
        return np.array([[[text is not None for text in row] for row in of] for of in self.strings], bool)

    @property
    def curves(self) -> list[Curve]:
        """Return all curves, precision first."""
        return [self.curve(metric, kind) for metric in _METRICS for kind in KINDS]

    def figures(self, metric: Metric, kind: Kind) -> Floats:
        """Return (systems, clusters, lengths) figures of single strings; NaN if undefined."""
        part, whole = self._counts(metric, kind)
        figures = np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
        if self.undefined == "zero":
            # Only where there is a string: a missing string is not counted as a failure.
            figures[np.isnan(figures) & self.made] = 0
        return figures

    def curve(self, metric: Metric, kind: Kind) -> Curve:
        """Return a figure by length with its tests."""
        figures, counts = self.figures(metric, kind), self._counts(metric, kind)
        # Defined for both systems, or their means would be over different clusters.
        defined: Bools = np.asarray(~np.isnan(figures).any(axis=0))
        points = []
        for i, length in enumerate(self.lengths):
            chosen = defined[:, i]
            points.append(_point(length, figures[:, chosen, i], counts[:, :, chosen, i]))
        corrected = holm([point.p for point in points])
        some = defined.any(axis=1)
        # Each cluster has the same weight, however many of its lengths are defined.
        weights = defined[some] / defined[some].sum(axis=1, keepdims=True)
        means = (np.nan_to_num(figures[:, some]) * weights).sum(axis=2)
        return Curve(
            metric,
            kind,
            [replace(point, holm=p) for point, p in zip(points, corrected, strict=True)],
            _point(0, means, counts[:, :, defined]),
        )

    def _counts(self, metric: Metric, kind: Kind) -> Longs:
        """Return (2, systems, clusters, lengths) the numbers of matched and of all relations."""
        return np.moveaxis(self.counts[..., KINDS.index(kind), :][..., _COLUMNS[metric]], -1, 0)

    def rows(self) -> Iterator[FigureRow]:
        """Yield every figure.

        Means are metrics such as ``precision:adjacent:12`` (12 words; without a length: over all lengths),
        with ``:pooled`` for the figure of all relations together. Tests are rows of the system ``A vs B``.
        """
        versus = " vs ".join(self.systems)
        for curve in self.curves:
            for point in (*curve.points, curve.overall):
                name = f"{curve.metric}:{curve.kind}" + (f":{point.length}" if point.length else "")
                signature = f"{self.signature}|clusters:{point.clusters}"
                for system, mean, pooled in zip(self.systems, point.means, point.pooled, strict=True):
                    yield FigureRow(system, name, mean, f"{signature}|mean over clusters")
                    yield FigureRow(system, f"{name}:pooled", pooled, f"{signature}|pooled")
                tested = f"{signature}|Wilcoxon signed-rank, two-tailed, zeros left out"
                yield FigureRow(versus, f"{name}:wilcoxon-p", point.p, tested)
                if point.length:
                    corrected = f"{tested}|Holm over lengths"
                    yield FigureRow(versus, f"{name}:wilcoxon-p-holm", point.holm, corrected)

    def item_rows(self) -> Iterator[FigureRow]:
        """Yield the figures of single strings, with the number of their cluster."""
        for metric in _METRICS:
            figures = self.figures(metric, "all")
            for s, c, i in np.argwhere(~np.isnan(figures)).tolist():
                name = f"{metric}:all:{self.lengths[i]}"
                yield FigureRow(self.systems[s], name, float(figures[s, c, i]), self.signature, c + 1)

    def outputs(self) -> Iterator[OutputRow]:
        """Yield every string; clusters are its items, there is no reference."""
        for system, strings in zip(self.systems, self.strings, strict=True):
            for item, (name, row) in enumerate(zip(self.clusters, strings, strict=True), 1):
                for length, text in zip(self.lengths, row, strict=True):
                    if text is not None:
                        given = f"cluster {name}, {quantity(length, 'word')}"
                        yield OutputRow(system, item, given, text, "")


def _point(length: int, pairs: Floats, counts: Longs) -> Point:
    """Compare two systems by (2, n) figures of clusters.

    ``counts`` are (2, 2, m) matched and all relations of each system and string.
    """
    differences = pairs[0] - pairs[1]
    part, whole = counts.sum(axis=2)
    with np.errstate(invalid="ignore"):
        means = pairs.mean(axis=1) if pairs.size else np.full(2, np.nan)
        pooled = part / whole
    p = wilcoxon(differences)
    return Point(
        length=length,
        clusters=pairs.shape[1],
        means=(float(means[0]), float(means[1])),
        pooled=(float(pooled[0]), float(pooled[1])),
        wins=int((differences > _EQUAL).sum()),
        losses=int((differences < -_EQUAL).sum()),
        p=p,
        holm=p,
    )


def wilcoxon(differences: Floats) -> float:
    """Return p of the two-tailed Wilcoxon signed-rank test; 1 if all differences are 0.

    Differences of zero are left out, as Wilcoxon 1945 does. Exact for few differences without ties.
    """
    nonzero = differences[np.abs(differences) > _EQUAL]
    if not nonzero.size:
        return 1.0
    from scipy import stats  # takes a second to import

    return float(stats.wilcoxon(nonzero).pvalue)


_COMMAND = "evaluate generation"
_BASELINE = "bigram"


class StringMaker(NamedTuple):
    """A system that makes strings by a search with settings.

    It may have a model that reranks, and treebanks to whose dependencies those of the clusters back off.
    """

    settings: GenerationSettings = GenerationSettings()
    reranker: Reranker | None = None
    dependencies: CorpusDependencies | None = None

    @property
    def name(self) -> str:
        """Return the name of the system in tables."""
        own = self.settings.name
        return own if self.reranker is None else f"{own}+{self.reranker.scorer.name}"

    @property
    def parameters(self) -> dict[str, object]:
        """Return the parameters that runs record."""
        reranker = self.reranker
        chosen: dict[str, object] = {
            "rerank": reranker and reranker.scorer.name,
            "rerank_weight": reranker and reranker.weight,
            "dependencies": self.dependencies and list(self.dependencies.names),
        }
        if reranker and reranker.scorer.package:
            chosen["plugin"] = reranker.scorer.package
        return chosen | asdict(self.settings)

    def without_dependencies(self) -> StringMaker:
        """Return the baseline: the same system without dependencies."""
        return StringMaker(replace(self.settings, algorithm="bigram", arguments="all", nearness=1.0))


#: The default system.
_DEPENDENCIES = StringMaker()


def evaluate_generation(
    store: Store,
    source: ClusterSet,
    parser: Parser,
    *,
    lengths: Sequence[int] = LENGTHS,
    system: StringMaker = _DEPENDENCIES,
    spelling: Spelling = FORMS,
    undefined: Undefined = "skip",
    fluency_model: str | None = None,
    progress: Progress | None = None,
) -> GenerationResult:
    """Generate with the system and the baseline, parse, compare, and record a run.

    Args:
        store: the store in which the run is recorded; not read-only.
        source: the clusters, which are not stored.
        parser: parser for the strings.
        lengths: lengths of the strings, in words.
        system: the system that is compared with the baseline, which is the same without dependencies.
        spelling: the spelling by which two words are the same.
        undefined: whether to `skip` a string without verb arguments, or count its figures as `zero`.
        fluency_model: a model of the store by which the fluency of the strings is measured.
        progress: called as clusters and strings are done.

    Raises:
        InputError: there are no clusters or lengths, or the system is the baseline.
        NotFoundError: there is no such model.
    """
    if fluency_model is not None:
        find(store, fluency_model)  # refused before any long computation
    recorder = Recorder(store, _COMMAND)
    store.downgrade_to_read()
    _check(source, lengths, system.settings)
    report = progress or (lambda what, done, total: None)
    made_by = f"{parser.name}@{parser.version}"
    strings = _generated(source.learned(), (system, system.without_dependencies()), lengths, report)
    result = GenerationResult(
        systems=(system.name, _BASELINE),
        clusters=[cluster.name for cluster in source.clusters],
        lengths=list(lengths),
        counts=_compared(source.clusters, strings, parser, spelling, report),
        strings=[
            [[None if text is None else " ".join(text) for text in row] for row in of] for of in strings
        ],
        copied=copies(strings, [cluster.sentences for cluster in source.clusters]),
        fluency=None if fluency_model is None else fluency(store, fluency_model, strings),
        undefined=undefined,
        signature=f"{spelling.signature}|undefined:{undefined}|parser:{made_by}",
        parameters={
            "clusters": source.source,
            "sha256": source.sha256,
            "number": len(source.clusters),
            "sentences": sum(len(cluster.sentences) for cluster in source.clusters),
            "lengths": written_lengths(sorted(lengths)),
            "parser": made_by,
            "undefined": undefined,
            "fluency": fluency_model,
            "heads": source.heads,
            **asdict(spelling),
            **system.parameters,
        },
    )
    return recorder.record(result)


def copies(strings: Strings, clusters: Sequence[Sequence[Sentence]]) -> Bools:
    """Return (systems, clusters, lengths) whether a string is a sentence of its cluster or a piece of one."""
    return np.array(
        [
            [
                [text is not None and is_copied(text, cluster) for text in row]
                for row, cluster in zip(system, clusters, strict=True)
            ]
            for system in strings
        ],
        bool,
    )


def is_copied(words: Sequence[str], sentences: Sequence[Sentence]) -> bool:
    """Return whether words are a sentence of some, or a part of one, whatever their case."""
    return any(_spaced(words) in _spaced(sentence.forms) for sentence in sentences)


def fluency(store: Store, model: str, strings: Strings) -> Floats:
    """Return (systems, clusters, lengths) log10 a word, the end included, by a model; NaN without a string.

    Raises:
        NotFoundError: there is no such model.
    """
    values = np.full((len(strings), len(strings[0]), len(strings[0][0])), np.nan)
    texts = {
        (s, c, i): text
        for s, system in enumerate(strings)
        for c, row in enumerate(system)
        for i, text in enumerate(row)
        if text is not None
    }
    scores = score_sentences(store, find(store, model), list(texts.values()))
    for place, score in zip(texts, scores, strict=True):
        values[place] = score.log10 / (len(score.words) + 1)
    return values


def _check(source: ClusterSet, lengths: Sequence[int], settings: GenerationSettings) -> None:
    """Refuse an experiment without clusters or lengths, or whose system is the baseline."""
    if not source.clusters:
        raise InputError("there are no clusters to generate from", path=source.source or None)
    if not lengths:
        raise InputError("there are no lengths to generate; give some, such as 1-40")
    if settings.algorithm == _BASELINE:
        raise InputError("the bigram baseline is what systems are compared with; choose another one")


def _generated(
    clusters: Sequence[Sequence[Sentence]],
    systems: Sequence[StringMaker],
    lengths: Sequence[int],
    progress: Progress,
) -> Strings:
    """Return the best string of each length: [system][cluster][length], None where there is none."""
    index_of = {length: i for i, length in enumerate(lengths)}
    strings: Strings = [[[None] * len(lengths) for _ in clusters] for _ in systems]
    total = len(systems) * len(clusters)
    with stored_clusters(clusters) as store:
        for s, (settings, reranker, dependencies) in enumerate(systems):
            for sentence in generate(
                store,
                CORPUS,
                lengths=lengths,
                settings=settings,
                dependencies=dependencies,
                reranker=reranker,
            ):
                number = int(sentence.cluster)
                strings[s][number][index_of[sentence.length]] = sentence.words
                # Counted once for each cluster, whose shortest sentence is first.
                if sentence.length == min(lengths):
                    progress("clusters", s * len(clusters) + number + 1, total)
    return strings


def _compared(
    clusters: Sequence[Cluster], strings: Strings, parser: Parser, spelling: Spelling, progress: Progress
) -> Longs:
    """Parse all different strings, and count the matching relations."""
    wanted = (text for of in strings for row in of for text in row if text is not None)
    trees = parse_once(wanted, parser, partial(progress, "strings"))
    lengths = len(strings[0][0])
    # The last axis: generated, matched, source, recalled.
    counts = np.zeros((len(strings), len(clusters), lengths, len(KINDS), 4), np.int64)
    for c, cluster in enumerate(clusters):
        source = SourceArguments(cluster.sentences, spelling)
        for s in range(len(strings)):
            for i, text in enumerate(strings[s][c]):
                if text is not None:
                    by_kind = source.compare([trees[text]])
                    counts[s, c, i] = [
                        (match.generated, match.matched, match.source, match.recalled)
                        for match in (by_kind[kind] for kind in KINDS)
                    ]
    return counts


#: Of each system, cluster and length.
Strings = list[list[list[tuple[str, ...] | None]]]


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words).lower()} "
