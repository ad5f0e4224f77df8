"""What is found in a file by one of the two roads, block by block or sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from sentgen.corpus.paths import source_at
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.token_columns import STRINGS, TokenColumns
from sentgen.corpus.treebank_blocks import TreebankBlock
from sentgen.corpus.validation import LIMITS
from sentgen.counts.treebank_rows import RegionRows
from sentgen.errors import Rejection

#: Usual and small limits, by name.
WIDE = {name: getattr(LIMITS, name) for name in ("sentence_tokens", "field_length")}
NARROW = {"sentence_tokens": 4, "field_length": 12}


class InPieces(LineReader):
    """A reader of few bytes at a time."""

    size = 60

    def blocks(self, size: int = 0) -> Iterator[bytes]:
        """Yield the bytes."""
        return super().blocks(self.size)


def found_in(file: Path, limits: dict[str, int], road: Any) -> tuple[list[Any], list[Rejection]]:
    """Return what is found: of the sentences all that is stored, and the rejections."""
    with patch.multiple(LIMITS, **limits):
        found = list(road(InPieces(source_at(str(file)))))
    sentences: list[Sentence] = []
    parts = []
    for one in found:
        if isinstance(one, TreebankBlock):
            sentences += _sentences(one)
            parts.append(one.columns)
        elif isinstance(one, Sentence):
            sentences.append(one)
            parts.append(TokenColumns.join([one]))
    told = [
        (s.line, s.sent_id, s.text, s.metadata, s.comments, s.verbatim, s.document, s.multiwords, s.ranges)
        for s in sentences
    ]
    nodes = [s.empty_nodes for s in sentences]
    rejections = [one for one in found if isinstance(one, Rejection)]
    return [told, nodes, _regions(found), *_plain(parts)], rejections


def _sentences(block: TreebankBlock) -> list[Sentence]:
    """Return the sentences of a block without their columns and marks."""
    return [block.sentences.get(at, Sentence([], line=line)) for at, line in enumerate(block.lines.tolist())]


def _regions(found: list[TreebankBlock | Sentence | Rejection]) -> list[list[tuple[object, ...]]]:
    """Return the rows that are stored of regions."""
    rows, number = RegionRows(), 1

    def add(sentence: Sentence, length: int) -> None:
        nonlocal number
        rows.add(number, length, sentence, first=number == 1 or sentence.document is not None)
        number += 1

    for one in found:
        if isinstance(one, Sentence):
            add(one, len(one.forms))
        elif isinstance(one, TreebankBlock):
            first = number
            for sentence, length in zip(_sentences(one), one.columns.lengths.tolist(), strict=True):
                add(sentence, length)
            rows.add_block(first, one.columns.lengths, one.marks, one.spans)
    rows.end_source()
    return [sorted(rows.regions), sorted(rows.attributes)]


def _plain(parts: list[TokenColumns]) -> list[Any]:
    if not parts:
        return []
    columns = TokenColumns.concatenate(parts).without_empty()
    assert columns.strings["forms"] is not None
    coded = [columns.strings[name] for name in STRINGS]
    strings = [None if one is None else np.array(one.values.strings)[one.codes].tolist() for one in coded]
    spaces = None if columns.space_after is None else columns.space_after.to_pylist()
    numbers = [columns.lengths, columns.unmarked, columns.heads, columns.nps]
    return [*strings, spaces, *(None if one is None else np.asarray(one).tolist() for one in numbers)]
