"""Foundation: words and tags, corpora, counts, models, runs.

A merged migration is never edited: it stays as it was when stores were made with it.
Comments and views are not here: they are written anew whenever they change (sentgen.schema.migrate).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables and the rows that every store has."""
    _corpora()
    _counts()
    _models()
    _runs()
    op.execute("insert into word (id, form) values (0, '<unk>'), (1, '<s>'), (2, '</s>'), (3, '<root>')")
    op.execute("insert into tag (id, name) values (0, '<root>'), (1, '_')")


def _corpora() -> None:
    """Create what was read."""
    op.create_table(
        "word",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
    )
    op.create_table(
        "tag",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(), unique=True, nullable=False),
    )
    op.create_table(
        "corpus",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(), unique=True, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("licence", sa.String(), nullable=True),
        sa.Column("lowercase", sa.Boolean(), nullable=False),
        sa.Column("max_order", sa.SmallInteger(), nullable=False),
        sa.Column("tags", sa.String(), nullable=False),
        sa.Column("function_heads", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "source",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("reader_version", sa.String(), nullable=False),
        sa.Column("sentences", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("rejected", sa.BigInteger(), nullable=False),
        sa.Column("cyclic", sa.BigInteger(), nullable=False),
        sa.Column("empty_nodes", sa.BigInteger(), nullable=False),
        sa.Column("ingested_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("first_sentence", sa.BigInteger(), nullable=False),
        sa.Column("sentences", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "sentence",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("sent_id", sa.String(), nullable=True),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("line", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.String(), nullable=True),
        sa.Column("metadata", sa.String(), nullable=True),
    )
    op.create_table(
        "token",
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("sentence_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("word_id", sa.Integer(), nullable=False),
        sa.Column("lemma_id", sa.Integer(), nullable=True),
        sa.Column("upos_id", sa.Integer(), nullable=True),
        sa.Column("xpos_id", sa.Integer(), nullable=True),
        sa.Column("feats_id", sa.Integer(), nullable=True),
        sa.Column("head", sa.Integer(), nullable=True),
        sa.Column("deprel_id", sa.Integer(), nullable=True),
        sa.Column("np", sa.Integer(), nullable=True),
        sa.Column("unit_head", sa.Integer(), nullable=True),
        sa.Column("space_after", sa.Boolean(), nullable=True),
    )
    op.create_table(
        "multiword",
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("sentence_id", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
    )
    op.create_table(
        "rejection",
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("line", sa.BigInteger(), nullable=False),
        sa.Column("sent_id", sa.String(), nullable=False),
        sa.Column("check_name", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("rejected_at", sa.DateTime(), nullable=False),
    )


def _counts() -> None:
    """Create what was counted."""
    op.create_table(
        "segment",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("sentences", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "ngram_1",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("w1", sa.Integer(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "ngram_2",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("w1", sa.Integer(), nullable=False),
        sa.Column("w2", sa.Integer(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "ngram_3",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("w1", sa.Integer(), nullable=False),
        sa.Column("w2", sa.Integer(), nullable=False),
        sa.Column("w3", sa.Integer(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "ngram_4",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("w1", sa.Integer(), nullable=False),
        sa.Column("w2", sa.Integer(), nullable=False),
        sa.Column("w3", sa.Integer(), nullable=False),
        sa.Column("w4", sa.Integer(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "ngram_5",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("w1", sa.Integer(), nullable=False),
        sa.Column("w2", sa.Integer(), nullable=False),
        sa.Column("w3", sa.Integer(), nullable=False),
        sa.Column("w4", sa.Integer(), nullable=False),
        sa.Column("w5", sa.Integer(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "dependency_event",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("layer", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("head_word_id", sa.Integer(), nullable=True),
        sa.Column("head_tag_id", sa.Integer(), nullable=False),
        sa.Column("modifier_word_id", sa.Integer(), nullable=True),
        sa.Column("modifier_tag_id", sa.Integer(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("distance", sa.SmallInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "posting",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("layer", sa.String(), nullable=False),
        sa.Column("word_id", sa.Integer(), nullable=False),
        sa.Column("tag_id", sa.Integer(), nullable=False),
        sa.Column("sentence_id", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "argument_count",
        sa.Column("segment_id", sa.Integer(), nullable=False),
        sa.Column("layer", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("word_id", sa.Integer(), nullable=True),
        sa.Column("tag_id", sa.Integer(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("arguments", sa.SmallInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )


def _models() -> None:
    """Create the models."""
    op.create_table(
        "model",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("max_order", sa.SmallInteger(), nullable=False),
        sa.Column("smoothing", sa.String(), nullable=False),
        sa.Column("min_count", sa.String(), nullable=False),
        sa.Column("unknown", sa.String(), nullable=False),
        sa.Column("vocabulary", sa.BigInteger(), nullable=False),
        sa.Column("sentences", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "model_corpus",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("corpus_name", sa.String(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "model_parameter",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("n", sa.SmallInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
    )
    op.create_table(
        "model_ngram",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("anchor", sa.Integer(), nullable=False),
        sa.Column("n", sa.SmallInteger(), nullable=False),
        sa.Column("w1", sa.Integer(), nullable=True),
        sa.Column("w2", sa.Integer(), nullable=True),
        sa.Column("w3", sa.Integer(), nullable=True),
        sa.Column("w4", sa.Integer(), nullable=True),
        sa.Column("w5", sa.Integer(), nullable=True),
        sa.Column("logp", sa.Double(), nullable=False),
        sa.Column("backoff", sa.Double(), nullable=False),
    )


def _runs() -> None:
    """Create what ran and what came out."""
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("command", sa.String(), nullable=False),
        sa.Column("parameters", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=True),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
    )
    op.create_table(
        "score",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=True),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("signature", sa.String(), nullable=True),
    )
    op.create_table(
        "output",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("input", sa.String(), nullable=False),
        sa.Column("output", sa.String(), nullable=False),
        sa.Column("reference", sa.String(), nullable=False),
    )
