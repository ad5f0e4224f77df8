"""Tables: a row is a document, a column is its text, and the others are its metadata.

`--text` names the column of the text, and `--id` that of the name, without which a document is FILE#ROW, its
rows numbered from 1. Without `--text`, columns of Parquet that are called `text` and `id` are these. Where
the text is a list of words, a row is a sentence (`_token_tables`). A text is split into sentences and tokens
as the format `text` does. Values are text; a condition such as `year > 1990` compares those as numbers that
are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from sentgen.corpus.comments import document_comment, one_line
from sentgen.corpus.encodings import UTF_8, check_encoding
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers import text as raw_text
from sentgen.corpus.readers._columns import Carried
from sentgen.corpus.readers._token_tables import ListColumns
from sentgen.corpus.readers.jsonl import FORBIDDEN_IN_TEXT
from sentgen.corpus.readers.jsonl import READER as JSON_READER
from sentgen.corpus.sentence import RawText
from sentgen.corpus.sources import Source, base_name, uncompressed_name
from sentgen.corpus.tables import TableRow, TextTable, read_csv, read_parquet, read_sheet
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import InputError, Rejection, spell

#: The setting that names the column of the text.
TEXT, ID = "text", "id"
#: What a column of lists of words is called; without one, `text` of Parquet is the text.
WORDS = ("tokens", "words")
_SETTINGS = (TEXT, ID)
_NEEDED = "--text COLUMN"
_JSON = (".json", *JSON_READER.extensions)
#: What is said of a table where there is no way to name its text.
NOT_HERE = "is a table, which is not read here; write the column with its texts to a .txt file, a text a line"
#: What parts the fields; nothing: their lines tell.
DELIMITERS = {"csv": "", "tsv": "\t"}


def _documents_of(table: TextTable, *, text: str, id: str) -> Iterator[Item]:
    """Yield the paragraphs of the texts of a table, the first of each begins a document; or its sentences.

    Raises:
        InputError: there is no such column.
    """
    path = table.path
    column = _text_column(table, text)
    named = table.column_index(id, spell("id")) if id else None
    if table.depth(column):
        yield from ListColumns.of(table, column, named).read()
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
    """Return the column of words or texts: what it is called, or else the first that is called so.

    Raises:
        InputError: there is none.
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
    """Return the check that a row fails, and why."""
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
    """Open a table of any of the formats, told by its extension or its first bytes.

    Raises:
        InputError: it is none, or cannot be read.
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
    """Return a table that says so if its header is all there is of it."""

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
        InputError: it is one.
    """
    if uncompressed_name(source.base_name.lower()).endswith(_EXTENSIONS):
        raise InputError(NOT_HERE, path=source.name)


def _read(
    lines: Iterable[str],
    *,
    path: str,
    limits: InputLimits = LIMITS,
    text: str = "",
    id: str = "",
    delimiter: str = "",
) -> Iterator[Item]:
    table = read_csv(lines, path=path, delimiter=delimiter, limits=limits)
    return _documents_of(table, text=text, id=id)


def _of_file(read: Callable[..., TextTable]) -> Callable[..., Iterator[Item]]:
    def read_file(file: BinaryIO, *, path: str, text: str = "", id: str = "") -> Iterator[Item]:
        return _documents_of(read(file, path=path), text=text, id=id)

    return read_file


def _of_lines(name: str, description: str, extensions: tuple[str, ...]) -> Reader:
    read = partial(_read, delimiter=DELIMITERS[name])
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
