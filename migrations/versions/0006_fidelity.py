"""Tables for what sources say beyond tokens and trees; metadata of sentences that were kept as comments.

What an earlier sentgen did not keep (MISC, DEPS, empty nodes, the order of comments) comes with
`sentgen ingest --replace`.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

#: Comments `# key = value` of sentences, as an earlier sentgen kept them.
_COMMENTS = """
select
    s.corpus_id,
    s.document_id,
    s.id as sentence_id,
    s.place,
    trim(split_part(s.comment, '=', 1)) as key,
    trim(substr(s.comment, strpos(s.comment, '=') + 1)) as value,
    d.first_sentence = s.id and starts_with(key, 'meta::') as of_document
from (
    select
        *,
        unnest(string_split(metadata, chr(10))) as comment,
        generate_subscripts(string_split(metadata, chr(10)), 1) as place
    from sentence
    where metadata is not null
) s
join document d on d.id = s.document_id
where contains(s.comment, '=')
"""


def upgrade() -> None:
    """Create the tables, and fill those of metadata."""
    _create("document_meta", _integer("document_id"), _string("key"), _string("value"))
    _create("sentence_meta", _sentence(), _string("key"), _string("value"))
    _create("token_misc", _sentence(), _integer("position"), _string("misc"))
    _create(
        "enhanced_edge",
        *_node(),
        *map(_integer, ("place", "head", "head_minor", "deprel_id")),
    )
    _create("enhanced_cell", *_node(), _string("deps"))
    columns = ("lemma", "upos", "xpos", "feats", "head", "deprel")
    _create(
        "empty_node",
        *_node(),
        *(_string(name, nullable=True) for name in ("form", *columns, "misc")),
        sa.Column("behind_range", sa.Boolean(), nullable=False),
    )
    _create(
        "multiword_row",
        _sentence(),
        _integer("first"),
        *(_string(name, nullable=True) for name in (*columns, "deps", "misc")),
    )
    _create("sentence_layout", _sentence(), _string("comments"), _string("verbatim", nullable=True))
    _create(
        "source_layout",
        _integer("source_id"),
        sa.Column("byte_order_mark", sa.Boolean(), nullable=False),
        sa.Column("carriage_returns", sa.Boolean(), nullable=False),
        _integer("line_feeds"),
    )
    op.execute(f"""
        insert into document_meta
        select corpus_id, document_id, substr(key, 7), value
        from ({_COMMENTS})
        where of_document
        order by sentence_id, place
    """)
    op.execute(f"""
        insert into sentence_meta
        select corpus_id, sentence_id, key, value
        from ({_COMMENTS})
        where not of_document
        order by sentence_id, place
    """)


def _create(table: str, *columns: sa.Column[object]) -> None:
    op.create_table(table, _integer("corpus_id"), *columns)


def _node() -> tuple[sa.Column[object], ...]:
    return _sentence(), _integer("position"), _integer("minor")


def _sentence() -> sa.Column[object]:
    return sa.Column("sentence_id", sa.BigInteger(), nullable=False)


def _integer(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _string(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.String(), nullable=nullable)
