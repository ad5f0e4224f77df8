"""Dependencies of the Penn Treebank, one token a line: form, tag, head, tab-separated.

Forms lose the Penn escapes: `1\\/2` is read as `1/2`, `-LRB-` as `(`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from sentgen.corpus.readers._columns import blocks, finished, parse_heads, split_columns, too_long
from sentgen.corpus.readers._penn import plain, plain_tag
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import LIMITS, Limits
from sentgen.errors import Rejection

NAME = "dp"
VERSION = "1"


def read(lines: Iterable[str], *, path: str, limits: Limits = LIMITS) -> Iterator[Sentence | Rejection]:
    """Yield the sentences between blank lines."""
    for start, rows in blocks(lines, limits.sentence_tokens):
        if len(rows) > limits.sentence_tokens:
            yield too_long(path, start, limits)
        else:
            yield finished(Sentence([], line=start), path, limits, partial(_fill, rows=rows))


def _fill(sentence: Sentence, rows: list[str]) -> None:
    forms, tags, heads = split_columns(rows, 3)
    sentence.forms = [plain(form) for form in forms]
    sentence.xpos = [plain_tag(tag) for tag in tags]
    sentence.heads = parse_heads(heads)
