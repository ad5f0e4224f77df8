"""Export a corpus that was read from TEI; read again, it has the same words, sentences, regions and metadata.

Nested regions become elements; a region that overlaps with another or with a sentence becomes a `milestone`
at its beginning and an `anchor` at its end.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from sqlalchemy import Connection, Row

from sentgen.corpus.markup import xml_name
from sentgen.corpus.readers import tei
from sentgen.corpus.readers.tei import DEPENDENCIES, KNOWN, OTHERS, RELATION, SEPARATOR, UNIVERSAL
from sentgen.corpus.sentence import ABSENT, UNIVERSAL_TAGS
from sentgen.counts.exports import (
    Marked,
    RegionRow,
    SentenceRow,
    count_around,
    marked_sentences,
    renamed,
    unbarred,
)
from sentgen.errors import InputError, spell
from sentgen.schema.store import fetch_arrow

_NAMESPACE = "http://www.tei-c.org/ns/1.0"
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_WHEN = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_OTHER_FORMATS = """
select any_value(path) as path, format
from source
where corpus_id = $corpus
    and format <> $format
group by format
limit 1
"""
_MULTIWORDS = """
select sentence_id, "first", "last", form
from multiword
where corpus_id = $corpus
    and sentence_id between $first and $last
"""
#: Names that occur more than once, which cannot be an `xml:id`, as these are unique in a file.
_SHARED = """
select name
from (
    select sent_id as name from sentence where corpus_id = $corpus
    union all
    select name from document where corpus_id = $corpus
    union all
    select "value" as name from region_meta where corpus_id = $corpus and key = 'id'
)
where name is not null
group by name
having count(*) > 1
"""
_MISC_KEYS = """
select distinct split_part(unnest(string_split(misc, '|')), '=', 1) as key
from token_misc
where corpus_id = $corpus
order by key
"""
#: Attributes of milestones with a meaning of their own, as which attributes of regions must not be read.
_OF_MILESTONES = frozenset(("unit", "spanTo", "break"))
_DOCUMENTS = "select count(*) as documents from document where corpus_id = $corpus and sentences > 0"


def write_tei(
    connection: Connection, corpus: Row[Any], span: tuple[int, int]
) -> tuple[Iterator[bytes], Iterator[str]]:
    """Return the blocks of a TEI file with the documents of a corpus, and warnings of what it lacks.

    Raises:
        InputError: a source of the corpus has another format.
    """
    given = {"corpus": corpus.id}
    others = fetch_arrow(connection, _OTHER_FORMATS, {**given, "format": tei.READER.name}).to_pylist()
    if others:
        raise InputError(
            f"only what came as TEI goes out as TEI, and {others[0]['path']} came as {others[0]['format']}; "
            f"give {spell('format')} conllu or vertical"
        )
    documents = fetch_arrow(connection, _DOCUMENTS, given).columns[0][0].as_py()
    shared = frozenset(fetch_arrow(connection, _SHARED, given).columns[0].to_pylist())
    writing = _Writing(connection, corpus.id, corpus.name, several=documents > 1, _shared=shared)
    lost = [f"{corpus.name} is lower-cased, and so are its forms and lemmas here"] if corpus.lowercase else []
    keys = fetch_arrow(connection, _MISC_KEYS, given).columns[0].to_pylist()
    return writing.blocks(span), chain(lost, renamed(connection, corpus.id, keys))


@dataclass(slots=True)
class _Writing:
    """Writes documents, and keeps the regions that are open in one."""

    connection: Connection
    corpus: int
    name: str
    several: bool
    #: Regions that are open as elements.
    _open: list[RegionRow] = field(default_factory=list)
    #: Open regions that end with an anchor, and the names of their anchors.
    _spans: list[tuple[RegionRow, str]] = field(default_factory=list)
    _anchors: int = 0
    #: Names that more than one document, sentence or region has.
    _shared: frozenset[str] = frozenset()
    #: Whether a reader takes a tag in `pos` for one of Universal Dependencies, as all in this document were.
    _universal: bool = True

    def blocks(self, span: tuple[int, int]) -> Iterator[bytes]:
        yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
        if self.several:
            yield f'<teiCorpus xmlns="{_NAMESPACE}">\n{_header([("title", self.name)])}'.encode()
        for several in marked_sentences(self.connection, self.corpus, span):
            first, last = several[0].sentence.id, several[-1].sentence.id
            given = {"corpus": self.corpus, "first": first, "last": last}
            ranges: dict[int, list[tuple[int, int, str]]] = {}
            for row in fetch_arrow(self.connection, _MULTIWORDS, given).to_pylist():
                ranges.setdefault(row["sentence_id"], []).append((row["first"], row["last"], row["form"]))
            parts = (part for one in several for part in self._sentence(one, ranges.get(one.sentence.id, ())))
            yield "".join(parts).encode()
        if self.several:
            yield b"</teiCorpus>\n"

    def _sentence(self, marked: Marked, ranges: Sequence[tuple[int, int, str]]) -> Iterator[str]:
        row, regions, attributes = marked
        # Of regions that begin together, the longest is outside.
        regions = sorted(
            regions,
            key=lambda region: (
                region.position,
                -region.last_sentence_id,
                -region.last_position,
                region.place,
            ),
        )
        if row.first:
            yield self._document(row.document, dict(attributes))
        # The first regions that enclose the whole sentence begin before its tag.
        around = count_around(regions)
        for region in regions[:around]:
            yield self._begin(region, self._fits(region))
        yield self._sentence_tag(row)
        words = list(self._words(row))
        at, outer = around, len(self._open)
        for first, last, form in _units(len(words), ranges):
            while at < len(regions) and regions[at].position <= last:
                inside = regions[at].last_sentence_id == row.id
                yield self._begin(regions[at], inside and self._fits(regions[at]))
                at += 1
            yield _word(*words[first - 1]) if form is None else _multiword(form, words[first - 1 : last])
            yield from self._end(row.id, first, last, outer)
            yield "\n"
        yield f"{self._links(row)}</s>"
        yield from self._end(row.id, 1, len(row.fields), 0)
        yield "\n"
        if row.last:
            yield "</TEI>\n"

    def _document(self, name: str, metadata: dict[str, str]) -> str:
        """Return the tag and the header of a document; all text is within its regions."""
        self._universal = True
        attributes = [] if self.several else [("xmlns", _NAMESPACE)]
        attributes.append(("xml:id" if self._is_id(name) else "n", name))
        language = metadata.get("language", "")
        if _LANGUAGE.fullmatch(language):
            attributes.append(("xml:lang", language))
            metadata = {key: value for key, value in metadata.items() if key != "language"}
        return f"<TEI{_attributes(attributes)}>\n{_header(list(metadata.items()))}"

    def _fits(self, region: RegionRow) -> bool:
        """Return whether a region ends within the innermost open element, or there is none."""
        return not self._open or _end_of(region) <= _end_of(self._open[-1])

    def _begin(self, region: RegionRow, nested: bool) -> str:
        attributes = [(key, value) for key, value in region.attributes or ()]
        if not nested:
            self._anchors += 1
            name = f"anchor{self._anchors}"
            self._spans.append((region, name))
            named = [("unit", region.kind), ("spanTo", f"#{name}")]
            others = self._prefixed(attributes, taken=_OF_MILESTONES)
            return f"<milestone{_attributes([*named, *others])}/>"
        self._open.append(region)
        speaker = ""
        if region.kind == "sp":
            speaker = "".join(
                f"<speaker>{escape(value)}</speaker>" for key, value in attributes if key == "speaker"
            )
            attributes = [(key, value) for key, value in attributes if key != "speaker"]
        return f"<{region.kind}{_attributes(self._prefixed(attributes))}>{speaker}"

    def _end(self, sentence: int, first: int, last: int, least: int) -> Iterator[str]:
        """Yield the ends of regions that end at some tokens; the outer ``least`` elements stay open."""
        span = ((sentence, first), (sentence, last))
        for mark in [mark for mark in self._spans if span[0] <= _end_of(mark[0]) <= span[1]]:
            self._spans.remove(mark)
            yield f'<anchor xml:id="{mark[1]}"/>'
        while len(self._open) > least and span[0] <= _end_of(self._open[-1]) <= span[1]:
            yield f"</{self._open.pop().kind}>"

    def _is_id(self, name: str) -> bool:
        """Return whether a name can be an `xml:id`, which is unique in a file."""
        return bool(name) and xml_name(name) == name and name not in self._shared

    def _prefixed(
        self, attributes: Iterable[tuple[str, str]], taken: Container[str] = ()
    ) -> Iterator[tuple[str, str]]:
        """Yield attributes with names that XML permits: `xml:lang` and `xml:id` with their prefix."""
        for key, value in attributes:
            of_xml = key == "lang" or (key == "id" and self._is_id(value))
            yield (f"xml:{key}" if of_xml else xml_name(key, taken=key in taken)), value

    def _sentence_tag(self, row: SentenceRow) -> str:
        attributes = row.attributes
        name = row.sent_id or (f"s{row.id}" if _has_tree(row) else "")
        named = []
        if name:
            numbered = any(key == "n" for key, _ in attributes)
            named.append(("xml:id" if self._is_id(name) else "id" if numbered else "n", name))
        # A reader takes `n` for the name of a sentence that has no other.
        taken = {"id"} if name else {"id", "n"}
        others = [(xml_name(key, taken=key in taken), value) for key, value in attributes]
        return f"<s{_attributes([*named, *others])}>\n"

    def _words(self, row: SentenceRow) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield form and attributes of each token."""
        tree = _has_tree(row)
        for position, (fields, misc, space) in enumerate(
            zip(row.fields, row.misc, row.spaces, strict=True), 1
        ):
            form, xpos, lemma, upos, feats, _, _ = (value if value != ABSENT else "" for value in fields)
            attributes = [("xml:id", _word_id(row, position))] if tree else []
            attributes += [("lemma", lemma), *self._tags(upos, xpos, feats)]
            parts = (part.partition("=") for part in (misc or "").split("|"))
            attributes += [
                (self._misc_name(key, value, xpos, attributes), unbarred(value))
                for key, equals, value in parts
                if equals
            ]
            attributes.append(("join", "right" if space is False else ""))
            yield form or ABSENT, [(key, value) for key, value in attributes if value]

    def _tags(self, upos: str, xpos: str, feats: str) -> list[tuple[str, str]]:
        """Return `pos` and `msd` such that reading them gives the same upos, xpos and feats."""
        if upos and (xpos or feats or not self._universal or upos not in UNIVERSAL_TAGS):
            return [("pos", xpos), ("msd", f"{UNIVERSAL}{upos}" + (f"|{feats}" if feats else ""))]
        if upos:
            return [("pos", upos)]
        if xpos in UNIVERSAL_TAGS and self._universal and not feats:
            return [("msd", xpos)]
        self._universal = self._universal and (not xpos or xpos in UNIVERSAL_TAGS)
        return [("pos", xpos), ("msd", feats)]

    def _misc_name(self, key: str, value: str, xpos: str, others: Sequence[tuple[str, str]]) -> str:
        """Return the XML name for a key of MISC; `msd` keeps its name if it is not read as features."""
        beside = xpos and not (self._universal or "=" in value or dict(others).get("msd"))
        return xml_name(key, taken=key in KNOWN and not (key == "msd" and beside))

    def _links(self, row: SentenceRow) -> str:
        if not _has_tree(row):
            return ""
        links = []
        for position, (*_, head, relation) in enumerate(row.fields, 1):
            target = _word_id(row, int(head)) if head != "0" else row.sent_id or f"s{row.id}"
            analysis = quoteattr(RELATION + relation.replace(":", "_"))
            links.append(f'<link ana={analysis} target="#{escape(target)} #{_word_id(row, position)}"/>')
        return f'<linkGrp type="{DEPENDENCIES}" targFunc="head argument">\n' + "\n".join(links) + "</linkGrp>"


