"""Compiled loops over events, shares of posteriors and sums of weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bools, Bytes, Floats, Ints, Longs, compiled


class TextPhrases(NamedTuple):
    """The different phrases of a text and their occurrences.

    Phrases from ``first_word`` on are single words. The occurrences k of phrase p, from ``starts[p]`` up to
    ``starts[p + 1]``, begin at ``offset[k]`` (from 0) and have ``length[k]`` words; ``place[l - 1, t]`` is
    the phrase of l words at t, -1 for none.
    """

    first_word: int
    starts: Longs
    offset: Longs
    length: Longs
    place: Longs


class PhraseCells(NamedTuple):
    """Cells of phrases: abstract phrase p has the cells k from ``starts[p]`` up to ``starts[p + 1]``."""

    starts: Longs
    document: Longs
    cell: Longs


class EqualRuns(NamedTuple):
    """Runs of two or more words that both texts have, by their start t in the abstract.

    Those at t are k from ``starts[t]`` up to ``starts[t + 1]``; they begin at ``position[k]`` (from 0) of the
    document and have up to ``longest[k]`` words.
    """

    starts: Longs
    position: Longs
    longest: Longs


class EventOrder(NamedTuple):
    """Events sorted by their start, all arrays (events,).

    ``start`` (from 0) and ``length`` are the span in the abstract, ``position`` (from 1) and ``width`` that
    in the document; ``cell`` and ``stem_cell`` are -1 for none; ``stems`` and ``words`` flag copies of stems
    and of words.
    """

    start: Longs
    length: Longs
    position: Longs
    width: Longs
    cell: Longs
    stem_cell: Longs
    stems: Bools
    words: Bools


@compiled
def _gallop(targets: Ints, first: int, last: int, wanted: int) -> int:
    """Return the first index from ``first`` on with a value not less than ``wanted``, or ``last``."""
    step = 1
    low = first
    while low + step < last and targets[low + step] < wanted:
        low += step
        step *= 2
    high = min(low + step, last)
    while low < high:
        middle = (low + high) // 2
        if targets[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def find_cells(
    rows: Longs,
    firsts: Longs,
    lasts: Longs,
    columns: Longs,
    wanted: Longs,
    targets: Ints,
    cells: Longs,
) -> int:
    """Find the cells of wanted columns in rows of a table; return their number.

    Row d has the cells ``firsts[d]`` up to ``lasts[d]``, in the order of their targets; ``wanted`` is sorted.
    ``cells`` takes (rows[d], columns[s], cell).
    """
    count = 0
    for d in range(len(firsts)):
        cell, last = firsts[d], lasts[d]
        # A scan of all cells is faster than galloping in rows that are not much longer than ``wanted``.
        sparse = last - cell > 4 * len(wanted)
        for s in range(len(wanted)):
            if sparse:
                cell = _gallop(targets, cell, last, wanted[s])
            else:
                while cell < last and targets[cell] < wanted[s]:
                    cell += 1
            if cell == last:
                break
            if targets[cell] == wanted[s]:
                cells[count, 0], cells[count, 1], cells[count, 2] = rows[d], columns[s], cell
                count += 1
    return count


@compiled
def place_hits(hits: Longs, size: int) -> PhraseCells:
    """Sort (document phrase, abstract phrase, cell) by abstract phrase, of which there are ``size``."""
    starts = np.zeros(size + 1, np.int64)
    for k in range(len(hits)):
        starts[hits[k, 1] + 1] += 1
    for s in range(size):
        starts[s + 1] += starts[s]
    # A stable counting sort.
    document, cell = np.empty(starts[size], np.int64), np.empty(starts[size], np.int64)
    next_free = starts[:-1].copy()
    for k in range(len(hits)):
        s = hits[k, 1]
        document[next_free[s]], cell[next_free[s]] = hits[k, 0], hits[k, 2]
        next_free[s] += 1
    return PhraseCells(starts, document, cell)


@compiled
def count_runs(abstract: Ints, document: Ints) -> int:
    """Return the number of pairs of positions at which runs of two or more equal words begin."""
    count = 0
    for t in range(len(abstract) - 1):
        first, second = abstract[t], abstract[t + 1]
        for i in range(len(document) - 1):
            count += (document[i] == first) & (document[i + 1] == second)
    return count


@compiled
def run_lengths(abstract: Ints, document: Ints, longest: int, count: int) -> Longs:
    """Return (start, position, length of the longest run) of all runs of two or more equal words.

    ``start`` and ``position`` count from 0; runs are sorted by both. ``count`` is their number
    (``count_runs``).
    """
    m, n = len(abstract), len(document)
    runs = np.empty((count, 3), np.int64)
    below = np.zeros(n + 1, np.int64)
    here = np.zeros(n + 1, np.int64)
    for t in range(m - 1, -1, -1):
        for i in range(n - 1, -1, -1):
            here[i] = 1 + below[i + 1] if abstract[t] == document[i] else 0
            if here[i] > 1:
                # Both texts are scanned backwards: filled from the end, the runs are in order.
                count -= 1
                runs[count] = (t, i, min(here[i], longest))
        below, here = here, below
    return runs


@compiled
def count_events(document: TextPhrases, abstract: TextPhrases, hits: PhraseCells) -> int:
    """Return the number of events of the cells of phrases."""
    count = 0
    for s in range(len(hits.starts) - 1):
        times = abstract.starts[s + 1] - abstract.starts[s]
        for k in range(hits.starts[s], hits.starts[s + 1]):
            d = hits.document[k]
            count += times * (document.starts[d + 1] - document.starts[d])
    return count


@compiled
def _fill_from(
    field: int,
    t: int,
    length: int,
    side: tuple[TextPhrases, TextPhrases, PhraseCells],
    count: int,
    at: Longs,
    fields: Longs,
) -> int:
    """Add the events of a table for the abstract phrase at t; ``at`` (K, n) has the events so far."""
    document, abstract, hits = side
    if length > len(abstract.place) or abstract.place[length - 1, t] < 0:
        return count
    s = abstract.place[length - 1, t]
    for k in range(hits.starts[s], hits.starts[s + 1]):
        d = hits.document[k]
        for span in range(document.starts[d], document.starts[d + 1]):
            offset, width = document.offset[span], document.length[span]
            event = at[width - 1, offset]
            if event < 0:
                event = count
                at[width - 1, offset] = event
                fields[:, event] = (t, length, offset + 1, width, -1, -1)
                count += 1
            fields[field, event] = hits.cell[k]
    return count


@compiled
def _is_run(runs: EqualRuns, t: int, position: int, length: int) -> bool:
    """Return whether a run from (t, position) has at least ``length`` words."""
    first, last = runs.starts[t], runs.starts[t + 1]
    k = first + np.searchsorted(runs.position[first:last], position)
    return bool(k < last and runs.position[k] == position and runs.longest[k] >= length)


@compiled
def fill_events(
    m: int,
    n: int,
    table: tuple[TextPhrases, TextPhrases, PhraseCells],
    stems: tuple[TextPhrases, TextPhrases, PhraseCells],
    stem_runs: EqualRuns,
    word_runs: EqualRuns,
    fields: Longs,
    equal: Bools,
) -> int:
    """Fill the six numbers (6, room) and two flags (2, room) of `EventOrder`; return the number of events."""
    widest = max(len(table[0].place), len(stems[0].place))
    longest = max(len(table[1].place), len(stems[1].place))
    at = np.full((widest, n), -1)
    count = 0
    for t in range(m):
        for length in range(1, longest + 1):
            before = count
            count = _fill_from(4, t, length, table, count, at, fields)
            count = _fill_from(5, t, length, stems, count, at, fields)
            for k in range(stem_runs.starts[t], stem_runs.starts[t + 1]):
                # A run of one word is in the matrix of words, not an event.
                if length < 2 or stem_runs.longest[k] < length:
                    continue
                position = stem_runs.position[k]
                event = at[length - 1, position] if length <= widest else -1
                if event < 0:
                    event = count
                    fields[:, event] = (t, length, position + 1, length, -1, -1)
                    count += 1
                equal[0, event] = True
                equal[1, event] = _is_run(word_runs, t, position, length)
            for event in range(before, count):
                # Only cells that were set: all of `at` are widest * n cells for each phrase of the abstract.
                if fields[3, event] <= widest:
                    at[fields[3, event] - 1, fields[2, event] - 1] = -1
        for k in range(stem_runs.starts[t], stem_runs.starts[t + 1]):
            position = stem_runs.position[k]
            # Runs longer than any phrase of the tables, which have no such event.
            for length in range(longest + 1, stem_runs.longest[k] + 1):
                fields[:, count] = (t, length, position + 1, length, -1, -1)
                equal[0, count] = True
                equal[1, count] = _is_run(word_runs, t, position, length)
                count += 1
    return count


@compiled
def by_end(start: Longs, length: Longs, m: int) -> Longs:
    """Return the events in the order of their ends, events with the same end in their own order."""
    offset = np.zeros(m + 2, np.int64)
    for event in range(len(start)):
        offset[start[event] + length[event] + 1] += 1
    for t in range(m + 1):
        offset[t + 1] += offset[t]
    order = np.empty(len(start), np.int64)
    for event in range(len(start)):
        end = start[event] + length[event]
        order[offset[end]] = event
        offset[end] += 1
    return order


#: The components of the mixture, in the order of their weights.
TABLE, STEMS, IDENTITY = range(3)


class Components(NamedTuple):
    """The components of rewrites before weighting, and their cells in the tables.

    ``cells`` and ``stem_cells`` are indexes in the tables, -1 for none; ``learnt`` is the part of the first
    component that comes from the trained table (``PbhmmSettings.trust``).
    """

    parts: Floats  # (3, rewrites)
    cells: Longs  # (rewrites,)
    stem_cells: Longs
    learnt: Floats


class Credits(NamedTuple):
    """Expected counts of the cells of the tables and of the components."""

    table: Floats  # (cells,)
    stems: Floats
    weights: Floats  # (3,)


@compiled
def add_words(posterior: Floats, rows: Longs, columns: Longs, out: Floats) -> None:
    """Add posteriors (m, n) to sums by different word, ``out``; ``rows`` and ``columns`` are the words."""
    for t in range(posterior.shape[0]):
        row = out[rows[t]]
        for i in range(posterior.shape[1]):
            row[columns[i]] += posterior[t, i]


@compiled
def share_out(posterior: Floats, weights: Floats, components: Components, credits: Credits) -> None:
    """Divide posteriors of rewrites among the components by weights (3,) times parts.

    The parts of the first two components are added to their cells, too, of the first only its learnt share.
    """
    parts = components.parts
    for k in range(len(posterior)):
        total = (
            weights[TABLE] * parts[TABLE, k]
            + weights[STEMS] * parts[STEMS, k]
            + weights[IDENTITY] * parts[IDENTITY, k]
        )
        if total <= 0.0:
            continue
        share = posterior[k] / total
        for component in (TABLE, STEMS, IDENTITY):
            credits.weights[component] += share * weights[component] * parts[component, k]
        # The untrained part of the first component (`trust`) has no cell.
        if components.cells[k] >= 0:
            credits.table[components.cells[k]] += share * weights[TABLE] * components.learnt[k]
        if components.stem_cells[k] >= 0:
            credits.stems[components.stem_cells[k]] += share * weights[STEMS] * parts[STEMS, k]


@compiled
def add_scores(values: Bytes, offsets: Longs, weights: Floats, scores: Floats) -> None:
    """Add to each score (rows, columns) the weights of its values (templates, rows, columns)."""
    for template in range(len(values)):
        own = weights[offsets[template] :]
        for t in range(values.shape[1]):
            for i in range(values.shape[2]):
                scores[t, i] += own[values[template, t, i]]


@compiled
def add_counts(values: Bytes, offsets: Longs, posteriors: Floats, counts: Floats) -> None:
    """Add each posterior (rows, columns) to the counts of its values; the transpose of ``add_scores``."""
    for template in range(len(values)):
        own = counts[offsets[template] :]
        for t in range(values.shape[1]):
            for i in range(values.shape[2]):
                own[values[template, t, i]] += posteriors[t, i]


@compiled
def add_along(events: EventOrder, scores: Floats, sums: Floats) -> None:
    """Add to the sum of each event the scores of its links; events are copies, linked one to one."""
    for event in range(len(sums)):
        for k in range(events.length[event]):
            sums[event] += scores[events.start[event] + k, events.position[event] - 1 + k]


@compiled
def add_event_links(events: EventOrder, posterior: Floats, first: int, links: Floats) -> None:
    """Add the posteriors of phrase events to their links with abstract words from ``first`` on, (rows, n).

    The words of a copy are linked one to one, those of other events each with each.
    """
    last = first + len(links)
    for event in range(len(posterior)):
        start, length, copied = events.start[event], events.length[event], events.stems[event]
        for s in range(max(0, first - start), min(length, last - start)):
            # A text that is copied as a whole has an event for each two of its words.
            for d in range(s if copied else 0, s + 1 if copied else events.width[event]):
                links[start + s - first, events.position[event] - 1 + d] += posterior[event]


@compiled
def share_out_events(
    events: EventOrder, shares: Floats, starts: Longs, columns: Longs, swapped: bool, out: Floats
) -> None:
    """Add the shares of components in the posteriors of events, (components, events), to their links.

    The links are those of ``add_event_links`` that are wanted: abstract word t with the document words
    ``columns[k]``, ascending, for k from ``starts[t]`` up to ``starts[t + 1]``; ``out`` is (wanted,
    components). If ``swapped``, the abstract of the events is the document of the links.
    """
    for event in range(shares.shape[1]):
        start, length = events.start[event], events.length[event]
        position, width = events.position[event] - 1, events.width[event]
        copied = events.stems[event]
        for s in range(length):
            for d in range(s if copied else 0, s + 1 if copied else width):
                row, column = start + s, position + d
                if swapped:
                    row, column = column, row
                first, last = starts[row], starts[row + 1]
                k = first + np.searchsorted(columns[first:last], column)
                if k < last and columns[k] == column:
                    for component in range(len(shares)):
                        out[k, component] += shares[component, event]
