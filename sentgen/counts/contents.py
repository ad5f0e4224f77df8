"""What sources say of the texts of a corpus: regions and metadata, with their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.schema.store import fetch_arrow

if TYPE_CHECKING:
    import pyarrow as pa

#: A token that lies in several regions of a kind, within each other or overlapping, counts once.
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


def regions(connection: Connection, corpus: str) -> pa.Table:
    """Return the kinds of regions, with their attributes, how many there are, and the tokens in them."""
    return fetch_arrow(connection, _REGIONS, {"corpus": corpus})


def metadata(connection: Connection, corpus: str) -> pa.Table:
    """Return the keys of the metadata: said of what, how often, with how many values, of how many tokens."""
    return fetch_arrow(connection, _METADATA, {"corpus": corpus})