def _header(metadata: Sequence[tuple[str, str]]) -> str:
    others = dict(metadata)
    title, author = escape(others.pop("title", "")), others.get("author", "")
    names = dict.fromkeys(name for name in author.split(SEPARATOR) if name)
    authors = "".join(f"<author>{escape(name)}</author>" for name in names)
    if SEPARATOR.join(names) == author:
        others.pop("author", "")
    date, licence, language = (others.pop(key, "") for key in ("date", "licence", "language"))
    when = f"<date when={quoteattr(date)}/>" if _WHEN.fullmatch(date) else f"<date>{escape(date)}</date>"
    creation = f"<creation>{when}</creation>" if date else ""
    usage = f"<langUsage><language ident={quoteattr(language)}/></langUsage>" if language else ""
    profile = f"<profileDesc>{creation}{usage}</profileDesc>" if creation or usage else ""
    notes = "".join(
        f'<note type="{OTHERS}" n={quoteattr(key)}>{escape(value)}</note>' for key, value in others.items()
    )
    statement = f"<notesStmt>{notes}</notesStmt>" if notes else ""
    kind = f" target={quoteattr(licence)}/" if "://" in licence else f">{escape(licence)}</licence"
    published = f"<authority/><availability><licence{kind}></availability>" if licence else "<p/>"
    return (
        f"<teiHeader><fileDesc><titleStmt><title>{title}</title>{authors}</titleStmt>"
        f"<publicationStmt>{published}</publicationStmt>{statement}<sourceDesc><p/></sourceDesc></fileDesc>"
        f"{profile}</teiHeader>\n"
    )


