"""Tables about documents, whose columns become metadata of the documents besides those of their sources.

If no row names a document, the table may be about regions, such as the speeches of ParlaMint: then the row of
an `id` gives attributes of the region.

The table is stored, so that it also applies to documents that are read later, or again. If a table and a
source have values under one key, those of the table win; of two tables, those of the later one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from sqlalchemy import Connection, delete, func, select

from sentgen.corpus.comments import OF_DOCUMENT, key_and_value, one_line
from sentgen.corpus.encodings import UTF_8
from sentgen.corpus.paths import place_of, source_at
from sentgen.corpus.readers.table import open_table
from sentgen.corpus.sources import COMPRESSED, Source, base_name
from sentgen.counts.corpora import find
from sentgen.errors import InputError, spell
from sentgen.options import Option
from sentgen.schema import Store
from sentgen.schema.lakes import file_schema
from sentgen.schema.store import append, fetch_arrow, raw
from sentgen.schema.tables.fidelity import document_meta, table_meta

_IDS = """
select r.kind, m.value as id
from region_meta m
join region r on r.sentence_id = m.sentence_id and r.place = m.place
where m.corpus_id = $corpus
    and m.key = 'id'
order by m.sentence_id, m.place
"""
#: The keys that regions of some kinds have from their sources.
_OWN_ATTRIBUTES = """
select distinct m.key
from region_meta m
join region r on r.sentence_id = m.sentence_id and r.place = m.place
where m.corpus_id = $corpus
    and list_contains($kinds::varchar[], r.kind)
    and list_contains($keys::varchar[], m.key)
    and not exists (from table_meta t where t.corpus_id = $corpus and t.key = m.key)
order by m.key
"""
#: The attributes of regions that come from tables.
_FORGET_ATTRIBUTES = """
delete from region_meta
where corpus_id = $corpus
    and (sentence_id, place, key, value) in (
        select named.sentence_id, named.place, t.key, t.value
        from region_meta named
        join table_meta t on t.corpus_id = named.corpus_id and t.name = named.value
        where named.corpus_id = $corpus
            and named.key = 'id'
            and list_contains($keys::varchar[], t.key)
    )
"""
#: The attributes of regions from the last table that has each key; values that the source has are left out.
_TELL = """
insert into region_meta
select named.corpus_id, named.sentence_id, named.place, t.key, t.value
from region_meta named
join (
    select name, key, arg_max(value, place) as value
    from table_meta
    where corpus_id = $corpus
        and list_contains($keys::varchar[], key)
    group by name, key
) t on t.name = named.value
where named.corpus_id = $corpus
    and named.key = 'id'
    and named.sentence_id >= $first
    and not exists (
        from region_meta own
        where own.corpus_id = $corpus
            and own.sentence_id = named.sentence_id
            and own.place = named.place
            and own.key = t.key
    )
order by named.sentence_id, named.place, t.key
"""


def _regions_named(connection: Connection, corpus_id: int, names: Collection[str]) -> dict[str, list[str]]:
    """Return the kinds of regions of which some `id` is among the names, with all ids of these kinds."""
    ids_by_kind: dict[str, list[str]] = {}
    for row in fetch_arrow(connection, _IDS, {"corpus": corpus_id}).to_pylist():
        ids_by_kind.setdefault(row["kind"], []).append(row["id"])
    return {kind: ids for kind, ids in ids_by_kind.items() if not set(ids).isdisjoint(names)}


def _write_attributes(connection: Connection, corpus_id: int, keys: Sequence[str], first: int = 0) -> None:
    """Store the attributes from tables, under some keys, of regions from the sentence ``first`` on."""
    raw(connection).execute(_TELL, {"corpus": corpus_id, "keys": list(keys), "first": first})


_DOCUMENTS = """
select d.id, d.name, s.path, count(*) over (partition by d.source_id) as beside
from document d
join source s on s.id = d.source_id
where d.corpus_id = $corpus
    and d.id >= $first
