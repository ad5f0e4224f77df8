"""Vertical files of CWB, Sketch Engine and Korp (VRT): a token per line, and tags as regions.

Columns are named by `--columns`, by a line of their names before the first token, or by
`<!-- #vrt positional-attributes: word lemma pos -->`, else they are word, pos and lemma. Columns whose names
denote a field of a sentence set it (`NamedColumns`), all others go into MISC.

`<doc>` or `<text>`, whichever comes first, is a document: its attribute id (else name, file or title) names
it, the others are its metadata. `<s>` or `<sentence>` is a sentence. Every other tag is a region, and so is
`<text>`. `<g/>` says that no space is between two tokens; other empty tags, comments and declarations are
skipped.

Tokens between `<s>` and `</s>` are one sentence; all others are cut at final punctuation, at blank lines, and
at tags of paragraphs and the like. As the text is already tokenised, a period that is a token ends a sentence
in any language: no segmenter has to guess abbreviations, or to hold a whole text in memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from sentgen.corpus.comments import comment_of, document_comment, regions_in_comments
from sentgen.corpus.markup import LONGEST, Tag, decode_entities, name_written, tag_of
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import Carried, NamedColumns, field_of, finish_sentence
from sentgen.corpus.readers._flow import SentenceCutter
from sentgen.corpus.sentence import ABSENT, Mark, Region, Sentence
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError, Rejection, spell
from sentgen.output.wording import quantity

#: Columns of a file that does not name them.
USUAL = ("word", "pos", "lemma")
#: Kinds of tags for documents and for sentences; the first of each that occurs in a file is used.
DOCUMENTS, SENTENCES = ("doc", "text"), ("s", "sentence")
GLUE = "g"
#: Put at the end of a token's line for a line `<g/>` after it, which is the most frequent tag.
GLUED = b"\x01"
_GLUED = GLUED.decode()
#: The tag that a comment is read as: an empty tag without a kind.
ASIDE = Tag("", opens=True, closes=True)
#: Most tags that are kept in `Pieces._known`.
_KNOWN = 1_000
#: Attributes of a document that name it.
_NAMES = ("id", "name", "file", "title")
#: Tags at which a sentence ends: it continues neither into nor out of their regions.
_BLOCKS = frozenset(
    """p para paragraph head heading title div section chapter l lg line sp speaker u utterance turn item li
    list cell row table note quote h1 h2 h3 h4 h5 h6 front body back""".split()  # noqa: SIM905
)
_PASSED_OVER = re.compile(r"<!--.*-->\s*|<\?.*\?>\s*|<![A-Z].*>\s*")
_DECLARED = re.compile(r"<!-- *#vrt +positional-attributes: *(.*?) *-->\s*")
_FEED = ord("\n")


@dataclass(slots=True)
class Piece:
    """A sentence whose lines are not yet read as tokens.

    Attributes:
        sentence: the sentence without tokens, with its metadata, document and line.
        parts: texts of the lines of the sentence, each with the number of its first line.
        size: number of tokens; above the limit, ``parts`` is empty.
        glued: indices (from 0) of the tokens that no space follows.
    """

    sentence: Sentence
    parts: list[tuple[int, bytes]] = field(default_factory=list)
    size: int = 0
    glued: tuple[int, ...] = ()
    marks: list[Mark] | None = None

    def rows(self) -> list[str]:
        """Return the lines of the sentence, and add to ``glued`` the tokens that no space follows."""
        rows = b"\n".join(text for _, text in self.parts).decode().split("\n")
        glued = []
        for number, row in enumerate(rows):
            if row.endswith(_GLUED):
                rows[number] = row[:-1]
                glued.append(number)
        self.glued += tuple(glued)
        return rows

    def line_at(self, row: int) -> int:
        """Return the line in the file of a token, by its index in the sentence."""
        for line, text in self.parts:
            size = text.count(b"\n") + 1
            if row < size:
                return line + _lines_in(b"\n".join(text.split(b"\n")[:row])) + bool(row)
            row -= size
        raise IndexError(row)

    def read(self, pieces: Pieces, carried: Carried) -> Iterator[Sentence | Rejection]:
        """Yield the sentence, or its rejection."""
        sentence, path = self.sentence, pieces.path
        if self.parts:
            fill = partial(_fill, piece=self, pieces=pieces)
            result = finish_sentence(sentence, path, fill, self.line_at)
        else:
            result = LIMITS.too_long(path, sentence.line)
        return carried.give(sentence, [result])


def _glue_lines(text: bytes) -> bytes:
    """Replace each line `<g/>` by a mark at the end of the line before, unless that is blank."""
    if b"\n<g/>\n" not in text:
        return text
    text = text.replace(b"\n<g/>\n", GLUED + b"\n")
    # In a loop, as two marks may share the line feed between them.
    while b"\n" + GLUED in text:
        text = text.replace(b"\n" + GLUED + b"\n", b"\n\n<g/>\n")
    return text if text.startswith(b"\n") else b"\n<g/>" + text[1:]


def _lines_in(text: bytes) -> int:
    """Return the number of line ends in a text, with those of lines `<g/>`."""
    return text.count(b"\n") + text.count(GLUED)


class Pieces:
    """Cuts a text, which is given some lines at a time, into sentences, as a `Piece` each.

    Args:
        path: name of the file.
        columns: names of the columns, if the user gave them.
        sentences: kind of the tags that are sentences, if the user gave it.
    """

    def __init__(self, path: str, columns: str | None, sentences: str | None) -> None:
        self.path = path
        self._given = columns is not None
        self.columns = NamedColumns.of(columns.split(",") if columns is not None else USUAL)
        self.sentences: Sequence[str] = (sentences.lower(),) if sentences else SENTENCES
        self._kept = sentences is not None and sentences.lower() not in SENTENCES
        self._documents: Sequence[str] = DOCUMENTS
        #: Number of sentences that were cut at punctuation, not by tags.
        self.cut = 0
        #: Number of sentences whose heads make no tree.
        self.treeless = 0
        self._found: list[Piece] = []
        #: Tags without attributes, by their lines.
        self._known: dict[bytes, Tag] = {}
        self._begun = False
        self.piece: Piece | None = None
        self.inside = self._outside = False
        #: Whether the next token begins a sentence.
        self._closed = False
        self._cutter = SentenceCutter()
        #: Attributes of the tag of the open sentence, and its regions.
        self._sent_id = ""
        self._said: list[str] = []
        self._own: list[Region] = []
        self._document: str | None = None
        self._metadata: list[str] = []
        #: Marks to be given to the next sentence.
        self._marks: list[Mark] = []
        self._open: dict[str, list[Region]] = {}
        #: How many regions of each kind were open where the document began; ``None`` outside of one.
        self._around: dict[str, int] | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the columns and the kind of tags for sentences are known, and such tags are no regions."""
        return self._begun and len(self.sentences) == 1 and not self._kept

    def cut_text(self, text: bytes, line: int) -> list[Piece]:
        """Return the sentences that end in a text of whole lines, the first of which has this number."""
        # So that a line feed precedes every line.
        text = _glue_lines(b"\n" + text)
        at, start = 1, text.find(b"\n<")
        while start >= 0:
            end = text.find(b"\n", start + 1)
            end = len(text) if end < 0 else end
            tag_line = text[start + 1 : end]
            if len(tag_line) > LONGEST and b"\t" not in tag_line:
                message = f"a tag of more than {quantity(LONGEST, 'character')}"
                raise InputError(message, path=self.path, line=line + _lines_in(text[at : start + 1]))
            tag = self._known.get(tag_line) or self.tag(tag_line)
            if tag is not None:
                if at <= start:
                    body = text[at:start]
                    self._tokens(body, line)
                    line += _lines_in(body) + 1
                if tag is not ASIDE:
                    self.take(tag, line)
                elif declared := _DECLARED.match(tag_line.decode()):
                    self._declare(declared[1].split(), line)
                if tag_line.endswith(GLUED):
                    self._glue()
                    line += 1
                line += 1
                at = end + 1
            start = text.find(b"\n<", end)
        if at <= len(text):
            self._tokens(text[at:], line)
        return self.take_pieces()

    def tag(self, tag_line: bytes) -> Tag | None:
        """Return the tag on a line, `ASIDE` for a comment, and ``None`` for a token."""
        text = tag_line.decode().removesuffix(_GLUED)
        tag = tag_of(text) or (ASIDE if _is_aside(text) else None)
        if tag is not None and not tag.attributes and len(self._known) < _KNOWN:
            self._known[tag_line] = tag
        return tag

    def end(self) -> list[Piece]:
        """Return the last sentence."""
        self.flush()
        return self.take_pieces()

    def take_pieces(self) -> list[Piece]:
        """Return the sentences that have ended since the last call."""
        pieces, self._found = self._found, []
        return pieces

    def _declare(self, names: Sequence[str], line: int) -> None:
        """Set the names of columns, unless the user gave them or a token was read before."""
        if self._given or self._begun:
            return
        try:
            self.columns = NamedColumns.of(names)
        except InputError as error:
            raise InputError(error.message, path=self.path, line=line) from error

    def _tokens(self, body: bytes, line: int) -> None:
        if not self._begun:
            first, _, rest = body.lstrip(b"\n").partition(b"\n")
            if _is_header(first.decode()):
                line += body.index(first)
                self._declare(first.decode().split("\t"), line)
                line += 1
                # A later line that looks like a header is a token, also in another block.
                self._begun = True
                body = rest
        if not body or body[0] == _FEED or body[-1] == _FEED or b"\n\n" in body:
            for run in re.finditer(rb"[^\n]+(?:\n[^\n]+)*", body):
                number = line + _lines_in(body[: run.start()])
                if self.inside:
                    self._add(run[0], run[0].count(b"\n") + 1, number)
                else:
                    # Tokens before the first blank line may continue the sentence of an earlier text.
                    self._closed |= run.start() > 0
                    self._cut(run[0], number)
            self._closed |= not (self.inside or body[-1:].strip())
        elif self.inside:
            self._add(body, body.count(b"\n") + 1, line)
        else:
            self._cut(body, line)

    def _cut(self, body: bytes, line: int) -> None:
        """Cut lines of tokens outside tags of sentences, none of which is blank, into sentences."""
        if self._closed:
            self._cutter = SentenceCutter()
        begin, word = 0, self.columns.word
        rows = body.split(b"\n")
        for at, row in enumerate(rows):
            form = (row.split(b"\t", word + 1)[word:] or [row])[0].removesuffix(GLUED).decode()
            if self._cutter.begins_sentence(decode_entities(form)):
                if begin < at:
                    part = b"\n".join(rows[begin:at])
                    self._add(part, at - begin, line)
                    line += _lines_in(part) + 1
                self._closed, begin = True, at
        self._add(b"\n".join(rows[begin:]), len(rows) - begin, line)

    def _add(self, body: bytes, size: int, line: int) -> None:
        """Add lines of tokens to the open sentence, or begin a sentence with them."""
        if self._closed or self.piece is None:
            self.flush()
            self.begin(line)
        piece = self.piece
        assert piece is not None
        self._begun = True
        piece.size += size
        if piece.size <= LIMITS.sentence_tokens:
            piece.parts.append((line, body))
        else:
            piece.parts.clear()

    def begin(self, line: int) -> Piece:
        """Begin a sentence with the document, metadata and marks that were read before it."""
        if self._document is None and self._outside:
            self._document = f"{self.path}#{line}"
        sentence = Sentence([], sent_id=self._sent_id, line=line, document=self._document)
        # An empty list is not replaced, as the garbage collector looks at every new list.
        if self._metadata:
            self._said, self._metadata = self._metadata + self._said, []
        if self._said:
            sentence.metadata, self._said = self._said, []
        self.piece = piece = Piece(sentence)
        if self._marks:
            piece.marks, self._marks = self._marks, []
        self._document, self._sent_id = None, ""
        self._outside = self._closed = False
        self.cut += not self.inside
        return piece

    def flush(self) -> None:
        """End the last sentence."""
        piece = self.piece
        if piece is not None:
            self.leave([piece])
            self._found.append(piece)

    def leave(self, pieces: Iterable[Piece]) -> None:
        """End sentences whose lines are stored elsewhere: later tokens and marks belong to none of them."""
        self.piece = None
        for piece in pieces:
            if piece.marks:
                piece.sentence.marks = tuple(piece.marks)

    def take(self, tag: Tag, line: int) -> None:
        """Take a tag, whose place is after the tokens that the last sentence has so far."""
        kind = tag.kind.lower()
        if kind in self.sentences:
            if not (tag.opens and tag.closes):
                self.sentences = (kind,)
                self._take_sentence(tag)
            return
        if kind == GLUE:
            if tag.opens:
                self._glue()
        elif tag.opens and tag.closes:
            return
        elif kind in self._documents:
            self._documents = (kind,)
            # Now, as the regions of the document end in the last sentence.
            self._leave_document()
            self.flush()
            if tag.opens:
                self._enter_document(tag, line)
        else:
            self.take_region(tag)
        self._closed |= kind in _BLOCKS and not self.inside

    def take_region(self, tag: Tag) -> None:
        """Take a tag where a region begins, or ends."""
        if tag.opens:
            self._open_region(tag.region)
        else:
            self._close_region(name_written(tag.kind))

    def _glue(self) -> None:
        piece = self.piece
        if piece is not None and piece.parts and piece.glued[-1:] != (piece.size - 1,):
            piece.glued = (*piece.glued, piece.size - 1)

    def _take_sentence(self, tag: Tag) -> None:
        for region in self._own:
            self._close_region(region.kind)
        self._own, self._sent_id = [], ""
        self._said.clear()
        self._closed, self.inside = True, tag.opens
        if self._kept and tag.opens:
            self._own.append(self._open_region(Region(tag.kind, tag.region.attributes)))
        for key, value in tag.attributes:
            if key == "id":
                self._sent_id = value
                continue
            comment = comment_of(name_written(key), value)
            # In CoNLL-U, these comments hold for the following sentences, too; here for this one only.
            regions = [self._open_region(region) for region in regions_in_comments([comment])]
            self._own += regions
            if not regions:
                self._said.append(comment)

    def _enter_document(self, tag: Tag, line: int) -> None:
        values = dict(tag.attributes)
        self._outside = False
        self._document = next((values[key] for key in _NAMES if values.get(key)), f"{self.path}#{line}")
        self._metadata = [
            document_comment(name_written(key), value) for key, value in values.items() if key != "id"
        ]
        self._around = {kind: len(regions) for kind, regions in self._open.items()}
        if tag.kind.lower() != DOCUMENTS[0]:
            self._open_region(Region(tag.kind, tag.region.attributes))

    def _leave_document(self) -> None:
        """End the document, and the regions that have begun in it."""
        around, self._around = self._around, None
        for kind, regions in self._open.items():
            while around is not None and len(regions) > around.get(kind, 0):
                self._close_region(kind)
        self._document, self._sent_id = None, ""
        self._metadata, self._said, self._own = [], [], []
        self.inside, self._outside = False, True

    def _open_region(self, region: Region) -> Region:
        self._open.setdefault(region.kind, []).append(region)
        self._mark(region, begins=True)
        return region

    def _close_region(self, kind: str) -> None:
        regions = self._open.get(kind)
        if regions:
            self._mark(regions.pop(), begins=False)

    def _mark(self, region: Region, *, begins: bool) -> None:
        marks, position = self._marks, 0
        if self.piece is not None:
            if self.piece.marks is None:
                self.piece.marks = []
            marks, position = self.piece.marks, self.piece.size
        if not begins and marks and marks[-1] == (position, region, True):
            # A region without a token is dropped.
            marks.pop()
        else:
            marks.append(Mark(position, region, begins))

    def notes(self) -> Iterator[str]:
        """Yield notes on a file that was read, a line each."""
        if self.cut:
            yield (
                f"{quantity(self.cut, 'sentence')} without <s>, cut at final punctuation;"
                f" {spell('sentences')} KIND takes a region"
            )
        if self.treeless:
            yield (
                f"the heads of {quantity(self.treeless, 'sentence')} make no tree,"
                " and are only the attribute head of their tokens"
            )


