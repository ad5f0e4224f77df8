"""Tables for regions: paragraphs, speakers and whatever else a source marks.

An earlier sentgen kept those of CoNLL-U as comments, which tell of them here.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

#: Where paragraphs and turns begin, and with which attribute; who goes on speaking begins nothing.
_BEGINS = """
create temp table begun as
with said as (
    select
        s.corpus_id,
        s.document_id,
        s.id,
        s.number,
        trim(split_part(s.comment, '=', 1)) as said,
        trim(substr(s.comment, length(split_part(s.comment, '=', 1)) + 2)) as told
    from (
        select
            *,
            unnest(string_split(metadata, chr(10))) as comment,
            generate_subscripts(string_split(metadata, chr(10)), 1) as number
        from sentence
        where metadata is not null
    ) s
    where starts_with(s.comment, 'newpar') or starts_with(s.comment, 'speaker')
),
begun as (
    select
        *,
        if(said = 'speaker', 'speaker', 'p') as kind,
        case said when 'newpar id' then 'id' when 'newpar' then 'type' else 'name' end as key,
        if(
            said = 'newpar' and regexp_full_match(told, '\\S+ \\(\\d+ s\\)'), split_part(told, ' ', 1), told
        ) as value
    from said
    where said in ('newpar', 'newpar id') or (said = 'speaker' and told <> '')
    qualify said <> 'speaker' or told is distinct from lag(told) over (
        partition by document_id, kind order by id, number
    )
)
select
    b.*,
    row_number() over (partition by b.id order by b.number) as place,
    coalesce(
        lead(b.id) over (partition by b.document_id, b.kind order by b.id, b.number),
        d.first_sentence + d.sentences
    ) - 1 as last
from begun b
join document d on d.id = b.document_id
"""
_REGIONS = """
insert into region
select b.corpus_id, b.id, b.place, b.kind, 1, b.last, s.length
from begun b
join sentence s on s.id = b.last
where b.last >= b.id
order by b.id, b.place
"""
_ATTRIBUTES = """
insert into region_meta
select corpus_id, id, place, key, value
from begun
where last >= id and (value <> '' or said = 'newpar id')
order by id, place
"""


def upgrade() -> None:
    """Create the tables, and fill them."""
    op.create_table(
        "region",
        *_begin(),
        _column("kind", sa.String()),
        _column("position", sa.Integer()),
        _column("last_sentence_id", sa.BigInteger()),
        _column("last_position", sa.Integer()),
    )
    op.create_table("region_meta", *_begin(), _column("key", sa.String()), _column("value", sa.String()))
    for statement in (_BEGINS, _REGIONS, _ATTRIBUTES, "drop table begun"):
        op.execute(statement)


def _begin() -> list[sa.Column[Any]]:
    return [
        _column("corpus_id", sa.Integer()),
        _column("sentence_id", sa.BigInteger()),
        _column("place", sa.Integer()),
    ]


def _column(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)
