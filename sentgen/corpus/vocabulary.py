"""Number the words of a text at the speed of the memory bus.

Text comes as bytes. The kernel splits it, hashes every token and looks it up in an open-addressing table;
the strings themselves are kept once, in one arena that Arrow can read without copying.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sentgen.arrays import Bits, Bytes, Ints, Longs, compiled
from sentgen.case_folding import fold

# Above that, runs of probing in an open-addressing table get long.
_LOAD = 0.6
#: Positions in the kernel's state vector.
_AT, _TOKENS, _LINES, _TYPES, _ARENA, _LINE_START = range(6)


class _Table(NamedTuple):
    """Words by their hash: number w has ``arena[offsets[w]:offsets[w + 1]]`` for its bytes."""

    slots: Ints  # a power of two of them: the number of a word, -1 for none
    hashes: Bits  # (room for types,)
    offsets: Longs  # (room for types + 1,)
    arena: Bytes


@compiled
def _encode(text: Bytes, by_line: bool, ids: Ints, lengths: Ints, table: _Table, state: Longs) -> bool:
    """Number tokens until the text ends (True) or the table or arena is full (False: grow and call again)."""
    at, tokens, lines, types, used, line_start = state
    slots, hashes, offsets, arena = table
    limit = np.int64(slots.size * _LOAD)
    mask = np.uint64(slots.size - 1)
    done = True
    while at < text.size:
        end = at
        # FNV-1a: a byte a step, while the end of the word is looked for anyway.
        value = np.uint64(14695981039346656037)
        while end < text.size and text[end] != 10 and not (by_line and (text[end] == 32 or text[end] == 9)):
            value = (value ^ np.uint64(text[end])) * np.uint64(1099511628211)
            end += 1
        if end > at or not by_line:
            # Before anything of this word is written, so that the next call begins with it again.
            if types >= limit or used + (end - at) > arena.size:
                done = False
                break
            # The low bits choose the slot, and those of FNV are the weaker ones.
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
                # Hash and length first: bytes are compared almost only where they are equal.
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
        # The bytes are not needed: all words are different.
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
        """Number a column of strings, none of which holds a line feed."""
        if not strings:
            return np.empty(0, np.int32)
        text = "\n".join(strings)
        return self._run((fold(text) if lowercase else text).encode(), by_line=False, rows=len(strings))[0]

    def encode_rows(self, text: bytes) -> Ints:
        """Number the lines of a text, whatever is in them."""
        return self._run(text, by_line=False, rows=text.count(b"\n") + 1)[0]

    def encode_lines(self, text: bytes) -> tuple[Ints, Ints]:
        """Number the words (between spaces or tabs) of whole lines; return them and the words a line."""
        # Two bytes a word at least, its blank included, so that `rows` is enough.
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
        # Whichever was full: the kernel stops for either.
        if len(self) >= int(slots.size * _LOAD):
            slots = np.full(slots.size * 2, -1, np.int32)
            offsets = np.concatenate((offsets, np.zeros(hashes.size, np.int64)))
            hashes = np.concatenate((hashes, np.empty_like(hashes)))
            _rehash(slots, hashes, len(self))
        else:
            arena = np.concatenate((arena, np.empty(max(arena.size, bytes_needed), np.uint8)))
        self._table = _Table(slots, hashes, offsets, arena)

    def hashes(self) -> Bits:
        """Return the hash of each string: of its bytes alone, so that it is the same everywhere."""
        return self._table.hashes[: len(self)].copy()

    def strings(self, first: int = 0) -> pa.Array:
        """Return the strings numbered ``first`` and up, as an Arrow array."""
        offsets = self._table.offsets[first : len(self) + 1]
        arena = self._table.arena[offsets[0] : offsets[-1]].copy()
        buffers = [None, pa.py_buffer((offsets - offsets[0]).copy()), pa.py_buffer(arena)]
        return pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)