order by d.id
"""
_OWN = """
select d.id, s.metadata
from document d
join sentence s on s.id = d.first_sentence
where d.corpus_id = $corpus
    and d.id >= $first
    and contains(s.metadata, $mark)
order by d.id
"""
_FORGET = """
delete from document_meta
where corpus_id = $corpus
    and document_id >= $first
    and list_contains($keys::varchar[], key)
"""
_FIRST_SENTENCE = "select coalesce(min(first_sentence), 0) as first from document where id >= $first"
_SAID = """
select place, name, key, value
from table_meta
where corpus_id = $corpus
    and list_contains($keys::varchar[], key)
order by place desc
"""

#: For each row of a table the name of its document, its line, and its values.
_Rows = Sequence[tuple[str, int, Mapping[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTable:
    """A table about the documents of a corpus."""

    name: Annotated[str, Option("Corpus.", argument=True, metavar="NAME")]
    table: Annotated[str, Option("CSV, TSV, Excel or Parquet.", argument=True, metavar="TABLE")]
    key: Annotated[
        str,
        Option(
            "Column with the names of documents, or of their files, with or without folder and extension; or"
            " with the id of regions.",
            metavar="COLUMN",
        ),
    ] = ""
    encoding: Annotated[
        str, Option("Encoding of the table, where it is not UTF-8, such as latin-1.", metavar="NAME")
    ] = UTF_8

    def join(self, store: Store, *, dry_run: bool = False, source: Source | None = None) -> JoinedTable:
        """Make what the table says metadata of documents, or attributes of regions, and forget what it said.

        ``source`` is the table itself where it is no file.

        Raises:
            NotFoundError: there is no such corpus.
            InputError: the table cannot be read, has no such column, or has two rows for a document or a
                region.
        """
        columns, rows = self._read(source or source_at(self.table))
        with store.connect() if dry_run else store.begin() as connection:
            number = find(connection, self.name).id
            documents = _documents(connection, number)
            names = {name for name, _, _ in rows}
            regions = {}
            if all(_found(document, names) is None for document in documents):
                regions = _regions_named(connection, number, names)
            if regions:
                given = {"corpus": number, "kinds": [*regions], "keys": columns}
                taken = fetch_arrow(connection, _OWN_ATTRIBUTES, given).columns[0].to_pylist()
                joined = _join_to_regions(self, columns, rows, regions, taken)
            else:
                joined = _join_to_documents(self, columns, rows, documents)
            own = _own(connection, number, columns)
            new = {name: values for name, _, values in rows}
            for document, name in joined.names.items():
                same = ((key, new[name].get(key), values) for key, values in own.get(document, {}).items())
                joined.replaced.update(key for key, value, values in same if value and values != [value])
            if not dry_run:
                _keep(connection, number, place_of(self.table), columns, rows)
        return joined

    def _read(self, source: Source) -> tuple[list[str], _Rows]:
        """Return the columns and the rows."""
        with open_table(source, encoding=self.encoding) as table:
            if not self.key:
                named = ", ".join(table.columns)
                raise InputError(
                    f"which column names the documents? give {spell('key')}: {named}", path=self.table
                )
            key = table.column_index(self.key, spell("key"))
            others = [(at, one_line(name)) for at, name in enumerate(table.columns) if at != key]
            rows = []
            for row in table.rows:
                if row.wrong:
                    raise InputError(row.wrong, path=self.table, line=row.number)
                values = {name: one_line(row.text(at)) for at, name in others}
                name = one_line(row.text(key))
                rows.append((name, row.number, {key: value for key, value in values.items() if value}))
        return [name for _, name in others], rows


@dataclass(slots=True)
class JoinedTable:
    """The result of joining a table with the documents or regions of a corpus.

    Attributes:
        columns: keys of the table.
        of: what the table is about: ``document`` or ``region``.
        documents: number of documents of the corpus, or of regions of the same kinds.
        without_row: names of documents, or regions, without a row.
        without_document: names in the table, with their lines, that no document has.
        replaced: keys that sources have, too, with the number of documents that have the value of the table.
    """

    columns: Sequence[str]
    documents: int = 0
    rows: int = 0
    without_row: list[str] = field(default_factory=list)
    without_document: list[tuple[str, int]] = field(default_factory=list)
    replaced: Counter[str] = field(default_factory=Counter)
    of: str = "document"
    #: Name in the table for each document id.
    names: dict[int, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class _Document:
    """A document with the names by which a table may name it, the most exact ones first."""

    id: int
    name: str
    names: Sequence[str]


def _documents(connection: Connection, corpus_id: int, first: int = 0) -> list[_Document]:
    """Return the documents of a corpus with ids from ``first`` on."""
    rows = fetch_arrow(connection, _DOCUMENTS, {"corpus": corpus_id, "first": first}).to_pylist()
    return [_Document(row["id"], row["name"], [*_names_of(row)]) for row in rows]


def _names_of(row: Mapping[str, Any]) -> Iterator[str]:
    yield row["name"]
    yield from _file_names(row["name"])
    if row["beside"] == 1:
        yield from _file_names(row["path"])


def _file_names(path: str) -> Iterator[str]:
    """Yield names of a file without its folders: with its extensions, and without one after the other.

    >>> list(_file_names("texts.zip!a/novel.xml.gz"))
    ['novel.xml.gz', 'novel.xml', 'novel']
    """
    name = base_name(path)
    yield name
    for suffix in COMPRESSED:
        if name.endswith(suffix):
            name = name.removesuffix(suffix)
            yield name
    stem, dot, _ = name.rpartition(".")
    if dot and stem:
        yield stem


def _join_to_documents(
    request: DocumentTable,
    columns: Sequence[str],
    rows: _Rows,
    documents: Sequence[_Document],
) -> JoinedTable:
    """Find the row of each document.

    Raises:
        InputError: a document has two rows, or no document has one.
    """
    lines = defaultdict[str, list[int]](list)
    for name, line, _ in rows:
        lines[name].append(line)
    table = JoinedTable(columns, len(documents), len(rows))
    for document in documents:
        row = _found(document, lines)
        if row is None:
            table.without_row.append(document.name)
            continue
        if len(lines[row]) > 1:
            message = (
                f"two rows for the document {document.name!r}, lines {lines[row][0]} and {lines[row][1]}"
            )
            raise InputError(f"{message}; remove one", path=request.table)
        table.names[document.id] = row
    if documents and not table.names:
        first, other = documents[0].name, rows[0][0] if rows else "nothing"
        message = (
            f"no row is of a document of {request.name}: it has {first!r}, and {spell('key')}"
            f" {request.key} {other!r}"
        )
        raise InputError(f"{message}; give another {spell('key')}", path=request.table)
    named = set(table.names.values())
    table.without_document = [(name, line) for name, line, _ in rows if name not in named]
    return table


def _join_to_regions(
    request: DocumentTable,
    columns: Sequence[str],
    rows: _Rows,
    regions: Mapping[str, Sequence[str]],
    keys: Sequence[str],
) -> JoinedTable:
    """Find the row of each region.

    Raises:
        InputError: a region has two rows, or a column is an attribute of the regions already.
    """
    if keys:
        message = f"{' and '.join(regions)} have {keys[0]!r} from their source"
        raise InputError(f"{message}; leave that column out, or call it otherwise", path=request.table)
    lines: dict[str, int] = {}
    for name, line, _ in rows:
        if name and name in lines:
            message = f"two rows for the region {name!r}, lines {lines[name]} and {line}"
            raise InputError(f"{message}; remove one", path=request.table)
        lines[name] = line
    ids = [region for several in regions.values() for region in several]
    there, table = set(ids), JoinedTable(columns, len(ids), len(rows), of="region")
    table.without_row = [region for region in ids if region not in lines]
    table.without_document = [(name, line) for name, line, _ in rows if name not in there]
    return table


def _found(document: _Document, names: Collection[str]) -> str | None:
    return next((name for name in document.names if name in names), None)


def _keep(
    connection: Connection,
    corpus_id: int,
    path: str,
    columns: Sequence[str],
    rows: _Rows,
) -> None:
    """Store a table in the place of its earlier version, and update the metadata of the documents."""
    stored = table_meta.c
    same = (stored.corpus_id == corpus_id, stored.path == path)
    before = set(connection.scalars(select(stored.key).where(*same).distinct()))
    keys = sorted(before.union(columns))
    raw(connection).execute(_FORGET_ATTRIBUTES, {"corpus": corpus_id, "keys": keys})
    connection.execute(delete(table_meta).where(*same))
    last = connection.scalar(select(func.max(stored.place)).where(stored.corpus_id == corpus_id))
    place = int(last or 0) + 1
    new = [(corpus_id, path, place, name, *one) for name, _, said in rows for one in said.items()]
    _append(connection, table_meta.name, new)
    _refresh(connection, corpus_id, keys)
    _write_attributes(connection, corpus_id, keys)


def join_documents(connection: Connection, corpus_id: int, first: int) -> None:
    """Apply the tables of a corpus to new documents, with ids from ``first`` on, and to their regions."""
    stored = table_meta.c
    keys = connection.scalars(select(stored.key).where(stored.corpus_id == corpus_id).distinct())
    if known := sorted(keys):
        _refresh(connection, corpus_id, known, first)
        begins = fetch_arrow(connection, _FIRST_SENTENCE, {"first": first}).to_pylist()[0]["first"]
        _write_attributes(connection, corpus_id, known, begins)


def _refresh(connection: Connection, corpus_id: int, keys: Sequence[str], first: int = 0) -> None:
    """Set the metadata of documents under some keys: from the last table, else from their source."""
    parameters: dict[str, object] = {"corpus": corpus_id, "keys": list(keys)}
    tables = defaultdict[int, dict[str, dict[str, str]]](lambda: defaultdict(dict))
    for row in fetch_arrow(connection, _SAID, parameters).to_pylist():
        tables[row["place"]][row["name"]][row["key"]] = row["value"]
    own = _own(connection, corpus_id, keys, first)
    rows: list[tuple[object, ...]] = []
    for document in _documents(connection, corpus_id, first):
        values: dict[str, list[str]] = dict(own.get(document.id, {}))
        # The last table first, as it wins.
        for table in reversed(tables.values()):
            if (name := _found(document, table)) is not None:
                values |= {key: [value] for key, value in table[name].items()}
        rows += [(corpus_id, document.id, key, value) for key in keys for value in values.get(key, ())]
    raw(connection).execute(_FORGET, {**parameters, "first": first})
    _append(connection, document_meta.name, rows)


def _own(
    connection: Connection, corpus_id: int, keys: Sequence[str], first: int = 0
) -> dict[int, dict[str, list[str]]]:
    """Return the metadata of documents under some keys that come from their sources."""
    parameters = {"corpus": corpus_id, "first": first, "mark": OF_DOCUMENT}
    values: dict[int, dict[str, list[str]]] = {}
    for row in fetch_arrow(connection, _OWN, parameters).to_pylist():
        for comment in row["metadata"].split("\n"):
            key, value = key_and_value(comment) or ("", "")
            name = key.removeprefix(OF_DOCUMENT)
            if name != key and name in keys:
                values.setdefault(row["id"], {}).setdefault(name, []).append(value)
    return values


def _append(connection: Connection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    if rows:
        import pyarrow as pa

        schema = file_schema(table)
        columns = zip(*rows, strict=True)
        arrays = [pa.array(list(values), each.type) for values, each in zip(columns, schema, strict=True)]
        append(connection, table, pa.table(arrays, schema=schema))
