"""Tables with a document per row: the same fields as other readers of CSV, and refused rows."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import re
import zipfile
from datetime import date, datetime
from pathlib import Path

import document_files as files
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.formats import choose_reader
from sentgen.corpus.pair_readers import PairFile
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import jsonl, table
from sentgen.corpus.readers.text import in_sentences
from sentgen.corpus.reading import sentences_of
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.corpus.tables import read_csv
from sentgen.errors import InputError, Rejection

#: What may stand in a field: all that CSV has signs for, and line ends.
FIELD = st.text("ab,;\"\t\n é'", max_size=6)


def items(path: Path, **given: object) -> list[RawText | Rejection]:
    """Return what a table holds, as `sentgen ingest` reads it."""
    (source,) = expand([str(path)])
    reader = choose_reader(source, str(given.pop("form", "")) or None, given)
    assert isinstance(reader, Reader)
    return [one for one in reader.items(source.open()) if not isinstance(one, Sentence)]


def documents(path: Path, **given: object) -> list[tuple[str, str, dict[str, str]]]:
    """Return the name, the text and the metadata of each document."""
    found: list[tuple[str, list[str], dict[str, str]]] = []
    for one in items(path, **given):
        assert isinstance(one, RawText), one
        if one.document is not None:
            said = dict(each.removeprefix("meta::").split(" = ", 1) for each in one.metadata)
            found.append((one.document, [], said))
        found[-1][1].append(one.text)
    return [(name, "\n".join(text), said) for name, text, said in found]


@given(
    rows=st.lists(st.lists(FIELD, min_size=3, max_size=3), max_size=5),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_fields_are_those_of_csv(rows: list[list[str]], delimiter: str, quoting: int) -> None:
    """What Python's writer wrote is read as its reader reads it, whatever parts the fields."""
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(
        [["id", "text", "year"], *rows]
    )
    lines = written.getvalue().removesuffix("\n").split("\n")

    found = read_csv(iter(lines), path="x", delimiter=delimiter)
    assert list(found.columns) == ["id", "text", "year"]
    read = list(found.rows)
    assert not any(one.wrong for one in read)
    assert [list(one.values) for one in read] == rows
    # The line on which a row begins is that of its first character.
    for one, row in zip(read, rows, strict=True):
        rest = "\n".join(lines[one.number - 1 :]) + "\n"
        assert next(csv.reader(io.StringIO(rest), delimiter=delimiter)) == row


@given(
    rows=st.lists(st.tuples(st.text("ab ", min_size=1, max_size=5), st.text("ab,", max_size=4)), min_size=1)
)
def test_the_delimiter_is_told(rows: list[tuple[str, str]]) -> None:
    """The delimiter is the one that gives rows as many fields as the header."""
    for delimiter in ";\t|":
        lines = [f"text{delimiter}more", *(delimiter.join(row) for row in rows)]
        found = read_csv(iter(lines), path="x")
        assert list(found.columns) == ["text", "more"]
        assert [tuple(one.values) for one in found.rows] == rows


TALKS = """\
id,body,year,speaker
007,"It rains, it pours. He said ""no"".

Another line.",1990,Ann
8,It is so.,2001,
"""
SAID = [
    ("007", 'It rains, it pours. He said "no".\nAnother line.', {"year": "1990", "speaker": "Ann"}),
    ("8", "It is so.", {"year": "2001"}),
]


def test_a_row_is_a_document(tmp_path: Path) -> None:
    """Named by its id, which stays as it is; the other columns are its metadata, those without a value not."""
    path = tmp_path / "talks.csv"
    path.write_text(TALKS)

    assert documents(path, text="body", id="id") == SAID
    assert [one.line for one in items(path, text="body")] == [2, 2, 5]
    first, second = documents(path, text="body")
    assert (first[0], second[0]) == ("talks.csv#1", "talks.csv#2")
    assert second[2] == {"id": "8", "year": "2001"}


