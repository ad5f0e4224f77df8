"""Tagged Penn Treebank files: `word/TAG` tokens, base noun phrases in `[ ... ]`, rows of `=` between blocks.

The files do not mark their sentences, and their blank lines fall inside sentences too. A sentence ends
after a token tagged `.` and the quotes and brackets that close after it, unless the next word begins in
lower case, and at a row of `=`. Against the trees of WSJ section 01 this finds 83 of 100 files exactly and
2,015 sentences for 1,993; lists and headlines without a full stop make the difference.
Forms lose the Penn escapes: `1\\/2` is read as `1/2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import finished, too_long
from sentgen.corpus.readers._penn import plain, plain_tag
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import Rejection

_CLOSING_TAGS = frozenset({"''", ")", "."})


class _Event:
    """What is not a token: the end of a block, or an error."""

    def __init__(self, check_id: str = "", message: str = "") -> None:
        self.check_id, self.message = check_id, message


#: line, form, tag, number of the base noun phrase in the file (0 outside)
Token = tuple[int, str, str, int]


def tokens(lines: Iterable[str]) -> Iterator[Token | tuple[int, _Event]]:
    """Yield the tokens, and an event at the end of each block and at each error."""
    chunk, inside = 0, False
    for number, line in enumerate(lines, 1):
        if line.startswith("==="):
            if inside:
                yield number, _Event("bracket", "the bracket [ is not closed in its block")
            inside = False
            yield number, _Event()
            continue
        for field in line.split():
            if field in ("[", "]"):
                # Open in an open one, or closed in none.
                if inside == (field == "["):
                    yield number, _Event("bracket", f"a bracket {field} without its partner")
                inside = field == "["
                chunk += inside
                continue
            form, slash, tag = field.rpartition("/")
            if slash and form and tag:
                yield number, plain(form), plain_tag(tag), chunk if inside else 0
            else:
                yield number, _Event("tag", f"{field[:40]!r} is not written word/TAG")


def read(lines: Iterable[str], *, path: str, limits: InputLimits = LIMITS) -> Iterator[Sentence | Rejection]:
    """Yield the sentences; one with a broken token or bracket is rejected as a whole."""
    for words, error in _sentences(tokens(lines), limits.sentence_tokens):
        if error is not None:
            yield Rejection(path, error[0], "", error[1].check_id, error[1].message)
        elif len(words) > limits.sentence_tokens:
            yield too_long(path, words[0][0], limits)
        else:
            yield finished(_sentence(words), path, limits)


def _sentences(
    stream: Iterable[Token | tuple[int, _Event]], most: int
) -> Iterator[tuple[list[Token], tuple[int, _Event] | None]]:
    """Group tokens into sentences, each with its first error; keep at most one token over ``most``."""
    words: list[Token] = []
    error: tuple[int, _Event] | None = None
    ended = False
    for item in stream:
        if len(item) == 2:
            if item[1].check_id:
                # The first error is told; others may come of it.
                error = error or item
                continue
            if words or error:
                yield words, error
            words, error, ended = [], None, False
            continue
        _, form, tag, _ = item
        if ended and tag not in _CLOSING_TAGS and tag != "-RRB-" and form != "'":
            if not form[0].islower():
                yield words, error
                words, error = [], None
            ended = False
        ended = ended or tag == "."
        if len(words) <= most:
            words.append(item)
    if words or error:
        yield words, error


def _sentence(words: list[Token]) -> Sentence:
    return Sentence(
        [form for _, form, _, _ in words],
        xpos=[tag for _, _, tag, _ in words],
        nps=renumbered([chunk for _, _, _, chunk in words]),
        line=words[0][0],
    )


def renumbered(chunks: list[int]) -> list[int]:
    """Number the runs of equal non-zero values 1, 2, ... from left to right.

    >>> renumbered([7, 7, 0, 9, 8])
    [1, 1, 0, 2, 3]
    """
    numbers, latest, previous = [], 0, 0
    for chunk in chunks:
        if chunk and chunk != previous:
            latest += 1
        numbers.append(latest if chunk else 0)
        previous = chunk
    return numbers


def _fits(sample: list[str]) -> bool:
    rows = [line for line in sample[:20] if not line.startswith("===")]
    # The slash of a tag of XML is none before a part of speech.
    return bool(rows) and not rows[0].startswith("<") and all(map(_is_tagged, rows))


def _is_tagged(line: str) -> bool:
    """Say whether a line has words with tags only, or brackets around them.

    Not by a pattern: it would match slashes in many ways, and try them all where none fits.
    """
    text = line.rstrip().removeprefix("[ ").removesuffix(" ]")
    words = text.split(" ")
    return words == text.split() and all("/" in word[1:-1] for word in words)


READER = Reader("pos", "1", read, "Penn Treebank words, tags and base NP brackets", (".pos",), _fits)
