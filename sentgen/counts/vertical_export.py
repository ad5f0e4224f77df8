"""Export a corpus as a vertical file; read again, it has the same sentences, documents and regions.

A range of sentences is read at a time, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

from sqlalchemy import Connection, Row

from sentgen.corpus.markup import UNDEFINED, xml_name
from sentgen.corpus.readers._columns import HEAD, NamedColumns, field_of, tree_of
from sentgen.corpus.readers.conllu import NO_SPACE
from sentgen.corpus.readers.vertical import DOCUMENTS, GLUE, SENTENCES, USUAL
from sentgen.corpus.sentence import ABSENT
from sentgen.counts.exports import (
    RegionRow,
    SentenceRow,
    count_around,
    marked_sentences,
    renamed,
    unbarred,
)
from sentgen.errors import InputError
from sentgen.schema.store import fetch_arrow

#: Further columns, to the column of `token` that fills each.
_MORE = {"upos": "upos_id", "feats": "feats_id", "head": "head", "deprel": "deprel_id"}
#: The column for MISC as a whole, used if a part of it has no name.
_MISC = "misc"
#: Kinds of regions whose tags mean documents, sentences or missing spaces, so that they need another name.
_TAKEN = frozenset((DOCUMENTS[0], *SENTENCES, GLUE))
#: The attribute that names a document or a sentence.
_ID = "id"

_USED = "select count(distinct {column}) > 0 as used from token where corpus_id = $corpus"
#: The lists of keys in MISC, each in the order of its token.
_KEYS = """
select distinct list_transform(string_split(misc, '|'), lambda part: split_part(part, '=', 1)) as keys
from token_misc
where corpus_id = $corpus
    and contains(misc, '=')
order by keys
"""
#: Whether a part of MISC has no name or no value, which a column of its own cannot hold.
_UNNAMED = r"""
select 1
from token_misc
where corpus_id = $corpus
    and regexp_matches(misc, '(^|\|)[^=|]*(\||$)|=(_|__UNDEF__)?(\||$)')
limit 1
"""
#: By sentence, the values of the key `head` in MISC, and how many of its tokens have heads.
_HEADS = r"""
select
    list(coalesce(
        list_filter(string_split(m.misc, '|'), lambda part: starts_with(part, 'head='))[1][6:], '_'
    ) order by t.position) as said,
    count(t.head) as heads
from token t
left join token_misc m on m.corpus_id = $corpus and m.sentence_id = t.sentence_id and m.position = t.position
where t.corpus_id = $corpus
    and t.sentence_id in (
        select sentence_id
        from token_misc
        where corpus_id = $corpus
            and regexp_matches(misc, '(^|\|)head=')
    )
group by t.sentence_id
"""
_SPECIAL = """
select
    (select count(*) from multiword where corpus_id = $corpus) as ranges,
    (select count(*) from enhanced_edge where corpus_id = $corpus) as edges,
    (
        select count(*)
        from sentence
        where corpus_id = $corpus
            and len(list_filter(
                string_split(metadata, chr(10)),
                lambda line: not contains(line, '=') and trim(line) not in ('', 'newpar')
            )) > 0
    ) as comments,
    (
        select count(*) > count(distinct (document_id, key)) from document_meta where corpus_id = $corpus
    ) or (
        select count(*) > count(distinct (sentence_id, key)) from sentence_meta where corpus_id = $corpus
    ) as twice
"""


def write_vertical(
    connection: Connection, corpus: Row[Any], span: tuple[int, int]
) -> tuple[Iterator[bytes], Iterator[str]]:
    """Return the blocks of a vertical file, whose first line names its columns, and warnings."""
    writing = _Vertical(connection, corpus.id, _columns(connection, corpus.id))
    return writing.blocks(span), _lost(connection, corpus.id)


def _lost(connection: Connection, corpus: int) -> Iterator[str]:
    [counts] = fetch_arrow(connection, _SPECIAL, {"corpus": corpus}).to_pylist()
    if counts["ranges"] or counts["edges"]:
        yield "multiword ranges, empty nodes and enhanced edges have no place in a vertical file"
    if counts["comments"]:
        yield "comments that have no equals sign have no place in a vertical file"
    if counts["twice"]:
        yield "where something is said twice under one name, the first is there"
    yield from renamed(connection, corpus)


def _columns(connection: Connection, corpus: int) -> list[str]:
    """Return the names of the columns: the usual ones, further ones with values, and the keys of MISC."""
    given = {"corpus": corpus}
    lists = fetch_arrow(connection, _KEYS, given).columns[0].to_pylist()
    keys = [key for key in _in_order(lists) if f"{key}=No" != NO_SPACE]
    fields = {field_of(key) for key in keys}
    more = [
        name
        for name, column in _MORE.items()
        if field_of(name) in fields
        or fetch_arrow(connection, _USED.format(column=column), given).columns[0][0].as_py()
    ]
    usual = [*USUAL, *more]
    others = [key for key in keys if key != HEAD]
    unnamed = fetch_arrow(connection, _UNNAMED, given).num_rows or any(
        len({*keys}) < len(keys) for keys in lists
    )
    if not unnamed and not (HEAD in keys and _heads_differ(connection, corpus)):
        try:
            columns = NamedColumns.of([*usual, *others])
        except InputError:
            pass
        else:
            if [name for name, _ in columns.others] == others:
                return [*usual, *others]
    return [*usual, _MISC]


def _heads_differ(connection: Connection, corpus: int) -> bool:
    """Return whether `head` in MISC would be read as heads: next to a tree, or as if it were one."""
    rows = fetch_arrow(connection, _HEADS, {"corpus": corpus}).to_pylist()
    return any(row["heads"] or tree_of(row["said"]) is not None for row in rows)


def _in_order(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return keys in an order that agrees with all lists, if there is one (a topological sort)."""
    after: dict[str, set[str]] = {key: set() for keys in lists for key in keys}
    for keys in lists:
        for key, following in pairwise(keys):
            after[following].add(key)
    ordered: dict[str, None] = {}
    while len(ordered) < len(after):
        rest = [key for key in after if key not in ordered]
        ready = [key for key in rest if after[key] <= ordered.keys()]
        # In a cycle, any order is as good.
        ordered.update(dict.fromkeys(ready or rest[:1]))
    return list(ordered)