def _attributes(attributes: Iterable[tuple[str, str]]) -> str:
    return "".join(f" {key}={quoteattr(value)}" for key, value in attributes)


def _units(size: int, ranges: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str | None]]:
    """Yield the first and last token of each word of the text, with its form if it has several tokens."""
    known = {first: (last, form) for first, last, form in ranges}
    position = 1
    while position <= size:
        last, form = known.get(position, (position, None))
        yield position, last, form
        position = last + 1


def _word(form: str, attributes: list[tuple[str, str]]) -> str:
    name = "w" if any(character.isalnum() for character in form) else "pc"
    return f"<{name}{_attributes(attributes)}>{escape(form)}</{name}>"


def _multiword(form: str, words: Sequence[tuple[str, list[tuple[str, str]]]]) -> str:
    """Return a word of several tokens, each an element with its own form as `norm`."""
    join = [pair for pair in words[-1][1] if pair[0] == "join"]
    parts = [
        f"<w{_attributes([('norm', own), *(pair for pair in attributes if pair[0] != 'join')])}/>"
        for own, attributes in words
    ]
    return f"<w{_attributes(join)}>{escape(form)}{''.join(parts)}</w>"


def _end_of(region: RegionRow) -> tuple[int, int]:
    return region.last_sentence_id, region.last_position


def _word_id(row: SentenceRow, position: int) -> str:
    return f"w{row.id}.{position}"


def _has_tree(row: SentenceRow) -> bool:
    return row.fields[0][5] != ABSENT
