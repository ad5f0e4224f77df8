"""Frequency lists of the hits of a query: what was matched, by attributes of it and of its labels.

A breakdown by metadata compares parts of different sizes, so that it also has the relative frequency within
the part: per million tokens of the sentences that have the same metadata, and lie in the same regions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.case_folding import folded
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
from sentgen.lookups.numbers import as_number
from sentgen.lookups.reach import DOCUMENT
from sentgen.lookups.regions import innermost, pieces_of
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, gathered, limit_clause, limited, where
from sentgen.lookups.statistics.hit_frequency_statements import (
    COUNTED,
    GATHERED,
    JOIN_MEANS,
    JUILLAND,
    KINDS,
    MEAN,
    MEANS_OF,
    PLACES,
    SENTENCES,
    STATEMENT,
    SUMMED,
    SUMS,
    WHOLE,
    WHOLE_ACROSS,
    WITHIN,
)
from sentgen.lookups.surprisals import bin_of, split_name
from sentgen.output.tabular import column_of
from sentgen.output.wording import instead

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
        mean: the number of which there is a mean.
    """

    query: str
    hits: ReadPattern
    keys: dict[str, Term]
    selection: Selection
    there: StoreKeys
    parts: tuple[str, ...]
    filtered: ReadPattern | None = None
    mean: Term | None = None

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

    def _key(self, term: Term, alias: str, conditions: TokenConditions) -> str:
        """Return the string that a hit is counted by, of a token or a sentence of it."""
        if surprisal := self.there.find_surprisal(term.attribute):
            string = bin_of(surprisal.value(alias, conditions.bindings))
        else:
            string = conditions.string(term.attribute, alias)
        if self.selection.ignore_case and term.attribute in ("word", "form", "lemma"):
            string = folded(string)
        return f"coalesce({string}, '_')"

    def counted(self, bindings: Bindings, within: SentenceRange | None = None) -> str:
        """Return what counts the hits by keys and documents, in all sentences or some of them."""
        found, part = self._found(bindings, within), within.part if within else ""
        return COUNTED.format(
            parts=found.parts,
            items=self._items(found, bindings, part),
            keys=", ".join(self.columns.values()),
            in_part=f" and sentence.id {part}" if part else "",
            part="item.part_id" if self.parts else "document_id",
            sums=SUMS if self.mean else "",
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
        named = [*((f"key_{number}", term) for number, term in enumerate(keys, 1))]
        named += [("value", self.mean)] if self.mean else []
        labels = (term.label for _, term in named)
        places = {label: found.labels[label] for label in labels if label in found.labels}
        for number, (column, term) in enumerate(named, 1):
            alias = "t"
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
            string = self._key(term, alias, conditions)
            if column == "value":
                string = as_number(conditions.string(term.attribute, alias))
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
            template = WHOLE_ACROSS if across else WHOLE
            source = template.format(strings=", ".join(whole), hits=source, in_part=_in_part("t", part))
        if places:
            placed = PLACES.format(places=", ".join(places.values()), match=found.match, hits=found.hits)
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
    mean: str | None = None,
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
        mean: an attribute whose values are numbers, of the first token of a hit or that of a label; columns
            ``mean``, ``mean_low`` and ``mean_high`` are its mean with the interval of 95 %, by documents or
            ``parts`` (see `sentgen.lookups.statistics.intervals`).

    Raises:
        QueryError: the query cannot be read, or has no such attribute or label.
        InputError: a pattern matches everywhere, or a key is empty or given twice.
    """
    asked, bindings = _read(connection, query, selection, reading, _read_keys(by), parts, mean), Bindings()
    found = filtered(connection, asked.hits, filters, selection, reading)
    asked = replace(asked, filtered=found)
    sentences, missing = sentences_of(connection), f"occurrence of {query!r}"
    rest = _rest(asked, limit, bindings)
    whole = Statement(STATEMENT.format(counted=asked.counted(bindings), all="counted", **rest), bindings)
    if found.at_once(sentences):
        answer = limited(connection, whole, limit, missing)
    else:
        counted = GATHERED.format(**rest)
        with gathered(connection, "gathered", _parts(connection, asked, sentences)):
            summed = Statement(STATEMENT.format(counted=counted, all="gathered", **rest), bindings)
            answer = replace(limited(connection, summed, limit, missing), query=whole)
    if mean is not None and not answer.nothing and not any(map(_is_there, column_of(answer.found, "mean"))):
        raise InputError(f"{mean} is never a number here, so that there is no mean; take another attribute")
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
    kinds, keys = asked.kinds, ", ".join(columns.values())
    pieces = f"sentence as s{chosen}"
    if asked.parts:
        pieces = f"({pieces_of(asked.parts, bindings, chosen)}) as h"
    same = pieces_of(kinds, bindings, chosen) if kinds else SENTENCES.format(corpora=chosen)
    strings = ", ".join(f"{string} as {column}" for column, string in metadata.items())
    return {
        "keys": keys,
        "shown": ", ".join(f'{column} as "{_quoted(name)}"' for name, column in columns.items()),
        "part_id": innermost(asked.parts, "h", "position", bindings) if asked.parts else "document_id",
        "pieces": pieces,
        "parts": "parts" if asked.parts else "documents",
        "share": "part_share" if asked.parts else "document_share",
        "juilland": JUILLAND,
        "kinds": KINDS.format(strings=strings, pieces=same) if metadata else "",
        "join_kinds": f"\njoin kind using ({', '.join(metadata)})" if metadata else "",
        "within": WITHIN if metadata else "",
        "sums": SUMMED if asked.mean else "",
        "means": MEANS_OF.format(keys=keys) if asked.mean else "",
        "join_means": JOIN_MEANS.format(keys=keys) if asked.mean else "",
        "mean": MEAN if asked.mean else "",
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
        label, attribute = split_name(name) or (label, attribute)
        found[name] = Term(name, "match") if label == "meta" else Term(attribute, label)
    return found


def _read(
    connection: Connection,
    query: str,
    selection: Selection,
    reading: Reading,
    keys: dict[str, Term],
    over: str | None,
    mean: str | None,
) -> _Asked:
    """Read the query, in CQL unless nothing of it looks so."""
    there = StoreKeys(connection, selection.names)
    parts = () if over is None else there.find_kinds(over)
    if over is not None and not parts:
        raise InputError(f"no region {over!r} to be parts; {instead(over, there.kinds)}")
    named = {name: _around(there, name, term) for name, term in keys.items()}
    of = None if mean is None else _number_of(there, mean)
    by = [*named.values(), *([of] if of else [])]
    if is_cql(query) or "[" in query or '"' in query or reading.dialect is not Dialect.SENTGEN:
        cql = parse_cql(connection, query, selection, reading, by)
        return _Asked(query, CqlHits(cql, reading.reaches), named, selection, there, parts, mean=of)
    hits = read_hits(connection, query, selection, reading=reading, surface=True)
    check_terms(there, query, by)
    return _Asked(query, hits, named, selection, there, parts, mean=of)


def _around(there: StoreKeys, name: str, term: Term) -> Term:
    """Return a key, where it is said of what is around the match as one of its first token."""
    if metadata_key(there, term.attribute) or region_key(there, term.attribute):
        return replace(term, label=term.label or "match")
    if term.label and not is_attribute(there, term.attribute) and region_key(there, name):
        return Term(name, "match")
    return term


def _number_of(there: StoreKeys, mean: str) -> Term:
    """Return the attribute of which there is a mean: of the first token of a hit, unless it has a label."""
    (name, term), *others = _read_keys(mean).items()
    if others:
        raise InputError(f"{mean!r}: a mean is that of one number; ask for each by itself")
    term = _around(there, name, term)
    return replace(term, label=term.label or "match")


def _in_part(alias: str, part: str) -> str:
    return f" and {alias}.sentence_id {part}" if part else ""


def _is_there(value: object) -> bool:
    return value is not None


def _quoted(name: str) -> str:
    return name.replace('"', '""')
