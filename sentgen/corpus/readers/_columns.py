"""Shared functions of readers of one-token-a-line formats: blocks of rows, columns, heads, rejections.

Columns with names are fields of a sentence, or else parts of MISC.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, repeat
from typing import NoReturn, Self, TypeVar

from sentgen.corpus.comments import of_document
from sentgen.corpus.markup import UNDEFINED, decode_entities
from sentgen.corpus.reader import Item
from sentgen.corpus.sentence import ABSENT, Mark, RawText, Sentence
from sentgen.corpus.validation import LIMITS, check, check_heads
from sentgen.errors import InputError, Rejection, spell
from sentgen.output.wording import quantity

_Result = TypeVar("_Result", bound=Item)

#: Valid spellings of token numbers and heads: looking up is faster than `int`, and strict.
IDS = [str(number) for number in range(1, 10_001)]
#: Lines that are read at once.
_LINES = 10_000
HEADS = {str(number): number for number in range(10_001)}


class FormatError(Exception):
    """A check of the format failed at a row of the sentence (counted from 0)."""

    def __init__(self, check_id: str, message: str, row: int = 0) -> None:
        super().__init__(message)
        self.check_id, self.message, self.row = check_id, message, row


def blocks(lines: Iterable[str], most: int, first_line: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line number and the lines of each block between blank lines.

    Of an oversized block only ``most + 1`` lines are kept; the reader must refuse it.
    """
    rows: list[str] = []
    start, taken = first_line, first_line - 1
    lines = iter(lines)
    # Blank lines are found by a method of the list, not by a loop over all lines.
    while several := list(islice(lines, _LINES)):
        begin = 0
        while begin < len(several):
            try:
                end = several.index("", begin)
            except ValueError:
                end = len(several)
            # Further lines are dropped, so that a file without blank lines does not fill the memory.
            rows += several[begin : min(end, begin + most + 1 - len(rows))]
            if end < len(several):
                if rows:
                    yield start, rows
                    rows = []
                start = taken + end + 2
            begin = end + 1
        taken += len(several)
    if rows:
        yield start, rows


@dataclass(frozen=True, slots=True)
class ReadBlocks:
    """Reads a format in which every block of lines is a sentence, which ``fill`` fills from its rows."""

    fill: Callable[..., None]

    def __call__(self, lines: Iterable[str], *, path: str) -> Iterator[Sentence | Rejection]:
        """Yield the sentences between blank lines."""
        for start, rows in blocks(lines, LIMITS.sentence_tokens):
            if len(rows) > LIMITS.sentence_tokens:
                yield LIMITS.too_long(path, start)
            else:
                yield finish_sentence(Sentence([], line=start), path, partial(self.fill, rows=rows))


def finish_sentence(
    sentence: Sentence,
    path: str,
    fill: Callable[[Sentence], None] | None = None,
    line_of: Callable[[int], int] | None = None,
) -> Sentence | Rejection:
    """Fill and check a sentence; return it, or a rejection with the reason and the line.

    ``line_of`` returns the line of the row of a `FormatError`; without it, a row is a line.
    """
    try:
        if fill is not None:
            fill(sentence)
        failed = check(sentence)
    except FormatError as error:
        line = sentence.line + error.row if line_of is None else line_of(error.row)
        return Rejection(path, line, sentence.sent_id, error.check_id, error.message)
    return sentence if failed is None else Rejection(path, sentence.line, sentence.sent_id, *failed)


