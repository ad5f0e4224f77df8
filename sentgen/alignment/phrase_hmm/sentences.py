"""Sentences of a pair, as far as aligners look at them: full stops follow the words before them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sentgen.alignment.words.sentences import breaks
from sentgen.arrays import Bools, Floats, Longs


class StopLinks:
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
        place = int(np.searchsorted(self._first_column, begin))
        end = begin + sums.shape[1]
        # Sentences that begin here are whole now; the one that began further left waits for its columns.
        firsts = self._first_column[place : np.searchsorted(self._first_column, end)]
        if len(firsts):
            whole = np.add.reduceat(sums[:, firsts[0] - begin :], firsts - firsts[0], axis=1)
            self._together[:, place : place + len(firsts)] = whole
            sums = sums[:, : firsts[0] - begin].copy()
        self._open = sums

    def reaching(self, threshold: float) -> Iterator[tuple[Longs, Longs, Floats]]:
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
