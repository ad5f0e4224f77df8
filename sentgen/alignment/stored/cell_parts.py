"""What some pairs need of rewrite tables that lie in files.

Inference takes cells at random. Where they are in files that memory does not hold, each would wait for the
disk; so the cells of a batch of pairs are copied into memory in the order of the table, which is that of the
file, and their counts are put back in the same order. The sums are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from sentgen.alignment.phrase_hmm.rewriting.lexicon import PairIds, find_keys, phrase_keys
from sentgen.alignment.phrase_hmm.rewriting.parameters import RewriteTable
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored import cell_kernels as kernels
from sentgen.alignment.stored.cells import RewriteCells
from sentgen.arrays import Floats, Ints, Longs

#: Bytes of a cell of a part: its place, column, probability and count.
CELL_BYTES = 28
#: Pairs of the first batch, and cells that there is room for at least.
_FIRST, _LEAST = 32, 1 << 12
#: Share of the room below which the next batch is larger.
_SPARE = 0.7

#: Texts of a pair in a layer: document and abstract.
TextsOf = Callable[[PairIds], tuple[Ints, Ints]]
TEXTS: Mapping[str, TextsOf] = {
    "words": lambda pair: (pair.document, pair.abstract),
    "stems": lambda pair: (pair.document_stems, pair.abstract_stems),
}


@dataclass(frozen=True, slots=True)
class CellPart:
    """Some cells of a table: as a table of their own, with their expected counts and places."""

    of: RewriteCells
    table: RewriteTable
    counts: Floats
    places: Longs

    def put_back(self) -> None:
        """Write the counts into the whole table."""
        kernels.put_back(self.places, self.counts, self.of.counts)
        self.of.relax()


class PartRoom:
    """Room for the parts of one table, used by one after the other.

    Args:
        cells: the table.
        texts_of: its texts of a pair.
        settings: how long its phrases are.
        memory: bytes.
    """

    def __init__(
        self, cells: RewriteCells, texts_of: TextsOf, settings: PbhmmSettings, memory: float
    ) -> None:
        self.cells, self._texts_of = cells, texts_of
        self._longest = settings.max_document_phrase, settings.max_abstract_phrase
        self._make(max(_LEAST, int(memory / CELL_BYTES)))

    def _make(self, size: int) -> None:
        # Never more than the table has; what is not used of it takes no memory.
        size = min(size, self.cells.size)
        self._arrays = kernels.PartArrays(
            np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size), np.empty(size)
        )

    @property
    def size(self) -> int:
        """Number of cells that there is room for."""
        return len(self._arrays.places)

    def part(self, pairs: Sequence[PairIds]) -> CellPart | None:
        """Return the cells that pairs need, good until the next part; ``None`` if they do not fit.

        Those of one pair always do: room is made for them.
        """
        cells = self.cells
        texts = [self._texts_of(pair) for pair in pairs]
        sides = zip(zip(*texts, strict=True), self._longest, (cells.rows, cells.columns), strict=True)
        rows, columns = (find_keys(known, _keys(side, longest))[1] for side, longest, known in sides)
        wanted = np.zeros(len(cells.columns), np.bool_)
        wanted[columns] = True
        starts = np.zeros(len(rows) + 1, np.int64)
        while (
            count := kernels.take_part(cells.starts, rows, wanted, cells.arrays, self._arrays, starts)
        ) < 0:
            if len(pairs) > 1:
                return None
            self._make(2 * self.size)
        cells.relax()
        of, no_fake = self._arrays, np.empty(0)
        table = RewriteTable(
            cells.rows[rows], starts, cells.columns, of.targets[:count], of.prob[:count], no_fake
        )
        return CellPart(cells, table, of.counts[:count], of.places[:count])


def _keys(texts: Sequence[Ints], longest: int) -> Longs:
    keys = [phrase_keys(words, length) for words in texts for length in range(1, longest + 1)]
    return np.unique(np.concatenate(keys))


def batches(
    pairs: Iterable[PairIds], rooms: Mapping[str, PartRoom]
) -> Iterator[tuple[list[PairIds], dict[str, CellPart]]]:
    """Yield the pairs in their order, as many at a time as there is room for, with what they need."""
    stream = iter(pairs)
    waiting, number = list[PairIds](), _FIRST
    while True:
        waiting += islice(stream, max(0, number - len(waiting)))
        if not waiting:
            return
        some = waiting[:number]
        parts = {name: room.part(some) for name, room in rooms.items()}
        found = {name: part for name, part in parts.items() if part is not None}
        if len(found) < len(parts):
            number = max(1, 2 * len(some) // 3)
            continue
        yield some, found
        for part in found.values():
            part.put_back()
        waiting = waiting[number:]
        if all(len(part.places) < _SPARE * rooms[name].size for name, part in found.items()):
            number += -(-number // 4)
