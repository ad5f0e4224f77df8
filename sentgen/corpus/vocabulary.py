"""Number the words of a text, in time bound by access to memory.

Text comes as bytes. The kernel splits it, hashes every token and looks it up in an open-addressing table;
the strings themselves are kept once, in one arena that Arrow can read without copying.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sentgen.arrays import Bits, Bytes, Ints, Longs, compiled
from sentgen.case_folding import fold

# Above this load, sequences of probes in an open-addressing table get long.
_LOAD = 0.6
#: Positions in the kernel's state vector.
_AT, _TOKENS, _LINES, _TYPES, _ARENA, _LINE_START = range(6)


class _Table(NamedTuple):
    """Words by their hash: the bytes of word w are ``arena[offsets[w]:offsets[w + 1]]``."""

    slots: Ints  # (a power of two,) the number of a word, -1 for none
    hashes: Bits  # (room for types,)
    offsets: Longs  # (room for types + 1,)
    arena: Bytes


@compiled
def _encode(text: Bytes, by_line: bool, ids: Ints, lengths: Ints, table: _Table, state: Longs) -> bool:
    """Number tokens; return True at the end of the text, False if the table or arena has to grow first."""
    at, tokens, lines, types, used, line_start = state
    slots, hashes, offsets, arena = table
    limit = np.int64(slots.size * _LOAD)
    mask = np.uint64(slots.size - 1)
    done = True
    while at < text.size:
        end = at
        # FNV-1a, computed byte by byte in the loop that searches the end of the word.
        value = np.uint64(14695981039346656037)
        while end < text.size and text[end] != 10 and not (by_line and (text[end] == 32 or text[end] == 9)):
            value = (value ^ np.uint64(text[end])) * np.uint64(1099511628211)
            end += 1
        if end > at or not by_line:
            # Before anything of this word is written, so that the next call can begin with it.
            if types >= limit or used + (end - at) > arena.size:
                done = False
                break
            # The low bits choose the slot, and in FNV these are less well mixed.
            value ^= value >> np.uint64(32)
            slot = value & mask
            while True:
                word = slots[slot]
                if word < 0:
                    word = types
                    slots[slot] = word
                    hashes[word] = value
                    for i in range(at, end):
                        arena[used] = text[i]
                        used += 1
                    types += 1
                    offsets[types] = used
                    break
                # Hash and length first, so that bytes are compared almost only for equal words.
                if hashes[word] == value and offsets[word + 1] - offsets[word] == end - at:
                    same = True
                    start = offsets[word]
                    for i in range(end - at):
                        if arena[start + i] != text[at + i]:
                            same = False
                            break
                    if same:
                        break
                slot = (slot + np.uint64(1)) & mask
            ids[tokens] = word
            tokens += 1
        # Blank lines get a length of 0, so that line numbers stay right.
        if by_line and (end >= text.size or text[end] == 10):
            lengths[lines] = tokens - line_start
            line_start = tokens
            lines += 1
        at = end + 1
    state[:] = at, tokens, lines, types, used, line_start
    return done


@compiled
def _rehash(slots: Ints, hashes: Bits, types: int) -> None:
    mask = np.uint64(slots.size - 1)
    for word in range(types):
        # No comparison of bytes, as all words are distinct.
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word


class Vocabulary:
    """Strings numbered in the order of their first occurrence, from 0."""

    def __init__(self, types: int = 1 << 16) -> None:
        self._table = _Table(
            np.full(types, -1, np.int32),
            np.empty(types, np.uint64),
            np.zeros(types + 1, np.int64),
            np.empty(types * 8, np.uint8),
        )
        self._state = np.zeros(6, np.int64)

    def __len__(self) -> int:
        return int(self._state[_TYPES])

    def encode(self, strings: list[str], *, lowercase: bool = False) -> Ints:
        """Return the numbers of the strings of a column, none of which contains a line feed."""
        if not strings:
            return np.empty(0, np.int32)
        text = "\n".join(strings)
        return self._run((fold(text) if lowercase else text).encode(), by_line=False, rows=len(strings))[0]

    def encode_rows(self, text: bytes) -> Ints:
        """Return the numbers of the whole lines of a text."""
        return self._run(text, by_line=False, rows=text.count(b"\n") + 1)[0]

    def encode_lines(self, text: bytes) -> tuple[Ints, Ints]:
        """Return the numbers of the words (between spaces or tabs) of a text, and of words in each line."""
        # `rows` is enough, as a word takes two bytes at least with its blank.
        return self._run(text.removesuffix(b"\n"), by_line=True, rows=len(text) // 2 + 1)

    def _run(self, text: bytes, *, by_line: bool, rows: int) -> tuple[Ints, Ints]:
        data = np.frombuffer(text + b"\n", np.uint8)
        ids = np.empty(rows, np.int32)
        lengths = np.empty(text.count(b"\n") + 1 if by_line else 0, np.int32)
        self._state[[_AT, _TOKENS, _LINES, _LINE_START]] = 0
        while not _encode(data, by_line, ids, lengths, self._table, self._state):
            self._grow(len(text))
        return ids[: self._state[_TOKENS]], lengths[: self._state[_LINES]]

    def _grow(self, bytes_needed: int) -> None:
        slots, hashes, offsets, arena = self._table
        # The kernel stops if either is full.
        if len(self) >= int(slots.size * _LOAD):
            slots = np.full(slots.size * 2, -1, np.int32)
            offsets = np.concatenate((offsets, np.zeros(hashes.size, np.int64)))
            hashes = np.concatenate((hashes, np.empty_like(hashes)))
            _rehash(slots, hashes, len(self))
        else:
            arena = np.concatenate((arena, np.empty(max(arena.size, bytes_needed), np.uint8)))
        self._table = _Table(slots, hashes, offsets, arena)

    def hashes(self) -> Bits:
        """Return the hash of each string, which depends on its bytes alone, not on the machine or the run."""
        return self._table.hashes[: len(self)].copy()

    def strings(self, first: int = 0) -> pa.Array:
        """Return the strings numbered ``first`` and up, as an Arrow array."""
        offsets = self._table.offsets[first : len(self) + 1]
        arena = self._table.arena[offsets[0] : offsets[-1]].copy()
        buffers = [None, pa.py_buffer((offsets - offsets[0]).copy()), pa.py_buffer(arena)]
        return pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)
