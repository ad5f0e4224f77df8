"""The posteriors of all word links of a pair, the choice among them, and the best path.

The posteriors of a direction come row by row, those of the other direction column by column. Between them
they lie in memory, or where they do not fit in a file without a name, which goes with the process. Full stops
follow the words before them.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, PhraseLink
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.decode_kernels import (
    add_event_links,
    best_scores,
    best_source,
    follow_back,
    logs,
)
from sentgen.alignment.phrase_hmm.emission import Rewriting, rewriting, rewriting_within
from sentgen.alignment.phrase_hmm.inference import Posteriors, chain, infer_rows
from sentgen.alignment.phrase_hmm.lattice_kernels import Chain, Emission, lattice
from sentgen.alignment.phrase_hmm.lexicon import PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.words.word_classes import breaks
from sentgen.arrays import Bools, Floats, Longs
from sentgen.errors import MemoryLimitError, spell


class _StopLinks:
    """Posteriors of links of full stops, which are those of their sentences.

    One full stop looks like the other: which one is copied, only the words before it know. The posterior is
    the share of the links of the abstract sentence that lead to the document sentence, times the share of
    those of the document sentence that lead to the abstract sentence. Takes 8 bytes for each pair of
    sentences, and for each abstract sentence with each word of the longest document sentence.

    Args:
        abstract: Which words of the abstract are full stops, (m,),
        document: and of the document, (n,).
    """

    def __init__(self, abstract: Bools, document: Bools) -> None:
        self._abstract, self._document = abstract, document
        self._first_row = np.append(0, np.flatnonzero(breaks(abstract)))
        self._first_column = np.append(0, np.flatnonzero(breaks(document)))
        self._together = np.zeros((len(self._first_row), len(self._first_column)))
        #: Sums of the columns of the document sentence that goes on to the left of those at hand.
        self._open = np.empty((len(self._first_row), 0))

    def leave_out(self, begin: int, chosen: Bools) -> None:
        """Forget that links of full stops were chosen among columns from ``begin`` on."""
        columns = np.flatnonzero(self._document[begin : begin + chosen.shape[1]])
        chosen[np.ix_(np.flatnonzero(self._abstract), columns)] = False

    def add(self, begin: int, links: Floats) -> None:
        """Add links of columns from ``begin`` on, (m, columns), which come from the last ones to the first.

        Links of full stops are set to 0.
        """
        links[self._abstract] = 0.0
        links[:, self._document[begin : begin + links.shape[1]]] = 0.0
        sums = np.concatenate([np.add.reduceat(links, self._first_row, axis=0), self._open], axis=1)
        index = int(np.searchsorted(self._first_column, begin))
        end = begin + sums.shape[1]
        # Sentences that begin here are whole now; the one that began further left waits for its columns.
        firsts = self._first_column[index : np.searchsorted(self._first_column, end)]
        if len(firsts):
            whole = np.add.reduceat(sums[:, firsts[0] - begin :], firsts - firsts[0], axis=1)
            self._together[:, index : index + len(firsts)] = whole
            sums = sums[:, : firsts[0] - begin].copy()
        self._open = sums

    def above(self, threshold: float) -> Iterator[tuple[Longs, Longs, Floats]]:
        """Yield rows, columns and posteriors of the links of full stops that reach a threshold."""
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
    """Posteriors (m, n) that are written by rows and read by columns, ``width`` of them at a time."""

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
            # Block after block, each by rows: columns are read in one stretch, rows written in pieces.
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
        """Yield the first of some columns and the columns, from the last ones to the first."""
        for begin, _ in reversed(list(self._blocks())):
            yield begin, self.columns(begin)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, self.n, self.width):
            yield begin, min(begin + self.width, self.n)

    def close(self) -> None:
        """Give the memory or the file back."""
        self._table = np.empty((0, self.n))
        if self._file is not None:
            self._file.close()


class LinkChoice:
    """Chooses the links that reach a threshold; full stops have the posterior of their sentences, if given.

    Columns come from the last ones to the first.

    Args:
        threshold: least posterior.
        stops: which words of the abstract, (m,), and of the document, (n,), are full stops.
        most: links that there is room for.
    """

    def __init__(
        self, threshold: float, stops: tuple[Bools, Bools] | None = None, *, most: float = math.inf
    ) -> None:
        self._threshold, self._most = threshold, most
        self._stops = None
        if stops is not None and stops[0].any() and stops[1].any():
            self._stops = _StopLinks(*stops)
        self._found: list[tuple[Longs, Longs, Floats]] = []
        self._count = 0

    def take(self, begin: int, links: Floats) -> None:
        """Choose among the links of columns from ``begin`` on, (m, columns), which are overwritten."""
        chosen = links >= self._threshold
        if self._stops is not None:
            self._stops.leave_out(begin, chosen)
        rows, columns = np.nonzero(chosen)
        # Before `add`, which sets the links of full stops to 0.
        self._keep(rows, columns + begin, links[rows, columns])
        if self._stops is not None:
            self._stops.add(begin, links)

    def chosen(self) -> tuple[Longs, Longs, Floats]:
        """Return rows, columns and posteriors of the links, in the order of rows, then columns."""
        if self._stops is not None:
            for rows, columns, posteriors in self._stops.above(self._threshold):
                self._keep(rows, columns, posteriors)
        # To begin with, for `concatenate` refuses an empty list.
        none = np.empty(0, np.int64)
        rows, columns, posteriors = (
            np.concatenate(parts) for parts in zip((none, none, np.empty(0)), *self._found, strict=True)
        )
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], posteriors[order]

    def _keep(self, rows: Longs, columns: Longs, posteriors: Floats) -> None:
        self._count += len(rows)
        if self._count > self._most:
            raise MemoryLimitError(
                f"more than {int(self._most):,} links reach the threshold {self._threshold:g}, too many for"
                f" the memory limit; give a higher threshold, or raise {spell('memory_limit')}"
            )
        self._found.append((rows, columns, posteriors))


class Noted:
    """What is noted of a pair while it is decoded, so that links can be explained (``reasons``).

    Args:
        floor: least posterior of the links that are noted, beside those that are chosen.
    """

    def __init__(self, floor: float) -> None:
        self.floor = floor
        #: Posteriors of the events in each direction.
        self.events: list[Floats] = []
        self._found: list[tuple[Longs, Longs, Floats]] = []

    def take(self, wanted: Bools, first: tuple[int, int], *tables: Floats) -> None:
        """Note cells of tables that begin at ``first``, each with the posteriors of a direction."""
        rows, columns = np.nonzero(wanted)
        posteriors = np.stack([table[rows, columns] for table in tables], axis=1)
        self._found.append((rows + first[0], columns + first[1], posteriors))

    def links(self) -> tuple[Longs, Longs, Floats]:
        """Return rows, columns and posteriors (links, directions), in the order of rows, then columns."""
        none = np.empty(0, np.int64)
        # For `concatenate` refuses an empty list, which a pair without words leaves.
        notes = self._found or [(none, none, np.empty((0, len(self.events))))]
        rows, columns, posteriors = (np.concatenate(parts) for parts in zip(*notes, strict=True))
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], posteriors[order]


#: Called with the first of some abstract words and the posteriors of their links, (rows, n).
TakeLinks = Callable[[int, Floats], None]


def viterbi(emission: Emission, chain: Chain, *, rows: int = 0) -> tuple[float, Longs]:
    """Return the log-probability of the best path and its segments in the order of the abstract.

    A segment is (start, length, position, width, event), see ``follow_back``. An impossible pair has none.
    With ``rows``, only so many rows of the table are kept at a time, as in ``infer_rows``.
    """
    m, n = len(emission.abstract), len(emission.document)
    rows = min(rows, m) or max(m, 1)
    firsts = range(0, m, rows)
    scores, path = np.empty((rows + 1, n + 1)), np.empty((m, 5), np.int64)
    checkpoints = np.empty((len(firsts) - 1 if len(firsts) > 1 else 0, n + 1))
    logs_of = logs(lattice(emission, chain))
    scores[0], scores[0, 0] = -np.inf, 0.0
    for number, first in enumerate(firsts):
        if number:
            scores[0] = scores[rows]
        if number < len(checkpoints):
            checkpoints[number] = scores[0]
        best_scores(logs_of, first, min(first + rows, m), scores)
    final = scores[m - firsts[-1] if m else 0]
    if m and not final.max() > -np.inf:
        return -np.inf, path[:0]
    logp = best_source(logs_of.chain.jumps, final - logs_of.chain.total, n + 1)[0] + np.log(1.0 - chain.p0)
    at = np.array([m, -1, n + 1, 0])  # words, position, target, segments: see `follow_back`
    held = firsts[-1] if m else 0
    while at[0] > 0:
        first = (int(at[0]) - 1) // rows * rows
        if first != held:
            # Only one block is held: those before it are filled again from their checkpoints.
            scores[0], held = checkpoints[first // rows], first
            best_scores(logs_of, first, min(first + rows, m), scores)
        follow_back(logs_of, first, scores, path, at)
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
    transitions = chain(parameters, settings, len(pair.document), len(pair.abstract))
    rewritten, blocks = rewriting_within(budget, pair, parameters, settings, table=False)
    _, path = viterbi(rewritten.emission, transitions, rows=blocks.rows)
    posterior = np.zeros(len(path))
    linked = _path_links(path)
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
        PhraseLink((start, start + length), (position - 1, position - 1 + width), _at_most_one(prob))
        for (start, length, position, width, _), prob in zip(path.tolist(), posterior.tolist(), strict=True)
        if width
    ]
    return Alignment(tuple(phrases), _null(posteriors), posteriors.logp)


def _path_links(path: Longs) -> Longs:
    """Return the word links of the segments of a path, (links, 2): of as many words one to one."""
    links = [
        (start + s, position - 1 + d)
        for start, length, position, width, _ in path.tolist()
        for s in range(length)
        for d in ((s,) if length == width else range(width))
    ]
    return np.array(links, np.int64).reshape(-1, 2)


def decode_posterior(
    pair: PairIds,
    parameters: RewriteParameters,
    settings: PbhmmSettings,
    *,
    reverse: RewriteParameters | None = None,
    budget: Budget = UNBOUNDED,
    noted: Noted | None = None,
) -> Alignment:
    """Return the links whose posterior reaches the threshold, each a phrase of one word, and P(null).

    With ``settings.both``, the posterior of a link is the root of the product of its posteriors in the model
    and in the model with document and abstract exchanged, whose parameters are ``reverse``. With ``noted``,
    what these are in each direction is noted there, and the posteriors of events.

    Raises:
        MemoryLimitError: the pair does not fit into the budget, or far too many links reach the threshold.
    """
    if settings.both and reverse is None:
        raise ValueError("decoding in both directions needs the parameters of the other one")
    rewritten, blocks = rewriting_within(budget, pair, parameters, settings, table=True)
    pair = rewritten.pair
    stops = pair.stops() if settings.stops else None
    choice = LinkChoice(settings.threshold, stops, most=budget.most_links(explained=noted is not None))
    folder = budget.folder if blocks.in_file else None
    table = _LinkTable(len(pair.abstract), len(pair.document), width=blocks.columns, folder=folder)
    with closing(table):
        posteriors = [link_rows(rewritten, parameters, settings, table.put, rows=blocks.rows)]
        # One emission at a time is what the plan has room for.
        del rewritten
        if settings.both:
            assert reverse is not None

            def take(first: int, others: Floats) -> None:
                links = table.columns(first)
                if noted is not None:
                    reached = np.sqrt(links * others.T) >= settings.threshold
                    noted.take(reached, (0, first), links, others.T)
                # In place, and perhaps in the table itself: these columns are not asked for again.
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
        PhraseLink((t, t + 1), (i, i + 1), _at_most_one(posterior))
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
    """Hand over the posteriors of links, so many abstract words at a time, from the last ones to the first.

    Returns the posteriors of events that they sum up.
    """
    emission = rewritten.emission
    transitions = chain(parameters, settings, len(emission.document), len(emission.abstract))

    def add_events(first: int, words: Floats, events: Floats) -> None:
        add_event_links(emission.events, events, first, words)
        take(first, words)

    return infer_rows(emission, transitions, add_events, rows=rows, counting=False)


def _null(posteriors: Posteriors) -> tuple[float, ...]:
    return tuple(_at_most_one(prob) for prob in posteriors.null.tolist())


def _at_most_one(prob: float) -> float:
    """Return a probability without what rounding put above one."""
    return min(1.0, float(prob))
