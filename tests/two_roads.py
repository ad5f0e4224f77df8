"""What is found in a file by one of the two roads, block by block or sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sentgen.corpus.paths import source_at
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import LineReader
from sentgen.corpus.token_columns import STRINGS, TokenColumns
from sentgen.corpus.treebank_blocks import TreebankBlock
from sentgen.corpus.validation import InputLimits
from sentgen.errors import Rejection


class InPieces(LineReader):
    """A reader of few bytes at a time."""

    size = 60

    def blocks(self, size: int = 0) -> Iterator[bytes]:
        """Yield the bytes."""
        return super().blocks(self.size)


def found_in(file: Path, limits: InputLimits, road: Any) -> tuple[list[Any], list[Rejection]]:
    """Return what is found: of the sentences all that is stored, and the rejections."""
    found = list(road(InPieces(source_at(str(file)), limits)))
    sentences: list[Sentence] = []
    parts = []
    for one in found:
        if isinstance(one, TreebankBlock):
            sentences += _sentences(one)
            parts.append(one.columns)
        elif isinstance(one, Sentence):
            sentences.append(one)
            parts.append(TokenColumns.of([one]))
    told = [
        (s.line, s.sent_id, s.text, s.metadata, s.comments, s.verbatim, s.document, s.multiwords, s.ranges)
        for s in sentences
    ]
    nodes = [
        (
            s.empty_nodes,
            [(mark.place, mark.region.kind, mark.region.attributes, mark.begins) for mark in s.marks],
        )
        for s in sentences
    ]
    rejections = [one for one in found if isinstance(one, Rejection)]
    return [told, nodes, *_plain(parts, len(sentences))], rejections


def _sentences(block: TreebankBlock) -> list[Sentence]:
    """Return the sentences of a block with their marks, without their columns."""
    sentences = [block.told.get(at, Sentence([], line=line)) for at, line in enumerate(block.lines.tolist())]
    ends = np.cumsum(block.columns.lengths)
    for mark in block.marks:
        at = int(np.searchsorted(ends, mark.place))
        before = int(ends[at] - block.columns.lengths[at])
        sentences[at].marks += (mark._replace(place=mark.place - before),)
    return sentences


def _plain(parts: list[TokenColumns], size: int) -> list[Any]:
    if not parts:
        return []
    columns = TokenColumns.joined(parts).cut(0, size)
    assert columns.strings["forms"] is not None
    coded = [columns.strings[name] for name in STRINGS]
    strings = [None if one is None else np.array(one.values.strings)[one.codes].tolist() for one in coded]
    spaces = None if columns.space_after is None else columns.space_after.to_pylist()
    numbers = [columns.lengths, columns.unmarked, columns.heads, columns.nps]
    return [*strings, spaces, *(None if one is None else np.asarray(one).tolist() for one in numbers)]
