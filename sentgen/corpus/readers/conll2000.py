"""The chunking format of CoNLL-2000: form, tag and BIO chunk tag, separated by spaces or tabs.

NP chunks become base noun phrases; other chunks are checked and dropped. An `I-NP` that follows no NP
begins one.
"""

from __future__ import annotations

import re

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import FormatError, ReadBlocks
from sentgen.corpus.sentence import Sentence

_LINE = re.compile(r"\S+[ \t]\S+[ \t](O|[BI]-\w+)")
_CHUNK = re.compile(r"O|[BI]-\w+", re.ASCII)


def _fill(sentence: Sentence, rows: list[str]) -> None:
    sentence.xpos, sentence.nps = [], []
    latest, previous = 0, "O"
    for row, text in enumerate(rows):
        fields = text.split()
        if len(fields) != 3:
            raise FormatError("columns", f"{len(fields)} fields where 3 belong", row)
        form, tag, chunk = fields
        if not _CHUNK.fullmatch(chunk):
            raise FormatError("chunk-tag", f"chunk tag {chunk[:20]!r}; it must be O, B-TYPE or I-TYPE", row)
        is_np = chunk.endswith("-NP")
        if is_np and (chunk[0] == "B" or not previous.endswith("-NP")):
            latest += 1
        sentence.forms.append(form)
        sentence.xpos.append(tag)
        sentence.nps.append(latest if is_np else 0)
        previous = chunk


read = ReadBlocks(_fill)


def _fits(sample: list[str]) -> bool:
    return all(map(_LINE.fullmatch, sample[:20]))


READER = Reader("conll2000", "1", read, "CoNLL-2000 chunks: form, tag, BIO chunk", fits=_fits)
