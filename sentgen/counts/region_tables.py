"""Tables about regions, as ParlaMint's of speeches: what one says of an `id` are attributes of its region.

They are kept in `table_meta`, as those of documents are, so that regions which are read later have them, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from sentgen.schema.engine import raw
from sentgen.schema.store import fetch_arrow

_IDS = """
select r.kind, m.value as id
from region_meta m
join region r on r.sentence_id = m.sentence_id and r.place = m.place
where m.corpus_id = $corpus
    and m.key = 'id'
order by m.sentence_id, m.place
"""
_OWN = """
select distinct m.key
from region_meta m
join region r on r.sentence_id = m.sentence_id and r.place = m.place
where m.corpus_id = $corpus
    and list_contains($kinds::varchar[], r.kind)
    and list_contains($keys::varchar[], m.key)
    and not exists (from table_meta t where t.corpus_id = $corpus and t.key = m.key)
order by m.key
"""
_FORGET = """
delete from region_meta
where corpus_id = $corpus
    and (sentence_id, place, key, value) in (
        select named.sentence_id, named.place, t.key, t.value
        from region_meta named
        join table_meta t on t.corpus_id = named.corpus_id and t.name = named.value
        where named.corpus_id = $corpus
            and named.key = 'id'
            and list_contains($keys::varchar[], t.key)
    )
"""
#: Of several tables the last one; what the source of a region says is not said again.
_TELL = """
insert into region_meta
select named.corpus_id, named.sentence_id, named.place, t.key, t.value
from region_meta named
join (
    select name, key, arg_max(value, place) as value
    from table_meta
    where corpus_id = $corpus
        and list_contains($keys::varchar[], key)
    group by name, key
) t on t.name = named.value
where named.corpus_id = $corpus
    and named.key = 'id'
    and named.sentence_id >= $first
    and not exists (
        from region_meta own
        where own.corpus_id = $corpus
            and own.sentence_id = named.sentence_id
            and own.place = named.place
            and own.key = t.key
    )
order by named.sentence_id, named.place, t.key
"""


def regions_named(connection: Connection, corpus_id: int, names: Collection[str]) -> dict[str, list[str]]:
    """Return the kinds of which a region has one of these names as its `id`, with all ids of these kinds."""
    found: dict[str, list[str]] = {}
    for row in fetch_arrow(connection, _IDS, {"corpus": corpus_id}).to_pylist():
        found.setdefault(row["kind"], []).append(row["id"])
    return {kind: ids for kind, ids in found.items() if not set(ids).isdisjoint(names)}


def said_by_sources(
    connection: Connection, corpus_id: int, kinds: Sequence[str], keys: Sequence[str]
) -> list[str]:
    """Return which keys regions of some kinds have from their sources."""
    asked = {"corpus": corpus_id, "kinds": list(kinds), "keys": list(keys)}
    return list(fetch_arrow(connection, _OWN, asked).columns[0].to_pylist())


def forget_regions(connection: Connection, corpus_id: int, keys: Sequence[str]) -> None:
    """Take from regions what the tables of their corpus say under some keys."""
    raw(connection).execute(_FORGET, {"corpus": corpus_id, "keys": list(keys)})


def tell_regions(connection: Connection, corpus_id: int, keys: Sequence[str], first: int = 0) -> None:
    """Give regions, those of a sentence and what follows, what the tables say of them under some keys."""
    raw(connection).execute(_TELL, {"corpus": corpus_id, "keys": list(keys), "first": first})
