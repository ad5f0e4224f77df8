"""Sentences of a pair, as far as aligners look at them: full stops follow the words before them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sentgen.alignment.jumps import Floats

Marks = npt.NDArray[np.bool_]


def breaks(stops: Marks) -> Marks:
    """Say which words come right after a full stop, (m,)."""
    return np.append(False, stops[:-1])[: len(stops)]


def link_stops(links: Floats, abstract: Marks, document: Marks) -> Floats:
    """Return links (m, n) in which full stops have the posterior of their sentences.

    One full stop looks like the other: which one is copied, only the words before it know. The posterior is
    the share of the links of the abstract sentence that lead to the document sentence, times the share of
    those of the document sentence that lead to the abstract sentence.

    Args:
        links: Posteriors of word links.
        abstract: Which words of the abstract are full stops, (m,),
        document: and of the document, (n,).
    """
    rows, columns = np.flatnonzero(abstract), np.flatnonzero(document)
    if not len(rows) or not len(columns):
        return links
    words = np.where(abstract[:, None] | document[None, :], 0.0, links)
    first_row, first_column = (np.append(0, np.flatnonzero(breaks(x))) for x in (abstract, document))
    together = np.add.reduceat(np.add.reduceat(words, first_row, axis=0), first_column, axis=1)
    of_row, of_column = np.cumsum(breaks(abstract))[rows], np.cumsum(breaks(document))[columns]
    sums = together.sum(axis=1)[:, None] * together.sum(axis=0)[None, :]
    shares = np.divide(together**2, sums, out=np.zeros_like(sums), where=sums > 0)
    found = links.copy()
    found[np.ix_(rows, columns)] = shares[np.ix_(of_row, of_column)]
    return found