def test_compressed_and_encoded(tmp_path: Path) -> None:
    """As other files of lines."""
    with gzip.open(tmp_path / "a.csv.gz", "wb") as packed:
        packed.write(TALKS.replace("Ann", "Äne").encode("latin-1"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/talks.tsv", "id\ttext\nx\tIt is.\n")
    (source,) = expand([str(tmp_path / "a.csv.gz")], encoding="latin-1")
    reader = choose_reader(source, None, {"text": "body", "encoding": "latin-1"})
    assert isinstance(reader, Reader)

    first = next(iter(reader.items(source.open())))
    assert isinstance(first, RawText)
    assert first.metadata[-1] == "meta::speaker = Äne"
    assert documents(tmp_path / "a.zip", text="text", id="id") == [("x", "It is.", {})]
    with pytest.raises(InputError, match=r"a\.csv\.gz:4: byte 0xc4 is not UTF-8"):
        documents(tmp_path / "a.csv.gz", text="body")


def test_quotes_of_tables_with_tabs(tmp_path: Path) -> None:
    """If a field begins with a quote without a closing one, quotes are ordinary characters."""
    path = tmp_path / "a.tsv"
    path.write_text('text\ttitle\n"Yes" he said.\t"A" and B\nNo.\t"\n')
    assert documents(path, text="text") == [
        ("a.tsv#1", '"Yes" he said.', {"title": '"A" and B'}),
        ("a.tsv#2", "No.", {"title": '"'}),
    ]
    path.write_text('text\ttitle\n"Yes, ""he""\tsaid."\tA\n')
    assert documents(path, text="text") == [("a.tsv#1", 'Yes, "he"\tsaid.', {"title": "A"})]


def test_parquet(tmp_path: Path) -> None:
    """Types become text: whole numbers, dates and truth values as they are written."""
    rows = {
        "name": ["a", "b", "c"],
        "text": ["It is.", "It was.\nIt will.", "So."],
        "year": pa.array([1990, None, 3], pa.float64()),
        "day": [date(2001, 2, 3), None, date(1, 1, 1)],
        "at": [datetime(2001, 2, 3), datetime(2001, 2, 3, 4, 5), None],
        "true": [True, False, None],
    }
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")

    assert documents(tmp_path / "a.parquet", text="text", id="name") == [
        ("a", "It is.", {"year": "1990", "day": "2001-02-03", "at": "2001-02-03", "true": "true"}),
        ("b", "It was.\nIt will.", {"at": "2001-02-03T04:05:00", "true": "false"}),
        ("c", "So.", {"year": "3", "day": "0001-01-01"}),
    ]


def test_a_workbook(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The first sheet is read, with the values that were stored of formulas; a line tells of others."""
    rows = [["id", "text", "n"], [7, "It is.", 1.5], [], ["x", "It was.", ("1+1", 2)], ["y", "So.", True]]
    path = files.xlsx(tmp_path / "a.xlsx", rows, sheets=["Talks", "Notes"])

    assert documents(path, text="text", id="id") == [
        ("7", "It is.", {"n": "1.5"}),
        ("x", "It was.", {"n": "2"}),
        ("y", "So.", {"n": "true"}),
    ]
    assert [one.line for one in items(path, text="text")] == [2, 4, 5]
    assert f"{path}: the first sheet, Talks, is read; not read: Notes" in caplog.messages


def test_other_keys_of_json_lines(tmp_path: Path) -> None:
    """`--text` and `--id` name them; what they replace are keys like others."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"name": "a", "body": "It is.", "text": "no", "id": 7}\n')
    assert documents(path, text="body", id="name") == [("a", "It is.", {"text": "no", "id": "7"})]
    assert documents(path, id="name") == [("a", "no", {"body": "It is.", "id": "7"})]
    assert documents(path, text="body") == [("7", "It is.", {"name": "a", "text": "no"})]
    (one,) = items(path, text="nothing")
    assert isinstance(one, Rejection)
    assert one.message == "`nothing` is no string here, which `text` says"


def test_a_document_without_a_sentence_says_nothing_of_the_next() -> None:
    """The metadata of a document whose text is refused are not those of the next document."""
    lines = ['{"id": "a", "tokens": ["<s>"], "genre": "x"}', '{"id": "b", "text": "It is."}']
    found = [one for one in in_sentences(jsonl.read(lines, path="x"), path="x") if isinstance(one, Sentence)]

    assert [(one.document, one.metadata) for one in found] == [("b", [])]


@pytest.mark.parametrize(
    ("content", "given", "rejected"),
    [
        ("id,text\na,x\na,y\n", {"id": "id"}, (3, "document-id", "the id 'a' is that of line 2, too")),
        ("id,text\n,x\n", {"id": "id"}, (2, "document-id", "the row has no id")),
        ('id,text\na," \n"\n', {}, (2, "text", "the row has no text")),
        ("id,text\na,b,c\n", {}, (2, "columns", "3 fields in a row where the header has 2")),
        ("id,text\na\n", {}, (2, "columns", "1 fields in a row where the header has 2")),
        (
            'id,text\na,"b"c\n',
            {},
            (2, "columns", "a quote in this row does not close, or is not written twice"),
        ),
    ],
)
def test_rows_that_are_refused(
    tmp_path: Path, content: str, given: dict[str, object], rejected: tuple[int, str, str]
) -> None:
    """Each with its line; the rows around them are read."""
    (tmp_path / "a.csv").write_text(content + "z,It is so.\n")

    *others, last = items(tmp_path / "a.csv", text="text", **given)
    assert isinstance(last, RawText)
    wrong = [one for one in others if isinstance(one, Rejection)]
    assert [(one.line, one.check, one.message) for one in wrong] == [rejected]


@pytest.mark.parametrize(
    ("content", "given", "message"),
    [
        ("id,text\na,b\n", {}, r"a\.csv: is a table; say which column is the text, `text` COLUMN, or give `format`; its columns: id, text"),
        ("id,text\nabc,d\n", {"form": "csv"}, r"a\.csv: which column is the text\? give `text`: id, text"),
        ("id,text\na,b\n", {"text": "x"}, r"a\.csv: `text` 'x' is no column; there are: id, text"),
        ("id,text\na,b\n", {"text": "text", "id": "x"}, r"a\.csv: `id` 'x' is no column; there are: id, text"),
        ("text,a,a\nx,b,c\n", {"text": "text"}, r"a\.csv:1: two columns are called 'a'; rename one"),
        ('text,a\nx,"b\nc\nd\n', {"text": "text"}, r"a\.csv:2: no row of CSV begins here .*; does a quote not close"),
        (' \n', {"text": "text"}, r"a\.csv: `text` 'text' is no column"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(
    tmp_path: Path, content: str, given: dict[str, object], message: str
) -> None:
    (tmp_path / "a.csv").write_text(content)

    with pytest.raises(InputError, match=message):
        items(tmp_path / "a.csv", **given)


def test_damaged_files(tmp_path: Path) -> None:
    """One line, whatever a library says of them."""
    pq.write_table(pa.table({"text": ["It is."] * 1000}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    files.write_zip(tmp_path / "a.xlsx", {"xl/workbook.xml": "<workbook"})
    (tmp_path / "b.xlsx").write_bytes(b"PK\3\4")
    files.xlsx(tmp_path / "c.xlsx", [["text"], ["a" * 30_000_000]])

    for name, message in (
        ("a.parquet", "cannot read this Parquet: "),
        ("a.xlsx", "cannot read this workbook: "),
        ("b.xlsx", "cannot read this zip: "),
        ("c.xlsx", "expands more than 100 times, as a decompression bomb does"),
    ):
        with pytest.raises(InputError, match=rf"{re.escape(name)}: {message}") as caught:
            items(tmp_path / name, text="text")
        assert "\n" not in str(caught.value)


@given(content=st.text('ab,"\n\t;é', max_size=40), name=st.sampled_from(["csv", "tsv"]))
def test_any_lines(content: str, name: str) -> None:
    """Give documents and refusals, or one line that says why not."""
    reader = {"csv": table.CSV, "tsv": table.TSV}[name]
    with contextlib.suppress(InputError):
        items = reader.with_settings({"text": "a"}).read(iter(content.split("\n")), path="x")
        for one in in_sentences(items, path="x"):
            assert 1 <= one.line <= content.count("\n") + 1


#: Two documents, the text of each in three lines.
NOTES = [
    ["id", "body", "year"],
    ["a", 'It rains.\nIt "pours".\nSo; be, it | then.', "1990"],
    ["b", "Yes.\n\nNo.", "2001"],
]


def written(delimiter: str = ",", *, line_end: str = "\n", within: str = "\n", first: str = "") -> str:
    """Return the notes as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=line_end)
    writer.writerows([[field.replace("\n", within) for field in row] for row in NOTES])
    return f"{first}{line_end}{out.getvalue()}" if first else out.getvalue()


#: Name of a file, and what is in it.
WRITINGS: dict[str, tuple[str, bytes]] = {
    "commas": ("a.csv", written().encode()),
    "semicolons": ("a.csv", written(";").encode()),
    "bars": ("a.csv", written("|").encode()),
    "tabs": ("a.csv", written("\t").encode()),
    "tsv": ("a.tsv", written("\t").encode()),
    "tab": ("A.TAB", written("\t").encode()),
    "gzip": ("a.csv.gz", gzip.compress(written().encode())),
    "Excel in Europe": ("a.csv", written(";", line_end="\r\n").encode("utf-8-sig")),
    "sep": ("a.csv", written("^", first="sep=^").encode()),
    "sep in quotes": ("a.csv", written(";", line_end="\r\n", first='"sep=;";;').encode("utf-8-sig")),
    "sep in tabs": ("a.tsv", written(";", first="SEP=;").encode()),
    "old Macintosh": ("a.csv", written(line_end="\r", within="\r").encode()),
    "returns in fields": ("a.csv", written(line_end="\r\n", within="\r").encode()),
    "UTF-16": ("a.csv", written(line_end="\r\n").encode("utf-16")),
    "UTF-16, tabs": ("a.tsv", b"\xfe\xff" + written("\t", line_end="\r\n").encode("utf-16-be")),
}  # fmt: skip


@pytest.mark.parametrize("writing", WRITINGS)
def test_however_a_table_is_written(tmp_path: Path, writing: str) -> None:
    """It gives the same documents, on the line on which each begins; and is no prose where no column is named."""
    name, content = WRITINGS[writing]
    (tmp_path / name).write_bytes(content)

    assert documents(tmp_path / name, text="body", id="id") == [
        ("a", 'It rains.\nIt "pours".\nSo; be, it | then.', {"year": "1990"}),
        ("b", "Yes.\nNo.", {"year": "2001"}),
    ]
    above = 1 if writing.startswith("sep") else 0
    assert [one.line - above for one in items(tmp_path / name, text="body")] == [2, 2, 2, 5, 5]
    with pytest.raises(InputError, match=r"is a table; say which column is the text, .*: body, year, id"):
        items(tmp_path / name)
    (source,) = expand([str(tmp_path / name)])
    with table.open_table(source) as opened:
        assert [row.values[0] for row in opened.rows] == ["a", "b"]
    # An ingestion looks through it before it reads any of it.
    assert choose_reader(source, "", {"text": "body"}).digest(source) == source.sha256()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tab", "a.csv.xz", "A.CSV"])
@pytest.mark.parametrize(
    "content",
    [
        "It was the best of times.\nIt was so.\n",
        "Place/Country\nRome/Italy\n",
        "id\n1\n",
        "\ttext\n1\tIt was so, and he said so.\n",
        'id,text\n1,"It was so.\nHe said so.\n',
    ],
)
def test_what_is_called_as_a_table_is_no_prose(tmp_path: Path, name: str, content: str) -> None:
    """It is read with a column that is named, or refused; also where no column can be named."""
    (tmp_path / name).write_text(content)

    with pytest.raises(InputError):
        items(tmp_path / name)
    with pytest.raises(InputError, match="is a table, which is not read here"):
        list(sentences_of(expand([str(tmp_path / name)])))
    with pytest.raises(InputError, match="is a table, which is not read here"):
        PairFile.of_paths([str(tmp_path / name), str(tmp_path / name)])


def test_tables_in_files_are_refused_where_no_column_is_named(tmp_path: Path) -> None:
    """As those in lines are, in words that help there."""
    files.xlsx(tmp_path / "a.xlsx", NOTES)
    pq.write_table(pa.table({"body": ["It is."]}), tmp_path / "a.parquet")

    for name in ("a.xlsx", "a.parquet"):
        with pytest.raises(InputError, match="is a table, which is not read here"):
            list(sentences_of(expand([str(tmp_path / name)])))
        with pytest.raises(InputError, match=r"which column is the text\? give `text`"):
            items(tmp_path / name)


def test_a_long_table_is_told_by_its_rows(tmp_path: Path) -> None:
    """Its columns are named though no block and no sample of lines ends where a row does."""
    text = "It pours; or, it rains.\n" * 300
    rows = [f'{number}\t"{text}"\n' for number in range(20)]
    (tmp_path / "a.tsv").write_text("id\ttext\n" + "".join(rows))
    (tmp_path / "a.csv").write_text("id;text, all of it\n" + "".join(rows).replace("\t", ";"))

    with pytest.raises(InputError, match=r"a\.tsv: is a table; say which column .*: text, id"):
        items(tmp_path / "a.tsv")
    with pytest.raises(InputError, match=r"a\.csv: is a table; say which column .*: text, all of it, id"):
        items(tmp_path / "a.csv")


def test_a_header_alone_is_no_table_about_documents(tmp_path: Path) -> None:
    """It is refused as a table; `sentgen ingest` reads no sentences from it."""
    for name in ("a.csv", "a.tsv"):
        (tmp_path / name).write_text("id\n\n")
        (source,) = expand([str(tmp_path / name)])
        with table.open_table(source) as opened, pytest.raises(InputError, match="no row below it"):
            list(opened.rows)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "A.NDJSON"])
def test_json_is_no_table_about_documents(tmp_path: Path, name: str) -> None:
    """Its lines would be rows of one column."""
    (tmp_path / name).write_text('{"id": "a"}\n')
    (source,) = expand([str(tmp_path / name)])

    with pytest.raises(InputError, match="is JSON, and no table"), table.open_table(source):
        pass


def test_lines_in_cells_and_strings(tmp_path: Path) -> None:
    """Are the paragraphs of a text in a workbook, in Parquet, and in JSON Lines, too."""
    files.xlsx(tmp_path / "a.xlsx", NOTES)
    pq.write_table(
        pa.table({name: [row[at] for row in NOTES[1:]] for at, name in enumerate(NOTES[0])}),
        tmp_path / "a.parquet",
    )
    lines = [json.dumps(dict(zip(NOTES[0], row, strict=True))) for row in NOTES[1:]]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))

    for name in ("a.xlsx", "a.parquet", "a.jsonl"):
        assert [text for _, text, _ in documents(tmp_path / name, text="body", id="id")] == [
            'It rains.\nIt "pours".\nSo; be, it | then.',
            "Yes.\nNo.",
        ]
