"""The formats in which a corpus can be written, their writers, and the rows that several writers read.

Sentences are read in ranges, with their regions and documents, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pkgutil import resolve_name
from typing import NamedTuple

from sqlalchemy import Connection

from sentgen.corpus.comments import OF_DOCUMENT, key_and_value, regions_in_comments
from sentgen.corpus.markup import xml_name
from sentgen.counts.conllu_export import NAMES_OF_TOKENS, SENTENCES
from sentgen.counts.corpora import find
from sentgen.errors import InputError, spell
from sentgen.schema.store import fetch_arrow

#: The writer of each format, imported when needed: a function that takes the connection, the row of a corpus
#: and the ids of its first and last sentence, and returns blocks of bytes and notes on what is lost.
FORMATS = {
    "conllu": "sentgen.counts.conllu_export:write_conllu",
    "docbin": "sentgen.counts.docbin_export:write_docbin",
    "tei": "sentgen.counts.tei_export:write_tei",
    "vertical": "sentgen.counts.vertical_export:write_vertical",
}
_RANGE = """
select min(first_sentence) as first, max(first_sentence + sentences - 1) as last
from document
where corpus_id = $corpus
    and sentences > 0
"""

_ROWS = f"""
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
    {NAMES_OF_TOKENS}
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
_KEYS = """
select key from document_meta where corpus_id = $corpus
union
select key from sentence_meta where corpus_id = $corpus
union
select key from region_meta where corpus_id = $corpus
order by key
"""
#: Names that a note lists at most.
_TOLD = 5


def export(connection: Connection, name: str, form: str) -> tuple[Iterator[bytes], tuple[str, ...]]:
    """Return the blocks of a corpus in a format, and notes on what the format cannot hold, one line each.

    Raises:
        InputError: there is no such format, the corpus cannot be written in it, or the corpus has no
            sentences, as in a lake that was counted on a cluster.
        NotFoundError: there is no such corpus.
    """
    if form not in FORMATS:
        raise InputError(f"{spell('format')} {form!r} is none of: {', '.join(FORMATS)}")
    corpus = find(connection, name)
    [span] = fetch_arrow(connection, _RANGE, {"corpus": corpus.id}).to_pylist()
    if span["first"] is None:
        raise InputError(
            f"no sentences of {name!r} here: a lake of a count has counts only; export from a store"
        )
    blocks, lost = resolve_name(FORMATS[form])(connection, corpus, (span["first"], span["last"]))
    return blocks, tuple(lost)


class SentenceRow(NamedTuple):
    """A row of `_ROWS`: a sentence."""

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

    @property
    def attributes(self) -> list[tuple[str, str]]:
        """Return the metadata of the sentence without its name; paragraphs and turns are regions instead."""
        attributes = []
        for comment in (self.metadata or "").split("\n"):
            pair = key_and_value(comment)
            if (
                pair
                and not (self.first and pair[0].startswith(OF_DOCUMENT))
                and not list(regions_in_comments([comment]))
            ):
                attributes.append(pair)
        return attributes


class RegionRow(NamedTuple):
    """A row of `_REGIONS`: a region."""

    sentence_id: int
    place: int
    kind: str
    position: int
    last_sentence_id: int
    last_position: int
    whole: bool
    attributes: list[list[str]] | None


class Marked(NamedTuple):
    """A sentence, the regions that begin in it, and the metadata of its document."""

    sentence: SentenceRow
    regions: Sequence[RegionRow]
    said: Sequence[tuple[str, str]]


def count_around(regions: Sequence[RegionRow]) -> int:
    """Return how many of the regions, from the first one on, enclose the whole sentence."""
    around = 0
    while around < len(regions) and regions[around].position == 1 and regions[around].whole:
        around += 1
    return around


def marked_sentences(connection: Connection, corpus: int, span: tuple[int, int]) -> Iterator[list[Marked]]:
    """Yield the sentences of a corpus in order, in lists of some thousands."""
    for begin in range(span[0], span[1] + 1, SENTENCES):
        given = {"corpus": corpus, "first": begin, "last": min(begin + SENTENCES - 1, span[1])}
        rows = [SentenceRow(**row) for row in fetch_arrow(connection, _ROWS, given).to_pylist()]
        if not rows:
            continue
        regions: dict[int, list[RegionRow]] = {}
        for row in fetch_arrow(connection, _REGIONS, given).to_pylist():
            regions.setdefault(row["sentence_id"], []).append(RegionRow(**row))
        given |= {"first": rows[0].document_id, "last": rows[-1].document_id}
        documents = fetch_arrow(connection, _DOCUMENTS, given).to_pylist()
        attributes = {row["document_id"]: [(key, value) for key, value in row["said"]] for row in documents}
        yield [Marked(row, regions.get(row.id, []), attributes.get(row.document_id, [])) for row in rows]


def renamed(connection: Connection, corpus: int, keys: Iterable[str] = ()) -> Iterator[str]:
    """Yield the note on names that XML and vertical files cannot have as they are, if there are any.

    Args:
        keys: names besides those of metadata and of attributes of regions.
    """
    stored = fetch_arrow(connection, _KEYS, {"corpus": corpus}).columns[0].to_pylist()
    written = {key: xml_name(key) for key in dict.fromkeys([*stored, *keys])}
    changed = [f"{key!r} as {name}" for key, name in written.items() if key != name]
    if changed:
        more = f", and {len(changed) - _TOLD} more" if len(changed) > _TOLD else ""
        yield (
            "names that cannot stand there are written with numbers for characters, and read as they were: "
            + ", ".join(changed[:_TOLD])
            + more
        )


def unbarred(value: str) -> str:
    r"""Undo `bar_free`: return the original value of MISC.

    >>> unbarred(r"a\pb\\c")
    'a|b\\c'
    """
    return value.replace("\\\\", "\0").replace("\\p", "|").replace("\0", "\\") if "\\" in value else value
