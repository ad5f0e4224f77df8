"""Builds the items of a reader, or blocks of text, from text, words and regions in the order of a source."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest

from sentgen.corpus.comments import document_comment, one_line
from sentgen.corpus.encodings import without_c1
from sentgen.corpus.reader import Item
from sentgen.corpus.readers._columns import finish_sentence
from sentgen.corpus.sentence import FINAL_MARKS, Mark, RawText, Region, Sentence
from sentgen.corpus.validation import LIMITS
from sentgen.errors import Rejection

#: Kinds of regions other than paragraphs: headings with their `level`, items of lists, quotations.
HEAD, ITEM, QUOTE = "head", "item", "quote"
#: Maximal characters of a paragraph.
_PARAGRAPH = 200_000
_WHITE = re.compile("[ \t\r]+")
#: Closing tokens that may follow a final mark.
_CLOSING = frozenset(("''", "”", "’", "»", "›", ")", "]", "}", "」", "』"))
#: Quotes that may close, with the quotes that open each of them.
_OPENERS = {'"': '"', "“": "„", "‘": "‚", "„": "„", "‚": "‚"}
_BLANKS = re.compile(r"\s+")
#: Controls and lone surrogates, which are replaced by white space.
_NO_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u00ad]")
#: Ligatures, as in *eﬃcient*, which belong to typesetting, not to spelling.
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}


class SentenceCutter:
    """Finds where sentences begin among tokens: after final marks and closing tokens.

    A word that begins with a small letter continues the sentence.
    """

    __slots__ = ("_open_quotes", "has_ended")

    def __init__(self) -> None:
        #: Whether the last token ends a sentence.
        self.has_ended = False
        #: Opening quotes without a closing one so far.
        self._open_quotes = set[str]()

    def begins_sentence(self, form: str) -> bool:
        """Process the next token; return whether a sentence begins with it."""
        is_final = form[-1:] in FINAL_MARKS and not form.strip(FINAL_MARKS)
        opener = _OPENERS.get(form)
        begins = False
        if self.has_ended and not (is_final or form in _CLOSING or opener in self._open_quotes):
            self.has_ended = False
            begins = not form[:1].islower()
        self.has_ended = self.has_ended or is_final
        if opener is not None:
            # A quote that can only close is not added to the opening ones.
            self._open_quotes ^= {opener} & (self._open_quotes | {form})
        return begins


@dataclass(slots=True)
class Word:
    """A token of a source, with empty strings for missing values.

    ``glued``: no space follows; ``tied``: no space precedes; ``spaced``: the source writes the space that
    follows. ``misc`` are further attributes, as in CoNLL-U.
    """

    form: str
    lemma: str = ""
    upos: str = ""
    xpos: str = ""
    feats: str = ""
    misc: str = ""
    id: str = ""
    glued: bool = False
    tied: bool = False
    spaced: bool = False


@dataclass(slots=True)
class _Opened:
    """An open element; it becomes a region only if it has a token."""

    kind: str
    attributes: dict[str, str]
    region: Region | None = None


@dataclass(slots=True)
class _Block:
    """The text and words since the last end of a paragraph or sentence."""

    parts: list[str] = field(default_factory=list)
    size: int = 0
    line: int = 0
    starts: list[int] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    multiwords: list[tuple[int, int, str]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    #: White space precedes the next text or word.
    white: bool = False
    #: The next white space is ignored.
    joined: bool = False
    cutter: SentenceCutter = field(default_factory=SentenceCutter)


class Flow:
    """Receives text, words and regions, and appends sentences and raw texts with their marks to a list.

    Attributes:
        language: language of raw text according to the source.
        most: a text with more characters is cut at white space.
        fill: a function that sets further fields of a sentence from its words.
    """

    def __init__(self, path: str, results: list[Item]) -> None:
        self.path, self.results = path, results
        self.language = ""
        self.most = _PARAGRAPH
        self.fill: Callable[..., None] | None = None
        self.opened: list[_Opened] = []
        #: Number of open elements that have a region.
        self._marked = 0
        self._spans: dict[str, Region] = {}
        self._waiting: list[Region] = []
        self._block = _Block()
        self._outer: list[tuple[_Block, int, tuple[str, list[str]] | None]] = []
        #: Items of asides, which follow the paragraph in which they occur.
        self._aside: list[Item] = []
        #: The last item, held back because regions may still end with it.
        self._last: Sentence | RawText | None = None
        self._sentence: tuple[str, list[str]] | None = None
        self._document: str | None = None
        self._metadata: list[str] = []

    @property
    def is_empty(self) -> bool:
        """Whether no text or word was received since the last end."""
        return not (self._block.size or self._block.words)

    @property
    def line(self) -> int:
        """The line of the first text or word since the last end, 0 if there is none."""
        return self._block.line

    @property
    def in_sentence(self) -> bool:
        """Whether a sentence of the source is open."""
        return self._sentence is not None

    def begin_document(self, name: str, metadata: list[str]) -> None:
        """Begin a document with the next item."""
        self.end_document()
        self._document, self._metadata = name, metadata

    def end_document(self) -> None:
        """End all open elements, and append the remaining items."""
        self._sentence = None
        self.cut()
        # All that is open ends with the last item, and nothing goes on in the next document.
        self._last = self._last and _ended_with(self._last, self._block.marks)
        self.release()
        self._block = _Block()
        self._document, self._metadata = None, []

    def open_region(self, kind: str, attributes: dict[str, str]) -> None:
        """Begin a region with the next token."""
        self.opened.append(_Opened(kind, attributes))

    def close(self) -> None:
        """End the region that was opened last."""
        region = self.opened.pop().region
        self._marked = min(self._marked, len(self.opened))
        if region is not None:
            self._end(region)

    def open_span(self, name: str, kind: str, attributes: dict[str, str]) -> None:
        """Begin a region with the next token that is closed by its name, so that it may overlap others."""
        region = Region(kind, tuple(attributes.items()))
        self._spans[name] = region
        self._waiting.append(region)

    def close_span(self, name: str) -> None:
        """End the span that is open, if there is one."""
        region = self._spans.pop(name, None)
        if region in self._waiting:
            self._waiting.remove(region)
        elif region is not None:
            self._end(region)

    def begin_sentence(self, sent_id: str, metadata: list[str]) -> None:
        """Begin a sentence."""
        self.cut()
        self._sentence = sent_id, metadata

    def end_sentence(self) -> None:
        """End the sentence."""
        self.cut(within=True)
        self._sentence = None

    def aside(self) -> None:
        """Begin an aside: text within a paragraph that is moved after it, such as a note."""
        self._outer.append((self._block, self._marked, self._sentence))
        self._block, self._marked, self._sentence = _Block(), len(self.opened), None

    def end_aside(self) -> None:
        """End the aside."""
        self._sentence = None
        self.cut()
        rest = self._block.marks
        self._block, self._marked, self._sentence = self._outer.pop()
        for number in reversed(range(len(self._aside))):
            item = self._aside[number]
            if not isinstance(item, Rejection):
                self._aside[number] = _ended_with(item, rest)
                break

    def write(self, text: str, line: int) -> None:
        """Add text that is not tokenized."""
        for number, piece in enumerate(text.split("\n"), line):
            if number > line:
                self._block.white = not self._block.joined
            if piece:
                self._write(piece, number)

    def _write(self, text: str, line: int) -> None:
        text = _WHITE.sub(" ", text)
        block = self._block
        if text[0] == " " and not block.joined:
            block.white = True
        words = text.strip(" ")
        if not words:
            return
        block.joined = False
        if block.words:
            # The paragraph has words of the source: the text is tokenized between them.
            for form in words.split(" "):
                self.word(Word(form), line)
        else:
            if block.size > self.most and block.white:
                self.cut(within=True)
                block = self._block
            if not block.size:
                block.line = line
            elif block.white:
                block.parts.append(" ")
                block.size += 1
            block.starts += [block.size] * (line - block.line + 1 - len(block.starts))
            self.begin_regions(block.size)
            block.parts.append(words)
            block.size += len(words)
        block.white = text[-1] == " "

    def space(self) -> None:
        """Add white space, or another separator of words."""
        self._block.white = True

    def join(self) -> None:
        """Join the text before and after, ignoring white space between them."""
        self._block.white, self._block.joined = False, True

    def word(self, word: Word, line: int) -> None:
        """Add a token."""
        if self._block.size:
            self._split()
        cutter = self._block.cutter
        if self._sentence is None and cutter.begins_sentence(word.form):
            self.cut()
            self._block.cutter = cutter
        block = self._block
        if not block.words:
            block.line = line
        if len(block.words) <= LIMITS.sentence_tokens:
            self.begin_regions(len(block.words))
            block.words.append(word)

    def multiword(self, form: str, words: list[Word], line: int) -> None:
        """Add tokens that are written as one."""
        for word in words:
            self.word(word, line)
            self._block.cutter.has_ended = False
        last = len(self._block.words)
        self._block.multiwords.append((last - len(words) + 1, last, form))

    def blank(self) -> None:
        """Add a space that the source writes between tokens."""
        if self._block.words:
            self._block.words[-1].spaced = True

    def cut(self, *, within: bool = False) -> None:
        """End a paragraph, and with it its sentence; a sentence that the source marks continues."""
        if self._sentence is not None and not within:
            self._block.white = True
            return
        block, self._block = self._block, _Block()
        if not (block.size or block.words):
            self._block.marks = block.marks
            return
        item = self._raw(block) if block.size else self._sentence_of(block)
        if isinstance(item, Rejection):
            # Regions of the sentence may continue.
            self._block.marks = [mark._replace(place=0) for mark in block.marks]
        if self._outer:
            self._aside.append(item)
            return
        aside, self._aside = self._aside, []
        for result in (item, *aside):
            self.release()
            self._take(result)

    def _take(self, item: Item) -> None:
        if isinstance(item, Rejection):
            self.results.append(item)
            return
        if self._document is not None:
            metadata = [*self._metadata, *item.metadata]
            item = replace(item, document=self._document, metadata=metadata)
            self._document, self._metadata = None, []
        self._last = item

    def release(self) -> None:
        """Append the last item to the results; no further region can end with it."""
        if self._last is not None:
            self.results.append(self._last)
            self._last = None

    def _raw(self, block: _Block) -> RawText:
        metadata = self._sentence[1] if self._sentence is not None else []
        return RawText(
            "".join(block.parts),
            block.line,
            tuple(block.starts),
            whole=self._sentence is not None,
            metadata=[*metadata],
            marks=tuple(block.marks),
            language=self.language,
        )

    def _sentence_of(self, block: _Block) -> Sentence | Rejection:
        sent_id, metadata = self._sentence or ("", [])
        words = block.words
        sentence = Sentence(
            [word.form for word in words],
            space_after=_spaces(words),
            sent_id=sent_id,
            metadata=[*metadata],
            multiwords=block.multiwords,
            line=block.line,
            marks=tuple(block.marks),
        )
        if any(word.lemma for word in words):
            sentence.lemmas = [word.lemma for word in words]
        sentence.upos = _column([word.upos for word in words])
        sentence.xpos = _column([word.xpos for word in words])
        sentence.feats = _column([word.feats for word in words])
        misc = _column([word.misc for word in words])
        sentence.misc = None if misc is None else tuple(misc)
        fill = partial(self.fill, words=words) if self.fill is not None else None
        return finish_sentence(sentence, self.path, fill)

    def _split(self) -> None:
        """Tokenize the text before the words of its paragraph."""
        block, self._block = self._block, _Block()
        text = "".join(block.parts)
        self._block.line = block.line
        self._block.words = [Word(form) for form in text.split(" ") if form]
        for mark in block.marks:
            before = text[: mark.place]
            partly = mark.begins and before != "" and not before.endswith(" ")
            self._block.marks.append(mark._replace(place=len(before.split()) - partly))

    def begin_regions(self, position: int) -> None:
        """Begin the regions that wait for a token."""
        if len(self.opened) > self._marked:
            for opened in self.opened[self._marked :]:
                opened.region = Region(opened.kind, tuple(opened.attributes.items()))
                self._block.marks.append(Mark(position, opened.region, begins=True))
            self._marked = len(self.opened)
        if self._waiting:
            self._block.marks += [Mark(position, region, begins=True) for region in self._waiting]
            self._waiting = []

    def _end(self, region: Region) -> None:
        position = self._block.size or len(self._block.words)
        self._block.marks.append(Mark(position, region, begins=False))


class Blocks(Flow):
    """A flow of blocks of text, which end where a region begins or ends.

    A block has the line of its first text, and is not cut elsewhere; each run of white space is one blank.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, [])
        self.most = sys.maxsize

    def add(self, text: str, line: int) -> None:
        """Add text on a line."""
        self.write(_BLANKS.sub(" ", clean_text(text)), self.line or line)

    def begin(self, kind: str, **attributes: str) -> None:
        """Begin a region."""
        self.cut()
        self.open_region(kind, attributes)

    def end(self) -> None:
        """End the region that was begun last."""
        self.cut()
        # Without a text it is none, and yet counts among those of the next sentence.
        self.begin_regions(0)
        self.close()

    def take(self) -> list[Item]:
        """Return the blocks since the last call."""
        self.release()
        ready, self.results = self.results, []
        return ready


