"""What an evaluation of generation found: counts for every string, curves by length, and their tests.

Wan et al. 2005, section 5: a figure of a length is the mean over clusters, and systems are compared, a
length at a time, by the two-tailed Wilcoxon signed-rank test over clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sentgen.arrays import Bools, Floats, Longs
from sentgen.evaluation.check.verb_arguments import KINDS, Kind
from sentgen.evaluation.figures.measurement import holm
from sentgen.evaluation.figures.results import FigureRow, OutputRow, RunResult
from sentgen.output.wording import quantity

Metric = Literal["precision", "recall"]
METRICS: tuple[Metric, ...] = ("precision", "recall")
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
        """Return by how much the first system is better."""
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
        """Return such as ``adjacent precision``."""
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
        strings: of each system, cluster and length; None where it made none.
        copied: (systems, clusters, lengths) whether a string is a sentence of its cluster or a piece of one.
        fluency: (systems, clusters, lengths) log10 a word by a model; None if none was asked.
        undefined: what a figure is where there is nothing to count: left out, or 0.
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
        return [self.curve(metric, kind) for metric in METRICS for kind in KINDS]

    def figures(self, metric: Metric, kind: Kind) -> Floats:
        """Return (systems, clusters, lengths) figures of single strings; NaN where there is none."""
        part, whole = self._counts(metric, kind)
        found = np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
        if self.undefined == "zero":
            # Only where there is a string: what was not made is no failure of the string.
            found[np.isnan(found) & self.made] = 0
        return found

    def curve(self, metric: Metric, kind: Kind) -> Curve:
        """Return a figure by length with its tests."""
        figures, counts = self.figures(metric, kind), self._counts(metric, kind)
        # For both systems, or their means would be over different clusters.
        defined: Bools = np.asarray(~np.isnan(figures).any(axis=0))
        points = []
        for i, length in enumerate(self.lengths):
            chosen = defined[:, i]
            points.append(_point(length, figures[:, chosen, i], counts[:, :, chosen, i]))
        corrected = holm([point.p for point in points])
        some = defined.any(axis=1)
        # Each cluster counts the same, however many of its lengths are defined.
        weights = defined[some] / defined[some].sum(axis=1, keepdims=True)
        means = (np.nan_to_num(figures[:, some]) * weights).sum(axis=2)
        return Curve(
            metric,
            kind,
            [replace(point, holm=p) for point, p in zip(points, corrected, strict=True)],
            _point(0, means, counts[:, :, defined]),
        )

    def _counts(self, metric: Metric, kind: Kind) -> Longs:
        """Return (2, systems, clusters, lengths) matched relations, and all of them."""
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
        for metric in METRICS:
            figures = self.figures(metric, "all")
            for s, c, i in np.argwhere(~np.isnan(figures)).tolist():
                name = f"{metric}:all:{self.lengths[i]}"
                yield FigureRow(self.systems[s], name, float(figures[s, c, i]), self.signature, c + 1)

    def outputs(self) -> Iterator[OutputRow]:
        """Yield every string; clusters are its items, there is no reference."""
        for system, of in zip(self.systems, self.strings, strict=True):
            for item, (name, row) in enumerate(zip(self.clusters, of, strict=True), 1):
                for length, text in zip(self.lengths, row, strict=True):
                    if text is not None:
                        given = f"cluster {name}, {quantity(length, 'word')}"
                        yield OutputRow(system, item, given, text, "")


def _point(length: int, pairs: Floats, counts: Longs) -> Point:
    """Compare two systems.

    Args:
        length: of the strings.
        pairs: (2, n) figures of clusters.
        counts: (2, 2, m) matched and all relations of each system and string.
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
    """Return p of the two-tailed Wilcoxon signed-rank test; 1 where nothing differs.

    Differences of zero are left out, as Wilcoxon 1945 does. Exact for few differences without ties.
    """
    nonzero = differences[np.abs(differences) > _EQUAL]
    if not nonzero.size:
        return 1.0
    from scipy import stats  # takes a second to import

    return float(stats.wilcoxon(nonzero).pvalue)
