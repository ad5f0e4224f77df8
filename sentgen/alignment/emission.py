"""The rewrite probabilities of a pair, a mixture (Daumé & Marcu 2004, sec. 2.3.4).

    rewrite(s | d) = w1 T(s | d) + w2 U(stem s | stem d) / N(stem s) + w3 [stems equal] / N(stem d)

T is the table of words and phrases, U that of stems, and N the number of abstract words with a stem (for
phrases, the product over their words), which makes each component sum to one. With ``stems="equal"`` the
second component is [stems equal] / N(stem d) and the third [equal]. What is equal may be of any length.
Words that are akin (see ``kinship``) have constants in the second component then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentgen.alignment.emission_kernels import add_cells, add_words, find_cells, run_lengths
from sentgen.alignment.jumps import Floats
from sentgen.alignment.lattice_kernels import Emission, Indices
from sentgen.alignment.lexicon import Ids, PairIds, phrase_keys
from sentgen.alignment.parameters import Parameters, RewriteTable
from sentgen.alignment.settings import Settings

#: Fields of a phrase event: start (from 0), length, position (from 1), width.
Events = npt.NDArray[np.int64]  # (events, 4)
#: Most events of copied runs of a pair; 500 words of news against 10,000 have some 200,000.
MOST_COPIES = 1 << 22


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The emission of a pair, with what each component has in it.

    ``parts`` (3, u, v) are the components over the u different words of the abstract and the v of the
    document, before weighting; ``cells`` and ``stem_cells`` (u, v) are their places in the tables, -1 for
    none. The same for the phrase events: ``event_parts`` (3, events), ``event_cells``, ``event_stem_cells``.
    ``learnt`` (u, v) is the part of the first component that the table itself has in it (``Settings.trust``).
    ``abstract`` (m,) and ``document`` (n,) lead from offsets to the different words.
    """

    emission: Emission
    abstract: Indices
    document: Indices
    parts: Floats
    cells: Indices
    stem_cells: Indices
    learnt: Floats
    event_parts: Floats
    event_cells: Indices
    event_stem_cells: Indices


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The phrases of a text: their keys, each once and sorted, and where they are.

    Occurrence ``order[starts[p]:starts[p + 1]]`` of phrase p begins at ``offset`` and has ``length`` words.
    """

    keys: Indices
    starts: Indices
    offset: Indices
    length: Indices


def _phrases(words: Ids, longest: int) -> _Phrases:
    longest = max(1, min(longest, len(words)))
    keys = np.concatenate([phrase_keys(words, length) for length in range(1, longest + 1)])
    offset = np.concatenate([np.arange(len(words) - length + 1) for length in range(1, longest + 1)])
    length = np.repeat(np.arange(1, longest + 1), [len(words) - k + 1 for k in range(1, longest + 1)])
    order = np.argsort(keys, kind="stable")
    unique, starts = np.unique(keys[order], return_index=True)
    return _Phrases(unique, np.append(starts, len(keys)), offset[order], length[order])


def _hits(table: RewriteTable, document: Indices, abstract: Indices) -> Indices:
    """Return (place in document, place in abstract, cell) of all cells of sorted keys, (hits, 3)."""
    if not len(table) or not len(document) or not len(abstract):
        return np.empty((0, 3), np.int64)
    row = np.minimum(np.searchsorted(table.rows, document), len(table.rows) - 1)
    known = table.rows[row] == document
    firsts, lasts = np.where(known, table.starts[row], 0), np.where(known, table.starts[row + 1], 0)
    room = int(np.minimum(lasts - firsts, len(abstract)).sum())
    found = np.empty((room, 3), np.int64)
    return found[: find_cells(firsts, lasts, table.abstract, abstract, found)]


def rewriting(pair: PairIds, parameters: Parameters, settings: Settings) -> Rewriting:
    """Look up all components of a pair."""
    words, document = np.unique(pair.document, return_inverse=True)
    into, abstract = np.unique(pair.abstract, return_inverse=True)
    word_stems, into_stems = (
        _stems(words, pair.document, pair.document_stems),
        _stems(into, pair.abstract, pair.abstract_stems),
    )
    same = into_stems[:, None] == word_stems[None, :]
    identical = into[:, None] == words[None, :]
    share = 1.0 / _forms(into_stems, parameters, settings)
    prior = parameters.unseen * (1.0 + same / 3.0 + identical / 3.0)
    akin = pair.kinship
    if akin is not None:
        prior[akin.abstract[:, None] != akin.document[None, :]] *= settings.mixed
    cells, event_cells = _lookup(parameters.table, pair.document, pair.abstract, settings)
    parts = np.empty((3, len(into), len(words)))
    index = _matrix(cells, into, words)
    learnt = settings.trust * _probs(parameters.table, index, prior)
    parts[0] = learnt + (1.0 - settings.trust) * prior
    stem_index, stem_events = np.full(index.shape, -1), _no_events()
    if settings.stems == "table":
        cells, stem_events = _lookup(parameters.stems, pair.document_stems, pair.abstract_stems, settings)
        stems, by_stem = np.unique(into_stems, return_inverse=True)
        others, by_other = np.unique(word_stems, return_inverse=True)
        stem_index = _matrix(cells, stems, others)[by_stem[:, None], by_other[None, :]]
        parts[1] = _probs(parameters.stems, stem_index, prior) * share[:, None]
        parts[2] = same * share[:, None]
    else:
        parts[1] = same * share[:, None]
        if akin is not None:
            by_kind = np.array([0.0, settings.related, settings.synonym, settings.similar])
            parts[1] = np.maximum(parts[1], by_kind[akin.kinds])
        parts[2] = identical
    events = _events(pair, parameters, settings, event_cells, stem_events)
    weighted = np.tensordot(parameters.weights, parts, 1)
    fields, event_parts, places = events
    null = _unigram(pair.abstract, parameters)
    if akin is not None and settings.null_function is not None:
        null[akin.abstract[abstract]] = settings.null_function
    emission = Emission(
        np.ascontiguousarray(weighted[abstract][:, document]),
        null,
        np.ascontiguousarray(fields[:, 0]),
        np.ascontiguousarray(fields[:, 1]),
        np.ascontiguousarray(fields[:, 2]),
        np.ascontiguousarray(fields[:, 3]),
        parameters.weights @ event_parts,
        np.argsort(fields[:, 0] + fields[:, 1], kind="stable"),
    )
    return Rewriting(emission, abstract, document, parts, index, stem_index, learnt, event_parts, *places)


def _stems(words: Ids, text: Ids, stems: Ids) -> Ids:
    """Return the stem of each word of a text."""
    found = np.zeros(len(words), np.int32)
    found[np.searchsorted(words, text)] = stems
    return found


def _forms(stems: Ids, parameters: Parameters, settings: Settings) -> Floats:
    """Return N(stem) of each stem, as the constants of the settings want it."""
    if settings.constants == "one":
        return np.ones(len(stems))
    known = stems < len(parameters.forms)
    count = np.full(len(stems), float(settings.forms))
    count[known] = parameters.forms[stems[known]]
    return count


def _unigram(abstract: Ids, parameters: Parameters) -> Floats:
    known = abstract < len(parameters.unigram)
    prob = np.full(len(abstract), parameters.unseen)
    prob[known] = parameters.unigram[abstract[known]]
    return prob


def _probs(table: RewriteTable, index: Indices, prior: Floats) -> Floats:
    if not len(table):
        return prior
    return np.where(index >= 0, table.prob[index], prior)


def _matrix(cells: Indices, abstract: Ids, document: Ids) -> Indices:
    """Return cells of words (document id, abstract id, cell) as a matrix, -1 for none."""
    matrix = np.full((len(abstract), len(document)), -1)
    matrix[np.searchsorted(abstract, cells[:, 1]), np.searchsorted(document, cells[:, 0])] = cells[:, 2]
    return matrix


def _no_events() -> tuple[Events, Indices]:
    return np.empty((0, 4), np.int64), np.empty(0, np.int64)


def _lookup(
    table: RewriteTable, document: Ids, abstract: Ids, settings: Settings
) -> tuple[Indices, tuple[Events, Indices]]:
    """Return the cells of single words, as ids and cell, and those of phrases, as events and cells."""
    left = _phrases(document, settings.max_document_phrase)
    right = _phrases(abstract, settings.max_abstract_phrase)
    hits = _hits(table, left.keys, right.keys)
    keys = np.stack([left.keys[hits[:, 0]], right.keys[hits[:, 1]], hits[:, 2]], axis=1)
    single = (keys[:, :2] >= 0).all(axis=1)
    return keys[single], _occurrences(left, right, hits[~single])


def _occurrences(left: _Phrases, right: _Phrases, hits: Indices) -> tuple[Events, Indices]:
    """Return an event for each way to find a phrase pair in a pair, with its cell."""
    by_left, by_right = np.diff(left.starts)[hits[:, 0]], np.diff(right.starts)[hits[:, 1]]
    times = by_left * by_right
    which = np.repeat(np.arange(len(hits)), times)
    turn = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
    one = left.starts[hits[which, 0]] + turn // by_right[which]
    other = right.starts[hits[which, 1]] + turn % by_right[which]
    events = np.stack([right.offset[other], right.length[other], left.offset[one] + 1, left.length[one]], 1)
    return events, hits[which, 2]


def _events(
    pair: PairIds,
    parameters: Parameters,
    settings: Settings,
    phrases: tuple[Events, Indices],
    stem_phrases: tuple[Events, Indices],
) -> tuple[Events, Floats, tuple[Indices, Indices]]:
    """Return all phrase events in their order, their parts (3, events), and their cells in both tables."""
    m, n = len(pair.abstract), len(pair.document)
    copies = _copies(pair.abstract_stems, pair.document_stems, settings)
    codes = [_code(events, m, n) for events in (phrases[0], stem_phrases[0], copies)]
    every, first = np.unique(np.concatenate(codes), return_index=True)
    fields = np.concatenate([phrases[0], stem_phrases[0], copies])[first]
    places = [np.searchsorted(every, code) for code in codes]
    cells, stem_cells = np.full(len(every), -1), np.full(len(every), -1)
    cells[places[0]], stem_cells[places[1]] = phrases[1], stem_phrases[1]
    share = _shares(_forms(pair.document_stems, parameters, settings), copies[:, 2] - 1, copies[:, 3])
    parts = np.zeros((3, len(every)))
    if len(phrases[1]):
        parts[0, places[0]] = settings.trust * parameters.table.prob[phrases[1]]
    if settings.stems == "table":
        starts, lengths = fields[places[1], 0], fields[places[1], 1]
        into = _shares(_forms(pair.abstract_stems, parameters, settings), starts, lengths)
        parts[1, places[1]] = parameters.stems.prob[stem_phrases[1]] * into
        parts[2, places[2]] = share
    else:
        parts[1, places[2]] = share
        parts[2, np.searchsorted(every, _code(_copies(pair.abstract, pair.document, settings), m, n))] = 1.0
    return fields, parts, (cells, stem_cells)


def _code(events: Events, m: int, n: int) -> Indices:
    """Return one number for each event, in the order of start, length, position, width."""
    code: Indices = ((events[:, 0] * (m + 1) + events[:, 1]) * (n + 2) + events[:, 2]) * (n + 2) + events[
        :, 3
    ]
    return code


def _shares(counts: Floats, offsets: Indices, lengths: Indices) -> Floats:
    """Return one over the product of the counts of each phrase."""
    logs = np.append(0.0, np.cumsum(np.log(counts)))
    shares: Floats = np.exp(logs[offsets] - logs[offsets + lengths])
    return shares


def _copies(abstract: Ids, document: Ids, settings: Settings) -> Events:
    """Return the events of all runs of two or more equal words, each with all its beginnings.

    Of texts that repeat themselves so much that there are more than ``MOST_COPIES``, the longest beginnings
    are left out.
    """
    longest = min(len(abstract), len(document))
    runs = run_lengths(abstract, document, longest if settings.max_run is None else settings.max_run)
    at_least = np.cumsum(np.bincount(runs[:, 2], minlength=2)[::-1])[::-1]
    kept = 1 + np.searchsorted(np.cumsum(at_least[2:]), MOST_COPIES, side="right")
    times = np.minimum(np.maximum(runs[:, 2], 1), kept) - 1
    which = np.repeat(np.arange(len(runs)), times)
    lengths = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times) + 2
    return np.stack([runs[which, 0], lengths, runs[which, 1] + 1, lengths], axis=1)


def credit(
    found: Rewriting, words: Floats, events: Floats, parameters: Parameters, table: Floats, stems: Floats
) -> Floats:
    """Share posteriors out among the components, add what the tables get to their counts, return sums (3,).

    ``words`` (m, n) and ``events`` are posteriors; ``table`` and ``stems`` are counts by cell.
    """
    by_word = np.zeros(found.cells.shape)
    add_words(words, found.abstract, found.document, by_word)
    weights = np.zeros(3)
    groups = (
        (by_word, found.parts, found.cells, found.stem_cells, found.learnt),
        (events, found.event_parts, found.event_cells, found.event_stem_cells, found.event_parts[0]),
    )
    for posterior, parts, cells, stem_cells, learnt in groups:
        flat = parts.reshape(3, -1)
        weighted = parameters.weights[:, None] * flat
        total = weighted.sum(axis=0)
        shares = weighted * np.divide(posterior.ravel(), total, out=np.zeros_like(total), where=total > 0)
        own = np.divide(learnt.ravel(), flat[0], out=np.zeros_like(total), where=flat[0] > 0)
        add_cells(cells.ravel(), shares[0] * own, table)
        add_cells(stem_cells.ravel(), shares[1], stems)
        weights += shares.sum(axis=1)
    return weights
