"""List, describe, remove and verify corpora, and merge their segments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from sqlalchemy import Connection, Row, delete, func, select

from sentgen.corpus.paths import names_file, source_at
from sentgen.errors import InputError, NotFoundError
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.schema import Store, metadata
from sentgen.schema.counting import merge_segments, segment_tables
from sentgen.schema.store import fetch_rows, scalar
from sentgen.schema.tables import corpus as tables
from sentgen.schema.tables import counts, fidelity
from sentgen.schema.tables.alignment import OF_CORPUS
from sentgen.schema.tables.corpus import BOS, EOS
from sentgen.schema.tables.counts import segment

_SOURCES = "select * exclude corpus from v_sources where corpus = $corpus order by path"
#: The sentences that were refused, with file, line, sentence id and check.
_REJECTED = "select * exclude corpus from v_rejections where corpus = $corpus order by path, line"
#: A token in several regions of a kind, nested or overlapping, counts once.
_REGIONS = """\
with numbered as (
  select id from corpus where name = $corpus
),
part as (
  select p.kind, p.sentence_id, case when p.sentence_id = p.began then p.position else 1 end as first,
    case when p.sentence_id = p.last_sentence_id then p.last_position else s.length end as last
  from (
    select kind, sentence_id as began, position, last_sentence_id, last_position,
      unnest(range(sentence_id, last_sentence_id + 1)) as sentence_id
    from region
    where corpus_id in (select id from numbered)
  ) as p
  join sentence as s on s.id = p.sentence_id
),
new as (
  select kind, last - greatest(first - 1, coalesce(max(last) over (
    partition by kind, sentence_id order by first, last rows between unbounded preceding and 1 preceding
  ), 0)) as tokens
  from part
),
attribute as (
  select kind, string_agg(key, ', ' order by key) as attributes
  from (
    select distinct r.kind, m.key
    from region_meta as m
    join region as r on r.sentence_id = m.sentence_id and r.place = m.place
    where m.corpus_id in (select id from numbered)
  )
  group by kind
)
select kind, coalesce(any_value(attributes), '') as attributes, any_value(regions) as regions,
  sum(greatest(tokens, 0))::bigint as tokens
from new
join (
  select kind, count(*) as regions from region where corpus_id in (select id from numbered) group by kind
) using (kind)
left join attribute using (kind)
group by kind
order by tokens desc, kind"""
_METADATA = """\
with numbered as (
  select id from corpus where name = $corpus
),
size as (
  select document_id, sum(length) as tokens
  from sentence
  where corpus_id in (select id from numbered)
  group by document_id
)
select key, 'document' as said_of, count(distinct document_id) as times, count(distinct value) as different,
  coalesce(sum(tokens), 0)::bigint as tokens
