"""Vertical files of CWB, Sketch Engine and Korp (VRT): a token a line, tags as regions.

Columns are told by `--columns`, by a line of their names before the first token, or by
`<!-- #vrt positional-attributes: word lemma pos -->`, else they are word, pos and lemma. The fields that a
sentence has are known by their names (`_named_columns`), all others go into MISC.

`<doc>` or `<text>`, whichever comes first, is a document: its attribute id (else name, file or title) names
it, the others are its metadata. `<s>` or `<sentence>` is a sentence. Every other tag is a region, and so is
`<text>`. `<g/>` glues two tokens; other empty tags, comments and declarations are passed over.
What `_vertical_pieces` says of tokens without `<s>` holds, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import Carried, FormatError, too_long
from sentgen.corpus.readers._tags import tag_of
from sentgen.corpus.readers._vertical_pieces import SENTENCES, Piece, Pieces, is_aside
from sentgen.corpus.sentence import ABSENT, Sentence
from sentgen.corpus.validation import LIMITS, InputLimits, check
from sentgen.errors import Rejection
from sentgen.output.wording import quantity

#: Lines that are taken at once.
_LINES = 10_000
#: Share of the lines without tags that have one number of columns.
_TABULAR = 0.9


def read(
    lines: Iterable[str],
    *,
    path: str,
    limits: InputLimits = LIMITS,
    columns: str | None = None,
    sentences: str | None = None,
) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a vertical file; a broken one is a rejection and the next one is read.

    Args:
        lines: the lines.
        path: name of the file.
        limits: what is refused.
        columns: names of the columns, with commas between them.
        sentences: the kind of the regions that are sentences.
    """
    pieces, carried = Pieces(path, limits, columns, sentences), Carried()
    lines, first = iter(lines), 1
    while several := list(islice(lines, _LINES)):
        for piece in pieces.of("\n".join(several).encode(), first):
            yield from read_piece(piece, pieces, carried)
        first += len(several)
    for piece in pieces.end():
        yield from read_piece(piece, pieces, carried)


def read_piece(piece: Piece, pieces: Pieces, carried: Carried) -> Iterator[Sentence | Rejection]:
    """Yield the sentence of a piece, or why it is refused."""
    return carried.give(piece.sentence, [_filled(piece, pieces)])


def _filled(piece: Piece, pieces: Pieces) -> Sentence | Rejection:
    sentence, columns = piece.sentence, pieces.columns
    if not piece.parts:
        return too_long(pieces.path, sentence.line, pieces.limits)
    try:
        found = columns.split(piece.rows())
    except FormatError as error:
        line = piece.line_at(error.row)
        return Rejection(pieces.path, line, sentence.sent_id, error.check_id, error.message)
    columns.fill(sentence, found)
    assert sentence.space_after is not None
    for token in piece.glued:
        sentence.space_after[token] = False
    heads = columns.fields.get("heads")
    pieces.treeless += heads is not None and sentence.heads is None and {*found[heads]} != {ABSENT}
    failed = check(sentence, pieces.limits)
    return sentence if failed is None else Rejection(pieces.path, sentence.line, sentence.sent_id, *failed)


def notes_on(pieces: Pieces) -> Iterator[str]:
    """Yield what is to be said of a file that was read, a line each."""
    if pieces.cut:
        yield (
            f"{quantity(pieces.cut, 'sentence')} without <s>, cut at final punctuation;"
            " --sentences KIND takes a region"
        )
    if pieces.treeless:
        yield (
            f"the heads of {quantity(pieces.treeless, 'sentence')} make no tree,"
            " and are only the attribute head of their tokens"
        )


def _fits(sample: list[str]) -> bool:
    tags = [tag_of(line) for line in sample]
    if tags[0] is None and not is_aside(sample[0]):
        return False
    rows = [line for line, tag in zip(sample, tags, strict=True) if tag is None and not is_aside(line)]
    if not rows or not any(tags):
        return False
    [(columns, most)] = Counter(line.count("\t") for line in rows).most_common(1)
    if columns:
        return most >= _TABULAR * len(rows) and not any(line.startswith(("\t", " ")) for line in rows)
    # Words alone: XML with a tag a line has blanks between them.
    words = not any(" " in line for line in rows) and most == len(rows)
    return words and any(tag is not None and tag.kind in SENTENCES for tag in tags)


READER = Reader(
    "vertical",
    "2",
    read,
    "vertical files (CWB, Sketch Engine, VRT)",
    (".vert", ".vrt"),
    _fits,
    settings=("columns", "sentences"),
)
