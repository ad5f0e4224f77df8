"""Decode a pair: the best path of phrases, or the word links whose posterior is high enough."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

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
from sentgen.alignment.phrase_hmm.links import LinkChoice, LinkTable, Noted
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.arrays import Floats, Longs

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
    kept = np.empty((len(firsts) - 1 if len(firsts) > 1 else 0, n + 1))
    of = logs(lattice(emission, chain))
    scores[0], scores[0, 0] = -np.inf, 0.0
    for number, first in enumerate(firsts):
        if number:
            scores[0] = scores[rows]
        if number < len(kept):
            kept[number] = scores[0]
        best_scores(of, first, min(first + rows, m), scores)
    final = scores[m - firsts[-1] if m else 0]
    if m and not final.max() > -np.inf:
        return -np.inf, path[:0]
    logp = best_source(of.chain.jumps, final - of.chain.total, n + 1)[0] + np.log(1.0 - chain.p0)
    at = np.array([m, -1, n + 1, 0])  # words, position, target, segments: see `follow_back`
    held = firsts[-1] if m else 0
    while at[0] > 0:
        first = (int(at[0]) - 1) // rows * rows
        if first != held:
            # Only one block is held: those before it are filled again from their checkpoints.
            scores[0], held = kept[first // rows], first
            best_scores(of, first, min(first + rows, m), scores)
        follow_back(of, first, scores, path, at)
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
    found, blocks = rewriting_within(budget, pair, parameters, settings, table=False)
    _, path = viterbi(found.emission, transitions, rows=blocks.rows)
    posterior = np.zeros(len(path))
    linked = _linked(path)
    alone = (path[:, 3] > 0) & (path[:, 4] < 0)

    def take(first: int, words: Floats, events: Floats) -> None:
        here = alone & (path[:, 0] >= first) & (path[:, 0] < first + len(words))
        posterior[here] = words[path[here, 0] - first, path[here, 2] - 1]
        if noted is not None:
            add_event_links(found.emission.events, events, first, words)
            chosen = words >= noted.floor
            inside = (linked[:, 0] >= first) & (linked[:, 0] < first + len(words))
            chosen[linked[inside, 0] - first, linked[inside, 1]] = True
            noted.take(chosen, (first, 0), words)

    seen = infer_rows(found.emission, transitions, take, rows=blocks.rows, counting=False)
    if noted is not None:
        noted.events = [seen.events]
    of_event = path[:, 4] >= 0
    posterior[of_event] = seen.events[path[of_event, 4]]
    phrases = [
        PhraseLink((start, start + length), (position - 1, position - 1 + width), _capped(prob))
        for (start, length, position, width, _), prob in zip(path.tolist(), posterior.tolist(), strict=True)
        if width
    ]
    return Alignment(tuple(phrases), _null(seen), seen.logp)


def _linked(path: Longs) -> Longs:
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
    found, blocks = rewriting_within(budget, pair, parameters, settings, table=True)
    pair = found.pair
    stops = pair.stops() if settings.stops else None
    choice = LinkChoice(settings.threshold, stops, most=budget.most_links(explained=noted is not None))
    folder = budget.folder if blocks.in_file else None
    table = LinkTable(len(pair.abstract), len(pair.document), width=blocks.columns, folder=folder)
    with closing(table):
        seen = [link_rows(found, parameters, settings, table.put, rows=blocks.rows)]
        # One emission at a time is what the plan has room for.
        del found
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
            found = rewriting(pair.exchanged(), reverse, settings, most_events=most)
            seen.append(link_rows(found, reverse, settings, take, rows=blocks.columns))
        else:
            for first, links in table.from_last():
                if noted is not None:
                    noted.take(links >= settings.threshold, (0, first), links)
                choice.take(first, links)
    if noted is not None:
        noted.events = [one.events for one in seen]
    phrases = [
        PhraseLink((t, t + 1), (i, i + 1), _capped(posterior))
        for t, i, posterior in zip(*(part.tolist() for part in choice.chosen()), strict=True)
    ]
    return Alignment(tuple(phrases), _null(seen[0]), seen[0].logp)


def link_rows(
    found: Rewriting,
    parameters: RewriteParameters,
    settings: PbhmmSettings,
    take: TakeLinks,
    *,
    rows: int = 0,
) -> Posteriors:
    """Hand over the posteriors of links, so many abstract words at a time, from the last ones to the first.

    Returns the posteriors of events that they sum up.
    """
    emission = found.emission
    transitions = chain(parameters, settings, len(emission.document), len(emission.abstract))

    def add_events(first: int, words: Floats, events: Floats) -> None:
        add_event_links(emission.events, events, first, words)
        take(first, words)

    return infer_rows(emission, transitions, add_events, rows=rows, counting=False)


def _null(seen: Posteriors) -> tuple[float, ...]:
    return tuple(_capped(prob) for prob in seen.null.tolist())


def _capped(prob: float) -> float:
    """Return a probability without what rounding put above one."""
    return min(1.0, float(prob))
