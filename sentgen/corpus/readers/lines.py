"""One sentence a line, tokens separated by spaces or tabs; blank lines are skipped.

Other white space, such as the no-break space in `10 000`, belongs to its token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import finish_sentence
from sentgen.corpus.sentence import Sentence
from sentgen.errors import Rejection


def split_tokens(line: str) -> list[str]:
    """Split at spaces and tabs; a token that is only white space is dropped.

    >>> split_tokens("a  b\\u00a0c")
    ['a', 'b\\xa0c']
    """
    # For ASCII `split()` is the same and faster: clean lines have no other white space.
    if line.isascii():
        return line.split()
    return [token for token in line.replace("\t", " ").split(" ") if token and not token.isspace()]


def read(lines: Iterable[str], *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield a sentence for every line that has a token."""
    for number, line in enumerate(lines, 1):
        forms = split_tokens(line)
        if forms:
            yield finish_sentence(Sentence(forms, line=number), path)


READER = Reader("lines", "1", read, "one tokenized sentence a line", (".lines", ".tok"))
