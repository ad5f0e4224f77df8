"""Write a corpus as a vertical file: what its reader makes the same sentences, documents and regions of.

A range of sentences is read at a time, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from sqlalchemy import Connection

from sentgen.corpus.comments import OF_DOCUMENT, regions_said
from sentgen.corpus.readers._named_columns import HEAD, NamedColumns, field_of
from sentgen.corpus.readers._tags import escaped, opening
from sentgen.corpus.readers._vertical_pieces import DOCUMENTS, GLUE, SENTENCES, USUAL
from sentgen.corpus.readers.conllu import NO_SPACE
from sentgen.corpus.sentence import ABSENT
from sentgen.counts.conllu_export import SENTENCES as AT_ONCE
from sentgen.counts.conllu_export import Export
from sentgen.counts.corpora import find
from sentgen.errors import InputError
from sentgen.schema.store import fetch_arrow

#: Columns beyond the usual ones, by the column of `token` that fills them.
_MORE = {"upos": "upos_id", "feats": "feats_id", "head": "head", "deprel": "deprel_id"}
#: The column MISC itself, where a part of it has no name.
_MISC = "misc"
#: Kinds of regions that would be read as something else.
_TAKEN = frozenset((DOCUMENTS[0], SENTENCES[0], GLUE))

_RANGE = """
select min(first_sentence) as first, max(first_sentence + sentences - 1) as last
from document
where corpus_id = $corpus
    and sentences > 0
"""
_USED = "select count(distinct {column}) > 0 as used from token where corpus_id = $corpus"
#: Which keys stand in MISC, in their order.
_KEYS = """
select distinct list_transform(string_split(misc, '|'), lambda part: split_part(part, '=', 1)) as keys
from token_misc
where corpus_id = $corpus
    and contains(misc, '=')
order by keys
"""
#: A part of MISC that no column can have: without a name, or without a value.
_UNNAMED = r"""
select 1
from token_misc
where corpus_id = $corpus
    and regexp_matches(misc, '(^|\|)[^=|]*(\||$)|=(_|__UNDEF__)?(\||$)')
limit 1
"""
_SPECIAL = """
select
    (select count(*) from multiword where corpus_id = $corpus) as ranges,
    (select count(*) from enhanced_edge where corpus_id = $corpus) as edges,
    (select count(*) from region where corpus_id = $corpus and lower(kind) in ('doc', 's', 'g')) as regions
"""

_ROWS = """
select
    s.id,
    s.sent_id,
    s.metadata,
    d.name as document,
    d.id as document_id,
    d.first_sentence = s.id as first,
    d.first_sentence + d.sentences - 1 = s.id as last,
    t.fields,
    t.misc,
    t.spaces
from sentence s
join document d on d.id = s.document_id
join (
    select
        t.sentence_id,
        list([
            w.form, coalesce(x.name, '_'), coalesce(nullif(l.form, ''), '_'), coalesce(u.name, '_'),
            coalesce(f.name, '_'), coalesce(t.head::varchar, '_'), coalesce(r.name, '_')
        ] order by t.position) as fields,
        list(m.misc order by t.position) as misc,
        list(t.space_after order by t.position) as spaces
    from token t
    join word w on w.id = t.word_id
    left join word l on l.id = t.lemma_id
    left join tag u on u.id = t.upos_id
    left join tag x on x.id = t.xpos_id
    left join tag f on f.id = t.feats_id
    left join tag r on r.id = t.deprel_id
    left join token_misc m on m.sentence_id = t.sentence_id and m.position = t.position
        and m.sentence_id between $first and $last
    where t.sentence_id between $first and $last
    group by t.sentence_id
) t on t.sentence_id = s.id
where s.corpus_id = $corpus
    and s.id between $first and $last
order by s.id
"""
_REGIONS = """
select
    r.sentence_id,
    r.place,
    r.kind,
    r.position,
    r.last_sentence_id,
    r.last_position,
    l.length = r.last_position as whole,
    m.attributes