@dataclass(slots=True)
class Carried:
    """Metadata and marks of items without a sentence, which are carried on to the next sentence."""

    document: str | None = None
    metadata: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def give(self, item: Item, results: Iterable[_Result]) -> Iterator[_Result]:
        """Yield the results of an item with its own and carried metadata and marks; raw text has no marks."""
        if not isinstance(item, Rejection):
            if item.marks or self.marks:
                results = list(results)
                self.marks = _give_marks(item, results, self.marks)
            # Metadata of a rejected document are not carried on to the next one.
            carried = () if item.document else of_document(self.metadata)
            self.metadata = [*carried, *item.metadata]
            self.document = item.document or self.document
        for result in results:
            if isinstance(result, Sentence):
                result.document, self.document = self.document, None
                if result.comments is None:
                    result.metadata = self.metadata
                self.metadata = []
            elif isinstance(result, RawText):
                result = replace(result, document=self.document, metadata=self.metadata)
                self.document, self.metadata = None, []
            yield result

    def give_document(self, name: str | None, metadata: list[str], items: Iterable[Item]) -> Iterator[Item]:
        """Yield items, the first of which begins a document if it has a name, with its metadata."""
        return self.give(RawText("", 0, document=name, metadata=metadata), items)


def in_documents(
    items: Iterable[tuple[Item, Iterable[Sentence | Rejection]]],
) -> Iterator[Sentence | Rejection]:
    """Yield the results of each item; the document that begins with an item begins with the next sentence.

    Marks of regions at a rejected item are moved to the next sentence, too.
    """
    carried = Carried()
    for item, results in items:
        yield from carried.give(item, results)


def split_columns(rows: list[str], count: int) -> list[list[str]]:
    """Split tab-separated rows into ``count`` columns; the error names a row that has not as many."""
    # No loop in Python over the rows of clean sentences, which are nearly all.
    if set(map(str.count, rows, repeat("\t"))) != {count - 1}:
        _refuse_row(rows, count)
    # All rows have the same number of fields, so that one split and strides give the columns.
    fields = "\t".join(rows).split("\t")
    columns = [fields[number::count] for number in range(count)]
    if "" in fields:
        number, column = next((number, column) for number, column in enumerate(columns, 1) if "" in column)
        raise FormatError("columns", f"column {number} is empty; write _ for no value", column.index(""))
    return columns


def _refuse_row(rows: list[str], count: int) -> NoReturn:
    for row, text in enumerate(rows):
        fields = text.count("\t") + 1
        if row and text[0] == "#":
            raise FormatError("comment", "a comment after the first token of its sentence", row)
        if fields != count:
            break
    raise FormatError("columns", f"{fields} tab-separated columns where {count} belong", row)


def parse_heads(column: list[str]) -> list[int]:
    """Convert a column of heads to numbers."""
    try:
        # "01", "+1" and " 1" are no keys, so that the fast path accepts only valid spellings.
        return [HEADS[head] for head in column]
    except KeyError:
        return [_parse_head(row, head) for row, head in enumerate(column)]


def _parse_head(row: int, head: str) -> int:
    digits = head.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or (digits[0] == "0" and digits != "0"):
        raise FormatError("head-number", f"head {head[:20]!r} is not a whole number", row)
    # Before `int`: thousands of digits take quadratic time.
    if digits != head or len(digits) > 9:
        raise FormatError("head-range", f"head {head[:20]} is not a position in the sentence", row)
    return int(digits)


def fill_columns(sentence: Sentence, columns: Sequence[list[str]]) -> None:
    """Set the columns that CoNLL-U and CoNLL-X share, from FORM to DEPREL."""
    sentence.forms = columns[1]
    sentence.lemmas = optional(columns[2])
    sentence.upos = optional(columns[3])
    sentence.xpos = optional(columns[4])
    sentence.feats = optional(columns[5])
    if optional(columns[6]) is not None:
        sentence.heads = parse_heads(columns[6])
    sentence.deprels = optional(columns[7])


def optional(column: list[str]) -> list[str] | None:
    """Return a column, or ``None`` if all its values are `_`."""
    if column[0] == "_" and column.count("_") == len(column):
        return None
    return column


#: Characters after the last token within which the next one is searched.
_NEAR = 50


