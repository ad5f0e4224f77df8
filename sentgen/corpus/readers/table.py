"""Tables: a row is a document, a column is its text, and the others are its metadata.

`--text` names the column of the text, and `--id` that of the name, without which a document is FILE#ROW, its
rows numbered from 1. Without `--text`, columns of Parquet that are called `text` and `id` are these. A text
is split into sentences and tokens as the format `text` does. Values are text; a condition such as
`year > 1990` compares those as numbers that are numbers.

Where the text is a list of words, a row is a sentence, or with lists of lists a document of several. Lists
beside the words are fields of the tokens by their names (`lemmas`, `upos`, `xpos`, `pos_tags`, `feats`,
`heads`, `deprels`, `nps`, `space_after`), all others attributes of the tokens, as in vertical files. Columns
without lists are metadata, but for `sent_id`, and `text`, which says again what the words say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from sentgen.corpus.comments import comment_of, document_comment, one_line
from sentgen.corpus.encodings import UTF_8, check_encoding
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers import text as raw_text
from sentgen.corpus.readers._columns import (
    Carried,
    FormatError,
    NamedColumns,
    field_of,
    finish_sentence,
    is_space,
    misc_of,
    optional,
    parse_heads,
)
from sentgen.corpus.readers.conllu import NO_SPACE
from sentgen.corpus.readers.jsonl import FORBIDDEN, FORBIDDEN_IN_TEXT
from sentgen.corpus.readers.jsonl import READER as JSON_READER
from sentgen.corpus.sentence import ABSENT, RawText, Sentence
from sentgen.corpus.sources import Source, base_name, uncompressed_name
from sentgen.corpus.tables import TableRow, TextTable, as_text, read_csv, read_parquet, read_sheet
from sentgen.errors import InputError, Rejection, spell
from sentgen.output.wording import quantity

#: Options that name the columns of the text and of the name, which are also the usual names of the columns.
TEXT, ID = "text", "id"
#: Names of a column of lists of words; without such a column, `text` of Parquet is the text.
WORDS = ("tokens", "words")
_SETTINGS = (TEXT, ID)
_NEEDED = "--text COLUMN"
_JSON = (".json", *JSON_READER.extensions)
#: Message about a table where no option can name the column of its text.
NOT_HERE = "is a table, which is not read here; write the column with its texts to a .txt file, a text a line"
#: Separators of fields by format; if empty, it is detected from the first lines.
DELIMITERS = {"csv": "", "tsv": "\t"}
_SENT_ID, _NPS = "sent_id", "nps"
_ATTRIBUTE = re.compile(r"[^\W\d][\w:.-]*")


@dataclass(slots=True)
class _ListColumns:
    """The columns of a table of lists, by their indices and purposes.

    Attributes:
        table: the table.
        words: index of the column of words; ``depth`` is the depth of its lists.
        document: index of the column that names documents.
        sent_id: index of the column that names sentences.
        lists: names and indices of the other columns with lists of the same depth.
        said: names and indices of the columns of metadata.
    """

    table: TextTable
    words: int
    document: int | None
    sent_id: int | None = None
    lists: list[tuple[str, int]] = field(default_factory=list)
    said: list[tuple[str, int]] = field(default_factory=list)
    depth: int = 1

    @classmethod
    def find(cls, table: TextTable, words: int, document: int | None) -> _ListColumns:
        """Find the purpose of each column by its name and the depth of its lists.

        Raises:
            InputError: the name of a column of lists is no name for an attribute.
        """
        list_columns = cls(table, words, document, depth=table.depth(words))
        named = {name: at for at, name in enumerate(table.columns) if at not in (words, document)}
        # `id` names what a row is: a document, or a sentence.
        for name in (_SENT_ID, ID) if list_columns.depth == 1 else (_SENT_ID,):
            if name in named and table.depth(named[name]) == list_columns.depth - 1:
                list_columns.sent_id = named.pop(name)
                break
        if list_columns.depth > 1 and document is None and ID in named and not table.depth(named[ID]):
            list_columns.document = named.pop(ID)
        for name, at in named.items():
            if table.depth(at) == list_columns.depth:
                if not _ATTRIBUTE.fullmatch(name):
                    message = f"{name!r} is no name for what tokens have; rename this column of lists"
                    raise InputError(message, path=table.path)
                list_columns.lists.append((name, at))
            elif name != TEXT or table.depth(at):
                list_columns.said.append((name, at))
        return list_columns

    def read(self) -> Iterator[Item]:
        """Yield the sentences of all rows."""
        file, path = base_name(self.table.path), self.table.path
        carried, last, began = Carried(), "", dict[str, int]()
        # Metadata of the first row of the document.
        prior: dict[str, str] = {}
        for number, row in enumerate(self.table.rows, 1):
            name = self._document(row, f"{file}#{number}")
            wrong = _wrong_name(name, last, began)
            try:
                if wrong:
                    raise FormatError("document-id", wrong)
                # The whole row before its first sentence is yielded: a broken row is one rejection.
                results = [*self._sentences(row)]
            except FormatError as error:
                yield Rejection(path, row.number, name or "", error.check_id, error.message)
                continue
            values = {key: text for key, at in self.said if (text := one_line(row.text(at)))}
            if name is None:
                comments, begins = [comment_of(*pair) for pair in values.items()], None
            elif name == last:
                comments = [comment_of(*pair) for pair in values.items() if prior.get(pair[0]) != pair[1]]
                begins = None
            else:
                comments = [document_comment(*pair) for pair in values.items()]
                begins = last = name
                began[name], prior = row.number, values
            yield from carried.give_document(begins, comments, results)

    def _document(self, row: TableRow, otherwise: str) -> str | None:
        """Return the name of the document of a row; ``None`` for the document of the file."""
        if self.document is not None:
            return one_line(row.text(self.document))
        return otherwise if self.depth > 1 else None

    def _sentences(self, row: TableRow) -> Iterator[Sentence | Rejection]:
        if self.depth == 1:
            sent_id = "" if self.sent_id is None else one_line(row.text(self.sent_id))
            yield self._sentence([row.values[at] for _, at in self._columns], sent_id, row.number)
            return
        columns = [row.values[at] for _, at in self._columns]
        size = len(columns[0] or ())
        names = None if self.sent_id is None else row.values[self.sent_id]
        for (name, _), column in zip(self._columns, columns, strict=True):
            if column is not None and len(column) != size:
                raise FormatError(
                    "column-length", f"{len(column)} of {name} for {quantity(size, 'sentence')}"
                )
        if not size:
            raise FormatError("empty-sentence", f"no sentence in the column {self._columns[0][0]}")
        for number in range(size):
            parts = [None if column is None else column[number] for column in columns]
            sent_id = one_line(as_text(names[number])) if names is not None and number < len(names) else ""
            yield self._sentence(parts, sent_id, row.number)

    @property
    def _columns(self) -> list[tuple[str, int]]:
        return [(self.table.columns[self.words], self.words), *self.lists]

    def _sentence(self, columns: Sequence[list[Any] | None], sent_id: str, line: int) -> Sentence | Rejection:
        """Return the sentence with these columns, of which the first are the words, or its rejection."""
        names = [name for name, _ in self._columns]
        words, *others = columns
        if words is None:
            raise FormatError("empty-sentence", f"no words in the column {names[0]}")
        sentence = Sentence(_texts(words, names[0], whole=True), sent_id=sent_id, line=line)
        filled = [
            (name, column)
            for name, column in zip(names[1:], others, strict=True)
            if column is not None and any(value is not None for value in column)
        ]
        for name, column in filled:
            if len(column) != len(words):
                raise FormatError(
                    "column-length", f"{len(column)} of {name} for {quantity(len(words), 'token')}"
                )
        _fill(sentence, filled)
        return finish_sentence(sentence, self.table.path)


def _fill(sentence: Sentence, columns: Sequence[tuple[str, list[Any]]]) -> None:
    """Set the fields that the names of columns denote, and MISC from all other columns."""
    if not columns or not sentence.forms:
        return
    names = [name for name, _ in columns]
    # A name for the words that no other column has.
    word = next(known for known in ("form", "word", "token") if known not in names)
    named = NamedColumns.of([word, *_plain_names(names, word)])
    given = [("", []), *columns]
    for kind, number in named.fields.items():
        name, column = given[number]
        if kind == "heads":
            sentence.heads = _heads(column, name)
        elif kind != "forms":
            setattr(sentence, kind, optional(_texts(column, name)))
    if named.spaces is not None:
        sentence.space_after = [is_space(as_text(value)) for value in given[named.spaces][1]]
    others = []
    for plain, number in named.others:
        name, column = given[number]
        if plain == _NPS:
            sentence.nps = _numbers(column, name)
            continue
        values = [_attribute(value, name) for value in column]
        if not plain:
            sentence.space_after = [NO_SPACE not in value.split("|") for value in values]
            parts = ([part for part in value.split("|") if part != NO_SPACE] for value in values)
            values = ["|".join(kept) or ABSENT for kept in parts]
        others.append((plain and name, values))
    sentence.misc = misc_of(others)


def _plain_names(names: Sequence[str], word: str) -> list[str]:
    """Return the singular names of columns of lists, where these denote a field of a token.

    >>> _plain_names(["lemmas", "pos_tags", "upos", "ner"], "form")
    ['lemma', 'pos', 'upos', 'ner']
    """
    taken = {word, *names}
    plain = []
    for name in names:
        shorter = (name.lower().removesuffix("_tags"), name.lower().removesuffix("s"))
        known = next((one for one in shorter if field_of(one) and one not in taken), name)
        plain.append(name if field_of(name) else known)
        taken.add(plain[-1])
    return plain


def _wrong_name(name: str | None, last: str, began: Mapping[str, int]) -> str:
    """Return what is wrong with the name of the document of a row, nothing if it is right."""
    if name == "":
        return "the row has no id"
    if name is not None and name in began and name != last:
        return f"the id {name!r} is that of row {began[name]}, too; rows of a document follow one another"
    return ""


def _texts(values: Sequence[object], name: str, *, whole: bool = False) -> list[str]:
    """Return values as texts, `_` for a missing one; with ``whole``, a missing value is an error."""
    texts = []
    for number, value in enumerate(values, 1):
        if value is None and not whole:
            value = ABSENT
        if not isinstance(value, str):
            what = "missing" if value is None else f"{value!r}, which is no text"
            raise FormatError("columns", f"value {number} of {name} is {what}")
        if FORBIDDEN.search(value):
            raise FormatError("control-character", f"a control character or lone surrogate in {name}")
        texts.append(value)
    return texts


def _numbers(values: Sequence[object], name: str) -> list[int]:
    for number, value in enumerate(values, 1):
        if type(value) is not int:
            raise FormatError("columns", f"value {number} of {name} is {value!r}; write a whole number")
    return list(values)  # type: ignore[arg-type]


def _heads(values: Sequence[object], name: str) -> list[int]:
    """Return heads, which the table may have as numbers or as strings of digits."""
    if all(isinstance(value, str) for value in values):
        try:
            return parse_heads(list(map(str, values)))
        except FormatError as error:
            raise FormatError(error.check_id, f"{name}: {error.message}") from error
    return _numbers(values, name)


def _attribute(value: object, name: str) -> str:
    text = as_text(value)
    if FORBIDDEN.search(text):
        raise FormatError("control-character", f"a control character or lone surrogate in {name}")
    return text or ABSENT


def _documents_of(table: TextTable, *, text: str, id: str) -> Iterator[Item]:
    """Yield the raw texts of a table, each a document; or its sentences if the column has lists of words."""
    path = table.path
    column = _text_column(table, text)
    named = table.column_index(id, spell("id")) if id else None
    if table.depth(column):
        yield from _ListColumns.find(table, column, named).read()
        return
    if not text and named is None and ID in table.columns:
        named = table.columns.index(ID)
    others = [(at, name) for at, name in enumerate(table.columns) if at not in (column, named)]
    file, seen = base_name(path), dict[str, int]()
    for row_number, row in enumerate(table.rows, 1):
        if row.wrong:
            yield Rejection(path, row.number, "", "columns", row.wrong)
            continue
        name = f"{file}#{row_number}" if named is None else " ".join(row.text(named).split())
        whole = row.text(column)
        wrong = _wrong(name, whole, seen)
        if wrong:
            yield Rejection(path, row.number, name, *wrong)
            continue
        if named is not None:
            seen[name] = row.number
        comments = [(key, one_line(row.text(at))) for at, key in others]
        metadata = [document_comment(key, value) for key, value in comments if value]
        paragraphs = raw_text.read_raw(raw_text.blank_separators(whole).splitlines(), path=path)
        raws = (RawText(raw.text, row.number) for raw in paragraphs)
        yield from Carried().give_document(name, metadata, raws)


def _text_column(table: TextTable, text: str) -> int:
    """Return the index of the column of words or texts: the one named ``text``, or else one of a usual name.

    Raises:
        InputError: there is no such column.
    """
    if text:
        return table.column_index(text, spell("text"))
    for at, name in enumerate(table.columns):
        if name in WORDS and table.depth(at):
            return at
    if table.depths and TEXT in table.columns:
        return table.columns.index(TEXT)
    raise InputError(
        f"which column is the text? give {spell('text')}: {table.most_text_first()}", path=table.path
    )


def _wrong(name: str, text: str, seen: dict[str, int]) -> tuple[str, str] | None:
    """Return the id of the check that a row fails, and the reason; ``None`` if it passes."""
    if not name:
        return "document-id", "the row has no id"
    if name in seen:
        return "document-id", f"the id {name!r} is that of line {seen[name]}, too"
    if not text.strip():
        return "text", "the row has no text"
    if FORBIDDEN_IN_TEXT.search(text) or FORBIDDEN_IN_TEXT.search(name):
        return "control-character", "a control character or lone surrogate in the text or the id"
    return None


@contextmanager
def open_table(source: Source, *, encoding: str = UTF_8) -> Iterator[TextTable]:
    """Open a table of any of the formats, which is detected by its extension or its first bytes.

    Raises:
        InputError: the source is no table, or cannot be read.
    """
    check_encoding(encoding)
    source = replace(source, encoding=encoding)
    lines = source.open()
    lines.lone_returns = True
    base = uncompressed_name(source.base_name.lower())
    if base.endswith(_JSON) and not source.is_table:
        raise InputError("is JSON, and no table; save it as CSV, TSV, Excel or Parquet", path=source.name)
    form = next((reader for reader in READERS if base.endswith(reader.extensions)), None)
    form = PARQUET if source.is_table else form
    if form is PARQUET or form is SHEET:
        with lines.file() as file:
            yield _with_rows((read_parquet if form is PARQUET else read_sheet)(file, path=source.name))
        return
    name = CSV.name if not base.endswith(TSV.extensions) else TSV.name
    yield _with_rows(read_csv(lines, path=source.name, delimiter=DELIMITERS[name]))


def _with_rows(table: TextTable) -> TextTable:
    """Return the table, whose rows raise an error if there are none below the header."""

    def rows() -> Iterator[TableRow]:
        number = 0
        for number, row in enumerate(table.rows, 1):  # noqa: B007
            yield row
        if not number:
            raise InputError("has a header, and no row below it", path=table.path)

    return replace(table, rows=rows())


def refuse_table(source: Source) -> None:
    """Refuse a table, by its name, where lines of words are read.

    Raises:
        InputError: the source is a table.
    """
    if uncompressed_name(source.base_name.lower()).endswith(_EXTENSIONS):
        raise InputError(NOT_HERE, path=source.name)


def _of_file(read: Callable[..., TextTable]) -> Callable[..., Iterator[Item]]:
    def read_file(file: BinaryIO, *, path: str, text: str = "", id: str = "") -> Iterator[Item]:
        return _documents_of(read(file, path=path), text=text, id=id)

    return read_file


def _of_lines(name: str, description: str, extensions: tuple[str, ...]) -> Reader:
    def read(lines: Iterable[str], *, path: str, text: str = "", id: str = "") -> Iterator[Item]:
        return _documents_of(read_csv(lines, path=path, delimiter=DELIMITERS[name]), text=text, id=id)

    return Reader(
        name,
        "2",
        read,
        description,
        extensions,
        read_raw=read,
        settings=_SETTINGS,
        needed=_NEEDED,
        lone_returns=True,
    )


CSV = _of_lines("csv", "table of texts, its fields parted by commas, semicolons, tabs or bars", (".csv",))
TSV = _of_lines("tsv", "table of texts, its fields parted by tabs", (".tsv", ".tab"))
PARQUET = Reader(
    "parquet",
    "3",
    description="table of texts, or of lists of words, in Parquet",
    extensions=(".parquet",),
    read_file=_of_file(read_parquet),
    begins=(b"PAR1",),
    settings=_SETTINGS,
    needed=_NEEDED,
)
SHEET = Reader(
    "xlsx",
    "2",
    description="table of texts in Excel or OpenDocument: the first sheet",
    extensions=(".xlsx", ".xlsm", ".xls", ".ods"),
    read_file=_of_file(read_sheet),
    settings=_SETTINGS,
    needed=_NEEDED,
    extra="documents",
)
READERS = (CSV, TSV, PARQUET, SHEET)
_EXTENSIONS = tuple(extension for reader in READERS for extension in reader.extensions)
