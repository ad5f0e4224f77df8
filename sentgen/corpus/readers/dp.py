"""Dependencies of the Penn Treebank, one token a line: form, tag, head, tab-separated.

Forms lose the Penn escapes: `1\\/2` is read as `1/2`, `-LRB-` as `(`.
"""

from __future__ import annotations

import re

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import ReadBlocks, parse_heads, split_columns
from sentgen.corpus.readers._penn import plain, plain_tag
from sentgen.corpus.sentence import Sentence


def _fill(sentence: Sentence, rows: list[str]) -> None:
    forms, tags, heads = split_columns(rows, 3)
    sentence.forms = [plain(form) for form in forms]
    sentence.xpos = [plain_tag(tag) for tag in tags]
    sentence.heads = parse_heads(heads)


read = ReadBlocks(_fill)


def _fits(sample: list[str]) -> bool:
    return all(re.fullmatch(r"[^\t]+\t[^\t]+\t\d+", line) for line in sample[:20])


READER = Reader(
    "dp", "1", read, "form, tag and head of the Penn Treebank", (".dp",), _fits, trees=True, distinct=True
)
