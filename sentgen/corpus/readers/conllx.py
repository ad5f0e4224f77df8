"""CoNLL-X (2006-2009 shared tasks): like CoNLL-U without comments, ranges and empty nodes.

Eight columns (without PHEAD and PDEPREL) are read as well as ten. CPOSTAG goes to `upos`, POSTAG to `xpos`.
"""

from __future__ import annotations

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import (
    IDS,
    FormatError,
    ReadBlocks,
    optional,
    parse_heads,
    split_columns,
)
from sentgen.corpus.sentence import Sentence


def _fill(sentence: Sentence, rows: list[str]) -> None:
    columns = split_columns(rows, 8 if rows[0].count("\t") == 7 else 10)
    expected = IDS[: len(rows)] if len(rows) <= len(IDS) else [str(i) for i in range(1, len(rows) + 1)]
    if columns[0] != expected:
        row = next(i for i, name in enumerate(columns[0]) if name != expected[i])
        raise FormatError(
            "id-sequence", f"token number {columns[0][row][:20]!r} where {row + 1} belongs", row
        )
    sentence.forms = columns[1]
    sentence.lemmas = optional(columns[2])
    sentence.upos = optional(columns[3])
    sentence.xpos = optional(columns[4])
    sentence.feats = optional(columns[5])
    if columns[6].count("_") != len(rows):
        sentence.heads = parse_heads(columns[6])
    sentence.deprels = optional(columns[7])


read = ReadBlocks(_fill)


def _fits(sample: list[str]) -> bool:
    return sample[0].count("\t") in (7, 9) and sample[0].startswith("1\t")


READER = Reader("conllx", "1", read, "CoNLL-X dependencies", (".conllx",), _fits, trees=True, distinct=True)
