"""Frequency lists of the hits of a query: what was matched, by attributes of it and of its labels.

A breakdown by metadata compares parts of different sizes, so that it also has the relative frequency within
the part: per million tokens of the sentences that have the same metadata, and lie in the same regions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import explained
from sentgen.lookups.concordances.filtered_hits import FilteredHits, filtered, steps
from sentgen.lookups.concordances.filters import HitFilter
from sentgen.lookups.concordances.hits import CqlHits, ReadPattern, read_hits
from sentgen.lookups.concordances.places import SentenceRange, sentences_of
from sentgen.lookups.cql.dialects import Dialect, Reading
from sentgen.lookups.cql.search import CqlMatches, check_terms, is_cql, parse_cql
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.cql.tokens import ENDS, TokenConditions, is_attribute, metadata_key, region_key
from sentgen.lookups.keys import StoreKeys
from sentgen.lookups.languages import check_text
from sentgen.lookups.reach import DOCUMENT
from sentgen.lookups.regions import innermost, pieces_of
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, gathered, limit_clause, limited, where
from sentgen.lookups.statistics.dispersion import JUILLAND_D
from sentgen.output.wording import instead

_COUNTED = """\
with recursive {parts}item as (
{items}
),
counted as (
  select {keys}, {part} as part_id, count(*) as count
  from item
  join sentence on sentence.id = item.sentence_id{in_part}
  group by {keys}, part_id
)"""
#: The same of the counts of parts of the store, of the keys alone that are shown: they may be of any number.
_GATHERED = """\
with shown as (
  select {keys}
  from gathered
  group by {keys}
  order by sum(count) desc, {keys}{limit}
),
counted as (
  select {keys}, part_id, sum(count)::bigint as count
  from gathered
  semi join shown using ({keys})
  group by {keys}, part_id
)"""
_STATEMENT = """\
{counted},
part as (
  select {part_id} as part_id, sum(length) as size
  from {pieces}
  group by part_id
),
{kinds}total as (
  select sum(size) as tokens, count(*) as parts, (select sum(count) from {all}) as hits from part
)
select {shown}, sum(count)::bigint as count, sum(count) / any_value(hits) as share,
  1e6 * sum(count) / any_value(tokens) as per_million, count(*) as {parts},
  case when any_value(total.parts) > 1 then greatest(
    0.5 * (
      sum(abs(count / of_item - size / tokens) order by part_id) + 1 - sum(size) / any_value(tokens)
    ), 0
  ) end as dp,
  {juilland} as juilland_d, count(*) / any_value(total.parts) as {share}{within}
