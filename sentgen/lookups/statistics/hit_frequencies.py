"""Frequency lists of the hits of a query: what was matched, by attributes of it and of its labels.

A breakdown by metadata compares parts of different sizes, so that it also has the relative frequency within
the part: per million tokens of the sentences that have the same metadata, and lie in the same regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Floats
from sentgen.case_folding import folded
from sentgen.errors import InputError
from sentgen.lookups.absence import explained
from sentgen.lookups.concordances.filters import HitFilter
from sentgen.lookups.concordances.hits import Query, filtered, read_query, steps
from sentgen.lookups.cql.dialects import Reading
from sentgen.lookups.cql.search import is_cql
from sentgen.lookups.cql.spans import CqlMatches
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.cql.tokens import ENDS, TokenConditions
from sentgen.lookups.keys import MetadataKey, StoreKeys
from sentgen.lookups.languages import check_text
from sentgen.lookups.numbers import as_number
from sentgen.lookups.reach import DOCUMENT
from sentgen.lookups.regions import RegionKey, innermost, pieces_of
from sentgen.lookups.search.attributes import Attribute, numbered
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, ResultBudget, Statement, limit_clause, where
from sentgen.lookups.statistics.hit_counts import HitCounts, HitKey
from sentgen.lookups.statistics.hit_frequency_statements import (
    COUNTED,
    JOIN_MEANS,
    JUILLAND,
    KINDS,
    MEAN,
    MEANS_OF,
    PLACES,
    SENTENCES,
    STATEMENT,
    SUMS,
    WHOLE,
    WHOLE_ACROSS,
    WITHIN,
)
from sentgen.lookups.statistics.hit_parts import Parts, documents_of, regions_of
from sentgen.lookups.surprisals import bin_of, split_name
from sentgen.output.tabular import column_of
from sentgen.output.wording import instead

if TYPE_CHECKING:
    import pyarrow as pa


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
        mean: the number of which there is a mean.
    """

    query: str
    hits: Query
    keys: dict[str, Term]
    selection: Selection
    there: StoreKeys
    parts: tuple[str, ...]
    mean: Term | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of regions whose attributes are among the keys."""
        keys = (self.there.find(term.attribute) for term in self.keys.values())
        return tuple(dict.fromkeys(kind for key in keys if isinstance(key, RegionKey) for kind in key.kinds))

    @property
    def columns(self) -> dict[str, str]:
        """Key to its column in the statement."""
        return {name: f"key_{number}" for number, name in enumerate(self.keys, 1)}

    def conditions(self, bindings: Bindings) -> TokenConditions:
        """Return what writes attributes of tokens."""
        return self.hits.cql.conditions(bindings)

    @property
    def names(self) -> dict[str, str]:
        """What columns are called, by what they are called over regions."""
        names = ("parts", "part_share")
        return dict(zip(names, names if self.parts else ("documents", "document_share"), strict=True))

    @property
    def around(self) -> dict[str, Term]:
        """Those of the keys that are metadata or attributes of regions."""
        return {name: term for name, term in self.keys.items() if _is_around(self.there, term.attribute)}

    def kind_sizes(self, bindings: Bindings) -> str:
        """Return the query for how many tokens have the same around them."""
        conditions, columns = self.conditions(bindings), self.columns
        strings = [
            f"coalesce({conditions.string(term.attribute, 'h')}, '_') as {columns[name]}"
            for name, term in self.around.items()
        ]
        chosen = where(self.selection.of_sentences(bindings, "s"), "    ")
        pieces = SENTENCES.format(corpora=chosen)
        if self.kinds:
            pieces = pieces_of(self.kinds, bindings, chosen)
        return KINDS.format(strings=", ".join(strings), pieces=pieces)

    def over(self) -> Parts:
        """Return the parts over which the dispersion is."""
        if not self.parts:
            return documents_of(self.there.connection, self.selection)
        return regions_of(self.conditions(Bindings()), self.parts, self.selection)

    def numbered(self) -> list[HitKey]:
        """Return the keys as numbers."""
        return [HitKey(self._numbered(term), term.label) for term in self.terms]

    def _numbered(self, term: Term) -> Attribute:
        conditions = self.conditions(Bindings())
        of_token = self._key(term, "t", conditions)
        return numbered(term.attribute, conditions, partial(self._named, term), of_token)

    def number(self) -> HitKey | None:
        """Return the number of which there is a mean."""
        if self.mean is None:
            return None
        conditions = self.conditions(Bindings())
        of_token = as_number(conditions.string(self.mean.attribute, "t"))
        return HitKey(numbered(self.mean.attribute, conditions, as_number, of_token), self.mean.label)

    def sizes(self, over: Parts, names: Sequence[pa.Array]) -> Floats:
        """Return how many tokens have the same around them as the tokens of groups; NaN for none.

        Labels of one hit may be in different sentences, and no token in what is around both.
        """
        keys = [self._numbered(term) for term in self.around.values()]
        if over.documents is not None and all(one.of_documents for one in keys):
            columns = [one.of_numbers(over.documents) for one in keys]
            sizes = over.sizes
        else:
            bindings = Bindings()
            *columns, found = (
                Statement(self.kind_sizes(bindings), bindings).run(self.there.connection).columns
            )
            sizes = found.to_numpy()
        known = Counter[tuple[str, ...]]()
        for *key, size in zip(*(one.to_pylist() for one in columns), sizes.tolist(), strict=True):
            known[tuple(key)] += size
        asked = zip(*(one.to_pylist() for one in names), strict=True)
        return np.array([known.get(key, np.nan) for key in asked], float)

    def _key(self, term: Term, alias: str, conditions: TokenConditions) -> str:
        """Return the string that a hit is counted by, of a token or a sentence of it."""
        if surprisal := self.there.find_surprisal(term.attribute):
            string = bin_of(surprisal.value(alias, conditions.bindings))
        else:
            string = conditions.string(term.attribute, alias)
        return self._named(term, string)

    def _named(self, term: Term, string: str) -> str:
        """Return what a hit is counted by, by the string of an attribute."""
        if self.selection.ignore_case and term.attribute in ("word", "form", "lemma"):
            string = folded(string)
        return f"coalesce({string}, '_')"

    def counted(self, bindings: Bindings) -> str:
        """Return what counts the hits by keys and documents."""
        found = self.hits.found(bindings)
        return COUNTED.format(
            parts=found.parts,
            items=self._items(found, bindings),
            keys=", ".join(self.columns.values()),
            part="item.part_id" if self.parts else "document_id",
            sums=SUMS if self.mean else "",
        )

    @property
    def terms(self) -> list[Term]:
        """The keys with the labels of their tokens; of a hit of one token, that is its token."""
        if self.hits.one_token and self.hits.written:
            return [Term(term.attribute, term.label or "match") for term in self.keys.values()]
        return list(self.keys.values())

    def _items(self, found: CqlMatches, bindings: Bindings) -> str:
        """Return the statement for the keys of each hit."""
        strings, whole, joins, told = list[str](), list[str](), list[str](), list[str]()
        conditions = self.conditions(bindings)
        reach = self.hits.reach
        across = reach is DOCUMENT
        named = [*((f"key_{number}", term) for number, term in enumerate(self.terms, 1))]
        named += [("value", self.mean)] if self.mean else []
        labels = (term.label for _, term in named)
        places = {label: found.labels[label] for label in labels if label in found.labels}
        for number, (column, term) in enumerate(named, 1):
            alias = "t"
            # Across, only the token says in which sentence it is.
            if isinstance(self.there.find(term.attribute), MetadataKey) and not across:
                alias = "h"
            if term.label and alias == "t":
                alias = f"t_{number}"
                place = f"h.{(ENDS | places)[term.label]}"
                on = f"{alias}.{reach.sentence} = h.sentence_id and {alias}.{reach.position} = {place}"
                joins.append(f"\n  join {reach.tokens} as {alias} on {on}")
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
                joins.append(f"\n  join running as t_0 on {on}")
        source = found.hits
        if whole:
            template = WHOLE_ACROSS if across else WHOLE
            source = template.format(strings=", ".join(whole), hits=source)
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
    asked = replace(asked, hits=found)
    whole = Statement(
        STATEMENT.format(counted=asked.counted(bindings), **_rest(asked, limit, bindings)), bindings
    )
    rows, more = _count(connection, asked, limit)
    if mean is not None and rows.num_rows and not any(map(_is_there, column_of(rows, "mean"))):
        raise InputError(f"{mean} is never a number here, so that there is no mean; take another attribute")
    remarks = steps(connection, found)
    answer = Answer(rows, whole, f"occurrence of {query!r}", truncated=more, remarks=remarks)
    return explained(connection, answer, selection, found.values)


def _count(connection: Connection, asked: _Asked, limit: int) -> tuple[pa.Table, bool]:
    """Return the rows of the statement, and whether there are more than ``limit``."""
    import pyarrow as pa

    over = asked.over()
    counts = HitCounts(asked.numbered(), over, asked.number())
    for hits in asked.hits.find(connection):
        counts.add(hits)
    every = counts.groups()
    groups = every.first(limit)
    columns = {name: groups.strings(place) for place, name in enumerate(asked.keys)}
    measures = groups.measures(over, int(every.counts.sum()))
    for name in ("count", "share", "per_million", "parts", "dp", "juilland_d", "part_share"):
        columns[asked.names.get(name, name)] = pa.array(measures[name], from_pandas=True)
    if metadata := asked.around:
        size = asked.sizes(over, [columns[name] for name in metadata])
        columns["per_million_in_part"] = pa.array(1e6 * measures["count"] / size, from_pandas=True)
    for name in ("mean", "mean_low", "mean_high") if asked.mean else ():
        columns[name] = pa.array(measures[name], from_pandas=True)
    table = pa.table(columns)
    ResultBudget(connection).add(table)
    return table, len(every) > len(groups)


def _rest(asked: _Asked, limit: int, bindings: Bindings) -> dict[str, str]:
    """Return what a statement says of the counts."""
    columns = asked.columns
    metadata = [columns[name] for name in asked.around]
    chosen = where(asked.selection.of_sentences(bindings, "s"), "    ")
    keys = ", ".join(columns.values())
    pieces = f"sentence as s{chosen}"
    if asked.parts:
        pieces = f"({pieces_of(asked.parts, bindings, chosen)}) as h"
    return {
        "keys": keys,
        "shown": ", ".join(f'{column} as "{_quoted(name)}"' for name, column in columns.items()),
        "part_id": innermost(asked.parts, "h", "position", bindings) if asked.parts else "document_id",
        "pieces": pieces,
        "parts": asked.names["parts"],
        "share": asked.names["part_share"],
        "juilland": JUILLAND,
        "kinds": f"kind as (\n{asked.kind_sizes(bindings)}\n),\n" if metadata else "",
        "join_kinds": f"\nleft join kind using ({', '.join(metadata)})" if metadata else "",
        "within": WITHIN if metadata else "",
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
    return {name: one for name, one in terms.items() if _is_around(there, one)}


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
    cql = query if is_cql(query) or "[" in query or '"' in query else None
    hits = read_query(connection, query, selection, cql=cql, reading=reading, by=by)
    return _Asked(query, hits, named, selection, there, parts, mean=of)


def _around(there: StoreKeys, name: str, term: Term) -> Term:
    """Return a key, where it is said of what is around the match as one of its first token."""
    if _is_around(there, term.attribute):
        return replace(term, label=term.label or "match")
    if term.label and not there.find_token(term.attribute) and isinstance(there.find(name), RegionKey):
        return Term(name, "match")
    return term


def _is_around(there: StoreKeys, name: str) -> bool:
    """Return whether an attribute is said of what is around tokens."""
    found = there.find(name)
    return found is not None and not found.of_tokens


def _number_of(there: StoreKeys, mean: str) -> Term:
    """Return the attribute of which there is a mean: of the first token of a hit, unless it has a label."""
    (name, term), *others = _read_keys(mean).items()
    if others:
        raise InputError(f"{mean!r}: a mean is that of one number; ask for each by itself")
    term = _around(there, name, term)
    return replace(term, label=term.label or "match")


def _is_there(value: object) -> bool:
    return value is not None


def _quoted(name: str) -> str:
    return name.replace('"', '""')
