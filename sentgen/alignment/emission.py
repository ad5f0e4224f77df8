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

from sentgen.alignment.emission_kernels import add_words, share_out
from sentgen.alignment.event_kernels import Order, by_end
from sentgen.alignment.events import Found, all_events, copied_runs, look_up, nothing
from sentgen.alignment.jumps import Floats
from sentgen.alignment.lattice_kernels import Emission, Indices
from sentgen.alignment.lexicon import Ids, PairIds
from sentgen.alignment.parameters import Parameters, RewriteTable
from sentgen.alignment.sentences import breaks
from sentgen.alignment.settings import Settings


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
    found = look_up(parameters.table, pair.document, pair.abstract, settings)
    by_stems = nothing(found)
    index, stem_index = found.words, by_stems.words
    parts = np.empty((3, len(into), len(words)))
    learnt = settings.trust * _probs(parameters.table, index, prior)
    parts[0] = learnt + (1.0 - settings.trust) * prior
    if settings.stems == "table":
        by_stems = look_up(parameters.stems, pair.document_stems, pair.abstract_stems, settings)
        by_stem, by_other = (np.unique(stems, return_inverse=True)[1] for stems in (into_stems, word_stems))
        stem_index = by_stems.words[by_stem[:, None], by_other[None, :]]
        parts[1] = _probs(parameters.stems, stem_index, prior) * share[:, None]
        parts[2] = same * share[:, None]
    else:
        parts[1] = same * share[:, None]
        if akin is not None:
            by_kind = np.array([0.0, settings.related, settings.synonym, settings.grouped, settings.similar])
            parts[1] = np.maximum(parts[1], by_kind[akin.kinds])
        parts[2] = identical
    events = _events(pair, found, by_stems, settings)
    event_parts = _event_parts(events, pair, parameters, settings)
    weighted = _mixed(parameters.weights, parts)
    null = _unigram(pair.abstract, parameters)
    if akin is not None and settings.null_function is not None:
        null[akin.abstract[abstract]] = settings.null_function
    forget = np.zeros(len(pair.abstract))
    if akin is not None:
        forget[breaks(akin.abstract_stops[abstract])] = settings.forget
    emission = Emission(
        np.ascontiguousarray(weighted[abstract][:, document]),
        null,
        events.start,
        events.length,
        events.position,
        events.width,
        _mixed(parameters.weights, event_parts),
        by_end(events.start, events.length, len(pair.abstract)),
        forget,
    )
    return Rewriting(
        emission,
        abstract,
        document,
        parts,
        index,
        stem_index,
        learnt,
        event_parts,
        events.cell,
        events.stem_cell,
    )


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


def _mixed(weights: Floats, parts: Floats) -> Floats:
    """Return the weighted sum of the components; a product of matrices would wake the threads of BLAS."""
    mixed: Floats = weights[0] * parts[0] + weights[1] * parts[1] + weights[2] * parts[2]
    return mixed


def _events(pair: PairIds, found: Found, by_stems: Found, settings: Settings) -> Order:
    """Return all phrase events of a pair."""
    stem_runs = copied_runs(pair.abstract_stems, pair.document_stems, settings)
    word_runs = copied_runs(pair.abstract, pair.document, settings)
    return all_events(len(pair.abstract), len(pair.document), found, by_stems, stem_runs, word_runs)


def _event_parts(events: Order, pair: PairIds, parameters: Parameters, settings: Settings) -> Floats:
    """Return what each component has in the phrase events, (3, events)."""
    parts = np.zeros((3, len(events.start)))
    known = np.flatnonzero(events.cell >= 0)
    parts[0, known] = settings.trust * parameters.table.prob[events.cell[known]]
    copies = np.flatnonzero(events.stems)
    share = _shares(
        _forms(pair.document_stems, parameters, settings), events.position[copies] - 1, events.width[copies]
    )
    if settings.stems == "table":
        known = np.flatnonzero(events.stem_cell >= 0)
        into = _shares(
            _forms(pair.abstract_stems, parameters, settings), events.start[known], events.length[known]
        )
        parts[1, known] = parameters.stems.prob[events.stem_cell[known]] * into
        parts[2, copies] = share
    else:
        parts[1, copies] = share
        parts[2] = events.words
    return parts


def _shares(counts: Floats, offsets: Indices, lengths: Indices) -> Floats:
    """Return one over the product of the counts of each phrase."""
    logs = np.append(0.0, np.cumsum(np.log(counts)))
    shares: Floats = np.exp(logs[offsets] - logs[offsets + lengths])
    return shares


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
        share_out(
            posterior.ravel(),
            parameters.weights,
            parts.reshape(3, -1),
            learnt.ravel(),
            cells.ravel(),
            stem_cells.ravel(),
            table,
            stems,
            weights,
        )
    return weights