def _is_aside(line: str) -> bool:
    return _PASSED_OVER.fullmatch(line) is not None


def _is_header(line: str) -> bool:
    """Return whether a line has names of columns, not a token.

    >>> _is_header("word\\tpos\\tlemma"), _is_header("word\\tNN\\tword")
    (True, False)
    """
    names = line.split("\t")
    fields = [field_of(name) for name in names]
    return "forms" in fields and len(set(names)) == len(names) and len(set(fields) - {None}) > 1


#: Lines that are cut into sentences at once.
_LINES = 10_000
#: Least share of the lines without tags that have the same number of columns, in a file of this format.
_TABULAR = 0.9


def read(
    lines: Iterable[str],
    *,
    path: str,
    columns: str | None = None,
    sentences: str | None = None,
) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a vertical file; a broken one becomes a rejection, and reading goes on.

    ``columns`` are names, separated by commas; ``sentences`` is the kind of the tags that are sentences.
    """
    pieces, carried = Pieces(path, columns, sentences), Carried()
    lines, first = iter(lines), 1
    while several := list(islice(lines, _LINES)):
        for piece in pieces.cut_text("\n".join(several).encode(), first):
            yield from piece.read(pieces, carried)
        first += len(several)
    for piece in pieces.end():
        yield from piece.read(pieces, carried)


def _fill(sentence: Sentence, *, piece: Piece, pieces: Pieces) -> None:
    columns = pieces.columns
    fields = columns.split(piece.rows())
    columns.fill(sentence, fields)
    assert sentence.space_after is not None
    for token in piece.glued:
        sentence.space_after[token] = False
    heads = columns.fields.get("heads")
    pieces.treeless += heads is not None and sentence.heads is None and {*fields[heads]} != {ABSENT}


def _fits(sample: list[str]) -> bool:
    tags = [tag_of(line) for line in sample]
    if tags[0] is None and not _is_aside(sample[0]):
        return False
    rows = [line for line, tag in zip(sample, tags, strict=True) if tag is None and not _is_aside(line)]
    if not rows or not any(tags):
        return False
    [(columns, most)] = Counter(line.count("\t") for line in rows).most_common(1)
    if columns:
        return most >= _TABULAR * len(rows) and not any(line.startswith(("\t", " ")) for line in rows)
    # A file with words only; lines of XML text would have blanks between words.
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