from region r
join sentence l on l.id = r.last_sentence_id
left join (
    select sentence_id, place, list([key, value]) as attributes
    from region_meta
    where sentence_id between $first and $last
    group by sentence_id, place
) m on m.sentence_id = r.sentence_id and m.place = r.place
where r.corpus_id = $corpus
    and r.sentence_id between $first and $last
order by r.sentence_id, r.place
"""
_DOCUMENTS = """
select document_id, list([key, value]) as said
from document_meta
where corpus_id = $corpus
    and document_id between $first and $last
group by document_id
"""


class _Row(NamedTuple):
    """A sentence, as `_ROWS` has it."""

    id: int
    sent_id: str | None
    metadata: str | None
    document: str
    document_id: int
    first: bool
    last: bool
    fields: list[list[str]]
    misc: list[str | None]
    spaces: list[bool | None]


class _Region(NamedTuple):
    """A region, as `_REGIONS` has it."""

    sentence_id: int
    place: int
    kind: str
    position: int
    last_sentence_id: int
    last_position: int
    whole: bool
    attributes: list[list[str]] | None


def export_vertical(connection: Connection, name: str) -> Export:
    """Return a corpus as a vertical file, whose first line names its columns.

    Raises:
        NotFoundError: there is no such corpus.
        InputError: it has counts, but no sentences, as a lake that was counted on a cluster.
    """
    corpus = find(connection, name)
    [span] = fetch_arrow(connection, _RANGE, {"corpus": corpus.id}).to_pylist()
    if span["first"] is None:
        raise InputError(
            f"no sentences of {name!r} here: a lake of a count has counts only; export from a store"
        )
    writing = _Vertical(connection, corpus.id, _columns(connection, corpus.id))
    return Export(writing.blocks(span["first"], span["last"]), tuple(_lost(connection, corpus.id)))


def _lost(connection: Connection, corpus: int) -> Iterator[str]:
    [found] = fetch_arrow(connection, _SPECIAL, {"corpus": corpus}).to_pylist()
    if found["ranges"] or found["edges"]:
        yield "multiword ranges, empty nodes and enhanced edges have no place in a vertical file"
    if found["regions"]:
        yield "regions of the kinds doc, s and g are left out, whose tags mean something else there"


def _columns(connection: Connection, corpus: int) -> list[str]:
    """Return the names of the columns: the usual ones, those that are filled, and the keys of MISC."""
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
        len({*one}) < len(one) for one in lists
    )
    if not unnamed:
        try:
            found = NamedColumns.of([*usual, *others])
        except InputError:
            pass
        else:
            if [name for name, _ in found.others] == others:
                return [*usual, *others]
    return [*usual, _MISC]


def _in_order(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return keys in an order in which those of each list stand, if there is one."""
    after: dict[str, set[str]] = {key: set() for keys in lists for key in keys}
    for keys in lists:
        for key, following in pairwise(keys):
            after[following].add(key)
    ordered: dict[str, None] = {}
    while len(ordered) < len(after):
        rest = [key for key in after if key not in ordered]
        ready = [key for key in rest if after[key] <= ordered.keys()]
        # Where they go round in a circle, any order is as good.
        ordered.update(dict.fromkeys(ready or rest[:1]))
    return list(ordered)


