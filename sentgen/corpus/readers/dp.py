"""Dependencies of the Penn Treebank, one token a line: form, tag, head, tab-separated.

Forms lose the Penn escapes: `1\\/2` is read as `1/2`, `-LRB-` as `(`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sentgen.corpus.readers._columns import one_block_each, parse_heads, split_columns
from sentgen.corpus.readers._penn import plain, plain_tag
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import LIMITS, Limits
from sentgen.errors import Rejection

NAME = "dp"
VERSION = "1"


def read(lines: Iterable[str], *, path: str, limits: Limits = LIMITS) -> Iterator[Sentence | Rejection]:
    """Return the sentences between blank lines."""
    return one_block_each(lines, path, limits, _fill)


def _fill(sentence: Sentence, rows: list[str]) -> None:
    forms, tags, heads = split_columns(rows, 3)
    sentence.forms = [plain(form) for form in forms]
    sentence.xpos = [plain_tag(tag) for tag in tags]
    sentence.heads = parse_heads(heads)
