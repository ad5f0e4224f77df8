"""Formats of the CoNLL shared tasks and similar ones: a token per line, a blank line after each sentence.

* CoNLL-X (2006-2009): like CoNLL-U without comments, ranges and empty nodes. Eight columns (without PHEAD
  and PDEPREL) are read as well as ten. CPOSTAG is stored as `upos`, POSTAG as `xpos`.
* CoNLL-2000: form, tag and BIO chunk tag, separated by spaces or tabs. NP chunks become base noun phrases;
  other chunks are checked and dropped. An `I-NP` that follows no NP begins one.
* Dependencies of the Penn Treebank (`.dp`): form, tag and head. Forms lose the Penn escapes (see `mrg`).
"""

from __future__ import annotations

import re

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import (
    IDS,
    FormatError,
    ReadBlocks,
    fill_columns,
    parse_heads,
    split_columns,
)
from sentgen.corpus.readers.mrg import plain, plain_tag
from sentgen.corpus.sentence import Sentence


def _fill_conllx(sentence: Sentence, rows: list[str]) -> None:
    columns = split_columns(rows, 8 if rows[0].count("\t") == 7 else 10)
    expected = IDS[: len(rows)] if len(rows) <= len(IDS) else [str(i) for i in range(1, len(rows) + 1)]
    if columns[0] != expected:
        row = next(i for i, name in enumerate(columns[0]) if name != expected[i])
        raise FormatError(
            "id-sequence", f"token number {columns[0][row][:20]!r} where {row + 1} belongs", row
        )
    fill_columns(sentence, columns)


CONLLX = Reader(
    "conllx",
    "1",
    ReadBlocks(_fill_conllx),
    "CoNLL-X dependencies",
    (".conllx",),
    lambda sample: sample[0].count("\t") in (7, 9) and sample[0].startswith("1\t"),
    trees=True,
    distinct=True,
)


_LINE = re.compile(r"\S+[ \t]\S+[ \t](O|[BI]-\w+)")
_CHUNK = re.compile(r"O|[BI]-\w+", re.ASCII)


def _fill_chunks(sentence: Sentence, rows: list[str]) -> None:
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


CONLL2000 = Reader(
    "conll2000",
    "1",
    ReadBlocks(_fill_chunks),
    "CoNLL-2000 chunks: form, tag, BIO chunk",
    fits=lambda sample: all(map(_LINE.fullmatch, sample[:20])),
)


def _fill_dp(sentence: Sentence, rows: list[str]) -> None:
    forms, tags, heads = split_columns(rows, 3)
    sentence.forms = [plain(form) for form in forms]
    sentence.xpos = [plain_tag(tag) for tag in tags]
    sentence.heads = parse_heads(heads)


read_dp = ReadBlocks(_fill_dp)


DP = Reader(
    "dp",
    "1",
    read_dp,
    "form, tag and head of the Penn Treebank",
    (".dp",),
    lambda sample: all(re.fullmatch(r"[^\t]+\t[^\t]+\t\d+", line) for line in sample[:20]),
    trees=True,
    distinct=True,
)
