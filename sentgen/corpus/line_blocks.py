"""Tokenized text in blocks of whole lines, for counting without a Python object per token.

A block with a line that might be refused, or with white space beyond ASCII, is read by the slower `lines`
reader instead: both store the same sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sentgen.arrays import Bytes, compiled
from sentgen.corpus.readers import lines
from sentgen.corpus.sentence import RESERVED, Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.validation import CONTROL_BYTES, LIMITS
from sentgen.errors import Rejection

#: UTF-8 of white space beyond ASCII, and the symbols that no corpus may use.
_CAREFUL = (
    *("\xa0", "\u1680", "\u202f", "\u205f", "\u3000"),
    *sorted(RESERVED),
)
_CAREFUL_BYTES = tuple(text.encode() for text in _CAREFUL)
#: The spaces U+2000 to U+200A and the separators U+2028 and U+2029.
_SPACES = re.compile(rb"\xe2\x80[\x80-\x8a\xa8\xa9]")


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines of clean text; ``first_line`` counts from 1."""

    text: bytes
    first_line: int


def read_blocks(reader: LineReader) -> Iterator[LineBlock | Sentence | Rejection]:
    """Yield the sentences of tokenised text: blocks where no line can be refused, else single sentences."""
    for first_line, text in reader.whole_lines():
        if _is_plain(text):
            yield LineBlock(text, first_line)
            continue
        for result in lines.read(text.decode().split("\n"), path=reader.source.name):
            yield replace(result, line=result.line + first_line - 1)


def _is_plain(text: bytes) -> bool:
    # In bytes, never fewer than characters; a token takes two with its blank.
    field, line = _longest(np.frombuffer(text, np.uint8))
    return (
        field <= LIMITS.field_length
        and line <= 2 * LIMITS.sentence_tokens
        # Searched inside words, too: a false match only costs time.
        and not any(symbol in text for symbol in _CAREFUL_BYTES)
        and _SPACES.search(text) is None
        and CONTROL_BYTES.search(text) is None
    )


@compiled
def _longest(codes: Bytes) -> tuple[int, int]:
    """Return the length in bytes of the longest field and of the longest line."""
    field = line = field_start = line_start = 0
    for at in range(codes.size + 1):
        # As if the text ended with a line feed, so that the last line is counted.
        code = codes[at] if at < codes.size else 10
        if code == 32 or code == 9 or code == 10:
            field = max(field, at - field_start)
            field_start = at + 1
        if code == 10:
            line = max(line, at - line_start)
            line_start = at + 1
    return field, line
