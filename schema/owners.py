"""Which row accounts for which: what `sentgen db check` looks for, and what `sentgen db repair` removes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sentgen.schema.tables.alignment import OF_MODEL
from sentgen.schema.tables.fidelity import OF_SENTENCE
from sentgen.schema.tables.segments import segment_tables


@dataclass(frozen=True, slots=True)
class OrphanRows:
    """Rows of a table that nothing accounts for.

    Args:
        name: short name.
        table: the table.
        condition: SQL that is true for such a row, with the name of the table for the row.
        shown: columns that tell them apart.
    """

    name: str
    table: str
    condition: str
    shown: str

    @property
    def query(self) -> str:
        """SQL whose rows are the problems."""
        return f"select {self.shown}\nfrom {self.table}\nwhere {self.condition}"

    @property
    def removal(self) -> str:
        """SQL that removes them."""
        return f"delete from {self.table}\nwhere {self.condition}"


def unowned() -> Iterator[OrphanRows]:
    """Yield what may be without an owner, owners first: removed in this order, nothing is left over."""
    yield _without("source", "corpus_id", "corpus")
    yield _without("document", "source_id", "source")
    yield _without("sentence", "document_id", "document")
    yield OrphanRows(
        "sentences beyond their document",
        "sentence",
        """sentence.id not between (
    select d.first_sentence
    from document d
    where d.id = sentence.document_id
) and (
    select d.first_sentence + d.sentences - 1
    from document d
    where d.id = sentence.document_id
)""",
        "id, document_id",
    )
    yield _without("token", "sentence_id", "sentence")
    yield _without("multiword", "sentence_id", "sentence")
    for kept in OF_SENTENCE:
        yield _without(kept.name, "sentence_id", "sentence")
    yield _without("document_meta", "document_id", "document")
    yield _without("table_meta", "corpus_id", "corpus")
    yield _without("source_layout", "source_id", "source")
    yield _without("source_file", "source_id", "source")
    yield _without("rejection", "corpus_id", "corpus")
    yield _without("segment", "corpus_id", "corpus")
    for table in segment_tables():
        yield _without(table, "segment_id", "segment")
    for table in ("model_corpus", "model_parameter", "model_weight", "model_ngram", "surprisal"):
        yield _without(table, "model_id", "model")
    yield _without("word_vector", "space_id", "vector_space")
    yield _without("score", "run_id", "run")
    yield _without("output", "run_id", "run")
    yield from _alignments()


def _alignments() -> Iterator[OrphanRows]:
    yield _without("pair", "corpus_id", "corpus")
    yield _without("pair", "document_id", "document")
    yield _without("pair", "abstract_id", "document")
    for table in reversed(OF_MODEL):
        yield _without(table.name, "model_id", "alignment_model")
    same = "i.model_id = alignment_jump.model_id and i.direction = alignment_jump.direction"
    yield _lost("alignment_jump", "alignment_iteration", f"{same} and i.iteration = alignment_jump.iteration")
    same = """i.model_id = alignment_rewrite.model_id
        and i.direction = if(alignment_rewrite.reverse, 'reverse', 'forward')
        and i.iteration = alignment_rewrite.iteration"""
    yield _lost("alignment_rewrite", "alignment_iteration", same)
    yield _lost("alignment_phrase", "alignment_iteration", "i.model_id = alignment_phrase.model_id")
    yield _without("alignment", "pair_id", "pair")
    for name in ("alignment_link", "alignment_state"):
        yield _lost(name, "alignment", f"i.model_id = {name}.model_id and i.pair_id = {name}.pair_id")


def _without(table: str, column: str, owner: str) -> OrphanRows:
    # Ids are never null: one null in the list, and `not in` would find nothing.
    condition = f"{table}.{column} not in (select id from {owner})"
    return OrphanRows(f"{table}.{column} without {owner}", table, condition, column)


def _lost(table: str, owner: str, same: str) -> OrphanRows:
    condition = f"not exists (\n    select 1\n    from {owner} i\n    where {same}\n)"
    return OrphanRows(f"{table} without {owner}", table, condition, "model_id")
