"""The posteriors of all word links of a pair, the choice among them, and the best path.

The posteriors of one direction are computed row by row, those of the other column by column. In between they
are in memory or, if they do not fit, in an anonymous file, which ends with the process. The posterior of a
full stop is that of its sentence.

The best path (max-plus) is found by compiled functions: as in ``inference``, scores are filled a block of
rows at a time, and the score of an event that spans several rows is kept by event; here as logs.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, PhraseLink, linked_words
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.emission import Rewriting, rewriting, rewriting_within
from sentgen.alignment.phrase_hmm.inference import (
    AlignmentLattice,
    Chain,
    Emission,
    Jumps,
    Posteriors,
    infer_rows,
    lattice,
    word_row,
)
from sentgen.alignment.phrase_hmm.kernels import add_event_links
from sentgen.alignment.phrase_hmm.lexicon import PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.words.word_classes import breaks
from sentgen.arrays import Bools, Floats, Longs, compiled
from sentgen.errors import MemoryLimitError, spell


@compiled
def _best_jumps(jumps: Jumps, source: Floats, queue: Longs, out: Floats) -> None:
    """Set ``out[i]`` to the greatest source[e] + log j(i - e) over e; ``queue`` is a buffer, (n + 1,).

    The greatest value of a far cell is that of a sliding window, kept as a queue of falling values.
    """
    n = len(source) - 1
    window = len(jumps.near) // 2
    out[:] = -np.inf
    for d in range(max(-window, 1 - n), min(window, n + 1) + 1):
        weight = jumps.near[d + window]
        start, stop = max(0, 1 - d), min(n, n + 1 - d) + 1
        target, part = out[start + d : stop + d], source[start:stop]
        for k in range(len(part)):
            value = part[k] + weight
            target[k] = value if value > target[k] else target[k]
    for cell in range(len(jumps.far)):
        first, last, weight = jumps.first[cell], jumps.last[cell], jumps.far[cell]
        head, tail, entered = 0, 0, max(0, max(1, first) - last)
        for i in range(max(1, first), min(n + 1, n + last) + 1):
            while entered <= min(n, i - first):
                # A source that is no greater than a later one is never the greatest again.
                while tail > head and source[queue[tail - 1]] <= source[entered]:
                    tail -= 1
                queue[tail] = entered
                tail += 1
                entered += 1
            while tail > head and queue[head] < i - last:
                head += 1
            if tail > head:
                value = source[queue[head]] + weight
                out[i] = value if value > out[i] else out[i]


@compiled
def _best_source(jumps: Jumps, source: Floats, target: int) -> tuple[float, int]:
    """Return the greatest source[e] + log j(target - e), and e; ties go to the e nearest to target - 1."""
    n = len(source) - 1
    window = len(jumps.near) // 2
    best, at = -np.inf, 0
    for d in range(max(-window, target - n), min(window, target) + 1):
        value = source[target - d] + jumps.near[d + window]
        if value > best or (value == best and abs(d - 1) < abs(target - at - 1)):
            best, at = value, target - d
    for cell in range(len(jumps.far)):
        for e in range(max(0, target - jumps.last[cell]), min(n, target - jumps.first[cell]) + 1):
            value = source[e] + jumps.far[cell]
            if value > best:
                best, at = value, e
    return best, at


@compiled
def _logs(probabilities: AlignmentLattice) -> AlignmentLattice:
    """Return the lattice with logs of its probabilities but P(null)."""
    emission, chain, leaps = probabilities
    # Compiled, log 0 is -inf without a warning.
    jumps = Jumps(np.log(chain.jumps.near), chain.jumps.first, chain.jumps.last, np.log(chain.jumps.far))
    words, null, prob = np.log(emission.words), np.log(emission.null), np.log(emission.prob)
    texts = emission.abstract, emission.document
    return AlignmentLattice(
        Emission(words, *texts, null, emission.forget, emission.events, prob, emission.by_end),
        Chain(chain.p0, jumps, np.log(chain.total), chain.null_moves),
        leaps,
    )


@compiled
def _best_scores(lattice: AlignmentLattice, first: int, last: int, scores: Floats) -> None:
    """Fill the log-probability of the best path to each position after each word, (rows + 1, n + 1).

    The first row is given. ``lattice`` has logs; its ``leaps.entry`` gets the score of the best jump into
    each event.
    """
    emission, chain, leaps = lattice
    events = emission.events
    n = len(emission.document)
    stay, move = np.log(chain.p0), np.log(1.0 - chain.p0)
    source, arrived, words = np.empty(n + 1), np.empty(n + 2), np.empty(n)
    queue = np.empty(n + 1, np.int64)
    for t in range(first, last):
        before, row = scores[t - first], scores[t - first + 1]
        source[:] = before - chain.total
        _best_jumps(chain.jumps, source, queue, arrived)
        null = stay + emission.null[t]
        word_row(emission, t, words)
        for e in range(n + 1):
            row[e] = (arrived[e] if chain.null_moves else before[e]) + null
        for i in range(1, n + 1):
            value = arrived[i] + (move + words[i - 1])
            row[i] = value if value > row[i] else row[i]
        for event in range(leaps.starts[t], leaps.starts[t + 1]):
            leaps.entry[event] = arrived[events.position[event]]
        for index in range(leaps.ends[t + 1], leaps.ends[t + 2]):
            other = emission.by_end[index]
            end = events.position[other] + events.width[other] - 1
            value = leaps.entry[other] + (move + emission.prob[other])
            row[end] = value if value > row[end] else row[end]


@compiled
def _follow_back(lattice: AlignmentLattice, first: int, scores: Floats, path: Longs, at: Longs) -> None:
    """Follow the best path back through the rows at hand, down to ``first``.

    ``path`` (m, 5) takes start, length, position, width and event of each segment from the last to the first,
    the width 0 for null and the event -1 for words and null. Ties go to a word event, then to events in their
    order, then to null. ``at`` is the state of the search: the number of words before the path so far, the
    position there, -1 if it is not known yet, then the target of the jump that leaves from there, and the
    number of segments so far.
    """
    emission, chain, leaps = lattice
    events = emission.events
    stay, move = np.log(chain.p0), np.log(1.0 - chain.p0)
    t, e, target, segments = at[0], at[1], at[2], at[3]
    while t > first:
        if e < 0:
            e = _best_source(chain.jumps, scores[t - first] - chain.total, target)[1]
        before = scores[t - 1 - first] - chain.total
        best = -np.inf
        segment = (t - 1, 1, e, 0, -1)
        arrived, origin = -np.inf, 0
        if e > 0:
            arrived, origin = _best_source(chain.jumps, before, e)
            word = emission.words[emission.abstract[t - 1], emission.document[e - 1]]
            best = arrived + (move + word)
            segment = (t - 1, 1, e, 1, -1)
        for index in range(leaps.ends[t], leaps.ends[t + 1]):
            event = emission.by_end[index]
            position = events.position[event]
            if position + events.width[event] - 1 != e:
                continue
            value = leaps.entry[event] + (move + emission.prob[event])
            if value > best:
                best = value
                segment = (events.start[event], events.length[event], position, events.width[event], event)
        null = (arrived if chain.null_moves else scores[t - 1 - first, e]) + (stay + emission.null[t - 1])
        if null > best:
            segment = (t - 1, 1, e, 0, -1)
        for field in range(5):
            path[segments, field] = segment[field]
        segments += 1
        t, target = segment[0], segment[2]
        # The row before an event may not be at hand yet (-1); a null that stays keeps the position.
        if segment[3] > 0 or chain.null_moves:
            e = origin if segment[4] < 0 else -1
    at[0], at[1], at[2], at[3] = t, e, target, segments


class _StopLinks:
    """Posteriors of the links of full stops, computed from the links of their sentences.

    All full stops are alike: only the words before a full stop show from which it was copied. The posterior
    is the share of the links of the abstract sentence that lead to the document sentence, times the share of
    the links of the document sentence that lead to the abstract sentence. Takes 8 bytes for each pair of
    sentences, and for each abstract sentence with each word of the longest document sentence.

    Args:
        abstract: which words of the abstract are full stops, (m,).
        document: which words of the document are full stops, (n,).
    """

    def __init__(self, abstract: Bools, document: Bools) -> None:
        self._abstract, self._document = abstract, document
        self._first_row = np.append(0, np.flatnonzero(breaks(abstract)))
        self._first_column = np.append(0, np.flatnonzero(breaks(document)))
        self._together = np.zeros((len(self._first_row), len(self._first_column)))
        #: Sums of the columns of the document sentence that continues to the left of those added so far.
        self._open = np.empty((len(self._first_row), 0))

    def leave_out(self, begin: int, chosen: Bools) -> None:
        """Set the flags of chosen links to false for full stops, in columns from ``begin`` on."""
        columns = np.flatnonzero(self._document[begin : begin + chosen.shape[1]])
        chosen[np.ix_(np.flatnonzero(self._abstract), columns)] = False

    def add(self, begin: int, links: Floats) -> None:
        """Add links of columns from ``begin`` on, (m, columns); the last columns are added first.

        Links of full stops are set to 0.
        """
        links[self._abstract] = 0.0
        links[:, self._document[begin : begin + links.shape[1]]] = 0.0
        sums = np.concatenate([np.add.reduceat(links, self._first_row, axis=0), self._open], axis=1)
        index = int(np.searchsorted(self._first_column, begin))
        end = begin + sums.shape[1]
        # Sentences that begin in these columns are complete now; the one that begins further left is not.
        firsts = self._first_column[index : np.searchsorted(self._first_column, end)]
        if len(firsts):
            whole = np.add.reduceat(sums[:, firsts[0] - begin :], firsts - firsts[0], axis=1)
            self._together[:, index : index + len(firsts)] = whole
            sums = sums[:, : firsts[0] - begin].copy()
        self._open = sums

    def above(self, threshold: float) -> Iterator[tuple[Longs, Longs, Floats]]:
        """Yield rows, columns and posteriors of links of full stops whose posterior reaches a threshold."""
        rows, columns = np.flatnonzero(self._abstract), np.flatnonzero(self._document)
        of_row = np.cumsum(breaks(self._abstract))[rows]
        of_column = np.cumsum(breaks(self._document))[columns]
        by_row, by_column = self._together.sum(axis=1), self._together.sum(axis=0)
        for row, sentence in zip(rows.tolist(), of_row.tolist(), strict=True):
            # t / row sum times t / column sum; where either is 0 there is no link, and the share is 0.
            sums, together = by_row[sentence] * by_column, self._together[sentence]
            shares = np.divide(together**2, sums, out=np.zeros_like(sums), where=sums > 0)[of_column]
            reached = np.flatnonzero(shares >= threshold)
            yield np.full(len(reached), row), columns[reached], shares[reached]


class _LinkTable:
    """Posteriors (m, n) that are written by rows and read by columns, ``width`` columns at a time."""

    def __init__(self, m: int, n: int, *, width: int, folder: Path | None = None) -> None:
        self.m, self.n, self.width = m, n, max(1, width)
        self._file: IO[bytes] | None = None
        self._table = np.empty((0, n))
        if folder is None:
            self._table = np.empty((m, n))
        else:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)

    def put(self, first: int, rows: Floats) -> None:
        """Write rows from ``first`` on."""
        if self._file is None:
            self._table[first : first + len(rows)] = rows
            return
        for begin, end in self._blocks():
            # Blocks of columns, each by rows: a block is read in one piece, a row is written in several.
            offset = self.m * begin + first * (end - begin)
            self._file.seek(8 * offset)
            self._file.write(np.ascontiguousarray(rows[:, begin:end]).data)

    def columns(self, begin: int) -> Floats:
        """Return the columns from ``begin`` on, (m, width), which may be overwritten."""
        end = min(begin + self.width, self.n)
        if self._file is None:
            return self._table[:, begin:end]
        self._file.seek(8 * self.m * begin)
        read: Floats = np.fromfile(self._file, np.float64, self.m * (end - begin))
        return read.reshape(self.m, end - begin)

    def from_last(self) -> Iterator[tuple[int, Floats]]:
        """Yield blocks of columns from the last to the first, each with the index of its first column."""
        for begin, _ in reversed(list(self._blocks())):
            yield begin, self.columns(begin)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, self.n, self.width):
            yield begin, min(begin + self.width, self.n)

    def close(self) -> None:
        """Free the memory or the file."""
        self._table = np.empty((0, self.n))
        if self._file is not None:
            self._file.close()


#: Rows, columns and posteriors of links.
_Links = tuple[Longs, Longs, Floats]


class LinkChoice:
    """Chooses the links that reach a threshold; full stops have the posterior of their sentences, if given.

    The last columns are taken first.

    Args:
        threshold: least posterior of a chosen link.
        stops: which words of the abstract, (m,), and of the document, (n,), are full stops.
        most: number of links that fit into memory.
    """

    def __init__(
        self, threshold: float, stops: tuple[Bools, Bools] | None = None, *, most: float = math.inf
    ) -> None:
        self._threshold, self._most = threshold, most
        self._stops = None
        if stops is not None and stops[0].any() and stops[1].any():
            self._stops = _StopLinks(*stops)
        self._found: list[_Links] = []
        self._count = 0

    def take(self, begin: int, links: Floats) -> None:
        """Choose links by the posteriors of columns from ``begin`` on, (m, columns), and overwrite these."""
        chosen = links >= self._threshold
        if self._stops is not None:
            self._stops.leave_out(begin, chosen)
        rows, columns = np.nonzero(chosen)
        # Before `add`, which sets the links of full stops to 0.
        self._keep(rows, columns + begin, links[rows, columns])
        if self._stops is not None:
            self._stops.add(begin, links)

    def chosen(self) -> _Links:
        """Return rows, columns and posteriors of the links, in the order of rows, then columns."""
        if self._stops is not None:
            for links in self._stops.above(self._threshold):
                self._keep(*links)
        return _by_cell(self._found, np.empty(0))

    def _keep(self, rows: Longs, columns: Longs, posteriors: Floats) -> None:
        self._count += len(rows)
        if self._count > self._most:
            raise MemoryLimitError(
                f"more than {int(self._most):,} links reach the threshold {self._threshold:g}, too many for"
                f" the memory limit; give a higher threshold, or raise {spell('memory_limit')}"
            )
        self._found.append((rows, columns, posteriors))


class Noted:
    """Posteriors that are noted while a pair is decoded, so that links can be explained.

    Args:
        floor: least posterior of the links that are noted in addition to the chosen links.
    """

    def __init__(self, floor: float) -> None:
        self.floor = floor
        #: Posteriors of the events in each direction.
        self.events: list[Floats] = []
        self._found: list[_Links] = []

    def take(self, wanted: Bools, first: tuple[int, int], *tables: Floats) -> None:
        """Note the wanted cells of blocks of rows that begin at ``first``, a block for each direction."""
        rows, columns = np.nonzero(wanted)
        posteriors = np.stack([table[rows, columns] for table in tables], axis=1)
        self._found.append((rows + first[0], columns + first[1], posteriors))

    def links(self) -> _Links:
        """Return rows, columns and posteriors (links, directions) of the noted links, by row, then column."""
        return _by_cell(self._found, np.empty((0, len(self.events))))


def _by_cell(parts: Sequence[_Links], none: Floats) -> _Links:
    """Return all links of some parts by row, then column; ``none`` are the posteriors of no link."""
    empty = np.empty(0, np.int64)
    rows, columns, posteriors = (
        np.concatenate(arrays) for arrays in zip((empty, empty, none), *parts, strict=True)
    )
    order = np.lexsort((columns, rows))
    return rows[order], columns[order], posteriors[order]


#: Called with the first of some abstract words and the posteriors of their links, (rows, n).
TakeLinks = Callable[[int, Floats], None]


def viterbi(emission: Emission, chain: Chain, *, rows: int = 0) -> tuple[float, Longs]:
    """Return the log-probability of the best path and its segments in the order of the abstract.

    A segment is (start, length, position, width, event), see ``_follow_back``. An impossible pair has none.
    With ``rows``, only that many rows of the table are in memory at a time, as in ``infer_rows``.
    """
    m, n = len(emission.abstract), len(emission.document)
    rows = min(rows, m) or max(m, 1)
    firsts = range(0, m, rows)
    scores, path = np.empty((rows + 1, n + 1)), np.empty((m, 5), np.int64)
    checkpoints = np.empty((len(firsts) - 1 if len(firsts) > 1 else 0, n + 1))
    logs_of = _logs(lattice(emission, chain))
    scores[0], scores[0, 0] = -np.inf, 0.0
    for number, first in enumerate(firsts):
        if number:
            scores[0] = scores[rows]
        if number < len(checkpoints):
            checkpoints[number] = scores[0]
        _best_scores(logs_of, first, min(first + rows, m), scores)
    final = scores[m - firsts[-1] if m else 0]
    if m and not final.max() > -np.inf:
        return -np.inf, path[:0]
    logp = _best_source(logs_of.chain.jumps, final - logs_of.chain.total, n + 1)[0] + np.log(1.0 - chain.p0)
    at = np.array([m, -1, n + 1, 0])  # words, position, target, segments: see `follow_back`
    held = firsts[-1] if m else 0
    while at[0] > 0:
        first = (int(at[0]) - 1) // rows * rows
        if first != held:
            # Only one block is in memory: the others are filled again from their checkpoints.
            scores[0], held = checkpoints[first // rows], first
            _best_scores(logs_of, first, min(first + rows, m), scores)
        _follow_back(logs_of, first, scores, path, at)
    return float(logp), path[: at[3]][::-1]


def decode_path(
    pair: PairIds,
    parameters: RewriteParameters,
    settings: PbhmmSettings,
    *,
    budget: Budget = UNBOUNDED,
    noted: Noted | None = None,
) -> Alignment:
    """Return the phrases of the best path, each with the posterior of its event, and P(null).

    With ``noted``, links and events are noted there.

    Raises:
        MemoryLimitError: the pair does not fit into the budget.
    """
    transitions = parameters.chain(settings, len(pair.document), len(pair.abstract))
    rewritten, blocks = rewriting_within(budget, pair, parameters, settings, table=False)
    _, path = viterbi(rewritten.emission, transitions, rows=blocks.rows)
    posterior = np.zeros(len(path))
    segments = [
        ((start, start + length), (position - 1, position - 1 + width))
        for start, length, position, width, _ in path.tolist()
    ]
    # Null has no words of the document, and so no links.
    cells = [cell for spans in segments for cell in linked_words(*spans)]
    linked = np.array(cells, np.int64).reshape(-1, 2)
    alone = (path[:, 3] > 0) & (path[:, 4] < 0)

    def take(first: int, words: Floats, events: Floats) -> None:
        here = alone & (path[:, 0] >= first) & (path[:, 0] < first + len(words))
        posterior[here] = words[path[here, 0] - first, path[here, 2] - 1]
        if noted is not None:
            add_event_links(rewritten.emission.events, events, first, words)
            chosen = words >= noted.floor
            inside = (linked[:, 0] >= first) & (linked[:, 0] < first + len(words))
            chosen[linked[inside, 0] - first, linked[inside, 1]] = True
            noted.take(chosen, (first, 0), words)

    posteriors = infer_rows(rewritten.emission, transitions, take, rows=blocks.rows, counting=False)
    if noted is not None:
        noted.events = [posteriors.events]
    of_event = path[:, 4] >= 0
    posterior[of_event] = posteriors.events[path[of_event, 4]]
    phrases = [
        PhraseLink(*spans, prob)
        for spans, prob in zip(segments, np.minimum(posterior, 1.0).tolist(), strict=True)
        if len(range(*spans[1]))
    ]
    return Alignment(tuple(phrases), _null(posteriors), posteriors.logp)


def decode_posterior(
    pair: PairIds,
    parameters: RewriteParameters,
    settings: PbhmmSettings,
    *,
    reverse: RewriteParameters | None = None,
    budget: Budget = UNBOUNDED,
    noted: Noted | None = None,
) -> Alignment:
    """Return the links whose posterior reaches the threshold, as phrase links of one word, and P(null).

    With ``reverse``, the parameters of the model with document and abstract exchanged, the posterior of a
    link is the root of the product of its posteriors in both models. With ``noted``, the posteriors of links
    in each direction and those of events are noted there.

    Raises:
        MemoryLimitError: the pair does not fit into the budget, or far too many links reach the threshold.
    """
    rewritten, blocks = rewriting_within(budget, pair, parameters, settings, table=True)
    pair = rewritten.pair
    stops = pair.stops() if settings.stops else None
    choice = LinkChoice(settings.threshold, stops, most=budget.most_links(explained=noted is not None))
    folder = budget.folder if blocks.in_file else None
    table = _LinkTable(len(pair.abstract), len(pair.document), width=blocks.columns, folder=folder)
    with closing(table):
        posteriors = [link_rows(rewritten, parameters, settings, table.put, rows=blocks.rows)]
        # The plan has room for one emission at a time.
        del rewritten
        if reverse is not None:

            def take(first: int, others: Floats) -> None:
                links = table.columns(first)
                if noted is not None:
                    reached = np.sqrt(links * others.T) >= settings.threshold
                    noted.take(reached, (0, first), links, others.T)
                # In place, perhaps in the table itself: these columns are not read again.
                np.multiply(links, others.T, out=links)
                choice.take(first, np.sqrt(links, out=links))

            most = budget.most_events(pair.sizes(), table=True)
            rewritten = rewriting(pair.swap_texts(), reverse, settings, most_events=most)
            posteriors.append(link_rows(rewritten, reverse, settings, take, rows=blocks.columns))
        else:
            for first, links in table.from_last():
                if noted is not None:
                    noted.take(links >= settings.threshold, (0, first), links)
                choice.take(first, links)
    if noted is not None:
        noted.events = [result.events for result in posteriors]
    phrases = [
        PhraseLink((t, t + 1), (i, i + 1), min(posterior, 1.0))
        for t, i, posterior in zip(*(part.tolist() for part in choice.chosen()), strict=True)
    ]
    return Alignment(tuple(phrases), _null(posteriors[0]), posteriors[0].logp)


def link_rows(
    rewritten: Rewriting,
    parameters: RewriteParameters,
    settings: PbhmmSettings,
    take: TakeLinks,
    *,
    rows: int = 0,
) -> Posteriors:
    """Call ``take`` with the posteriors of links, ``rows`` abstract words at a time, the last words first.

    Return the posteriors of the pair, without those of links.
    """
    emission = rewritten.emission
    transitions = parameters.chain(settings, len(emission.document), len(emission.abstract))

    def add_events(first: int, words: Floats, events: Floats) -> None:
        add_event_links(emission.events, events, first, words)
        take(first, words)

    return infer_rows(emission, transitions, add_events, rows=rows, counting=False)


def _null(posteriors: Posteriors) -> tuple[float, ...]:
    # Rounding may make a probability larger than 1, here and where links get theirs.
    return tuple(np.minimum(posteriors.null, 1.0).tolist())
