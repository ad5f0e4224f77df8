"""Decode a pair: the best path of phrases, or the word links whose posterior is high enough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sentgen.alignment.alignment import Alignment, PhraseLink
from sentgen.alignment.decode_kernels import add_event_links, best_path, best_scores, log_chain
from sentgen.alignment.emission import Rewriting, rewriting
from sentgen.alignment.inference import Posterior, chain, infer
from sentgen.alignment.jumps import Floats
from sentgen.alignment.lattice_kernels import Chain, Emission, Indices
from sentgen.alignment.lexicon import PairIds
from sentgen.alignment.parameters import Parameters
from sentgen.alignment.sentences import link_stops
from sentgen.alignment.settings import Settings


def viterbi(emission: Emission, chain: Chain) -> tuple[float, Indices]:
    """Return the log-probability of the best path and its segments in the order of the abstract.

    A segment is (start, length, position, width, event), see ``best_path``. An impossible pair has none.
    """
    m, n = emission.words.shape
    scores, path = np.empty((m + 1, n + 1)), np.empty((m, 5), np.int64)
    logs = log_chain(chain)
    best_scores(emission, logs, scores)
    if m and not scores[m].max() > -np.inf:
        return -np.inf, path[:0]
    logp, segments = best_path(emission, logs, scores, path)
    return logp, path[:segments][::-1]


def decode_path(pair: PairIds, parameters: Parameters, settings: Settings) -> Alignment:
    """Return the phrases of the best path, each with the posterior of its event, and P(null)."""
    transitions = chain(parameters, settings, len(pair.document), len(pair.abstract))
    found = rewriting(pair, parameters, settings)
    seen = infer(found.emission, transitions, counting=False)
    _, path = viterbi(found.emission, transitions)
    phrases = [
        PhraseLink(
            (start, start + length),
            (position - 1, position - 1 + width),
            _capped(seen.words[start, position - 1] if event < 0 else seen.events[event]),
        )
        for start, length, position, width, event in path.tolist()
        if width
    ]
    return Alignment(tuple(phrases), _null(seen), seen.logp)


def decode_posterior(
    pair: PairIds, parameters: Parameters, settings: Settings, *, reverse: Parameters | None = None
) -> Alignment:
    """Return the links whose posterior reaches the threshold, each a phrase of one word, and P(null).

    With ``settings.both``, the posterior of a link is the root of the product of its posteriors in the model
    and in the model with document and abstract exchanged, whose parameters are ``reverse``.
    """
    links, seen = link_posteriors(pair, parameters, settings)
    if settings.both:
        if reverse is None:
            raise ValueError("decoding in both directions needs the parameters of the other one")
        others, _ = link_posteriors(pair.exchanged(), reverse, settings)
        links = np.sqrt(links * others.T)
    if settings.stops and pair.kinship is not None:
        links = link_stops(
            links,
            pair.kinship.abstract_stops[np.unique(pair.abstract, return_inverse=True)[1]],
            pair.kinship.document_stops[np.unique(pair.document, return_inverse=True)[1]],
        )
    rows, columns = np.nonzero(links >= settings.threshold)
    phrases = [
        PhraseLink((t, t + 1), (i, i + 1), _capped(links[t, i]))
        for t, i in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    return Alignment(tuple(phrases), _null(seen), seen.logp)


def link_posteriors(pair: PairIds, parameters: Parameters, settings: Settings) -> tuple[Floats, Posterior]:
    """Return the posterior of each word link, (m, n), and the posteriors of events that it sums up."""
    found = rewriting(pair, parameters, settings)
    transitions = chain(parameters, settings, len(pair.document), len(pair.abstract))
    seen = infer(found.emission, transitions, counting=False)
    links = np.ascontiguousarray(seen.words)
    add_event_links(found.emission, seen.events, copied(found, settings), links)
    return links, seen


def copied(found: Rewriting, settings: Settings) -> npt.NDArray[np.bool_]:
    """Say which phrase events are equal word by word up to the stem."""
    equal: npt.NDArray[np.bool_] = found.event_parts[2 if settings.stems == "table" else 1] > 0
    return equal


def _null(seen: Posterior) -> tuple[float, ...]:
    return tuple(_capped(prob) for prob in seen.null.tolist())


def _capped(prob: float) -> float:
    """Return a probability without what rounding put above one."""
    return min(1.0, float(prob))