@dataclass(slots=True)
class _Vertical:
    """Writes the sentences of a corpus with the tags around and between them."""

    connection: Connection
    corpus: int
    columns: list[str]
    #: Regions that are open, in their order, and whether they end behind the tag of a sentence.
    _open: list[tuple[_Region, bool]] = field(default_factory=list)

    def blocks(self, first: int, last: int) -> Iterator[bytes]:
        """Yield the file, some thousands of sentences at a time."""
        yield f"<!-- #vrt positional-attributes: {' '.join(self.columns)} -->\n".encode()
        for begin in range(first, last + 1, AT_ONCE):
            given = {"corpus": self.corpus, "first": begin, "last": min(begin + AT_ONCE - 1, last)}
            rows = [_Row(**row) for row in fetch_arrow(self.connection, _ROWS, given).to_pylist()]
            regions: dict[int, list[_Region]] = {}
            for row in fetch_arrow(self.connection, _REGIONS, given).to_pylist():
                if (region := _Region(**row)).kind.lower() not in _TAKEN:
                    regions.setdefault(region.sentence_id, []).append(region)
            said = self._said(rows)
            lines = [
                line
                for row in rows
                for line in self._sentence(row, regions.get(row.id, []), said.get(row.document_id, []))
            ]
            if lines:
                yield ("\n".join(lines) + "\n").encode()

    def _said(self, rows: Sequence[_Row]) -> dict[int, list[list[str]]]:
        """Return what is said of documents."""
        if not rows:
            return {}
        given = {"corpus": self.corpus, "first": rows[0].document_id, "last": rows[-1].document_id}
        found = fetch_arrow(self.connection, _DOCUMENTS, given).to_pylist()
        return {row["document_id"]: row["said"] for row in found}

    def _sentence(
        self, row: _Row, regions: Sequence[_Region], said: Sequence[Sequence[str]]
    ) -> Iterator[str]:
        if row.first:
            named = [(key, value) for key, value in said if key != "id"]
            yield opening(DOCUMENTS[0], [("id", row.document), *named])
        # Around the sentence, as long as all before them are: their order is kept.
        around = 0
        while around < len(regions) and regions[around].position == 1 and regions[around].whole:
            around += 1
        yield from self._begin(regions[:around], outside=True)
        yield opening(SENTENCES[0], _attributes(row))
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

    def _begin(self, regions: Sequence[_Region], *, outside: bool) -> Iterator[str]:
        for region in regions:
            self._open.append((region, outside))
            yield opening(region.kind, [(key, value) for key, value in region.attributes or ()])

    def _end(self, sentence: int, position: int, *, outside: bool) -> Iterator[str]:
        """Yield the ends of regions, that of the last one first."""
        ended = [
            one
            for one in reversed(self._open)
            if one[1] == outside and (one[0].last_sentence_id, one[0].last_position) == (sentence, position)
        ]
        for one in ended:
            self._open.remove(one)
            yield f"</{one[0].kind}>"

    def _lines(self, row: _Row) -> Iterator[str]:
        """Yield the tokens."""
        chosen = [number for number, name in enumerate((*USUAL, *_MORE)) if name in self.columns]
        others = self.columns[len(chosen) :]
        for fields, misc in zip(row.fields, row.misc, strict=True):
            values = [fields[number] for number in chosen]
            parts = dict(part.partition("=")[::2] for part in (misc or "").split("|"))
            if HEAD in parts and HEAD in self.columns and _MISC not in others:
                values[self.columns.index(HEAD)] = parts[HEAD]
            values += [misc or ABSENT if name == _MISC else _bars(parts.get(name, ABSENT)) for name in others]
            yield "\t".join(map(escaped, values))


def _attributes(row: _Row) -> list[tuple[str, str]]:
    """Return what is said of a sentence; paragraphs and turns are regions."""
    attributes = [("id", row.sent_id)] if row.sent_id else []
    for one in (row.metadata or "").split("\n"):
        key, equals, value = (part.strip() for part in one.partition("="))
        if equals and not (row.first and key.startswith(OF_DOCUMENT)) and not list(regions_said([one])):
            attributes.append((key, value))
    return attributes


def _bars(value: str) -> str:
    r"""Return a value of MISC as it was, before `bar_free`.

    >>> _bars(r"a\\pb\\\\c")
    'a|b\\c'
    """
    return value.replace("\\\\", "\0").replace("\\p", "|").replace("\0", "\\") if "\\" in value else value
