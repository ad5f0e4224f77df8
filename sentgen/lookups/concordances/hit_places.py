"""The places of hits in documents, as in a concordance plot, and the nodes of tree matches in the text.

A place is the thousandth of the document, by tokens and from 0, in which a hit begins: as fine as can be
drawn, and bounded however many hits there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Longs
from sentgen.lookups.base.cache import ArrayCache
from sentgen.lookups.base.keys import MetadataKey
from sentgen.lookups.base.statement import Answer, Bindings, HitSource, Statement, limit_clause
from sentgen.lookups.base.tokens import Tokens
from sentgen.lookups.search.attributes import of_key
from sentgen.lookups.search.hits import BlockHits
from sentgen.output.plots import PARTS
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pyarrow as pa


_DOCUMENTS = """\
select document_id, min(first_token) as begin, sum(length)::bigint as tokens
  from sentence
  group by document_id"""
#: The number of hits at each place; hits in arrays are counted to a table of the same columns.
_SPREAD = f"""\
{{beginning}}located as (
  {_DOCUMENTS}
),
spread as (
  select document_id, tokens, {PARTS} * (first_token - begin + hit.first - 1) // tokens as place,
    count(*) as count
  from (select {{sentence}} as sentence_id, {{first}} as first from {{source}}) as hit
  join sentence on sentence.id = hit.sentence_id
  join located using (document_id)
  group by all
)"""
_SHOWN = """\
shown as (
  select document_id, count, corpus.name as corpus, document.name as document
  from (select document_id, sum(count)::bigint as count from spread group by document_id)
  join document on document.id = document_id
  join corpus on corpus.id = document.corpus_id
  order by count desc, corpus, document, document_id{limit}
)
select corpus, document, shown.count, any_value(tokens) as tokens,
  (1e6 * shown.count / any_value(tokens))::double as per_million,
  string_agg(place::integer, ' ' order by place) as places
from shown
join (select distinct document_id, tokens, place from spread) using (document_id)
group by document_id, shown.count, corpus, document
order by count desc, corpus, document, document_id"""
#: The columns, with their types.
_COLUMNS = {
    "corpus": "VARCHAR",
    "document": "VARCHAR",
    "count": "BIGINT",
    "tokens": "BIGINT",
    "per_million": "DOUBLE",
    "places": "VARCHAR",
}


def hit_places(
    connection: Connection,
    source: HitSource,
    bindings: Bindings,
    all_hits: Iterable[BlockHits] | None,
    limit: int,
    missing: str,
) -> Answer:
    """Return the documents with hits, those with most first, then by corpus and name.

    The columns are ``corpus``, ``document``, ``count``, ``tokens`` (of the whole document), ``per_million``,
    and ``places`` in ascending order, each once, with blanks between them.

    Args:
        source: the source of hits in the statement that is shown, with its ``bindings``.
        bindings: bindings of that statement.
        all_hits: the hits in arrays; None to count those of ``source`` by the statement.
        limit: maximal number of documents, 0 for all.
        missing: what there is none of if there is no hit.
    """
    import pyarrow as pa

    spread = _SPREAD.format(
        beginning=source.with_start, sentence=source.sentence, first=source.first, source=source.table
    )
    if all_hits is None:
        rows = Statement(f"{spread}\nselect * from spread", bindings).run(connection)
    else:
        rows = pa.concat_tables(_spread(connection, all_hits))
    documents, tokens, places, counts = (rows[name].to_numpy() for name in rows.column_names)
    ids, document_of = np.unique(documents, return_inverse=True)
    hits = np.bincount(document_of, counts, len(ids)).astype(np.int64)
    first = np.arange(len(ids))
    if 0 < limit < len(ids):
        # Documents as frequent as the last one are kept, as ties are broken by their names.
        first = np.flatnonzero(hits >= np.partition(hits, -limit)[-limit])
    names = [of_key(connection, MetadataKey(name), Bindings()) for name in ("corpus", "document")]
    named = [attribute.of_numbers(ids[first]).to_pylist() for attribute in names]
    order = np.lexsort((places, document_of))
    begins = np.searchsorted(document_of[order], np.arange(len(ids) + 1))
    rows_shown = list[tuple[object, ...]]()
    for less, *name, row in sorted(zip(-hits[first], *named, first, strict=True))[: limit or None]:
        some = order[begins[row] : begins[row + 1]]
        count, size = -int(less), int(tokens[some[0]])
        spots = " ".join(map(str, np.unique(places[some]).tolist()))
        rows_shown.append((*name, count, size, 1e6 * count / size, spots))
    number = int(hits.sum())
    remarks = [f"{quantity(number, 'hit')} in {quantity(len(ids), 'document')}"] if number else []
    shown = _SHOWN.format(limit=limit_clause(limit, bindings, "  "))
    query = Statement(f"{spread},\n{shown}", bindings)
    table = Rows(tuple(_COLUMNS), rows_shown, tuple(_COLUMNS.values()))
    more = len(ids) > len(rows_shown)
    return Answer(table, query, missing, truncated=more, total=len(ids), remarks=tuple(remarks))


def _spread(connection: Connection, all_hits: Iterable[BlockHits]) -> Iterator[pa.Table]:
    """Yield the rows of ``spread`` in `_SPREAD` for hits in arrays, a table a block, and at least one."""
    import pyarrow as pa

    documents, begins, tokens = _documents(connection)

    def count_places(rows: Longs, first: Longs) -> pa.Table:
        places = PARTS * (first - begins[rows]) // tokens[rows]
        keys, counts = np.unique(rows * PARTS + places, return_counts=True)
        rows, places = np.divmod(keys, PARTS)
        columns = {"document_id": documents[rows], "tokens": tokens[rows], "place": places, "count": counts}
        return pa.table(columns)

    nothing = np.zeros(0, np.int64)
    yield count_places(nothing, nothing)
    for hits in all_hits:
        of_hits = hits.block.sentences()[3][hits.block.sentence_of(hits.first)]
        yield count_places(np.searchsorted(documents, of_hits), hits.block.numbers(hits.first))


def _documents(connection: Connection) -> Longs:
    """Return the ids of all documents, ascending, their first token numbers, and their sizes in tokens."""

    def read() -> Longs:
        columns = Tokens(connection).array(f"{_DOCUMENTS}\n  order by document_id", {})
        return np.stack([column.astype(np.int64) for column in columns])

    return ArrayCache.of_store(connection).get(_DOCUMENTS, read)


_FORMS = """\
with place as (
  select id, corpus, document, coalesce(sent_id, id::varchar) as sentence
  from v_sentences
  where corpus in $corpora
    and coalesce(sent_id, id::varchar) in $sentences
)
select token.sentence_id, any_value(place.corpus) as corpus, any_value(place.document) as document,
  any_value(place.sentence) as sentence, list(token.form order by token.position) as forms