def clean_text(text: str) -> str:
    """Return text with ligatures split, and blanks for controls that have no meaning in text."""
    decoded = without_c1(text).translate(_LIGATURES)
    # A soft hyphen marks a possible line break, and is no part of the word.
    return _NO_TEXT.sub(lambda match: "" if match[0] == "\u00ad" else " ", decoded)


def with_metadata(items: Iterable[Item], metadata: Mapping[str, str]) -> Iterator[Item]:
    """Yield the blocks of a document, the first one with its metadata, which may be read only by then."""
    first = True
    for item in items:
        if first and not isinstance(item, Rejection):
            pairs = [(key, one_line(without_c1(metadata[key]))) for key in metadata]
            item = replace(item, metadata=[document_comment(key, value) for key, value in pairs if value])
        yield item
        first = False


def _ended_with(item: Sentence | RawText, marks: list[Mark]) -> Sentence | RawText:
    """Return an item with further marks of regions that end with it."""
    size = len(item.forms) if isinstance(item, Sentence) else len(item.text)
    ends = [mark._replace(place=size) for mark in marks if not mark.begins]
    return replace(item, marks=(*item.marks, *ends)) if ends else item


def _column(values: list[str]) -> list[str] | None:
    """Return a column of tags, or ``None`` if all are missing."""
    return [value or "_" for value in values] if any(values) else None


def _spaces(words: list[Word]) -> list[bool] | None:
    """Return which words a space follows, or ``None`` if the source does not say."""
    if any(word.spaced for word in words):
        return [*(word.spaced for word in words[:-1]), True]
    if not any(word.glued or word.tied for word in words):
        return None
    return [
        not (word.glued or after) for word, after in zip_longest(words, (word.tied for word in words[1:]))
    ]