from (select *, sum(count) over (partition by {keys}) as of_item from counted)
join part using (part_id){join_kinds}
cross join total
group by {keys}
order by count desc, {keys}{limit}"""

_JUILLAND = JUILLAND_D.format(
    documents="any_value(total.parts)",
    squares="sum((count / size) ** 2 order by part_id)",
    rates="sum(count / size order by part_id)",
)

#: How many tokens the sentences have that agree in their metadata.
_KINDS = """\
kind as (
  select {strings}, sum(length) as kind_size
  from ({pieces}) as h
  group by all
),
"""
_SENTENCES = "select s.id as sentence_id, s.length from sentence as s{corpora}"
_WITHIN = ",\n  1e6 * sum(count) / any_value(kind_size) as per_million_in_part"

_WHOLE = """\
(
    select h.sentence_id, h.first, h.last, {strings}
    from {hits} as h
    join token as t on t.sentence_id = h.sentence_id and t.position between h.first and h.last{in_part}
    group by h.sentence_id, h.first, h.last
  )"""

#: By each place of a hit: documents are too long to look for it in all of one.
_WHOLE_ACROSS = """\
(
    select h.sentence_id, h.first, h.last, {strings}
    from (select *, unnest(range(first, last + 1)) as place from {hits}) as h
    join running as t on t.start = h.sentence_id and t.place = h.place{in_part}
    group by h.sentence_id, h.first, h.last
  )"""

_PLACES = """\
(
    select distinct sentence_id, first, last, {places}
    from {match}
    join {hits} using (sentence_id, first, last)
  )"""

#: In how many pieces a part of the store is counted: the strings of a hit take more memory than its place.
_PIECES = 6


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question in statements.

    Args:
        query: as it was asked.
        hits: the query.
        keys: what is counted by, each with its name.
        selection: the corpora.
        there: the keys of the store.
        parts: kinds of the regions over which the dispersion is; none for documents.
        filtered: the hits that are counted, if not all of them.
    """

    query: str
    hits: ReadPattern
    keys: dict[str, Term]
    selection: Selection
    there: StoreKeys
    parts: tuple[str, ...]
    filtered: ReadPattern | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of regions whose attributes are among the keys."""
        regions = (region_key(self.there, term.attribute) for term in self.keys.values())
        return tuple(dict.fromkeys(kind for one in regions if one for kind in one.kinds))

    @property
    def columns(self) -> dict[str, str]:
        """Key to its column in the statement."""
        return {name: f"key_{number}" for number, name in enumerate(self.keys, 1)}

    def conditions(self, bindings: Bindings) -> TokenConditions:
        """Return what writes attributes of tokens."""
        if isinstance(self.hits, CqlHits):
            return self.hits.cql.conditions(bindings)
        return TokenConditions(self.query, self.selection, bindings, frozenset(), self.there)

    def counted(self, bindings: Bindings, within: SentenceRange | None = None) -> str:
        """Return what counts the hits by keys and documents, in all sentences or some of them."""
        found, part = self._found(bindings, within), within.part if within else ""
        return _COUNTED.format(
            parts=found.parts,
            items=self._items(found, bindings, part),
            keys=", ".join(self.columns.values()),
            in_part=f" and sentence.id {part}" if part else "",
            part="item.part_id" if self.parts else "document_id",
        )

    def _found(self, bindings: Bindings, within: SentenceRange | None) -> CqlMatches:
        found = self._unfiltered(bindings, within)
        if not isinstance(self.filtered, FilteredHits):
            return found
        more, kept = self.filtered.chain(found.hits, bindings, within)
        # Where nothing has labels, what matched is the same as the hits.
        match = kept if found.match == found.hits else found.match
        return replace(found, parts=found.parts + more, hits=kept, match=match)

    def _unfiltered(self, bindings: Bindings, within: SentenceRange | None) -> CqlMatches:
        if isinstance(self.hits, CqlHits):
            return self.hits.found(bindings, within)
        source = self.hits.source(bindings, within)
        parts = source.parts + (
            f"found as (\n  select {source.sentence} as sentence_id, {source.first} as first,"
            f" {source.last} as last\n  from {source.table}\n),\n"
        )
        return CqlMatches(parts, "found", "found", {})

    def _items(self, found: CqlMatches, bindings: Bindings, part: str) -> str:
        """Return the statement for the keys of each hit; ``part``: the condition on the sentence."""
        strings, whole, joins, told = list[str](), list[str](), list[str](), list[str]()
        conditions = self.conditions(bindings)
        keys, reach = list(self.keys.values()), self.hits.reach
        across = reach is DOCUMENT
        if isinstance(self.hits, CqlHits) and self.hits.one_token:
            keys = [Term(term.attribute, term.label or "match") for term in keys]
        labels = (term.label for term in keys)
        places = {label: found.labels[label] for label in labels if label in found.labels}
        for number, term in enumerate(keys, 1):
            column, alias = f"key_{number}", "t"
            # Across, only the token says in which sentence it is.
            if metadata_key(self.there, term.attribute) and not across:
                alias = "h"
            if term.label and alias == "t":
                alias = f"t_{number}"
                place = f"h.{(ENDS | places)[term.label]}"
                on = f"{alias}.{reach.sentence} = h.sentence_id and {alias}.{reach.position} = {place}"
                joins.append(f"\n  join {reach.tokens} as {alias} on {on}{_in_part(alias, part)}")
            elif term.label in places:
                told.append(f"h.{places[term.label]} is not null")
            string = conditions.string(term.attribute, alias)
            if self.selection.ignore_case and term.attribute in ("word", "form", "lemma"):
                string = f"lower({string})"
            string = f"coalesce({string}, '_')"
            if not term.label:
                whole.append(f"string_agg({string}, ' ' order by t.{reach.position}) as {column}")
                string = column
            strings.append(f"{string} as {column}")
        if self.parts:
            alias, position = ("t_0", "position") if across else ("h", "first")
            strings.append(f"{innermost(self.parts, alias, position, bindings)} as part_id")
            if across:
                on = "t_0.start = h.sentence_id and t_0.place = h.first"
                joins.append(f"\n  join running as t_0 on {on}{_in_part('t_0', part)}")
        source = found.hits
        if whole:
            template = _WHOLE_ACROSS if across else _WHOLE
            source = template.format(strings=", ".join(whole), hits=source, in_part=_in_part("t", part))
        if places:
            placed = _PLACES.format(places=", ".join(places.values()), match=found.match, hits=found.hits)
            if whole:
                joins.insert(0, f"\n  join {source} as w using (sentence_id, first, last)")
            source = placed
        return f"  select h.sentence_id, {', '.join(strings)}\n  from {source} as h{''.join(joins)}" + where(
            told, "  "
        )


def hit_frequencies(
    connection: Connection,
    query: str,
    by: str,
    selection: Selection,
    reading: Reading,
    limit: int,
    *,
    parts: str | None = None,
    filters: Sequence[HitFilter] = (),
) -> Answer:
    """Return what a query matched, most frequent first, then alphabetically.

    The columns are the keys; ``count``; ``share`` of all hits; ``per_million`` tokens; ``documents`` with
    it; and ``dp``, ``juilland_d`` and ``document_share``, its dispersion over all documents (see
    `sentgen.lookups.statistics.frequencies.Frequencies`). With metadata among the keys,
    ``per_million_in_part`` is the count per million tokens of those sentences that have the same metadata;
    with attributes of regions, of the tokens around which the innermost regions have the same.
    What lacks a key counts as ``_``.

    Args:
        connection: the store.
        query: in CQL, or a pattern of tokens.
        by: keys, with commas between them: attributes of the tokens that were matched, or of that of a label,
            metadata among them: ``lemma``, ``a.lemma``, ``a.lemma,match.doc_genre``. A hit in which a label
            can stand for several tokens counts once for each; where it stands for none, not.
        selection: the corpora.
        reading: how a query is read.
        parts: a kind of regions over which the dispersion is, instead of documents: a token is in the
            innermost of them around it, and what is in none is one part more. The columns ``documents`` and
            ``document_share`` are ``parts`` and ``part_share`` then.
        limit: rows at most, 0 for all.
        filters: what has to stand near a hit, or must not.

    Raises:
        QueryError: the query cannot be read, or has no such attribute or label.
        InputError: a pattern matches everywhere, or a key is empty or given twice.
    """
    asked, bindings = _read(connection, query, selection, reading, _read_keys(by), parts), Bindings()
    found = filtered(connection, asked.hits, filters, selection, reading)
    asked = replace(asked, filtered=found)
    sentences, missing = sentences_of(connection), f"occurrence of {query!r}"
    rest = _rest(asked, limit, bindings)
    whole = Statement(_STATEMENT.format(counted=asked.counted(bindings), all="counted", **rest), bindings)
    if found.at_once(sentences):
        answer = limited(connection, whole, limit, missing)
    else:
        counted = _GATHERED.format(**rest)
        with gathered(connection, "gathered", _parts(connection, asked, sentences)):
            summed = Statement(_STATEMENT.format(counted=counted, all="gathered", **rest), bindings)
            answer = replace(limited(connection, summed, limit, missing), query=whole)
    answer = replace(answer, remarks=steps(connection, found))
    return explained(connection, answer, selection, found.values)


def _parts(connection: Connection, asked: _Asked, sentences: int) -> Iterator[Statement]:
    """Yield the statements that count in parts of the store."""
    for within in (asked.filtered or asked.hits).parts(connection, sentences):
        for smaller in within.cut(-(-within.size // _PIECES)):
            bindings = Bindings()
            yield Statement(f"{asked.counted(bindings, smaller)}\nselect * from counted", bindings)


def _rest(asked: _Asked, limit: int, bindings: Bindings) -> dict[str, str]:
    """Return what a statement says of the counts."""
    conditions, columns = asked.conditions(bindings), asked.columns
    metadata = {
        columns[name]: f"coalesce({conditions.string(term.attribute, 'h')}, '_')"
        for name, term in asked.keys.items()
        if metadata_key(asked.there, term.attribute) or region_key(asked.there, term.attribute)
    }
    chosen = where(asked.selection.of_sentences(bindings, "s"), "    ")
    kinds = asked.kinds
    pieces = f"sentence as s{chosen}"
    if asked.parts:
        pieces = f"({pieces_of(asked.parts, bindings, chosen)}) as h"
    same = pieces_of(kinds, bindings, chosen) if kinds else _SENTENCES.format(corpora=chosen)
    strings = ", ".join(f"{string} as {column}" for column, string in metadata.items())
    return {
        "keys": ", ".join(columns.values()),
        "shown": ", ".join(f'{column} as "{_quoted(name)}"' for name, column in columns.items()),
        "part_id": innermost(asked.parts, "h", "position", bindings) if asked.parts else "document_id",
        "pieces": pieces,
        "parts": "parts" if asked.parts else "documents",
        "share": "part_share" if asked.parts else "document_share",
        "juilland": _JUILLAND,
        "kinds": _KINDS.format(strings=strings, pieces=same) if metadata else "",
        "join_kinds": f"\njoin kind using ({', '.join(metadata)})" if metadata else "",
        "within": _WITHIN if metadata else "",
        "limit": limit_clause(limit, bindings),
    }


def parts_by(connection: Connection, by: str) -> dict[str, str]:
    """Return those of the keys that are metadata or attributes of regions, and how all tokens are counted so.

    Args:
        connection: the store.
        by: keys, with commas between them.
    """
    there = StoreKeys(connection)
    terms = {name: _around(there, name, term).attribute for name, term in _read_keys(by).items()}
    return {name: one for name, one in terms.items() if metadata_key(there, one) or region_key(there, one)}


def _read_keys(by: str) -> dict[str, Term]:
    """Return the attributes to count by, each with the label of its token."""
    check_text(by)
    names = [name.strip() for name in by.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{by!r} has an empty key, or one twice; write keys as in a.lemma,match.doc_genre")
    found = {}
    for name in names:
        label, _, attribute = name.rpartition(".")
        found[name] = Term(name, "match") if label == "meta" else Term(attribute, label)
    return found


def _read(
    connection: Connection,
    query: str,
    selection: Selection,
    reading: Reading,
    keys: dict[str, Term],
    over: str | None,
) -> _Asked:
    """Read the query, in CQL unless nothing of it looks so."""
    there = StoreKeys(connection)
    parts = () if over is None else there.find_kinds(over)
    if over is not None and not parts:
        raise InputError(f"no region {over!r} to be parts; {instead(over, there.kinds)}")
    named = {name: _around(there, name, term) for name, term in keys.items()}
    by = list(named.values())
    if is_cql(query) or "[" in query or '"' in query or reading.dialect is not Dialect.SENTGEN:
        cql = parse_cql(connection, query, selection, reading, by)
        return _Asked(query, CqlHits(cql, reading.reaches), named, selection, there, parts)
    hits = read_hits(connection, query, selection, reading=reading, surface=True)
    check_terms(there, query, by)
    return _Asked(query, hits, named, selection, there, parts)


def _around(there: StoreKeys, name: str, term: Term) -> Term:
    """Return a key, where it is said of what is around the match as one of its first token."""
    if metadata_key(there, term.attribute) or region_key(there, term.attribute):
        return replace(term, label=term.label or "match")
    if term.label and not is_attribute(there, term.attribute) and region_key(there, name):
        return Term(name, "match")
    return term


def _in_part(alias: str, part: str) -> str:
    return f" and {alias}.sentence_id {part}" if part else ""


def _quoted(name: str) -> str:
    return name.replace('"', '""')
