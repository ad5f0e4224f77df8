"""The inference of a pair all at once, and its likelihood alone; sentgen goes over blocks of words."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from sentgen.alignment.phrase_hmm.decode import link_rows
from sentgen.alignment.phrase_hmm.emission import rewriting
from sentgen.alignment.phrase_hmm.inference import (
    Alphas,
    Chain,
    Emission,
    Posteriors,
    forward,
    infer_rows,
    jump_to_end,
    lattice,
)
from sentgen.alignment.phrase_hmm.lexicon import PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.arrays import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior(Posteriors):
    """The same with its words: ``words`` (m, n) are the probabilities of their events."""

    words: Floats


def infer(emission: Emission, chain: Chain, *, counting: bool = True) -> Posterior:
    """Return the log-likelihood and all posteriors; without ``counting`` the jumps are left at 0.

    Takes 16 bytes for each pair of an abstract word and a document word.
    """
    found = np.zeros((len(emission.abstract), len(emission.document)))

    def take(first: int, words: Floats, events: Floats) -> None:
        nonlocal found
        found = words

    seen = infer_rows(emission, chain, take, counting=counting)
    return Posterior(words=found, **{field.name: getattr(seen, field.name) for field in fields(seen)})


def log_likelihood(emission: Emission, chain: Chain) -> float:
    """Return the log-probability of the abstract given the document (forward pass only); memory for n."""
    m, n = len(emission.abstract), len(emission.document)
    of = lattice(emission, chain)
    alphas = Alphas(np.zeros((2, n + 1)), np.empty((1, n + 2)), np.zeros(m + 1))
    alphas.scaled[0, 0] = 1.0
    for t in range(m):
        forward(of, t, t + 1, alphas)
        alphas.scaled[0] = alphas.scaled[1]
    end = jump_to_end(chain, alphas.scaled[0])
    return float(alphas.log_scale[m] + np.log(end)) if end else -np.inf


def link_posteriors(
    pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings
) -> tuple[Floats, Posteriors]:
    """Return the posterior of each word link, (m, n), and the posteriors of events that it sums up."""
    links = np.zeros((len(pair.abstract), len(pair.document)))

    def take(first: int, words: Floats) -> None:
        links[first : first + len(words)] = words

    seen = link_rows(rewriting(pair, parameters, settings), parameters, settings, take)
    return links, seen