def _give_marks(item: Sentence | RawText, results: Sequence[Item], carried: Sequence[Mark]) -> list[Mark]:
    """Add the marks of an item to its sentences, after the marks carried on from earlier items.

    Returns:
        Marks without a sentence, which belong to the beginning of the next one.
    """
    waiting, offset = list(carried), 0
    marks, at = item.marks, 0
    for number, result in enumerate(results):
        if not isinstance(result, Sentence):
            continue
        own, waiting = waiting, []
        if isinstance(item, Sentence):
            own += marks[at:]
            at = len(marks)
        else:
            offset = max(offset, item.text.find(result.text, offset))
            end = offset + len(result.text)
            last = number == len(results) - 1
            begin = at
            # A region that begins where the sentence ends belongs to the next one.
            while at < len(marks) and (last or (marks[at].place, marks[at].begins) < (end, True)):
                at += 1
            own += _on_tokens(marks[begin:at], result, offset)
            offset = end
        result.marks = tuple(own)
    return waiting + [mark._replace(place=0) for mark in marks[at:]]


def _on_tokens(marks: Sequence[Mark], sentence: Sentence, offset: int) -> Iterator[Mark]:
    """Yield marks moved from characters to tokens: a token that overlaps a region is in it."""
    size = len(sentence.text)
    # Most regions begin and end with a sentence, so that no token has to be searched.
    within = any(0 < mark.place - offset < size for mark in marks)
    spans = list(_spans(sentence.text, sentence.forms)) if within else []
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    for mark in marks:
        offset_in_text = mark.place - offset
        if not 0 < offset_in_text < size:
            yield mark._replace(place=len(sentence.forms) if offset_in_text >= size else 0)
            continue
        # By bisection: tokens that end before the region begins, or begin before it ends.
        before = bisect_right(ends, offset_in_text) if mark.begins else bisect_left(starts, offset_in_text)
        yield mark._replace(place=before)


