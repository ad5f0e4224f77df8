"""Why words are linked: what each component of the mixture has in the posterior of a link.

A link is made by the word pair itself, or by events of several words that hold it. The posterior of each of
these is shared out among the components of its rewrite probability, as EM does (``emission.credit``), and
added up; a share is such a sum over the posterior. Where both directions make a link, each has half.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, Weighed, WeighedLink
from sentgen.alignment.phrase_hmm.decode_kernels import share_out_events
from sentgen.alignment.phrase_hmm.emission import Rewriting, rewriting
from sentgen.alignment.phrase_hmm.kernels import IDENTITY, STEMS, TABLE, Components
from sentgen.alignment.phrase_hmm.lexicon import PairIds
from sentgen.alignment.phrase_hmm.links import Noted
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import LINK_OFFSETS, NAMES
from sentgen.alignment.words.kinship import GROUPED, NEAR, RELATED, SIMILAR, SYNONYM, Kinds
from sentgen.arrays import Bools, Floats, Longs

Key = TypeVar("Key", bound=Hashable)
#: Posterior from which on links are explained, chosen or not.
FLOOR = 0.05
#: Shares and weights that are smaller are those of rounding.
_LEAST = 1e-9

_KIN = {
    SIMILAR: "similar spelling",
    GROUPED: "same group of function words",
    SYNONYM: "synonyms",
    RELATED: "related words",
    NEAR: "near vectors",
}
#: What shares are of: of the word pair itself, of events of several words, and of other links.
SHARES = (
    *("same word", "same stem", *_KIN.values(), "rewrite table", "stem table", "untrained table"),
    *("copied run", "run of same stems", "phrase table", "phrase stem table"),
    "linked sentences",
)
_AT = {name: number for number, name in enumerate(SHARES)}


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction of the model: the pair as it has it, and its parameters."""

    pair: PairIds
    parameters: RewriteParameters


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Links: offsets in the abstract and in the document, sorted by both, and their posteriors.

    ``made`` (links, directions) are the posteriors in each direction; ``by_sentence`` are full stops, whose
    posterior is not made of those.
    """

    rows: Longs
    columns: Longs
    posteriors: Floats
    made: Floats
    by_sentence: Bools


def explained(
    answer: Alignment, noted: Noted, directions: Sequence[Direction], settings: PbhmmSettings
) -> Alignment:
    """Return an alignment with what it was chosen among, and of posteriors only the links that were chosen.

    Args:
        answer: of decoding; of posteriors with all links from ``noted.floor`` on.
        noted: what was noted then.
        directions: those that decoding used, the abstract from the document first.
        settings: the model.
    """
    links = _candidates(answer, noted, directions[0].pair, settings)
    shares = np.zeros((len(links.rows), len(SHARES)))
    for number, one in enumerate(directions):
        found = rewriting(one.pair, one.parameters, settings)
        shares += _made_of(found, one, settings, noted.events[number], links, number) / len(directions)
    shares[links.by_sentence] = np.arange(len(SHARES)) == _AT["linked sentences"]
    threshold = settings.threshold if settings.decode == "posterior" else None
    phrases = answer.phrases
    if threshold is not None:
        phrases = tuple(one for one in phrases if one.posterior is not None and one.posterior >= threshold)
    return replace(
        answer,
        phrases=phrases,
        weighed=Weighed(noted.floor, threshold, _told(links, shares, _weights(directions, links))),
    )


def _candidates(answer: Alignment, noted: Noted, pair: PairIds, settings: PbhmmSettings) -> _Candidates:
    """Return the links that were noted; of posteriors those of the answer, which has full stops as well."""
    rows, columns, made = noted.links()
    if settings.decode == "viterbi":
        return _Candidates(rows, columns, made[:, 0], made, np.zeros(len(rows), np.bool_))
    cells = [(one.abstract[0], one.document[0], one.posterior) for one in answer.phrases]
    links = np.array(cells, np.float64).reshape(-1, 3)
    (at, to), n = links[:, :2].T.astype(np.int64), len(pair.document)
    stops = pair.stops() if settings.stops else None
    by_sentence = np.zeros(len(at), np.bool_) if stops is None else stops[0][at] & stops[1][to]
    place = np.searchsorted(rows * n + columns, at * n + to)
    of_links = np.zeros((len(at), made.shape[1]))
    of_links[~by_sentence] = made[place[~by_sentence]]
    return _Candidates(at, to, links[:, 2], of_links, by_sentence)


def _made_of(
    found: Rewriting,
    direction: Direction,
    settings: PbhmmSettings,
    events: Floats,
    links: _Candidates,
    number: int,
) -> Floats:
    """Return the shares of each link in one direction, (links, shares).

    Args:
        found: the rewrite probabilities.
        direction: the pair and its parameters.
        settings: the model.
        events: posteriors of the phrase events.
        links: the links.
        number: 1 if document and abstract are exchanged, else 0.
    """
    of_events = _of_events(found, direction, settings, events, links, exchanged=number == 1)
    texts = (links.rows, links.columns) if number == 0 else (links.columns, links.rows)
    of_words = _of_words(found, direction, settings, *texts)
    # What events leave of the posterior of a link; below zero only by rounding.
    alone = np.maximum(links.made[:, number] - of_events.sum(axis=1), 0.0)
    masses = alone[:, None] * of_words + of_events
    # A posterior of 0 has no shares: what the word pair would be made of says as much.
    sums = masses.sum(axis=1, keepdims=True)
    np.divide(masses, sums, out=of_words, where=sums > 0)
    return of_words


def _of_words(
    found: Rewriting, direction: Direction, settings: PbhmmSettings, rows: Longs, columns: Longs
) -> Floats:
    """Return the shares of word pairs, (links, shares)."""
    words, into = found.pair.words
    row, column = into.at[rows], words.at[columns]
    shares = np.zeros((len(rows), len(SHARES)))
    for part in found.word_parts(direction.parameters, settings):
        here = np.flatnonzero((row >= part.rows.start) & (row < part.rows.stop))
        cells = (row[here] - part.rows.start) * len(words.ids) + column[here]
        some = Components(part.of.parts[:, cells], *(one[cells] for one in part.of[1:]))
        kinds = None if found.pair.kinship is None else found.pair.kinship.kinds[row[here], column[here]]
        same_stem = into.stems[row[here]] == words.stems[column[here]]
        named = _named(some, direction.parameters.weights, settings, kinds, same_stem)
        for name, mass in named:
            shares[here, _AT[name]] += mass
    return _normalized(shares)


def _named(
    of: Components, weights: Floats, settings: PbhmmSettings, akin: Kinds | None, same_stem: Bools
) -> Iterator[tuple[str, Floats]]:
    """Yield what the components have in word pairs, by what it is."""
    table, stems, identity = weights[:, None] * of.parts
    learnt = np.where(of.cells >= 0, weights[TABLE] * of.learnt, 0.0)
    yield "rewrite table", learnt
    yield "untrained table", table - learnt
    if settings.stems == "table":
        known = of.stem_cells >= 0
        yield "stem table", np.where(known, stems, 0.0)
        yield "untrained table", np.where(known, 0.0, stems)
        yield "same stem", identity
        return
    yield "same word", identity
    # Equal words are akin by their spelling, too; the stem says more.
    yield "same stem", np.where(same_stem, stems, 0.0)
    if akin is not None:
        for kind, name in _KIN.items():
            yield name, np.where(~same_stem & (akin == kind), stems, 0.0)


def _of_events(
    found: Rewriting,
    direction: Direction,
    settings: PbhmmSettings,
    posteriors: Floats,
    links: _Candidates,
    *,
    exchanged: bool,
) -> Floats:
    """Return what events of several words have in the posterior of each link, (links, shares)."""
    parts = direction.parameters.weights[:, None] * found.event_parts.parts
    total = parts.sum(axis=0)
    shares = parts * np.divide(posteriors, total, out=np.zeros_like(total), where=total > 0)
    rows = len(found.pair.document if exchanged else found.pair.abstract)
    starts = np.searchsorted(links.rows, np.arange(rows + 1))
    made = np.zeros((len(links.rows), len(shares)))
    share_out_events(found.emission.events, shares, starts, links.columns, exchanged, made)
    stems, identity = ("phrase stem table", "run of same stems")
    if settings.stems == "equal":
        stems, identity = ("run of same stems", "copied run")
    named = np.zeros((len(made), len(SHARES)))
    for component, name in ((TABLE, "phrase table"), (STEMS, stems), (IDENTITY, identity)):
        named[:, _AT[name]] = made[:, component]
    return named


def _normalized(shares: Floats) -> Floats:
    """Divide shares by their sums, in place; those of what cannot be stay 0."""
    sums = shares.sum(axis=1, keepdims=True)
    np.divide(shares, sums, out=shares, where=sums > 0)
    return shares


def _weights(directions: Sequence[Direction], links: _Candidates) -> Iterator[Mapping[int, float]]:
    """Yield what a tuned model adds to the log score of each link, by feature, the mean of the directions."""
    values = directions[0].pair.clues
    tunings = [one.parameters.tuning for one in directions]
    if values is None or None in tunings:
        yield from ({} for _ in links.rows)
        return
    places = LINK_OFFSETS[:, None] + values.links[:, links.rows, links.columns]
    means = np.mean([one.weights[places] for one in tunings if one is not None], axis=0)
    for of, weights in zip(places.T.tolist(), means.T.tolist(), strict=True):
        yield dict(zip(of, weights, strict=True))


def _told(
    links: _Candidates, shares: Floats, weights: Iterable[Mapping[int, float]]
) -> tuple[WeighedLink, ...]:
    """Return links with their shares and weights by name."""
    arrays = links.rows, links.columns, np.minimum(links.posteriors, 1.0), np.minimum(links.made, 1.0)
    told = zip(
        *(array.tolist() for array in (*arrays, links.by_sentence, shares)),
        weights,
        strict=True,
    )
    return tuple(
        WeighedLink(
            row,
            column,
            posterior,
            () if by_sentence else tuple(made),
            tuple(_largest(dict(zip(SHARES, of, strict=True)))),
            tuple((*NAMES[place], weight) for place, weight in _largest(weighed)),
        )
        for row, column, posterior, made, by_sentence, of, weighed in told
    )


def _largest(values: Mapping[Key, float]) -> list[tuple[Key, float]]:
    """Return what counts, by its size, the greatest first."""
    counts = [(key, value) for key, value in values.items() if abs(value) >= _LEAST]
    return sorted(counts, key=lambda one: -abs(one[1]))