@dataclass(slots=True)
class _Vertical:
    """Writes the sentences of a corpus with the tags around and between them."""

    connection: Connection
    corpus: int
    columns: list[str]
    #: Open regions, in their order, and whether each is outside of the tags of sentences.
    _open: list[tuple[RegionRow, bool]] = field(default_factory=list)

    def blocks(self, span: tuple[int, int]) -> Iterator[bytes]:
        yield f"<!-- #vrt positional-attributes: {' '.join(self.columns)} -->\n".encode()
        for several in marked_sentences(self.connection, self.corpus, span):
            lines = [line for marked in several for line in self._sentence(*marked)]
            yield ("\n".join(lines) + "\n").encode()

    def _sentence(
        self, row: SentenceRow, regions: Sequence[RegionRow], metadata: Sequence[Sequence[str]]
    ) -> Iterator[str]:
        if row.first:
            yield _opening_tag(DOCUMENTS[0], [(_ID, row.document), *_attributes_of(metadata)])
        # Only the first regions are written before the tag of the sentence, so that their order is kept.
        around = count_around(regions)
        yield from self._begin(regions[:around], outside=True)
        name = [(_ID, row.sent_id)] if row.sent_id else []
        yield _opening_tag(SENTENCES[0], [*name, *_attributes_of(row.attributes)])
        at = around
        for position, line in enumerate(self._lines(row), 1):
            begun = at
            while at < len(regions) and regions[at].position == position:
                at += 1
            yield from self._begin(regions[begun:at], outside=False)
            yield line
            yield from self._end(row.id, position, outside=False)
            if row.spaces[position - 1] is False:
                yield f"<{GLUE}/>"
        yield f"</{SENTENCES[0]}>"
        yield from self._end(row.id, len(row.fields), outside=True)
        if row.last:
            yield f"</{DOCUMENTS[0]}>"

    def _begin(self, regions: Sequence[RegionRow], *, outside: bool) -> Iterator[str]:
        for region in regions:
            self._open.append((region, outside))
            attributes = [(xml_name(key), value) for key, value in region.attributes or ()]
            yield _opening_tag(_kind_written(region), attributes)

    def _end(self, sentence: int, position: int, *, outside: bool) -> Iterator[str]:
        """Yield the closing tags of regions that end at a position; the last one that began comes first."""
        ended = [
            tag
            for tag in reversed(self._open)
            if tag[1] == outside and (tag[0].last_sentence_id, tag[0].last_position) == (sentence, position)
        ]
        for tag in ended:
            self._open.remove(tag)
            yield f"</{_kind_written(tag[0])}>"

    def _lines(self, row: SentenceRow) -> Iterator[str]:
        chosen = [number for number, name in enumerate((*USUAL, *_MORE)) if name in self.columns]
        others = self.columns[len(chosen) :]
        for fields, misc in zip(row.fields, row.misc, strict=True):
            values = [fields[number] for number in chosen]
            parts = dict(part.partition("=")[::2] for part in (misc or "").split("|"))
            if HEAD in parts and HEAD in self.columns and _MISC not in others:
                values[self.columns.index(HEAD)] = unbarred(parts[HEAD])
            values += [
                misc or ABSENT if name == _MISC else unbarred(parts.get(name, ABSENT)) for name in others
            ]
            yield "\t".join(map(escape, values))


def _attributes_of(metadata: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the metadata of a document or a sentence as attributes; a key `id` gets another name."""
    return ((xml_name(key, taken=key == _ID), value) for key, value in metadata)


def _kind_written(region: RegionRow) -> str:
    return xml_name(region.kind, taken=region.kind.lower() in _TAKEN)


_LINE_ENDS = str.maketrans("\t\n\r", "   ")


def _opening_tag(kind: str, attributes: Iterable[tuple[str, str]]) -> str:
    """Return the opening tag of a region, with its names as given (see `xml_name`).

    >>> _opening_tag("doc", [("id", 'a "b"'), ("author", "_")])
    '<doc id="a &quot;b&quot;" author="&#95;">'
    """
    pairs = "".join(f' {key}="{_quote(value)}"' for key, value in attributes)
    return f"<{kind}{pairs}>"


def _quote(value: str) -> str:
    if value in UNDEFINED:
        return f"&#{ord(value[0])};{value[1:]}"
    return escape(value.translate(_LINE_ENDS), {'"': "&quot;"})
