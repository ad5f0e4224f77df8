"""The memory for aligning a pair, and the plan of the passes that fits into it.

The tables of the passes have a cell for each abstract word with each document word: 16 bytes forward and
backward, 8 for the posteriors of links. If they do not fit, the passes run over blocks of the abstract
(``inference.infer_rows``), and the posteriors of links are in a file (``decode``). The results are the same.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sentgen.errors import MemoryLimitError, spell
from sentgen.output.wording import quantity

#: Bytes of Python, its packages and the texts.
BASE = 320 << 20
#: Bytes of an event: its fields, its components, and its values in the passes.
_EVENT_BYTES = 200
#: Bytes of a cell of the different words: the probability, and its log or kinds of kinship.
_WORD_BYTES = 20
#: Cells of the different words that are looked up at a time, and bytes of a cell.
WORD_CELLS = 1 << 20
_LOOK_UP_BYTES = 110
#: Bytes of a chosen link and its display; of a link with its reasons.
_LINK_BYTES, _EXPLAINED_BYTES = 1000, 4000
#: Bytes of a row of either text.
_ROW_BYTES = 1000
#: Bytes that a pair may take even under the smallest limit.
_LEAST_BYTES = 64 << 20
#: Limits in messages are rounded up to a multiple of this.
_UNIT = 100 << 20
#: Share of the memory limit that DuckDB may use when a model of the store is trained, or aligns.
ALIGNMENT_DATABASE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class PairSizes:
    """The numbers of words, of different words and of sentences of an abstract and a document."""

    abstract: int
    document: int
    abstract_words: int
    document_words: int
    abstract_sentences: int = 1
    document_sentences: int = 1

    @property
    def cells(self) -> int:
        """Number of pairs of an abstract word and a document word."""
        return self.abstract * self.document


@dataclass(frozen=True, slots=True)
class Budget:
    """Bytes for aligning a pair, beyond ``BASE``, and a folder for files of larger tables, or ``None``.

    The budget is one of some parts of a share of a memory limit, so that errors can name the limit to set.

    >>> Budget.of_limit(2 << 30).memory == (2 << 30) - BASE
    True
    """

    memory: float = math.inf
    folder: Path | None = None
    share: float = 1.0
    parts: int = 1

    @classmethod
    def of_limit(
        cls, limit: float, *, share: float = 1.0, parts: int = 1, folder: Path | None = None
    ) -> Budget:
        """Return the budget of a pair: a share of a memory limit less ``BASE``, divided by ``parts``."""
        return cls(max((limit * share - BASE) / parts, _LEAST_BYTES), folder, share, parts)

    @classmethod
    def to_align(cls, limit: float, *, with_store: bool) -> Budget:
        """Return the budget for a pair under a memory limit, which DuckDB shares if there is a store."""
        share = 1.0 - ALIGNMENT_DATABASE_SHARE if with_store else 1.0
        return cls.of_limit(limit, share=share, folder=_scratch_folder())

    def ensure_fits(self, wanted: float, what: str) -> None:
        """Refuse what takes more memory than the budget has.

        Raises:
            MemoryLimitError: more is wanted than the budget has.
        """
        if wanted > self.memory:
            raise self._too_large(what, wanted, 0)

    def plan(self, sizes: PairSizes, *, table: bool, events: int = 0) -> RowBlocks:
        """Return the blocks of rows of the fastest way to align a pair that fits.

        Args:
            sizes: sizes of the pair.
            table: whether the posteriors of all links are wanted, not only the best path.
            events: phrase events.

        Raises:
            MemoryLimitError: the pair does not fit; the message says how much memory it needs.
        """
        m, n = sizes.abstract, sizes.document
        texts = text_sizes(n, m)
        # From the fastest way to the slowest: all rows at once, blocks, blocks and a file for link
        # posteriors.
        fixed = _fixed_bytes(sizes, events, table=table)
        links = 8 * sizes.cells if table else 0
        # 16 bytes for the passes, and a flag for each link that may be chosen.
        if fixed + links + 17 * sizes.cells <= self.memory:
            return RowBlocks(m, n, in_file=False)
        rows, columns = _rows(m, n), _rows(n, m)
        blocks = max(_block_bytes(m, n, rows), _block_bytes(n, m, columns) + 10 * columns * m if table else 0)
        if fixed + links + blocks <= self.memory:
            return RowBlocks(rows, columns, in_file=False)
        if fixed + blocks > self.memory or (table and self.folder is None):
            least = fixed + blocks + (links if self.folder is None else 0)
            raise self._too_large(texts, least, links if self.folder else 0)
        assert self.folder is not None
        if (free := shutil.disk_usage(self.folder).free) < links:
            raise MemoryLimitError(
                f"{texts} take {_size(links)} in files, and {self.folder} has {_size(free)} left; "
                "free some, or name another folder with TMPDIR"
            )
        return RowBlocks(rows, columns, in_file=True)

    def most_events(self, sizes: PairSizes, *, table: bool) -> float:
        """Return the number of phrase events that fit."""
        m, n = sizes.abstract, sizes.document
        blocks = max(_block_bytes(m, n, _rows(m, n)), _block_bytes(n, m, _rows(n, m)))
        return (self.memory - _fixed_bytes(sizes, 0, table=table) - blocks) / _EVENT_BYTES

    def most_links(self, *, explained: bool = False) -> float:
        """Return the number of links that fit, with their display."""
        return self.memory / (_EXPLAINED_BYTES if explained else _LINK_BYTES)

    def _too_large(self, what: str, least: float, file: float) -> MemoryLimitError:
        limit, wanted = ((BASE + self.parts * bytes) / self.share for bytes in (self.memory, least))
        limit_wanted = math.ceil(wanted / _UNIT) * _UNIT
        there = f" and {_size(file)} in files" if file else ""
        return MemoryLimitError(
            f"{what} take {_size(limit_wanted)} of memory{there} to align, more than the limit of"
            f" {_size(limit)}; give {spell('memory_limit')} {limit_wanted >> 20}MB, or shorter texts"
        )


#: No limit.
UNBOUNDED = Budget()


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """The rows of a block, of the abstract and, with document and abstract exchanged, of the document.

    ``in_file``: whether the posteriors of links are in a file.
    """

    rows: int
    columns: int
    in_file: bool


def _scratch_folder() -> Path:
    """Return the folder for large files: that of TMPDIR, or else /var/tmp, which is on a disk."""
    # /tmp is in memory on many systems, where a file would save no memory.
    if "TMPDIR" not in os.environ and os.access("/var/tmp", os.W_OK | os.X_OK):
        return Path("/var/tmp")
    return Path(tempfile.gettempdir())


def events_take_too_much(events: float, most: float) -> MemoryLimitError:
    """Return the error of a pair with too many phrase events."""
    more = _size((events - most) * _EVENT_BYTES + _UNIT)
    return MemoryLimitError(
        f"the texts have {events:,} phrases in common, for which {more} of memory are missing; raise"
        f" {spell('memory_limit')}, or give shorter texts"
    )


def _fixed_bytes(sizes: PairSizes, events: int, *, table: bool) -> float:
    """Return the bytes of everything but the tables over abstract words with document words."""
    of_words = _WORD_BYTES * sizes.abstract_words * sizes.document_words
    of_sentences = 32 * sizes.abstract_sentences * sizes.document_sentences if table else 0
    rows = _ROW_BYTES * (sizes.abstract + sizes.document)
    look_up = _LOOK_UP_BYTES * min(WORD_CELLS, sizes.abstract_words * sizes.document_words)
    return of_words + of_sentences + rows + _EVENT_BYTES * events + look_up


def _rows(m: int, n: int) -> int:
    """Return the number of rows, at most m, with which the checkpoints and a block take the least memory."""
    # 16 n rows for the block and 8 n m / rows for the checkpoints are least at the root of m / 2.
    return max(1, min(m, math.isqrt(m // 2)))


def _block_bytes(m: int, n: int, rows: int) -> int:
    # Two tables of the rows, the checkpoints, and the vectors of a pass.
    return 8 * n * (2 * rows + m // rows + 8)


def text_sizes(document: int, abstract: int) -> str:
    """Return the numbers of words of two texts, as messages have them."""
    return f"a document of {quantity(document, 'word')} and an abstract of {abstract:,}"


def _size(size: float) -> str:
    """Return a number of bytes, as messages have it.

    >>> _size(3 << 29), _size(300 << 20)
    ('1.5 GB', '300 MB')
    """
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"
