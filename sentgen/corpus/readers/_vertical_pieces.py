"""The structure of vertical files: which tokens are a sentence, in which document and regions.

Tokens between `<s>` and `</s>` are one; all others are cut at final punctuation, at blank lines, and where a
tag of a paragraph and the like stands. The tokens say already which periods belong to an abbreviation, so
that no segmenter has to guess it, in any language, and none has to hold a whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sentgen.corpus.comments import OF_DOCUMENT, regions_said
from sentgen.corpus.readers._named_columns import NamedColumns, field_of
from sentgen.corpus.readers._tags import LONGEST, Tag, tag_of
from sentgen.corpus.sentence import Mark, Region, Sentence
from sentgen.corpus.validation import InputLimits
from sentgen.errors import InputError
from sentgen.output.wording import quantity

#: What a file has of which nothing is said.
USUAL = ("word", "pos", "lemma")
#: Tags of which the first kind that a file has is its documents, or its sentences.
DOCUMENTS, SENTENCES = ("doc", "text"), ("s", "sentence")
GLUE = "g"
#: Attributes of a document that name it.
_NAMES = ("id", "name", "file", "title")
#: Tags within which no sentence goes on from outside.
_BLOCKS = frozenset(
    (
        "p",
        "para",
        "paragraph",
        "head",
        "heading",
        "title",
        "div",
        "section",
        "chapter",
        "l",
        "lg",
        "line",
        "sp",
        "speaker",
        "u",
        "utterance",
        "turn",
        "item",
        "li",
        "list",
        "cell",
        "row",
        "table",
        "note",
        "quote",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "front",
        "body",
        "back",
    )
)
_LINE = re.compile(r"^<[^\n]*>[ \t]*$", re.MULTILINE)
_ASIDE = re.compile(r"<!--.*-->\s*|<\?.*\?>\s*|<![A-Z].*>\s*")
_DECLARED = re.compile(r"<!-- *#vrt +positional-attributes: *(.*?) *-->\s*")
_FINAL = frozenset(".!?…。！？｡।॥؟۔።")
_FINALS = "".join(sorted(_FINAL))
_CLOSING = frozenset(("''", "”", "’", "»", "›", ")", "]", "}", "」", "』"))
#: Quotes that may end one, and what opened it then.
_QUOTES = {'"': '"', "“": "„", "‘": "‚", "„": "„", "‚": "‚"}


@dataclass(slots=True)
class Piece:
    """The lines of a sentence.

    Attributes:
        sentence: what is known of it without its lines.
        parts: its lines, as texts with the number of the first line of each.
        size: tokens; one of more than the limit has lost its lines.
        glued: the tokens (from 0) behind which no space stands.
    """

    sentence: Sentence
    parts: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0
    glued: list[int] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def rows(self) -> list[str]:
        """Return its lines."""
        return "\n".join(text for _, text in self.parts).split("\n")

    def line_at(self, row: int) -> int:
        """Return the number of the line of a token."""
        for line, text in self.parts:
            size = text.count("\n") + 1
            if row < size:
                return line + row
            row -= size
        raise IndexError(row)


class Pieces:
    """Cuts text, any number of lines at a time, into the lines of sentences.

    Args:
        path: name of the file.
        limits: what is refused.
        columns: names of the columns, if they are known.
        sentences: the kind of the regions that are sentences, if it is known.
    """

    def __init__(self, path: str, limits: InputLimits, columns: str | None, sentences: str | None) -> None:
        self.path, self.limits = path, limits
        self._given = columns is not None
        self.columns = NamedColumns.of(columns.split(",") if columns is not None else USUAL)
        self._sentences: Sequence[str] = (sentences.lower(),) if sentences else SENTENCES
        self._kept = sentences is not None and sentences.lower() not in SENTENCES
        self._documents: Sequence[str] = DOCUMENTS
        #: Sentences that were cut by rule.
        self.cut = 0
        #: Sentences whose heads make no tree.
        self.treeless = 0
        self._begun = False
        self._piece: Piece | None = None
        self._inside = self._outside = False
        #: The next token begins a sentence.
        self._closed = False
        #: The last token ends one, as a rule; and the quotes that are open in it.
        self._ended = False
        self._quotes: set[str] = set()
        #: Attributes of the sentence that has begun, and its regions.
        self._said: list[tuple[str, str]] = []
        self._own: list[Region] = []
        self._document: str | None = None
        self._metadata: list[str] = []
        #: Marks that wait for a sentence.
        self._marks: list[Mark] = []
        self._open: dict[str, list[Region]] = {}
        #: How many regions of each kind were open where the document began; ``None`` outside of one.
        self._around: dict[str, int] | None = None

    def of(self, text: str, line: int) -> Iterator[Piece]:
        """Yield the sentences that end in a text of whole lines, the first of which has this number."""
        at = 0
        for match in _LINE.finditer(text):
            start, end = match.span()
            found = match[0]
            if end - start > LONGEST:
                number = line + text.count("\n", at, start)
                message = f"a tag of more than {quantity(LONGEST, 'character')}"
                raise InputError(message, path=self.path, line=number)
            tag = tag_of(found)
            if tag is None and not is_aside(found):
                continue
            if at < start:
                body = text[at : start - 1]
                yield from self._tokens(body, line)
                line += body.count("\n") + 1
            if tag is not None:
                yield from self._take(tag, line)
            elif declared := _DECLARED.fullmatch(found):
                self._declare(declared[1].split(), line)
            line += 1
            at = end + 1
        if at < len(text):
            yield from self._tokens(text[at:], line)

    def end(self) -> Iterator[Piece]:
        """Yield the last sentence."""
        yield from self._flush()

    def _declare(self, names: Sequence[str], line: int) -> None:
        """Take the names of columns, unless they were given or tokens have come."""
        if self._given or self._begun:
            return
        try:
            self.columns = NamedColumns.of(names)
        except InputError as error:
            raise InputError(error.message, path=self.path, line=line) from error

    def _tokens(self, body: str, line: int) -> Iterator[Piece]:
        """Take lines that are no tags."""
        if not self._begun:
            first, _, rest = body.lstrip("\n").partition("\n")
            if is_header(first):
                line += body.index(first)
                self._declare(first.split("\t"), line)
                line += 1
                body = rest
        if not body.strip("\n"):
            self._closed |= not self._inside
            return
        self._begun = True
        if body.startswith("\n") or body.endswith("\n") or "\n\n" in body:
            for run in re.finditer(r"[^\n]+(?:\n[^\n]+)*", body):
                self._closed |= not self._inside
                yield from self._run(run[0], line + body.count("\n", 0, run.start()))
            self._closed |= not self._inside and body.endswith("\n")
        else:
            yield from self._run(body, line)

    def _run(self, body: str, line: int) -> Iterator[Piece]:
        """Take lines of tokens without a blank one."""
        if self._inside:
            yield from self._add(body, body.count("\n") + 1, line)
            return
        if self._closed:
            self._ended = False
            self._quotes.clear()
        begin, word = 0, self.columns.word
        rows = body.split("\n")
        for at, row in enumerate(rows):
            form = (row.split("\t", word + 1)[word:] or [row])[0]
            if self._ended and not self._goes_on(form):
                if begin < at:
                    yield from self._add("\n".join(rows[begin:at]), at - begin, line + begin)
                self._closed, begin = True, at
            self._ended = self._ended or _is_final(form)
            if form in _QUOTES:
                opens = _QUOTES[form]
                # One that only ends a quote opens none.
                self._quotes ^= {opens} & (self._quotes | {form})
        yield from self._add("\n".join(rows[begin:]), len(rows) - begin, line + begin)

    def _goes_on(self, form: str) -> bool:
        """Say whether a token behind a final one belongs to its sentence; what then begins has not ended."""
        if _is_final(form) or form in _CLOSING or _QUOTES.get(form) in self._quotes:
            return True
        self._ended = False
        return form[:1].islower()

    def _add(self, body: str, size: int, line: int) -> Iterator[Piece]:
        """Take lines of tokens that are of one sentence."""
        if self._closed or self._piece is None:
            yield from self._flush()
            self._begin(line)
        piece = self._piece
        assert piece is not None
        piece.size += size
        if piece.size <= self.limits.sentence_tokens:
            piece.parts.append((line, body))
        else:
            piece.parts.clear()

    def _begin(self, line: int) -> None:
        """Begin a sentence with all that waits for it."""
        if self._document is None and self._outside:
            self._document = f"{self.path}#{line}"
        sentence = Sentence([], line=line, document=self._document)
        sentence.metadata = self._metadata + [f"{key} = {value}" for key, value in self._said if key != "id"]
        sentence.sent_id = next((value for key, value in self._said if key == "id"), "")
        self._piece = Piece(sentence, marks=self._marks)
        self._document, self._metadata, self._said, self._marks = None, [], [], []
        self._outside = self._closed = False
        self.cut += not self._inside

    def _flush(self) -> Iterator[Piece]:
        piece, self._piece = self._piece, None
        if piece is not None:
            piece.sentence.marks = tuple(piece.marks)
            yield piece

    def _take(self, tag: Tag, line: int) -> Iterator[Piece]:
        kind = tag.kind.lower()
        if kind == GLUE:
            if tag.opens and self._piece is not None:
                self._piece.glued.append(self._piece.size - 1)
        elif tag.opens and tag.closes:
            return
        elif kind in self._sentences:
            self._sentences = (kind,)
            self._take_sentence(tag)
        elif kind in self._documents:
            self._documents = (kind,)
            # Before the sentence is gone in which they end.
            self._leave_document()
            yield from self._flush()
            if tag.opens:
                self._enter_document(tag, line)
        elif tag.opens:
            self._open_region(tag.kind, tag.attributes)
        else:
            self._close_region(tag.kind)
        self._closed |= kind in _BLOCKS and not self._inside

    def _take_sentence(self, tag: Tag) -> None:
        for region in self._own:
            self._close_region(region.kind)
        self._own, self._said = [], []
        self._closed, self._inside = True, tag.opens
        if self._kept and tag.opens:
            self._own.append(self._open_region(tag.kind, tag.attributes))
        for key, value in tag.attributes:
            # What comments of CoNLL-U say of the sentences that follow is said of this one only.
            for region in regions_said([f"{key} = {value}"]):
                self._own.append(self._open_region(region.kind, region.attributes))
                break
            else:
                self._said.append((key, value))

    def _enter_document(self, tag: Tag, line: int) -> None:
        said = dict(tag.attributes)
        self._outside = False
        self._document = next((said[key] for key in _NAMES if said.get(key)), f"{self.path}#{line}")
        self._metadata = [f"{OF_DOCUMENT}{key} = {value}" for key, value in said.items() if key != "id"]
        self._around = {kind: len(regions) for kind, regions in self._open.items()}
        if tag.kind.lower() != DOCUMENTS[0]:
            self._open_region(tag.kind, tag.attributes)

    def _leave_document(self) -> None:
        """End the regions that have begun in the document, with what is said of it."""
        around, self._around = self._around, None
        for kind, regions in self._open.items():
            while around is not None and len(regions) > around.get(kind, 0):
                self._close_region(kind)
        self._document, self._metadata, self._said, self._own = None, [], [], []
        self._inside, self._outside = False, True

    def _open_region(self, kind: str, attributes: tuple[tuple[str, str], ...]) -> Region:
        region = Region(kind, attributes)
        self._open.setdefault(kind, []).append(region)
        self._mark(region, begins=True)
        return region

    def _close_region(self, kind: str) -> None:
        """End the last region of a kind, if one is open."""
        regions = self._open.get(kind)
        if regions:
            self._mark(regions.pop(), begins=False)

    def _mark(self, region: Region, *, begins: bool) -> None:
        marks, place = (self._marks, 0) if self._piece is None else (self._piece.marks, self._piece.size)
        mark = Mark(place, region, begins)
        if not begins and marks and marks[-1] == mark._replace(begins=True):
            # Without a token, it is none.
            marks.pop()
        else:
            marks.append(mark)


def _is_final(form: str) -> bool:
    return form[-1:] in _FINAL and not form.strip(_FINALS)


def is_aside(line: str) -> bool:
    """Say whether a line is a comment or a declaration."""
    return _ASIDE.fullmatch(line) is not None


def is_header(line: str) -> bool:
    """Say whether a line has names of columns, not a token.

    >>> is_header("word\\tpos\\tlemma"), is_header("word\\tNN\\tword")
    (True, False)
    """
    names = line.split("\t")
    fields = [field_of(name) for name in names]
    return "forms" in fields and len(set(names)) == len(names) and len(set(fields) - {None}) > 1