from (
  select document_id, key, min(value) as value
  from document_meta
  where corpus_id in (select id from numbered)
  group by all
)
left join size using (document_id)
group by key
union all
select key, 'sentence', count(*), count(distinct value), sum(length)::bigint
from (
  select sentence_id, key, min(value) as value
  from sentence_meta
  where corpus_id in (select id from numbered)
  group by all
)
join sentence on sentence.id = sentence_id
group by key
order by said_of, key"""

#: Tables whose rows have the id of a corpus, in an order in which they can be emptied.
_OWNED = (
    *OF_CORPUS,
    *fidelity.OF_CORPUS,
    tables.multiword,
    tables.token,
    tables.sentence,
    tables.document,
    tables.source,
    tables.rejection,
    segment,
)

#: Number of segments of similar size that are merged into one.
FAN_IN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusName:
    """The name of a corpus."""

    name: Annotated[str, Option("Name of the corpus.", argument=True, shell="Corpus.", metavar="NAME")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus(CorpusName):
    """One corpus."""

    rejected: Annotated[
        bool,
        Option(
            "The sentences that were refused, instead of the sources.",
            shell="Show the sentences that were refused.",
        ),
    ] = False
    regions: Annotated[
        bool,
        Option(
            "The kinds of regions that its sources mark, with their attributes, number and tokens.",
            shell="Show kinds of regions, with their attributes, number and tokens.",
        ),
    ] = False
    metadata: Annotated[
        bool,
        Option(
            "The keys of the metadata of its documents and sentences: how many have one, with how many"
            " different values, and the tokens of these.",
            shell="Show keys of metadata, with how many documents or sentences have them.",
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.rejected + self.regions + self.metadata > 1:
            raise InputError("rejected, regions and metadata exclude each other; ask for one of them")

    def show(self, store: Store) -> Rows:
        """Return the sources of the corpus, or its rejected items, regions or metadata."""
        query = _SOURCES
        if self.rejected:
            query = _REJECTED
        elif self.regions or self.metadata:
            query = _REGIONS if self.regions else _METADATA
        with store.connect() as connection:
            find(connection, self.name)
            return fetch_rows(connection, query, {"corpus": self.name})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync(CorpusName):
    """A corpus, and which of its files are looked at; `sentgen.counts.sync` does it."""

    folder: Annotated[
        list[str],
        Option(
            "Folders, or files, to compare it with; those that it was read from, if none is given.",
            argument=True,
            metavar="[FOLDER]...",
        ),
    ] = field(default_factory=list)


def find(connection: Connection, name: str) -> Row[tuple[object, ...]]:
    """Return the row of a corpus; raise `NotFoundError`, with the names that exist, if there is none."""
    row = connection.execute(select(tables.corpus).where(tables.corpus.c.name == name)).first()
    if row is None:
        names = ", ".join(connection.scalars(select(tables.corpus.c.name).order_by(tables.corpus.c.name)))
        known = f"there are: {names}" if names else "the store has no corpora; add one with: sentgen ingest"
        raise NotFoundError(f"no corpus {name!r}; {known}")
    return row


def overview(store: Store) -> Rows:
    """Return all corpora with their sizes."""
    with store.connect() as connection:
        return fetch_rows(connection, "select * from v_corpora order by corpus")


def remove(store: Store, name: str, *, dry_run: bool = False) -> tuple[int, int]:
    """Remove a corpus with everything counted from it; return its sentences and tokens.

    All other counts are as they were. Words stay in the store, so that ids never change their meaning.
    Models that were built from the corpus stay as they are; `sentgen models list` calls them stale.
    With ``dry_run``, everything stays as it is.
    """
    with store.connect() if dry_run else store.begin() as connection:
        corpus = find(connection, name)
        numbers = of_corpora(connection, [corpus.id])
        sizes = select(func.sum(segment.c.sentences), func.sum(segment.c.tokens))
        sentences, tokens = connection.execute(sizes.where(segment.c.id.in_(numbers))).one()
        removed = int(sentences or 0), int(tokens or 0)
        if dry_run:
            return removed
        # Counts first, as their rows have the id of a segment, not of a corpus.
        for name_of_table in segment_tables():
            table = metadata.tables[name_of_table]
            connection.execute(delete(table).where(table.c.segment_id.in_(numbers)))
        for table in _OWNED:
            connection.execute(delete(table).where(table.c.corpus_id == corpus.id))
        connection.execute(delete(tables.corpus).where(tables.corpus.c.id == corpus.id))
    return removed


def verify(store: Store, name: str) -> Rows:
    """Compare every source of a corpus with the file from which it was read: same, changed or missing.

    A relative path, as in published stores, is resolved from the current folder.
    """
    with store.connect() as connection:
        corpus = find(connection, name)
        columns = tables.source.c
        query = select(columns.path, columns.sha256).where(columns.corpus_id == corpus.id)
        sources = connection.execute(query.order_by(columns.path)).all()
    return Rows(
        ("source", "status", "sha256"), [(path, _status(path, sha256), sha256) for path, sha256 in sources]
    )


def of_corpora(connection: Connection, corpus_ids: Sequence[int]) -> list[int]:
    """Return the ids of the segments of some corpora."""
    query = select(segment.c.id).where(segment.c.corpus_id.in_(corpus_ids))
    return list(connection.scalars(query.order_by(segment.c.id)))


def merge_small(connection: Connection, corpus_id: int) -> None:
    """Merge segments of similar size where there are many; each count is moved O(log segments) times."""
    while True:
        tiers: defaultdict[int, list[int]] = defaultdict(list)
        rows = select(segment.c.id, segment.c.tokens).where(segment.c.corpus_id == corpus_id)
        for number, tokens in connection.execute(rows.order_by(segment.c.id)):
            # Tiers differ by a factor of eight, which is FAN_IN: eight segments make one of the next tier.
            tiers[int(tokens).bit_length() // 3].append(number)
        crowded = [numbers for numbers in tiers.values() if len(numbers) >= FAN_IN]
        if not crowded:
            return
        # Repeated, as the merged segment may be one too many for the next tier.
        merge_segments(connection, crowded[0])


def count_types(connection: Connection, corpus_id: int) -> int:
    """Return the number of distinct words of a corpus."""
    unigram = counts.ngram[1].c
    words = select(func.count(unigram.w1.distinct())).where(
        unigram.segment_id.in_(of_corpora(connection, [corpus_id])), unigram.w1.not_in([BOS, EOS])
    )
    return scalar(connection, words)


def _status(path: str, digest: str) -> str:
    if not names_file(path) or not Path(path.partition("!")[0]).exists():
        return "missing"
    try:
        return "same" if source_at(path).sha256() == digest else "changed"
    except InputError:
        return "changed"