from v_tokens as token
join place on place.id = token.sentence_id
where token.sentence_id in (select id from place)
group by token.sentence_id
order by token.sentence_id desc"""

#: One node in the column ``nodes`` of `sentgen.lookups.grew.matches.Match`: its name, form and position.
_NODE = re.compile(r"(?:^|(?<= ))([^\s=]+)=(\S.*?)@(\d+)(?= |$)")


#: The names of a corpus, of a document in it, and of a sentence in that.
_SentenceNames = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Marks:
    """The nodes of one hit.

    Args:
        positions: positions of each node, by its name.
        parts: the text from the first node to the last one, in parts, each with the names of its nodes; a
            node whose form is not written as such (French *du* for *de le*) is in no part.
        sentence_id: id of the sentence; 0 if it was not found.
    """

    positions: Mapping[str, int]
    parts: Sequence[tuple[str, str]]
    sentence_id: int

    @staticmethod
    def of_hits(connection: Connection, hits: Sequence[Mapping[str, object]]) -> Iterator[Marks]:
        """Yield the marks of hits, rows of `sentgen.lookups.grew.matches.Match`, in their order."""
        sentences = [(str(hit["corpus"]), str(hit["document"]), str(hit["sent_id"])) for hit in hits]
        forms = _forms(connection, sentences) if sentences else {}
        for sentence, hit in zip(sentences, hits, strict=True):
            sentence_id, tokens = forms.get(sentence, (0, []))
            nodes = {name: (form, int(number)) for name, form, number in _NODE.findall(str(hit["nodes"]))}
            # A form may contain text that looks like a node: the form of the token at the position decides.
            positions = {
                name: position
                for name, (form, position) in nodes.items()
                if 0 < position <= len(tokens) and tokens[position - 1] == form
            }
            yield Marks(positions, tuple(_parts(str(hit["node"]), tokens, positions)), sentence_id)


def _forms(
    connection: Connection, sentences: Sequence[_SentenceNames]
) -> dict[_SentenceNames, tuple[int, list[str]]]:
    """Return the ids of sentences and the forms of their tokens; of equal names, those of the first one."""
    corpora, names = (sorted({sentence[part] for sentence in sentences}) for part in (0, 2))
    rows = Statement(_FORMS, Bindings(corpora=corpora, sentences=names)).run(connection).to_pylist()
    return {
        (row["corpus"], row["document"], row["sentence"]): (row["sentence_id"], row["forms"]) for row in rows
    }


def _parts(text: str, forms: Sequence[str], positions: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Split a text at the tokens that are nodes."""
    names: dict[int, list[str]] = {}
    for name, position in positions.items():
        names.setdefault(position, []).append(name)
    done = at = 0
    for position in range(min(names, default=1), max(names, default=0) + 1):
        form = forms[position - 1]
        # The text is searched token by token, so that of equal words the right one is marked.
        start = text.find(form, at)
        if start < 0 or text[at:start].strip():
            continue
        at = start + len(form)
        if position in names:
            if text[done:start]:
                yield text[done:start], ""
            yield form, " ".join(names[position])
            done = at
    if text[done:]:
        yield text[done:], ""