def _spans(text: str, forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the span of each token in a text; a token that is not found is at the end of the one before."""
    at = 0
    for form in forms:
        index = text.find(form, at, at + len(form) + _NEAR)
        start = at if index < 0 else index
        at = start if index < 0 else index + len(form)
        yield start, at


#: Fields by the names of their columns; `pos` may be either tag, if there is another one.
_FIELDS = {
    "forms": ("word", "form", "token"),
    "lemmas": ("lemma", "baseform", "lemme"),
    "upos": ("upos", "upostag", "cpos"),
    "xpos": ("xpos", "xpostag", "pos", "tag"),
    "feats": ("feats", "feat", "ufeats"),
    "heads": ("head", "dephead"),
    "deprels": ("deprel",),
}
_KNOWN = {name: field for field, names in _FIELDS.items() for name in names}
_SPACES = ("wsafter", "spaceafter", "space_after")
_NO_SPACE = frozenset(("", '""', "''", "no", "false", "0", "spaceafter=no"))
_NAME = re.compile(r"[^\W\d][\w:.-]*")
#: Spellings of a missing value.
_UNSAID = UNDEFINED | {""}
#: A column of this name is MISC itself.
_MISC = "misc"
#: A column `head` whose numbers make no tree is an attribute of this name.
HEAD = "head"


def field_of(name: str) -> str | None:
    """Return the field that a column of this name is, or ``None``."""
    return _KNOWN.get(name.lower())


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """The columns of a file.

    Attributes:
        names: names of the columns.
        fields: index of the column of each field that has one.
        spaces: index of the column of the space after a token, or ``None``.
        others: names and indices of the other columns.
    """

    names: tuple[str, ...]
    fields: dict[str, int]
    spaces: int | None
    others: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Return the columns with these names.

        Raises:
            InputError: a name is invalid or occurs twice, or no name is that of the word.
        """
        given = tuple(name.strip() for name in names)
        wrong = next((name for name in given if not _NAME.fullmatch(name)), None)
        if wrong is not None:
            raise InputError(
                f"{wrong!r} is no name of a column; write them as {spell('columns')} word,pos,lemma"
            )
        if len(set(given)) < len(given):
            raise InputError(f"a column stands twice in {','.join(given)}; give other {spell('columns')}")
        fields: dict[str, int] = {}
        spaces: int | None = None
        others = []
        plain = [name.lower() for name in given]
        for number, name in enumerate(plain):
            column = _KNOWN.get(name)
            if name == "pos" and ("xpos" in plain or "xpostag" in plain) and "upos" not in plain:
                column = "upos"
            if column is not None and column not in fields:
                fields[column] = number
            elif name in _SPACES and spaces is None:
                spaces = number
            else:
                others.append(("" if name == _MISC else given[number], number))
        if "forms" not in fields:
            raise InputError(f"no column of {','.join(given)} is word or form; give other {spell('columns')}")
        return cls(given, fields, spaces, tuple(others))

    @property
    def word(self) -> int:
        """The index of the column of words."""
        return self.fields["forms"]

    def split(self, rows: list[str]) -> list[list[str]]:
        """Return the columns of rows, decoded and with `_` for no value; the error names an invalid row."""
        size = len(self.names)
        if set(map(str.count, rows, repeat("\t"))) != {size - 1}:
            row, count = next(
                (i, row.count("\t") + 1) for i, row in enumerate(rows) if row.count("\t") != size - 1
            )
            named = ",".join(self.names)
            message = (
                f"{quantity(count, 'tab-separated column')} where {size} belong ({named}); give"
                f" {spell('columns')}"
            )
            raise FormatError("columns", message, row)
        text = "\t".join(rows)
        fields = text.split("\t")
        if "&" in text:
            fields = [decode_entities(value) for value in fields]
        columns = [fields[number::size] for number in range(size)]
        for number, column in enumerate(columns):
            if number in (self.word, self.spaces) or _UNSAID.isdisjoint(column):
                continue
            columns[number] = [ABSENT if value in _UNSAID else value for value in column]
        return columns

    def fill(self, sentence: Sentence, columns: list[list[str]]) -> None:
        """Set the fields of a sentence, and MISC from all other columns."""
        for name, number in self.fields.items():
            if name not in ("forms", "heads"):
                setattr(sentence, name, optional(columns[number]))
        sentence.forms = columns[self.word]
        others = [(name, columns[number]) for name, number in self.others]
        if "heads" in self.fields:
            heads = columns[self.fields["heads"]]
            sentence.heads = tree_of(heads)
            if sentence.heads is None:
                others.insert(0, (HEAD, heads))
        sentence.misc = misc_of(others)
        if self.spaces is None:
            sentence.space_after = [True] * len(sentence.forms)
        else:
            sentence.space_after = [is_space(value) for value in columns[self.spaces]]


def misc_of(columns: Sequence[tuple[str, list[str]]]) -> tuple[str, ...] | None:
    """Return MISC of named columns, ``None`` if all are empty; a column without a name is copied."""
    filled = [(name, column) for name, column in columns if optional(column) is not None]
    if not filled:
        return None
    pairs = ([_pair(name, value) for value in column] for name, column in filled)
    return tuple("|".join(filter(None, values)) or ABSENT for values in zip(*pairs, strict=True))


def _pair(name: str, value: str) -> str:
    if value == ABSENT:
        return ""
    return f"{name}={bar_free(value)}" if name else value


def tree_of(column: list[str]) -> list[int] | None:
    """Return the heads in a column, or ``None`` if they are not a tree."""
    if not all(value.isascii() and value.isdecimal() and len(value) < 7 for value in column):
        return None
    heads = [int(value) for value in column]
    return heads if check_heads(heads) is None else None


def is_space(value: str) -> bool:
    """Return whether a space follows a token, by the value of its column.

    >>> is_space('" "'), is_space('""'), is_space("_"), is_space("SpaceAfter=No")
    (True, False, True, False)
    """
    return value.lower() not in _NO_SPACE


def bar_free(value: str) -> str:
    r"""Return a value escaped for MISC, as UDPipe does it.

    >>> bar_free(r"a|b\c")
    'a\\pb\\\\c'
    """
    return value.replace("\\", "\\\\").replace("|", "\\p") if "|" in value or "\\" in value else value
