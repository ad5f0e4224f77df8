"""Pairs of documents and abstracts, models that align them, and their alignments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables of the aligner."""
    _pairs()
    _models()
    _alignments()


def _pairs() -> None:
    """Create the pairs."""
    op.create_table(
        "pair",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("abstract_id", sa.Integer(), nullable=False),
        sa.Column("document_words", sa.Integer(), nullable=False),
        sa.Column("abstract_words", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
    )


def _models() -> None:
    """Create the models."""
    op.create_table(
        "alignment_model",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(), nullable=False, unique=True),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("corpus_name", sa.String(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("pairs_hash", sa.String(), nullable=False),
        sa.Column("settings", sa.String(), nullable=False),
        sa.Column("iterations", sa.SmallInteger(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "alignment_iteration",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("iteration", sa.SmallInteger(), nullable=False),
        sa.Column("logp", sa.Double(), nullable=False),
        sa.Column("log_posterior", sa.Double(), nullable=False),
        sa.Column("p_null", sa.Double(), nullable=False),
        sa.Column("weight_table", sa.Double(), nullable=False),
        sa.Column("weight_stem", sa.Double(), nullable=False),
        sa.Column("weight_identity", sa.Double(), nullable=False),
        sa.Column("cells", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "alignment_jump",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("iteration", sa.SmallInteger(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("prob", sa.Double(), nullable=False),
    )
    op.create_table(
        "alignment_word",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("documents", sa.Boolean(), nullable=False),
        sa.Column("abstracts", sa.Boolean(), nullable=False),
        sa.Column("null_forward", sa.Double(), nullable=True),
        sa.Column("null_reverse", sa.Double(), nullable=True),
    )
    op.create_table(
        "alignment_phrase",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("layer", sa.String(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
    )
    op.create_table(
        "alignment_rewrite",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("layer", sa.String(), nullable=False),
        sa.Column("iteration", sa.SmallInteger(), nullable=False),
        sa.Column("source", sa.BigInteger(), nullable=False),
        sa.Column("target", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("prob", sa.Double(), nullable=False),
    )


def _alignments() -> None:
    """Create what the models found."""
    op.create_table(
        "alignment",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("decode", sa.String(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=True),
        sa.Column("iteration", sa.SmallInteger(), nullable=False),
        sa.Column("logp", sa.Double(), nullable=True),
        sa.Column("coverage", sa.Double(), nullable=False),
        sa.Column("density", sa.Double(), nullable=False),
        sa.Column("null_share", sa.Double(), nullable=False),
        sa.Column("longest_run", sa.Integer(), nullable=False),
    )
    op.create_table(
        "alignment_link",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("document_first", sa.Integer(), nullable=False),
        sa.Column("document_end", sa.Integer(), nullable=False),
        sa.Column("abstract_first", sa.Integer(), nullable=False),
        sa.Column("abstract_end", sa.Integer(), nullable=False),
        sa.Column("posterior", sa.Double(), nullable=True),
    )
    op.create_table(
        "alignment_null",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("corpus_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("prob", sa.Double(), nullable=False),
    )
