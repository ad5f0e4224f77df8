"""Small cases of the phrase-based HMM, and all their segmentations, enumerated from the formulas of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.inference import Chain, Emission, jump_cells, totals
from sentgen.alignment.phrase_hmm.kernels import EventOrder
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds, phrase_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings

#: Words of which some have the stem of another.
WORDS = ("run", "runs", "running", "cat", "cats", "the")


def random_emission(
    rng: np.random.Generator, m: int, n: int, *, longest: int = 3, forgetting: float = 0.0
) -> Emission:
    """Make up rewrite probabilities, half of all phrase events among them.

    A share of ``forgetting`` of the words has a probability that the position is forgotten before them.
    """
    found = [
        (t, length, i, k)
        for t in range(m)
        for i in range(1, n + 1)
        for length in range(1, longest + 1)
        for k in range(1, longest + 1)
        if (length, k) != (1, 1) and t + length <= m and i + k - 1 <= n and rng.random() < 0.5
    ]
    fields = np.array(found, np.int64).reshape(-1, 4)
    start, length, position, width = (np.ascontiguousarray(column) for column in fields.T)
    prob = rng.random(len(fields)) * 0.05
    by_end = np.argsort(start + length, kind="stable")
    none, no = np.full(len(found), -1), np.zeros(len(found), np.bool_)
    events = EventOrder(start, length, position, width, none, none, no, no)
    words, null = rng.random((m, n)) * 0.1, rng.random(m) * 0.1
    forget = np.where(rng.random(m) < forgetting, rng.random(m), 0.0)
    return Emission(words, np.arange(m), np.arange(n), null, forget, events, prob, by_end)


def random_chain(rng: np.random.Generator, n: int, *, position: bool, null_moves: bool) -> Chain:
    """Make up jumps, some of them in cells that several distances share."""
    cells = jump_cells(int(rng.integers(1, 8)), 16)
    jumps = cells.weights(rng.dirichlet(np.ones(len(cells.first))))
    return Chain(0.3, jumps, totals(jumps, n) if position else np.ones(n + 1), null_moves and n > 0)


def random_pairs(rng: np.random.Generator, count: int, *, longest: int = 4) -> list[Pair]:
    """Make up pairs of one to four words on each side."""

    def text() -> tuple[str, ...]:
        return tuple(WORDS[word] for word in rng.integers(0, len(WORDS), rng.integers(1, longest + 1)))

    return [Pair(str(number), text(), text()) for number in range(count)]


def random_parameters(
    rng: np.random.Generator, pairs: Sequence[PairIds], lexicon: Lexicon, settings: PbhmmSettings
) -> RewriteParameters:
    """Return the cells that pairs support, with made-up probabilities."""
    start = RewriteParameters.initial(pairs, lexicon.stem_of, settings)

    def filled(table: RewriteTable) -> RewriteTable:
        return replace(table, prob=table.normalized(rng.random(len(table))))

    return RewriteParameters(
        p0=float(rng.uniform(0.1, 0.9)),
        jumps=rng.dirichlet(np.ones(len(start.jumps))),
        weights=rng.dirichlet(np.ones(3)),
        table=filled(start.table),
        stems=filled(start.stems),
        unigram=rng.dirichlet(np.ones(len(start.unigram))),
        forms=start.forms,
        unseen=start.unseen,
    )


@dataclass(frozen=True)
class Segment:
    """Words start..start+length of the abstract, from document words position.. (from 1); width 0 is null."""

    start: int
    length: int
    position: int
    width: int
    jump: int | None
    parts: tuple[float, float, float] = (0, 0, 0)
    cell: int = -1
    stem_cell: int = -1


class Oracle:
    """All segmentations of a pair, by recursion over the formulas, with dictionaries instead of arrays."""

    def __init__(self, pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings) -> None:
        """Prepare the jumps as a dictionary by distance, and the tables by their keys."""
        self.pair, self.parameters, self.settings = pair, parameters, settings
        self.m, self.n = len(pair.abstract), len(pair.document)
        cells = jump_cells(settings.window, settings.reach)
        self.cell_of = {
            d: c for c in range(len(cells.first)) for d in range(cells.first[c], cells.last[c] + 1)
        }
        self.jump = {d: parameters.jumps[c] / cells.sizes[c] for d, c in self.cell_of.items()}
        self.tables = [
            {key: cell for cell, key in enumerate(zip(t.document.tolist(), t.abstract.tolist(), strict=True))}
            for t in (parameters.table, parameters.stems)
        ]
        self.paths = list(self._paths(0, 0, 1.0, ()))
        self.likelihood = sum(prob for prob, _ in self.paths)

    def _leap(self, position: int, target: int) -> float:
        """Return the probability of a jump, null or not left open."""
        total = 1.0
        if self.settings.normalization == "position":
            total = sum(self.jump[i - position] for i in range(1, self.n + 2))
        return float(self.jump[target - position] / total)

    def _paths(
        self, t: int, position: int, prob: float, path: tuple[Segment, ...]
    ) -> Iterator[tuple[float, tuple[Segment, ...]]]:
        p0 = self.parameters.p0
        if t == self.m:
            end = Segment(t, 0, self.n + 1, 0, self.n + 1 - position)
            yield prob * (1 - p0) * self._leap(position, self.n + 1), (*path, end)
            return
        null = p0 * float(self.parameters.unigram[self.pair.abstract[t]])
        if self.settings.null == "stay":
            yield from self._paths(t + 1, position, prob * null, (*path, Segment(t, 1, position, 0, None)))
        else:
            for i in range(1, self.n + 1):
                segment = Segment(t, 1, i, 0, i - position)
                yield from self._paths(t + 1, i, prob * null * self._leap(position, i), (*path, segment))
        for i in range(1, self.n + 1):
            for width in range(1, self.n - i + 2):
                for length in range(1, self.m - t + 1):
                    parts, cell, stem_cell = self._rewrite(t, length, i, width)
                    rewrite = float(self.parameters.weights @ np.array(parts))
                    if rewrite:
                        segment = Segment(t, length, i, width, i - position, parts, cell, stem_cell)
                        move = (1 - p0) * self._leap(position, i) * rewrite
                        yield from self._paths(t + length, i + width - 1, prob * move, (*path, segment))

    def _rewrite(
        self, t: int, length: int, i: int, width: int
    ) -> tuple[tuple[float, float, float], int, int]:
        """Return the components of rewrite(s | d), and the cells of the tables."""
        settings, parameters = self.settings, self.parameters
        s, d = self.pair.abstract[t : t + length], self.pair.document[i - 1 : i - 1 + width]
        s_stems = self.pair.abstract_stems[t : t + length]
        d_stems = self.pair.document_stems[i - 1 : i - 1 + width]

        def share(stems: np.ndarray) -> float:
            if settings.constants == "one":
                return 1.0
            return float(1 / np.prod(parameters.forms[stems]))

        def cell(table: int, left: np.ndarray, right: np.ndarray) -> int:
            if width > settings.max_document_phrase or length > settings.max_abstract_phrase:
                return -1
            key = int(phrase_keys(left, width)[0]), int(phrase_keys(right, length)[0])
            return self.tables[table].get(key, -1)

        place, stem_place = cell(0, d, s), -1
        first = float(parameters.table.prob[place]) if place >= 0 else 0.0
        same = float(np.array_equal(s_stems, d_stems))
        if settings.stems == "equal":
            return (first, same * share(d_stems), float(np.array_equal(s, d))), place, -1
        stem_place = cell(1, d_stems, s_stems)
        second = float(parameters.stems.prob[stem_place]) if stem_place >= 0 else 0.0
        return (first, second * share(s_stems), same * share(d_stems)), place, stem_place

    def expected(self) -> dict[str, Counter[object]]:
        """Return the expected counts of everything that EM counts."""
        counts: dict[str, Counter[object]] = {
            name: Counter() for name in ("table", "stems", "unigram", "weights", "jumps", "kinds")
        }
        for prob, path in self.paths:
            share = prob / self.likelihood
            for segment in path:
                if segment.jump is not None:
                    counts["jumps"][self.cell_of[segment.jump]] += share
                if segment.width == 0 and segment.length:
                    counts["kinds"]["null"] += share
                    counts["unigram"][int(self.pair.abstract[segment.start])] += share
                    continue
                counts["kinds"]["move"] += share
                weighted = self.parameters.weights * np.array(segment.parts)
                for component, part in enumerate(weighted / weighted.sum() if segment.width else ()):
                    counts["weights"][component] += share * part
                    if component == 0:
                        counts["table"][segment.cell] += share * part
                    if component == 1:
                        counts["stems"][segment.stem_cell] += share * part
        return counts

    def rejected(self) -> Counter[int]:
        """Return the jumps drawn in vain by cell, from the geometric number of draws before each jump."""
        counts: Counter[int] = Counter()
        for prob, path in self.paths:
            ends = [0, *(one.position + max(one.width, 1) - 1 for one in path)]
            for (before, _), segment in zip(pairwise(ends), path, strict=True):
                if segment.jump is None:
                    continue
                inside = {i - before for i in range(1, self.n + 2)}
                total = sum(self.jump[d] for d in inside)
                for d, weight in self.jump.items():
                    if d not in inside:
                        counts[self.cell_of[d]] += prob / self.likelihood * weight / total
        return counts
